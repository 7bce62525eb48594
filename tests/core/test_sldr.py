"""SLDR's parts: its objective and gradients, the identities of the linear kernel, its support vectors."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from supdr import SLDR
from supdr.datasets import make_zigzag
from supdr.methods.sldr.model import Point, closed_form_projections
from supdr.methods.sldr.problem import SLDRProblem
from supdr.solvers.gated_kernels import gram, mixture
from supdr.solvers.kernel_heads import heads_on_features, heads_on_kernel
from supdr.solvers.lbfgs import QuasiNewton
from supdr.solvers.stiefel import orthonormal_gauge, polar, polar_gradient, random_orthonormal
from supdr.solvers.support_vectors import purify
from tests.core.sldr_cases import KERNELS, every_kernel, problem, rows

# --- gradients --------------------------------------------------------------------------------------------------------


def slope(f, step=5e-5):
    """The derivative of f at 0 to the fourth order; short, since J bends where the set of support vectors changes."""
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step)


@every_kernel
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("block", ["gate_projection", "gate_weights", "gate_offset", "projections"])
def test_gradients_are_those_of_the_objective(kernel, n_classes, block):
    task = problem(kernel=kernel, n_classes=n_classes)
    rng = np.random.default_rng(5)
    solved = task.solve(task.start(3).best.point, None)
    T, V, v0 = task.gate_gradient(solved)
    gradient = {"gate_projection": T, "gate_weights": V, "gate_offset": v0}.get(block)
    for _ in range(3):
        if block == "projections":
            move = [0.3 * random_orthonormal(*W.shape, rng) for W in solved.point.projections]
            expected = sum((G * D).sum() for G, D in zip(task.projection_gradient(solved), move))

            def moved(t, move=move):
                new = tuple(W + t * D for W, D in zip(solved.point.projections, move))
                return solved.point._replace(projections=new)
        else:
            move = rng.standard_normal(gradient.shape)
            move /= np.linalg.norm(move)
            expected = (gradient * move).sum()

            def moved(t, move=move):
                return solved.point._replace(**{block: getattr(solved.point, block) + t * move})

        found = slope(lambda t, moved=moved: task.solve(moved(t), solved.heads).heads.dual)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9 * solved.heads.dual)


def test_the_gradient_through_the_polar_factor():
    rng = np.random.default_rng(0)
    A, D, M = rng.standard_normal((3, 6, 3))
    gradient = polar_gradient(A, M)
    assert slope(lambda t: (M * polar(A + t * D)).sum()) == pytest.approx((gradient * D).sum(), rel=1e-9)
    # At an orthonormal matrix it is the projection on the tangent space.
    W = polar(A)
    inner = W.T @ M
    np.testing.assert_allclose(polar_gradient(W, M), M - W @ (inner + inner.T) / 2, atol=1e-12)


def test_views_that_are_gated_alike_have_no_gradient():
    """Identical views with equal gates: J stays at the linear SVM, whatever the solver."""
    views, _, signs = rows(widths=(3,))
    task = SLDRProblem(views * 3, views[0], signs, KERNELS[0], 2.0, (1, 1, 1), 2, QuasiNewton(), False, svm_tol=1e-8)
    point = task.start(0).best.point
    equal = point._replace(gate_weights=0 * point.gate_weights, gate_offset=0 * point.gate_offset)
    for part in task.gate_gradient(task.solve(equal, None)):
        np.testing.assert_allclose(part, 0.0, atol=1e-10)


# --- the objective ----------------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("solver", ["alternating", "joint"])
def test_objective_is_the_primal_value(kernel, solver):
    task = problem(solver, kernel)
    state = task.step(task.start(0))
    best, losses = state.best, task.losses(state)
    duals = best.heads.alpha[:, 0] * task.signs[:, 0]
    K = sum(
        np.outer(best.gate[:, m], best.gate[:, m]) * kernel.matrix(X @ W)
        for m, (X, W) in enumerate(zip(task.views, best.point.projections))
    )
    decision = K @ duals + best.heads.bias[0]
    slack = np.maximum(0.0, 1.0 - task.signs[:, 0] * decision)
    assert losses["regularisation"] == pytest.approx(0.5 * duals @ K @ duals, rel=1e-8)
    assert losses["label"] == pytest.approx(task.C * slack.sum(), rel=1e-6)
    assert losses["objective"] == pytest.approx(best.heads.alpha.sum() - 0.5 * duals @ K @ duals, rel=1e-7)
    assert abs(task.readings(state)["gap"]) < 1e-6 * losses["objective"]


@pytest.mark.parametrize("shape", [(1, 3), (75, 4), (1200, 150)])  # the last in several slices
def test_gram_matrix(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(gram(X), X @ X.T, atol=1e-12)
    np.testing.assert_allclose(gram(X), gram(X).T, rtol=1e-14, atol=1e-13)


def test_mixture_is_the_sum_of_gated_kernels():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((2, 75, 4))
    kernels, gate = features @ features.transpose(0, 2, 1), rng.dirichlet(np.ones(3), 75)
    gate[:5] = np.eye(3)[0]  # closed gates are skipped
    which = np.array([0, 1, 1])
    expected = sum(np.outer(gate[:, m], gate[:, m]) * kernels[which[m]] for m in range(3))
    np.testing.assert_allclose(mixture(kernels, which, gate), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_and_kernel_matrix_give_the_same_machines(n_classes):
    _views, gating, signs = rows(n_classes=n_classes)
    on_kernel = heads_on_kernel(gating @ gating.T, signs, 2.0, 1e-6, np.zeros_like(signs))
    on_features = heads_on_features(gating, signs, 2.0, 1e-5, None)
    assert on_features.primal == pytest.approx(on_kernel.primal, rel=1e-7)
    np.testing.assert_allclose(on_features.bias, on_kernel.bias, atol=1e-3)


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("n_init", [1, 3])
def test_the_objective_never_rises(solver, kernel, n_init):
    X, y = make_zigzag(150, random_state=0).to_xy()
    fitted = SLDR(1, solver=solver, kernel=kernel, n_init=n_init, tol=0.0, max_iter=30, random_state=0).fit(X, y)
    objective = fitted.history_["objective"]
    assert (np.diff(objective) <= 0.0).all()
    assert objective[-1] < 0.9 * objective[0]
    assert (fitted.history_["dual"] <= objective).all()


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("gate", [{}, {"n_gating": None}, {"n_gating": 1, "n_models": 2}, {"views": (1, 1)}])
@pytest.mark.parametrize("svm_tol", [1e-1, 1e-7])
def test_the_dual_value_is_a_lower_bound(solver, kernel, gate, svm_tol):
    X, y = make_zigzag(60, random_state=0).to_xy()
    settings = {"solver": solver, "kernel": kernel, "svm_tol": svm_tol, "tol": 0.0, "max_iter": 3, "n_init": 2}
    history = SLDR(1, random_state=0, **settings, **gate).fit(X, y).history_
    assert (history["dual"] <= history["objective"]).all()
    assert (history["gap"] >= 0.0).all()


# --- constant steps ---------------------------------------------------------------------------------------------------


@every_kernel
def test_constant_steps_of_the_lengths_that_searches_accept_do_the_same(kernel):
    searching = problem("alternating", kernel, init="random")
    begin = searching.start(0).best
    searched = searching.solver.step(searching, begin)
    constant = problem("alternating", kernel, init="random", step_size=tuple(step / 2.0 for step in searched.steps))
    moved = constant.solver.step(constant, begin)
    assert searched.length == max(constant.step_size)
    assert moved.heads.primal == pytest.approx(searched.heads.primal, rel=1e-9)
    np.testing.assert_allclose(moved.point.gate_weights, searched.point.gate_weights, rtol=1e-7)
    assert moved.steps == begin.steps  # a later search goes on from where the last one was


@pytest.mark.parametrize("step_size", [2e-4, (1e-3, 2e-4, 2e-4)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_small_constant_steps_descend(kernel, step_size):
    X, y = make_zigzag(80, random_state=0).to_xy()
    settings = {"solver": "alternating", "kernel": kernel, "n_init": 1, "tol": 0.0, "max_iter": 8, "random_state": 0}
    fitted = SLDR(1, step_size=step_size, init="random", svm_tol=1e-6, **settings).fit(X, y)
    objective = fitted.history_["objective"]
    assert (np.diff(objective) < 0.0).all()
    assert (fitted.history_["step_size"][1:] == np.max(step_size)).all()
    once = SLDR(1, step_size=np.multiply(step_size, 2), init="random", **settings).fit(X, y).history_["objective"]
    assert once[-1] < objective[-1]  # twice the step goes further


def test_a_run_goes_on_with_steps_of_another_length():
    X, y = make_zigzag(150, random_state=0).to_xy()
    settings = {"solver": "alternating", "n_init": 1, "max_iter": 5, "random_state": 0}
    model = SLDR(1, step_size=1e-9, **settings).fit(X, y)
    assert model.stop_ == "converged"
    went_on = SLDR(1, **settings).fit(X, y, start=model.snapshot_)
    assert went_on.history_["objective"][-1] < 0.9 * model.history_["objective"][-1]


def test_steps_that_overflow_are_refused_and_said():
    X, y = make_zigzag(150, random_state=0).to_xy()
    with pytest.warns(ConvergenceWarning, match="a smaller step_size"):
        fitted = SLDR(1, solver="alternating", step_size=1e308, n_init=1, max_iter=3, random_state=0).fit(X, y)
    assert np.isfinite(fitted.transform(X)).all()


# --- identities of the linear kernel ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 2, 2), (3, 4, 2)])
def test_closed_form_projections_lose_nothing(sizes):
    """For a given gate min over W of J is J with the full kernels, for every R_m; random projections are worse."""
    full = problem("lbfgs", sizes=sizes)
    best = full.start(1).best
    projections = closed_form_projections(full.pulls(best), full.views, best.gate, sizes)
    for W, size in zip(projections, sizes):
        np.testing.assert_allclose(W.T @ W, np.eye(size), atol=1e-10)
    projected = problem("joint", sizes=sizes)
    at_closed_form = projected.solve(best.point._replace(projections=projections), None)
    assert at_closed_form.heads.dual == pytest.approx(best.heads.dual, rel=1e-8)
    if sizes != (3, 4, 2):  # those span everything
        rng = np.random.default_rng(0)
        random = tuple(random_orthonormal(X.shape[1], size, rng) for X, size in zip(full.views, sizes))
        assert projected.solve(best.point._replace(projections=random), None).value > 1.01 * best.heads.dual


def test_many_heads_need_as_many_directions():
    full = problem("lbfgs", n_classes=3)
    best = full.start(1).best
    wide = closed_form_projections(full.pulls(best), full.views, best.gate, (3, 3, 2))
    assert problem("joint", n_classes=3).solve(best.point._replace(projections=wide), None).heads.dual == pytest.approx(
        best.heads.dual, rel=1e-8
    )


def test_a_view_without_pull_gets_unit_directions():
    views, _, _ = rows()
    gate = np.eye(3)[np.zeros(len(views[0]), dtype=int)]  # the other gates are closed
    pulls = (np.ones((3, 1)), np.zeros((4, 1)), np.zeros((2, 1)))
    for W in closed_form_projections(pulls, views, gate, (2, 2, 1)):
        np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)


@pytest.mark.parametrize("n_rows", [4, 60])
def test_directions_left_over_are_principal_and_orthogonal(n_rows):
    rng = np.random.default_rng(0)
    X, gate, pull = (
        rng.standard_normal((n_rows, 9)) * np.arange(9, 0, -1) ** 2,
        rng.random((n_rows, 1)),
        np.eye(9)[:, :1],
    )
    (W,) = closed_form_projections((3.0 * pull,), (X,), gate, (6,))
    np.testing.assert_allclose(W.T @ W, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(W[:, :1], pull, atol=1e-12)
    centred = (X - gate.T @ X / gate.sum()) * np.sqrt(gate)
    shares = ((centred @ W[:, 1:]) ** 2).sum(axis=0)
    assert (np.diff(shares) <= 1e-9 * shares[0]).all()
    rest = centred[:, 1:]  # what is orthogonal to the pull
    np.testing.assert_allclose(shares[:3], np.linalg.svd(rest)[1][:3] ** 2, rtol=1e-8)


def test_orthonormal_gauge_leaves_the_gate_alone():
    rng = np.random.default_rng(0)
    X, T, V, v0 = (rng.standard_normal(shape) for shape in ((20, 6), (6, 2), (3, 2), (3,)))
    Q, U = orthonormal_gauge(T, V)
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(Point(Q, U, v0, ()).gate(X), Point(T, V, v0, ()).gate(X), atol=1e-14)
    again, same = orthonormal_gauge(Q, U)
    np.testing.assert_allclose(again, Q, atol=1e-14)
    np.testing.assert_allclose(same, U, atol=1e-14)
    # The paper's polar factor with V as it was moves the gate.
    assert np.abs(Point(polar(T), V, v0, ()).gate(X) - Point(T, V, v0, ()).gate(X)).max() > 0.05


def test_huge_logits_are_no_trouble():
    gate = Point(None, np.array([[1e6], [-1e6]]), np.zeros(2), ()).gate(np.array([[1.0], [-1.0]]))
    np.testing.assert_array_equal(gate, np.eye(2))


# --- support vectors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_purification_changes_nothing_but_the_count(seed):
    """Repeated features make the multipliers ambiguous: the average of two solutions has too many free ones."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(120) % 2, 1.0, -1.0)
    features = rng.standard_normal((120, 1)).round(1) + 0.7 * y[:, None]
    C = 3.0
    SVMs = [
        SVC(kernel="linear", C=C, tol=1e-10).fit(features[order], y[order])
        for order in (slice(None), slice(None, None, -1))
    ]
    betas = np.zeros((2, 120))
    for beta, svm, order in zip(betas, SVMs, (np.arange(120), np.arange(120)[::-1])):
        beta[order[svm.support_]] = svm.dual_coef_[0]
    beta = betas.mean(axis=0)
    pure = purify(beta, C, features)
    free = (np.abs(pure) > 1e-8 * C) & (np.abs(pure) < C * (1 - 1e-8))
    assert free.sum() <= np.linalg.matrix_rank(np.column_stack([features, np.ones(120)])[free]) <= 2
    assert (pure != 0).sum() <= (beta != 0).sum()
    np.testing.assert_allclose(features.T @ pure, features.T @ beta, atol=1e-8)
    assert pure.sum() == pytest.approx(beta.sum(), abs=1e-8)
    assert np.abs(pure).sum() == pytest.approx(np.abs(beta).sum(), rel=1e-8)  # the dual value
    assert (pure * y >= 0).all()
    assert np.abs(pure).max() <= C


def test_support_fractions():
    X, y = make_zigzag(300, random_state=0).to_xy()
    fitted = SLDR(1, n_models=3, n_init=3, random_state=0).fit(X, y)
    assert 0 < fitted.support_fraction_min_ <= fitted.support_fraction_ < 0.3
    assert len(fitted.support_) == fitted.support_fraction_ * 300 == fitted.n_support_.sum()
    assert fitted.history_["support_fraction"][-1] == pytest.approx(fitted.support_fraction_)
    assert fitted.history_["support_fraction_min"][-1] == pytest.approx(fitted.support_fraction_min_)
    fewest = np.abs(purify(fitted.dual_coef_[0], 10.0, fitted.transform(X)[fitted.support_]))
    assert (fewest > 0).sum() == round(fitted.support_fraction_min_ * 300)
    bounded = (fewest >= 10.0 * (1 - 1e-8)).sum()
    assert (fewest > 0).sum() - bounded <= 3 + 1  # rank of [features, 1] with one direction per local model
    np.testing.assert_array_equal(np.flatnonzero(fitted.label_pull_), fitted.support_)
    assert fitted.label_pull_.max() <= 1.0
    assert np.isnan(SLDR(1, kernel="rbf", max_iter=2, random_state=0).fit(X, y).support_fraction_min_)

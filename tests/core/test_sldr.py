"""SLDR: its objective and gradients, the identities of the linear kernel, what it finds, what it refuses."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from supdr import SLDR, KernelViews, Stop, stack_views
from supdr.baselines import AllViewsSVM
from supdr.datasets import make_gauss4, make_zigzag
from supdr.engine.held_out import held_out_rows
from supdr.engine.targets import decode_targets
from supdr.functions.kernels import Kernel
from supdr.methods.sldr.model import Point, closed_form_projections
from supdr.methods.sldr.solvers import Alternating, Joint, QuasiNewton
from supdr.methods.sldr.state import Candidate
from supdr.solvers.gated_kernels import gram, mixture
from supdr.solvers.kernel_heads import heads_on_features, heads_on_kernel
from supdr.solvers.stiefel import orthonormal_gauge, polar, polar_gradient, random_orthonormal
from supdr.solvers.support_vectors import purify

KERNELS = [Kernel("linear"), Kernel("poly", degree=2), Kernel("poly", degree=3, coef0=0.5), Kernel("rbf", gamma=0.5)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def rows(n=48, widths=(3, 4, 2), n_classes=2, seed=0):
    """Views, gating columns and signs of overlapping classes."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    views = tuple(rng.standard_normal((n, width)) + 0.8 * np.eye(n_classes, width)[codes] for width in widths)
    signs = np.where(codes[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
    return views, np.hstack(views), signs


def problem(solver=Joint, kernel=KERNELS[0], n_classes=2, **settings):
    views, gating, signs = rows(n_classes=n_classes)
    defaults = {"C": 2.0, "sizes": (2, 2, 1), "n_gating": 2, "svm_tol": 1e-8}
    return solver(views=views, gating=gating, signs=signs, kernel=kernel, **{**defaults, **settings})


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
    task = QuasiNewton(views * 3, views[0], signs, KERNELS[0], 2.0, (1, 1, 1), 2, svm_tol=1e-8)
    point = task.start(0).best.point
    equal = point._replace(gate_weights=0 * point.gate_weights, gate_offset=0 * point.gate_offset)
    for part in task.gate_gradient(task.solve(equal, None)):
        np.testing.assert_allclose(part, 0.0, atol=1e-10)


# --- the objective ----------------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("solver", [Alternating, Joint])
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


@pytest.mark.parametrize("shape", [(1, 3), (75, 4), (300, 2)])
def test_gram_matrix(shape, monkeypatch):
    monkeypatch.setattr("supdr.solvers.gated_kernels.PRODUCT", 20_000)  # several slices
    X = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(gram(X), X @ X.T, atol=1e-12)
    np.testing.assert_allclose(gram(X), gram(X).T, rtol=1e-14)


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


# --- identities of the linear kernel ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 2, 2), (3, 4, 2)])
def test_closed_form_projections_lose_nothing(sizes):
    """For a given gate min over W of J is J with the full kernels, for every R_m; random projections are worse."""
    full = problem(QuasiNewton, sizes=sizes)
    best = full.start(1).best
    projections = closed_form_projections(full.pulls(best), full.views, best.gate, sizes)
    for W, size in zip(projections, sizes):
        np.testing.assert_allclose(W.T @ W, np.eye(size), atol=1e-10)
    projected = problem(Joint, sizes=sizes)
    at_closed_form = projected.solve(best.point._replace(projections=projections), None)
    assert at_closed_form.heads.dual == pytest.approx(best.heads.dual, rel=1e-8)
    if sizes != (3, 4, 2):  # those span everything
        rng = np.random.default_rng(0)
        random = tuple(random_orthonormal(X.shape[1], size, rng) for X, size in zip(full.views, sizes))
        assert projected.solve(best.point._replace(projections=random), None).value > 1.01 * best.heads.dual


def test_many_heads_need_as_many_directions():
    full = problem(QuasiNewton, n_classes=3)
    best = full.start(1).best
    wide = closed_form_projections(full.pulls(best), full.views, best.gate, (3, 3, 2))
    assert problem(Joint, n_classes=3).solve(best.point._replace(projections=wide), None).heads.dual == pytest.approx(
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


# --- the estimator ----------------------------------------------------------------------------------------------------


def three_views(n=150, n_classes=2, seed=0):
    views, X, signs = rows(n, n_classes=n_classes, seed=seed)
    y = (signs[:, 0] > 0).astype(float) if n_classes == 2 else signs.argmax(axis=1).astype(float)
    return X, y, tuple(view.shape[1] for view in views)


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
def test_one_local_model_is_a_support_vector_machine(solver):
    X, y, _ = three_views()
    fitted = SLDR(9, n_models=1, C=0.7, solver=solver, svm_tol=1e-6, random_state=0).fit(X, y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0) / 3.0
    svm = SVC(kernel="linear", C=0.7, tol=1e-6).fit(scaled, y)
    np.testing.assert_allclose(fitted.decision_function(X), svm.decision_function(scaled), atol=1e-3)
    np.testing.assert_array_equal(fitted.gate(X), 1.0)


@every_kernel
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_in_ten_lines(kernel, n_classes):
    X, y, sizes = three_views(n_classes=n_classes)
    settings = {"kernel": kernel.name, "degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
    settings |= {"solver": "joint", "starts": "best", "max_iter": 5}
    fitted = SLDR((2, 3, 1), views=sizes, random_state=0, **settings).fit(X, y)
    new = np.random.default_rng(1).standard_normal((20, 9))
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    scale = np.concatenate([np.full(size, size**-0.5) for size in sizes]) / deviation
    train, test = (X - mean) * scale, (new - mean) * scale
    logits = test @ fitted.gate_projection_ @ fitted.gate_weights_.T + fitted.gate_offset_
    eta = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    eta_train = fitted.gate(X)
    expected = np.tile(fitted.intercept_, (20, 1))
    for m, (W, columns) in enumerate(zip(fitted.projections_, np.split(np.arange(9), np.cumsum(sizes)[:-1]))):
        Z, S = test[:, columns] @ W, (train[:, columns] @ W)[fitted.support_]
        a = fitted.dual_coef_.T * eta_train[fitted.support_, m, None]
        expected += eta[:, m, None] * (kernel.matrix(Z, S) @ a)
    np.testing.assert_allclose(fitted.gate(new), eta, atol=1e-12)
    np.testing.assert_allclose(fitted.decision_function(new), expected[:, 0] if n_classes == 2 else expected, atol=1e-9)


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
def test_the_embedding_is_linear_in_what_predicts(solver):
    X, y, sizes = three_views()
    fitted = SLDR(2, views=sizes, solver=solver, starts="best", max_iter=8, random_state=0).fit(X, y)
    view = fitted.transform(X)
    np.testing.assert_array_equal(view, fitted.embedding_)
    np.testing.assert_allclose(view @ fitted.coef_[0] + fitted.intercept_[0], fitted.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(fitted.latent_decision_function(view), fitted.decision_function(X), atol=1e-9)
    local = fitted.local_transform(X)
    assert [Z.shape for Z in local] == [(150, 2)] * 3
    np.testing.assert_allclose(np.hstack([fitted.gate(X)[:, [m]] * Z for m, Z in enumerate(local)]), view)
    assert fitted.gating_transform(X).shape == (150, 2)
    np.testing.assert_allclose(fitted.gate_projection_.T @ fitted.gate_projection_, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(fitted.gate(X).sum(axis=1), 1.0)
    assert fitted.usage_.sum() == pytest.approx(1.0)
    norms = [np.linalg.norm(part) for part in np.split(fitted.coef_[0], 3)]
    np.testing.assert_allclose(fitted.pull_, norms, rtol=1e-6)
    np.testing.assert_allclose([fitted.history_[f"pull_{m}"][-1] for m in (1, 2, 3)], norms, rtol=1e-6)


def test_gated_coordinates_decide_alone_where_one_gate_is_open():
    X, y, sizes = three_views()
    single = SLDR(3, n_models=1, kernel="rbf", max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(single.latent_decision_function(single.transform(X)), single.decision_function(X))
    settings = {"kernel": "poly", "init_scale": 50.0, "starts": "best"}
    fitted = SLDR(2, views=sizes, max_iter=1, random_state=0, **settings).fit(X, y)
    crisp = fitted.gate(X).max(axis=1) > 1 - 1e-9
    assert crisp.sum() > 20
    exact, read = fitted.decision_function(X), fitted.latent_decision_function(fitted.transform(X))
    np.testing.assert_allclose(read[crisp], exact[crisp], atol=1e-4)
    with pytest.raises(AttributeError, match="linear"):
        fitted.coef_  # noqa: B018


def test_without_a_closed_form_lbfgs_is_joint():
    X, y, sizes = three_views()
    one, other = (
        SLDR(views=sizes, kernel="rbf", solver=s, max_iter=5, random_state=0).fit(X, y) for s in ("lbfgs", "joint")
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_views_of_one_matrix():
    """Sizes and index lists mean the same; views may share columns; the gate may see others."""
    X, y, sizes = three_views()
    lists = [list(group) for group in np.split(np.arange(9), np.cumsum(sizes)[:-1])]
    by_size, by_list = (SLDR(views=views, max_iter=3, random_state=0).fit(X, y) for views in (sizes, lists))
    np.testing.assert_array_equal(by_size.transform(X), by_list.transform(X))
    shared = SLDR(views=[[0, 1, 2], [2, 3]], gating_columns=[7, 8], max_iter=3, random_state=0).fit(X, y)
    assert shared.gate_projection_.shape == (2, 2)
    moved = X.copy()
    moved[:, :7] += 1.0
    np.testing.assert_array_equal(shared.gate(moved), shared.gate(X))
    unseen = X.copy()
    unseen[:, 4:7] += 1.0
    np.testing.assert_array_equal(shared.transform(unseen), shared.transform(X))


def test_precomputed_kernels_enter_through_their_components():
    """Views that are kernels give what centred features give."""
    X, y, sizes = three_views()
    tables = [table - table.mean(axis=0) for table in np.split(X, np.cumsum(sizes)[:-1], axis=1)]
    front = KernelViews().fit([table @ table.T for table in tables])
    settings = {"views": sizes, "preprocessing": "none", "n_models": 1, "tol": 0.0, "max_iter": 40, "random_state": 0}
    one = [[0, 1, 2]]
    features = SLDR(3, **{**settings, "views": one}, solver="lbfgs", svm_tol=1e-6).fit(np.hstack(tables), y)
    kernels = SLDR(3, **{**settings, "views": one}, solver="lbfgs", svm_tol=1e-6).fit(
        front.transform([t @ t.T for t in tables]), y
    )
    np.testing.assert_allclose(
        kernels.decision_function(front.transform([t @ t.T for t in tables])),
        features.decision_function(np.hstack(tables)),
        atol=1e-3,
    )


def test_unlabelled_rows_are_embedded_and_do_not_train():
    X, y, sizes = three_views()
    y[::3] = np.nan
    labelled = ~np.isnan(y)
    model = SLDR(views=sizes, solver="alternating", preprocessing="none", max_iter=6, random_state=0)
    fitted, alone = clone(model).fit(X, y), clone(model).fit(X[labelled], y[labelled])
    assert fitted.embedding_.shape == (150, 2 + 2 + 2)
    np.testing.assert_allclose(fitted.transform(X), alone.transform(X), atol=1e-10)
    assert labelled[fitted.support_].all()
    assert (fitted.label_pull_[~labelled] == 0).all()


def test_several_starts_contain_the_single_one_and_show_the_best():
    X, y = make_zigzag(200, random_state=1).to_xy()
    one, five = (
        list(SLDR(1, n_init=n, init="random", solver="alternating", random_state=1).iterate(X, y)) for n in (1, 5)
    )
    for single, several in zip(one, five):
        assert several.objective <= single.objective
    assert five[-1].objective < one[-1].objective
    assert all(snapshot.objective == min(run.heads.primal for run in snapshot.state.candidates) for snapshot in five)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_mean_of_all_starts_decides_and_the_best_is_shown(n_classes):
    X, y, _ = three_views(n_classes=n_classes)
    model = SLDR(n_components=n_classes, n_models=3, n_init=4, random_state=0)
    snapshots = list(model.iterate(X, y))
    rows = StandardScaler().fit_transform(X) / 3.0
    signs = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
    for snapshot in (snapshots[2], snapshots[-1]):
        fitted, scores, gates = model.at(snapshot), [], []
        for run in snapshot.state.candidates:
            gate, duals = run.point.gate(rows), run.heads.alpha * signs
            local = [eta[:, None] * (rows @ (rows.T @ (eta[:, None] * duals))) for eta in gate.T]
            scores.append(np.sum(local, axis=0) + run.heads.bias)
            gates.append(gate)
        expected, shown = np.mean(scores, axis=0), snapshot.state.shown
        expected = expected[:, 0] if n_classes == 2 else expected
        np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-9)
        np.testing.assert_array_equal(fitted.training_decision_, fitted.decision_function(X))
        winners = (expected > 0).astype(float) if n_classes == 2 else expected.argmax(axis=1)
        np.testing.assert_array_equal(fitted.predict(X), winners)
        np.testing.assert_allclose(fitted.gate(X), gates[shown], atol=1e-12)
        own = fitted.transform(X) @ fitted.coef_.T + fitted.intercept_
        np.testing.assert_allclose(own, scores[shown], atol=1e-9)
        np.testing.assert_allclose(np.reshape(fitted.latent_decision_function(fitted.transform(X)), own.shape), own)
    again = model.set_params(starts="best")
    best = again.at(list(again.iterate(X, y))[-1])
    np.testing.assert_allclose(np.reshape(best.decision_function(X), own.shape), scores[shown], atol=1e-9)


def test_the_mean_of_starts_errs_less_than_the_best_of_them():
    errors = {"average": [], "best": []}
    for seed in range(3):
        X, y = make_classification(
            300, 20, n_informative=8, n_redundant=0, n_clusters_per_class=4, class_sep=1.5, random_state=seed
        )
        for starts, found in errors.items():
            fitted = SLDR(starts=starts, random_state=seed).fit(X[:150], y[:150])
            found.append(1.0 - fitted.score(X[150:], y[150:]))
    assert np.mean(errors["average"]) < np.mean(errors["best"]) - 0.02


def test_ten_heads_have_room_at_the_defaults():
    X, y = load_digits(return_X_y=True)
    fitted = SLDR(random_state=0, max_iter=15).fit(X[::3], y[::3])
    assert fitted.score(X[1::3], y[1::3]) > 0.93
    assert [W.shape for W in fitted.projections_] == [(64, 10)] * 5
    narrow = SLDR(2, random_state=0, max_iter=15).fit(X[::3], y[::3])
    assert narrow.transform(X).shape == (len(X), 10)
    np.testing.assert_array_equal(narrow.predict(X), fitted.predict(X))  # R is for the eye


@pytest.mark.parametrize(("n_classes", "wanted"), [(2, (2, 2, 2)), (3, (3, 3, 2))])
def test_every_head_has_a_direction_of_its_own(n_classes, wanted):
    X, y, sizes = three_views(n_classes=n_classes)
    fitted = SLDR(views=sizes, max_iter=2, random_state=0).fit(X, y)
    assert tuple(W.shape[1] for W in fitted.projections_) == wanted
    np.testing.assert_allclose(
        np.reshape(fitted.latent_decision_function(fitted.transform(X)), (150, -1)),
        fitted.transform(X) @ fitted.coef_.T + fitted.intercept_,
    )


@pytest.mark.parametrize("starts", ["average", "best"])
def test_early_stopping_chooses_iterate_and_start_by_held_out_rows(starts):
    X, y = make_gauss4(300, random_state=0).to_xy()
    settings = {"solver": "alternating", "n_models": 3, "n_iter_no_change": 5, "tol": 0.0, "starts": starts}
    model = SLDR(1, n_init=3, early_stopping=True, random_state=0, **settings)
    snapshots = list(model.iterate(X, y))
    last = snapshots[-1]
    assert last.stop in (Stop.no_improvement, Stop.max_iter, Stop.converged)
    errors = [snapshot.diagnostics["validation_error"] for snapshot in snapshots]
    assert last.diagnostics["validation_error"] == min(errors)
    for snapshot in snapshots:
        assert snapshot.state.best.held_out == min(run.held_out for run in snapshot.state.candidates)
    hidden = held_out_rows(decode_targets(y, "classification", np.nan), 0.2, 0)
    assert len(hidden) == 60
    fitted = model.at(last)
    assert min(errors) == pytest.approx(1.0 - fitted.score(X[hidden], y[hidden]))
    assert (fitted.label_pull_[hidden] == 0).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_projections_that_suit_the_gate_are_a_better_start(kernel):
    X, y, sizes = three_views()
    starts = {}
    for init in ("closed_form", "random"):
        settings = {"init": init, "kernel": kernel, "gamma": 0.1, "solver": "joint"}
        model = SLDR(1, views=sizes, n_init=4, max_iter=1, random_state=0, **settings)
        first = next(model.iterate(X, y)).state
        starts[init] = np.mean([candidate.heads.primal for candidate in first.candidates])
    assert starts["closed_form"] < 0.95 * starts["random"]


def test_gates_do_not_close_in_one_leap():
    """Quasi-Newton steps in which no log-odds moves by more than 20, however far L-BFGS would go."""
    X, y, sizes = three_views()
    model = SLDR(1, views=sizes, solver="lbfgs", n_init=1, C=100.0, tol=0.0, random_state=0)
    logits = [np.log(np.maximum(snapshot.state.best.gate, 1e-300)) for snapshot in model.iterate(X, y)]
    for before, after in itertools.pairwise(logits):
        change = after - before
        assert (np.ptp(change[(before > 1e-200).all(axis=1) & (after > 1e-200).all(axis=1)], axis=1) <= 20 + 1e-6).all()


# --- what it is for ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_zigzag_is_taken_apart_into_its_three_pieces(seed):
    X, y = make_zigzag(600, random_state=seed).to_xy()
    fitted = SLDR(1, n_models=3, starts="best", random_state=seed).fit(X[:200], y[:200])
    assert fitted.score(X[200:], y[200:]) >= 0.985
    assert fitted.usage_.min() > 0.05
    line = SVC(kernel="linear", C=10.0).fit(X[:200], y[:200])
    assert line.score(X[200:], y[200:]) < 0.82


def test_gauss4_comes_near_the_best_possible():
    accuracies = []
    for seed in range(3):
        X, y = make_gauss4(1200, random_state=seed).to_xy()
        fitted = SLDR(1, n_models=3, random_state=seed).fit(X[:400], y[:400])
        accuracies.append(fitted.score(X[400:], y[400:]))
    assert np.mean(accuracies) >= 0.875


@pytest.mark.papers
def test_multifeat_takes_few_support_vectors(data_dir):
    """Digits 0-4 against 5-9 in six views (paper: 97.09 %, 2.89 % support vectors; all views: 97.69 %, 23.34 %)."""
    with np.load(data_dir / "multifeat.npz") as data:
        views = [data[name] for name in ("fac", "fou", "kar", "mor", "pix", "zer")]
        y = (data["y"].ravel() >= 5).astype(int)
    X, sizes = stack_views(views)
    ours_right, all_right = [], []
    for seed in range(3):  # one split is one local optimum: accuracies are judged by their mean
        train, test = np.split(np.random.default_rng(seed).permutation(2000), [666])
        ours = SLDR(2, views=sizes, solver="alternating", starts="best", random_state=0).fit(X[train], y[train])
        everything = AllViewsSVM(views=sizes).fit(X[train], y[train])
        ours_right.append(ours.score(X[test], y[test]))
        all_right.append(everything.score(X[test], y[test]))
        assert ours.support_fraction_ < 0.03 < 0.1 < everything.support_fraction_
    assert np.mean(ours_right) > 0.97
    assert np.mean(ours_right) > np.mean(all_right) - 0.01
    assert 2 <= (ours.usage_ > 0.02).sum() <= 6


# --- what it refuses --------------------------------------------------------------------------------------------------


NO_VIEWS = [4, "views", {"a": [0, 1]}, {4, 5}, pd.NA, 2.5, np.array(9)]
NO_COLUMNS = [[[0, 1], 2], [1.5, 7.5], ["a", "b"], [pd.NA, 9], [True, 8], [[0, [1]], [2]], [[0], []]]
NO_GATING_COLUMNS = [[], 3, "abc", [[0], [1, 2]], [0, None], [0.5], pd.NA]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": (2, 2)}, "n_components"),
        ({"n_components": (2, 0, 1)}, "n_components"),
        ({"n_gating": 0}, "n_gating"),
        ({"n_models": 0}, "n_models"),
        ({"n_components": "two"}, "n_components"),
        ({"n_components": [[1], [1, 2], [1]]}, "n_components"),
        ({"starts": "mean"}, "starts must"),
        *(({"views": views}, "views must be None, a list of sizes .* or a list of lists") for views in NO_VIEWS),
        *(({"views": views}, r"views\[\d\] must be a non-empty list of column indices") for views in NO_COLUMNS),
        ({"views": (4, 4)}, "views must be sizes"),
        ({"views": [[0, 9]]}, r"views\[0\] must hold distinct"),
        ({"gating_columns": [0, 0]}, "gating_columns must hold distinct"),
        *(({"gating_columns": columns}, "gating_columns must be a non-empty list") for columns in NO_GATING_COLUMNS),
        ({"C": 0.0}, "C must"),
        ({"C": np.inf}, "C must"),
        ({"kernel": "laplace"}, "kernel"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma"),
        ({"kernel": "poly", "degree": 0}, "degree"),
        ({"solver": "sgd"}, "solver"),
        ({"preprocessing": "whiten"}, "preprocessing"),
        ({"init": "pca"}, "init must"),
        ({"init_scale": 0.0}, "init_scale"),
        ({"n_init": 0}, "n_init"),
        ({"svm_tol": 1e-9}, "svm_tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y, _ = three_views()
    with pytest.raises(ValueError, match=message):
        SLDR(**settings).fit(X, y)


@pytest.mark.parametrize("solver", ["alternating", "lbfgs"])
def test_machines_that_are_not_solved_are_reported(solver, monkeypatch):
    """Refuse every third trial: the run goes on, and says so at its end; a start that cannot be solved is an error."""
    X, y, sizes = three_views()
    solve, calls = heads_on_features, []

    def unreliable(*arguments):
        calls.append(1)
        heads = solve(*arguments)
        return heads._replace(closed=False) if len(calls) % 3 == refused else heads

    monkeypatch.setattr("supdr.methods.sldr.problem.heads_on_features", unreliable)
    refused = 0
    with pytest.warns(ConvergenceWarning, match="trial steps were refused"):
        fitted = SLDR(views=sizes, solver=solver, n_init=1, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    assert fitted.history_["svm_failures"].sum() > 0
    assert (np.diff(fitted.history_["objective"]) <= 0).all()
    calls.clear()
    refused = 1
    with pytest.raises(ValueError, match="svm_tol"):
        SLDR(views=sizes, solver=solver, random_state=0).fit(X, y)


def test_missing_cells_are_refused():
    X, y, sizes = three_views()
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SLDR(views=sizes).fit(X, y)


def test_dimensions_are_clipped_and_constant_columns_harmless():
    X, y, sizes = three_views()
    X[:, 4] = 7.0
    fitted = SLDR(5, n_gating=50, views=sizes, max_iter=3, random_state=0).fit(X, y)
    assert [W.shape for W in fitted.projections_] == [(3, 3), (4, 4), (2, 2)]
    assert fitted.gate_projection_.shape == (9, 9)
    assert np.isfinite(fitted.transform(X)).all()


def test_solvers_and_kernels_can_change_within_a_run():
    X, y, sizes = three_views()
    chain = [
        ("lbfgs", "linear"),
        ("alternating", "linear"),
        ("joint", "rbf"),
        ("alternating", "poly"),
        ("lbfgs", "linear"),
    ]
    snapshot = None
    for solver, kernel in chain:
        model = SLDR(2, views=sizes, solver=solver, kernel=kernel, n_init=1, max_iter=3, tol=0.0, random_state=0)
        snapshots = list(model.iterate(X, y, start=snapshot))
        if snapshot is not None:
            np.testing.assert_allclose(snapshots[0].state.best.gate, snapshot.state.best.gate)
        snapshot = snapshots[-1]
        assert snapshot.objective <= snapshots[0].objective
        assert isinstance(snapshot.state.best, Candidate)
        assert np.isfinite(model.at(snapshot).transform(X)).all()


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
def test_a_gate_without_projection_sees_its_columns(solver):
    X, y = load_iris(return_X_y=True)
    fitted = SLDR(n_gating=None, gating_columns=(0, 3), solver=solver, max_iter=3, random_state=0).fit(X, y)
    assert fitted.gate_projection_ is None
    expected = StandardScaler().fit_transform(X)[:, [0, 3]]
    np.testing.assert_allclose(fitted.gating_transform(X), expected / 2.0, atol=1e-12)  # one view of four columns
    scores = fitted.gating_transform(X) @ fitted.gate_weights_.T + fitted.gate_offset_
    np.testing.assert_allclose(fitted.gate(X), softmax(scores, axis=1), atol=1e-12)

"""NSDR: gradients, descent under closed gaps, heads, the paper's loop."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from supdr import NSDR, Stop
from supdr.functions.kernels import Kernel
from supdr.methods.nsdr.min_max import move_pairs, multiplier_sweep, pair_epoch, pair_orders
from supdr.methods.nsdr.solvers import BlockDescent
from supdr.solvers.kernel_heads import KernelHead, close_gap
from supdr.solvers.smo import solve_svm
from tests.core import inside

KERNELS = {
    "poly 2": {"kernel": "poly", "degree": 2},
    "poly 3": {"kernel": "poly", "degree": 3},
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def data(n_classes=2, *, n_samples=45, unlabelled=0.3, missing=0.0, seed=0):
    """Overlapping classes in five columns; NaN marks unlabelled rows and missing cells."""
    X, y = make_classification(
        n_samples, 5, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.6, random_state=seed
    )
    rng = np.random.default_rng(seed)
    y = y.astype(float)
    y[rng.random(n_samples) < unlabelled] = np.nan
    X[rng.random(X.shape) < missing] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    return X, y


def problem_of(estimator, X, y):
    run = next(estimator.iterate(X, y)).run
    return inside.problem_of(run)


# --- the objective and its gradient -----------------------------------------------------------------------------------


def solved_objective(problem, point):
    """F at a flat point, the multipliers solved anew to ten digits."""
    factors = problem.unpack(point)
    K = problem.kernel.matrix(factors[0][problem.rows])
    duals = [solve_svm(K, y, problem.C, tol=1e-10).objective for y in problem.signs.T]
    return sum(problem.reconstruction(*factors).values()) + (1 - problem.beta) * sum(duals)


@kernels
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_envelope_gradient_matches_finite_differences_in_every_block(kernel, n_classes, missing):
    X, y = data(n_classes, missing=missing)
    # One global norm would be dominated by the components and would not see a wrong label term.
    problem = problem_of(NSDR(3, solver="lbfgs", beta=0.4, row_bias=True, C=0.7, reg_u=0.3, **kernel), X, y)
    rng = np.random.default_rng(1)
    factors = tuple(0.8 * rng.normal(size=shape) for shape in ((len(X), 4), (3, 5), (5,)))
    point = np.concatenate([factor.ravel() for factor in factors])
    K = problem.kernel.matrix(factors[0][problem.rows])
    alpha = np.column_stack([solve_svm(K, sign, problem.C, tol=1e-10).alpha for sign in problem.signs.T])
    gradient = problem.gradient(factors, problem.label_gradient(factors[0][problem.rows], alpha))

    latent = np.arange(factors[0].size).reshape(factors[0].shape)
    unlabelled = np.setdiff1d(np.arange(len(X)), problem.rows)
    blocks = {
        "labelled U": latent[problem.rows, :3],
        "unlabelled U": latent[unlabelled, :3],
        "row biases": latent[:, 3],
        "V": latent.size + np.arange(15),
        "bv": latent.size + 15 + np.arange(5),
    }
    for name, indices in blocks.items():
        chosen = rng.permutation(indices.ravel())[:8]
        numeric = []
        for index in chosen:
            step = np.zeros(len(point))
            step[index] = 1e-5
            numeric.append((solved_objective(problem, point + step) - solved_objective(problem, point - step)) / 2e-5)
        assert np.abs(gradient[chosen] - numeric).max() <= 1e-6 * np.abs(numeric).max(), name


def test_losses_are_the_formula():
    X, y = data(3, missing=0.1)
    estimator = NSDR(2, beta=0.3, reg_u=0.2, reg_v=0.5, C=2.0, max_iter=4, random_state=0).fit(X, y)
    X, targets = estimator._training
    U, V = estimator.embedding_, estimator.components_
    residual = np.nan_to_num(X - U @ V - estimator.intercept_x_)
    K = np.exp(-0.5 * ((U[:, None] - U[None]) ** 2).sum(axis=2))[np.ix_(targets.labelled, estimator.support_)]
    scores = K @ estimator.dual_coef_.T + estimator.intercept_
    quadratic = np.einsum(
        "ks,st,kt->", estimator.dual_coef_, K[np.searchsorted(np.flatnonzero(targets.labelled), estimator.support_)],
        estimator.dual_coef_,
    )  # fmt: skip
    hinge = np.maximum(0, 1 - targets.values[targets.labelled] * scores).sum()
    last = {name: values[-1] for name, values in estimator.history_.items()}
    assert last["reconstruction"] == pytest.approx(0.3 * (residual**2).sum())
    assert last["regularisation"] == pytest.approx(0.2 * (U**2).sum() + 0.5 * (V**2).sum())
    assert last["label"] == pytest.approx(0.7 * (0.5 * quadratic + 2.0 * hinge))
    assert last["objective"] == pytest.approx(last["reconstruction"] + last["regularisation"] + last["label"])


@kernels
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("unlabelled", [0.0, 0.4])
@pytest.mark.parametrize("solver", ["bcd", "lbfgs"])
def test_objective_never_rises_and_gaps_are_closed(kernel, n_classes, missing, unlabelled, solver):
    X, y = data(n_classes, missing=missing, unlabelled=unlabelled)
    estimator = NSDR(2, solver=solver, C=3.0, reg_u=0.1, reg_v=0.1, max_iter=8, tol=-1, init="random", **kernel)
    problem, precision = problem_of(estimator, X, y), {"bcd": 1e-3, "lbfgs": 1e-6}[solver]
    snapshots = list(estimator.set_params(random_state=0).iterate(X, y))
    for earlier, later in itertools.pairwise(snapshots):
        assert later.objective <= earlier.objective * (1 + 1e-12)
    for snapshot in snapshots:
        heads = snapshot.state.heads
        assert -1e-9 <= heads.gap <= precision * (1 + heads.primal)
        assert all(np.isfinite(array).all() for array in snapshot.state[:3])
        assert (heads.alpha >= 0).all()
        assert (heads.alpha <= problem.C).all()
        assert np.abs((heads.alpha * problem.signs).sum(axis=0)).max() < 1e-9
    assert snapshots[-1].objective < 0.9 * snapshots[0].objective


def test_an_unfinished_solve_rejects_the_move_and_doubles_the_cap():
    X, y = data(n_samples=80)
    problem = problem_of(NSDR(2, kernel="poly", degree=3, C=10.0, random_state=0), X, y)
    # Short enough moves need no update of the multipliers.
    problem = replace(problem, solver=BlockDescent(max_trials=1))
    state = problem.start(0)
    for _ in range(3):
        state = problem.step(state)
    assert state.accepted
    state = state._replace(cap=1, step_size=0.5)
    following = problem.step(state)
    assert not following.accepted
    assert not problem.may_converge(state, following)
    assert following.step_size == 0.25
    np.testing.assert_array_equal(following.latent[problem.rows], state.latent[problem.rows])
    np.testing.assert_array_equal(following.heads.alpha, state.heads.alpha)
    assert following.cap == 2
    assert problem.losses(following)["objective"] < problem.losses(state)["objective"]


def test_little_progress_by_a_short_step_is_not_convergence():
    X, y = data()
    problem = problem_of(NSDR(2), X, y)
    state = problem.start(0)
    short = problem.step(state._replace(step_size=1e-6))
    assert short.accepted
    assert not problem.may_converge(state, short)
    assert problem.may_converge(state, short._replace(step_size=1e-11, accepted=False))


def test_first_solve_that_cannot_be_closed_names_the_parameters():
    X, y = data(n_samples=80)
    problem = problem_of(NSDR(2, kernel="poly", degree=3, C=1e3, random_state=0), X, y)
    state = problem.start(0)
    cold = state._replace(heads=state.heads._replace(alpha=np.zeros_like(state.heads.alpha)))
    said = r"C=1000 and the polynomial kernel of degree 3 did not close its gap within 2 updates"
    with pytest.raises(ValueError, match=said):
        problem.solved(cold, cap=2)


def test_beta_one_ignores_the_labels():
    X, y = data(unlabelled=0.0)
    first = NSDR(2, beta=1.0, random_state=0).fit(X, y)
    second = NSDR(2, beta=1.0, random_state=0).fit(X, np.roll(y, 7))
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    np.testing.assert_allclose(first.embedding_, first.transform(X), atol=1e-2 * np.abs(first.embedding_).max())


# --- heads ------------------------------------------------------------------------------------------------------------


@kernels
def test_heads_agree_with_libsvm(kernel):
    X, y = make_blobs(90, 3, centers=3, cluster_std=4.0, random_state=0)
    X = X / X.std(axis=0)
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    K = Kernel(kernel["kernel"], kernel.get("degree", 2), 1 / 3).matrix(X)
    heads = close_gap(K, signs, 0.8, precision=1e-6)
    assert heads.closed
    total = 0.0
    for k in range(3):
        svc = SVC(C=0.8, kernel="precomputed", tol=1e-6).fit(K, signs[:, k])
        duals = np.zeros(90)
        duals[svc.support_] = svc.dual_coef_[0]
        total += np.abs(duals).sum() - 0.5 * duals @ K @ duals
        decision = K @ (heads.alpha[:, k] * signs[:, k]) + heads.bias[k]
        np.testing.assert_allclose(decision, svc.decision_function(K), atol=2e-3)
    assert heads.dual - 1e-6 <= total <= heads.primal + 1e-6


def test_ceiling_is_decided_by_bounds():
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(70, 2)), np.where(rng.random((70, 1)) < 0.5, 1.0, -1.0)
    K = Kernel("rbf", gamma=0.5).matrix(X)
    value = close_gap(K, signs, 1.0, precision=1e-8).primal
    below, above = (close_gap(K, signs, 1.0, ceiling=value * factor) for factor in (0.9, 1.001))
    assert not below.closed
    assert below.dual > 0.9 * value
    assert above.closed
    assert above.primal <= 1.001 * value


def test_threads_over_heads_change_nothing():
    X, y = load_iris(return_X_y=True)
    one, two = (NSDR(max_iter=5, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


def test_scores_do_not_depend_on_blocks():
    rng = np.random.default_rng(0)
    head = KernelHead(Kernel("rbf"), rng.normal(size=(300, 2)), rng.normal(size=(300, 2)), np.array([0.1, 0.2]))
    latent = rng.normal(size=(1000, 2))
    expected = head.scores(latent)
    with config_context(working_memory=0.01):
        np.testing.assert_allclose(head.scores(latent), expected, rtol=1e-12, atol=1e-12)


# --- the paper's loop -------------------------------------------------------------------------------------------------


@kernels
@pytest.mark.parametrize("n_heads", [1, 3])
def test_pairs_add_up_to_the_envelope_gradient(kernel, n_heads):
    rng = np.random.default_rng(0)
    Z, duals = rng.normal(size=(6, 3)), rng.normal(size=(6, n_heads))
    kernel = Kernel(kernel["kernel"], kernel.get("degree", 2), 0.6)
    total = np.zeros_like(Z)
    for first, second in itertools.product(range(6), repeat=2):  # every ordered pair, each from the same rows
        moved = Z.copy()
        rows = np.unique([first, second])
        order = np.array([np.searchsorted(rows, first) * len(rows) + np.searchsorted(rows, second)])
        move_pairs(moved, rows, duals[rows], order, kernel, 1.0)
        total += moved - Z
    np.testing.assert_allclose(total, kernel.gradient(Z, duals), rtol=1e-12, atol=1e-12 * np.abs(total).max())


@pytest.mark.parametrize("block", [1, 20, 1 << 20])
def test_an_epoch_visits_every_ordered_pair_once(block):
    order = np.concatenate(list(pair_orders(7, np.random.default_rng(0), block)))
    np.testing.assert_array_equal(np.sort(order), np.arange(49))


def test_a_pair_epoch_lowers_the_label_term():
    """Equation 36's sign; equation 32's would raise it."""
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(60, 2)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    kernel = Kernel("poly", degree=2)
    before = solve_svm(kernel.matrix(Z), y, 1.0, tol=1e-6)
    pair_epoch(Z, np.arange(60), (before.alpha * y)[:, None], kernel, 1e-3, rng)
    assert solve_svm(kernel.matrix(Z), y, 1.0, tol=1e-6).objective < before.objective


@pytest.mark.parametrize("kernel", [Kernel("poly", degree=3), Kernel("rbf", gamma=0.5)], ids=str)
def test_corrected_algorithm_2_reaches_the_solution_of_libsvm(kernel):
    X, y = make_classification(120, 4, n_informative=3, n_redundant=0, flip_y=0.15, random_state=0)
    X, y = np.vstack([X, X[:3]]), np.append(2.0 * y - 1, 1 - 2.0 * y[:3])  # rows repeated with the opposite label
    K, rng = kernel.matrix(X / 2), np.random.default_rng(0)
    alpha, bias = np.zeros(len(y)), 0.0
    for _ in range(300):
        previous = alpha
        alpha, bias, scores = multiplier_sweep(K, y, 1.0, alpha, bias, rng)
        assert abs(alpha @ y) < 1e-9
        assert alpha.min() >= 0.0
        assert alpha.max() <= 1.0
        if np.array_equal(alpha, previous):
            break
    margins = y * (scores + bias) - 1
    assert (margins[alpha < 1] >= -1e-3).all()
    assert (margins[alpha > 0] <= 1e-3).all()
    svc = SVC(C=1.0, kernel="precomputed", tol=1e-6).fit(K, y)
    duals = svc.dual_coef_[0]
    expected = np.abs(duals).sum() - 0.5 * duals @ K[np.ix_(svc.support_, svc.support_)] @ duals
    assert alpha.sum() - 0.5 * (alpha * y) @ scores == pytest.approx(expected, rel=1e-4)
    assert bias == pytest.approx(svc.intercept_[0], abs=0.02)


def test_the_loop_descends_and_brackets_its_label_term():
    X, y = data(n_samples=80)
    estimator = NSDR(2, kernel="poly", solver="sgd", init="random", lr_classification=1e-3, row_bias=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.set_params(calibrate=False, random_state=0, max_iter=100).fit(X, y)
    history = estimator.history_
    assert history["objective"][-1] < 0.9 * history["objective"][0]
    assert (history["gap"] >= -1e-9).all()
    np.testing.assert_allclose(history["label"] - history["dual"], history["gap"], atol=1e-9)


def test_the_loop_does_not_look_at_missing_cells():
    X, y = data(missing=0.2)
    problem = problem_of(NSDR(2, solver="sgd", init="random", kernel="poly"), X, y)
    assert problem.observed is not None
    state = problem.start(0)
    first = problem.step(state)
    problem.X[problem.observed == 0] = 1e3
    np.testing.assert_array_equal(problem.step(state).latent, first.latent)


def test_divergence_is_reported_with_advice():
    X, y = data()
    estimator = NSDR(2, solver="sgd", lr_reconstruction=5.0, init="random", random_state=0)
    with pytest.warns(ConvergenceWarning, match="smaller learning rates"):
        estimator.fit(X, y)
    assert estimator.stop_ is Stop.diverged
    assert np.isfinite(estimator.transform(X)).all()


def test_a_loop_stopped_too_early_warns():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="still falls by more than 1 %"):
        NSDR(2, solver="sgd", init="random", lr_reconstruction=0.02, beta=0.9, max_iter=10, random_state=0).fit(X, y)

"""SNF's objective and solvers: both forms of the regressions, gradient, closed forms, the paper's loop, fold-in."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from supdr import SNF, Stop
from supdr.datasets import make_curved_sheet
from supdr.functions.kernels import Kernel
from supdr.methods.snf.calibration import DEGREES, RIDGES, most_likely
from supdr.methods.snf.fold_in import fold_in, nearest_rows
from supdr.methods.snf.problem import pca_starts
from supdr.methods.snf.solvers import PaperLoop, QuasiNewton
from supdr.solvers.kernel_ridge import Dual, Primal, cholesky, explicit, regression, solve_cholesky
from supdr.solvers.monomials import monomials

POLYNOMIALS = [
    Kernel("linear"),
    *(Kernel("poly", degree) for degree in (1, 2, 3, 4)),
    Kernel("poly", 3, coef0=0.3),
    Kernel("poly", 2, coef0=0.0),
]
KERNELS = [*POLYNOMIALS, Kernel("rbf", gamma=0.5)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def problem(kernel=POLYNOMIALS[2], cls=QuasiNewton, n_rows=14, **settings):
    rng = np.random.default_rng(0)
    X, rows = rng.standard_normal((n_rows, 4)), np.array([1, 3, 4, 8, 12])
    defaults = {
        "missing": np.empty(0, np.int64),
        "rows": rows,
        "Y": rng.standard_normal((5, 2)),
        "weights": None,
        "kernel": kernel,
        "n_components": 2,
        "target_weight": 1.3,
        "reg_v": 0.7,
        "reg_w": 0.4,
        "reg_z": 0.3,
        "init": "random",
        "init_scale": 0.5,
        "n_init": 1,
        "lr_reconstruction": 1e-9,
    }
    return cls(X=X, **{**defaults, **settings})


def sheet(seed=0, **settings):
    dataset = make_curved_sheet(random_state=seed, **settings)
    return dataset.X, dataset.y, dataset.truth


# --- the regressions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_monomials_multiply_to_the_kernel(kernel):
    Z = np.random.default_rng(0).standard_normal((7, 3))
    psi = monomials(3, kernel.exponent, kernel.constant).features(Z)
    np.testing.assert_allclose(psi @ psi.T + kernel.constant**kernel.exponent, kernel.matrix(Z), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_primal_and_dual_agree(kernel, weighted):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((60, 3)), rng.standard_normal((60, 5)) + 3.0, rng.standard_normal((4, 3))
    weights = rng.uniform(0.1, 5.0, 60) if weighted else None
    primal, dual = Primal(monomials(3, kernel.exponent, kernel.constant), 0.7, weights), Dual(kernel, 0.7, weights)
    (first, first_residual), (second, second_residual) = primal.solve(Z, T), dual.solve(Z, T)
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose([first.loss, first.penalty], [second.loss, second.penalty], **close)
    np.testing.assert_allclose(first_residual, second_residual, **close)
    np.testing.assert_allclose(
        primal.gradient(Z, first, first_residual), dual.gradient(Z, second, second_residual), **close
    )
    np.testing.assert_allclose(primal.predict(first, Z, new), dual.predict(second, Z, new), **close)
    np.testing.assert_allclose(primal.jacobian(first, Z, new), dual.jacobian(second, Z, new), **close)


@every_kernel
def test_dual_solves_the_bordered_system(kernel):
    rng = np.random.default_rng(0)
    Z, T = 0.5 * rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    fit, residual = Dual(kernel, 0.3).solve(Z, T)
    bordered = np.block([[kernel.matrix(Z) + 0.3 * np.eye(20), np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.vstack([T, np.zeros((1, 2))]))
    np.testing.assert_allclose(np.vstack([fit.coef, fit.bias]), solution, atol=1e-11)
    np.testing.assert_allclose(residual, T - Dual(kernel, 0.3).predict(fit, Z, Z), atol=1e-11)
    np.testing.assert_allclose(fit.penalty, 0.3 * np.trace(fit.coef.T @ kernel.matrix(Z) @ fit.coef), rtol=1e-9)


@every_kernel
def test_a_weight_of_two_is_a_row_twice(kernel):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((20, 2)), rng.standard_normal((20, 3)), rng.standard_normal((4, 2))
    counts = np.arange(20) % 3 + 1
    weighted, repeated = regression(kernel, 0.5, 2, 20, counts.astype(float)), regression(kernel, 0.5, 2, counts.sum())
    again = np.repeat(np.arange(20), counts)
    (first, _), (second, _) = weighted.solve(Z, T), repeated.solve(Z[again], T[again])
    np.testing.assert_allclose([first.loss, first.penalty], [second.loss, second.penalty], rtol=1e-9)
    predictions = weighted.predict(first, Z, new), repeated.predict(second, Z[again], new)
    np.testing.assert_allclose(*predictions, rtol=1e-8, atol=1e-8)


@every_kernel
def test_jacobians_are_derivatives(kernel):
    rng = np.random.default_rng(0)
    Z, T, new, h = 0.5 * rng.standard_normal((20, 2)), rng.standard_normal((20, 3)), rng.standard_normal((4, 2)), 1e-6
    form = regression(kernel, 0.5, 2, 20)
    fit, _ = form.solve(Z, T)
    for k, step in enumerate(h * np.eye(2)):
        slope = (form.predict(fit, Z, new + step) - form.predict(fit, Z, new - step)) / (2 * h)
        np.testing.assert_allclose(form.jacobian(fit, Z, new)[:, k], slope, rtol=1e-6, atol=1e-6)


@every_kernel
def test_weights_of_monomials_say_what_weights_of_rows_say(kernel):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((40, 2)), rng.standard_normal((40, 3)), rng.standard_normal((4, 2))
    form = Dual(kernel, 0.5)
    fit, _ = form.solve(Z, T)
    other, same = explicit(form, fit, Z)
    assert isinstance(other, Dual if kernel.name == "rbf" else Primal)
    np.testing.assert_allclose(other.predict(same, Z, new), form.predict(fit, Z, new), atol=1e-10)
    np.testing.assert_allclose(other.jacobian(same, Z, new), form.jacobian(fit, Z, new), atol=1e-10)
    many = Dual(Kernel("poly", 6), 0.5)
    assert explicit(many, fit, np.zeros((40, 200)))[0] is many  # 9e10 monomials are not listed


def test_the_cheaper_form_is_taken():
    assert isinstance(regression(Kernel("poly", 2), 1.0, 2, 9), Primal)  # 5 monomials < 0.6 n
    assert isinstance(regression(Kernel("poly", 2), 1.0, 2, 8), Dual)
    assert isinstance(regression(Kernel("rbf"), 1.0, 2, 1000), Dual)
    assert isinstance(regression(Kernel("poly", 6), 1.0, 200, 1000), Dual)  # 9e10 monomials are not listed


@pytest.mark.parametrize("size", [1, 60, 300])
def test_blocked_cholesky(size):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((size, size))
    A, right = A @ A.T, rng.standard_normal((size, 3))
    factor = cholesky(A, 0.5)
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, A + 0.5 * np.eye(size), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((A + 0.5 * np.eye(size)) @ solve_cholesky(factor, right), right, atol=1e-8)


def test_singular_matrices_get_a_jitter_and_bad_ones_an_error():
    ones = np.ones((200, 200))
    assert np.isfinite(np.tril(cholesky(ones, 0.0))).all()
    for bad in (-np.eye(3), np.full((3, 3), np.nan)):
        with pytest.raises(LinAlgError):
            cholesky(bad, 0.0)


@pytest.mark.parametrize("kernel", [Kernel("poly", 2), Kernel("rbf", gamma=0.3), Kernel("linear")], ids=str)
@pytest.mark.parametrize("n_rows", [9, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_most_likely_regression_is_found_by_trying_all(kernel, n_rows, weighted):
    """Level integrated out, scale at its best: contrasts of the labels are normal."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 5.0, n_rows) if weighted else np.ones(n_rows)
    Z = rng.standard_normal((n_rows, 2))
    Y = np.column_stack([Z[:, 0] + Z[:, 1] ** 2, Z[:, 0] * Z[:, 1]]) + 0.3 * rng.standard_normal((n_rows, 2))
    contrasts = np.linalg.svd(np.ones((1, n_rows)))[2][1:]
    costs = {}
    for degree in DEGREES if kernel.name == "poly" else (None,):
        each = kernel if degree is None else Kernel("poly", degree)
        for reg in RIDGES:
            covariance = contrasts @ (each.matrix(Z) + reg * np.diag(1.0 / weights)) @ contrasts.T
            cost = 0.0
            for y in (contrasts @ Y).T:
                scale = y @ np.linalg.solve(covariance, y) / len(y)
                cost -= 2.0 * multivariate_normal(cov=scale * covariance).logpdf(y)
            costs[each, reg] = cost
    best, reg = min(costs, key=costs.get)
    found, expected = most_likely(kernel, Z, Y, weights), regression(best, reg, 2, n_rows, weights)
    (first, _), (second, _) = found.solve(Z, Y), expected.solve(Z, Y)
    np.testing.assert_allclose(found.predict(first, Z, Z), expected.predict(second, Z, Z), rtol=1e-9)


# --- the objective ----------------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("missing", [[], [2, 9, 17]])
@pytest.mark.parametrize("weights", [None, np.array([0.1, 1.0, 3.0, 0.5, 2.0])], ids=["alike", "weighted"])
def test_gradient(kernel, missing, weights):
    p = problem(kernel, missing=np.array(missing, dtype=np.int64), weights=weights)
    point, h = p.start(0).search.point, 1e-5
    _, gradient, _ = p.evaluate(point)
    slope = [(p.evaluate(point + step)[0] - p.evaluate(point - step)[0]) / (2 * h) for step in h * np.eye(len(point))]
    assert np.linalg.norm(slope - gradient) <= 1e-7 * np.linalg.norm(gradient)


def test_the_value_is_the_sum_over_ten_lines_of_numpy():
    p = problem(Kernel("poly", 3))
    state = p.start(0)
    value = p.reg_z * (state.latent**2).sum()
    for weight, reg, rows, T in ((1.0, 0.7, np.arange(14), p.X), (1.3, 0.4, p.rows, p.Y)):
        K = (state.latent[rows] @ state.latent[rows].T + 1.0) ** 3
        inverse = np.linalg.inv(K + reg * np.eye(len(rows)))
        one = np.ones(len(rows))
        alpha = inverse @ T - np.outer(inverse @ one, one @ inverse @ T) / (one @ inverse @ one)
        value += weight * reg * (alpha * T).sum()
    assert p.losses(state)["objective"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("labels", ["none", "all"])
def test_degree_one_has_a_closed_form(labels):
    """Singular values above t = sqrt(reg_v reg_z) cost 2 t s - t^2, the others s^2."""
    rng = np.random.default_rng(0)
    X, y, t = rng.standard_normal((40, 6)), rng.standard_normal(40), np.sqrt(3.0)
    y[1:] = y[1:] if labels == "all" else np.nan
    settings = {"reg_v": 2.0, "reg_w": 2.0, "reg_z": 1.5, "target_weight": float(labels == "all")}
    model = SNF(3, degree=1, preprocessing="none", max_iter=3000, tol=0.0, **settings).fit(X, y)
    columns = np.column_stack([X, y]) if labels == "all" else X
    singular = np.linalg.svd(columns - columns.mean(axis=0), compute_uv=False)
    lowest = sum(2 * t * s - t**2 if s > t and k < 3 else s**2 for k, s in enumerate(singular))
    assert model.history_["objective"][-1] == pytest.approx(lowest, rel=1e-8)


def test_only_the_product_of_two_ridges_matters_at_degree_one():
    X, y, _ = sheet(n_samples=60, n_features=8)
    ends = [
        SNF(2, degree=1, reg_v=v, reg_z=4.0 / v, target_weight=0.0, preprocessing="none", max_iter=2000, tol=0.0).fit(
            X, y
        )
        for v in (1.0, 8.0)
    ]
    first, second = (end.history_["objective"][-1] for end in ends)
    assert first == pytest.approx(second, rel=1e-8)


@every_kernel
def test_lbfgs_never_raises_the_objective(kernel):
    X, y, _ = sheet(n_samples=80, n_features=8)
    X[::7, 2] = np.nan
    settings = {"kernel": kernel.name, "degree": kernel.degree, "coef0": kernel.coef0}
    objective = SNF(preprocessing="none", max_iter=40, **settings).fit(X, y).history_["objective"]
    assert (np.diff(objective) <= 0).all()


@every_kernel
def test_a_rotated_start_gives_rotated_latent_rows(kernel):
    """Kernels see inner products and distances only."""
    p = problem(kernel)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    Z = p.start(0).latent
    (value, gradient, _), (other, turned, _) = p.evaluate(Z.ravel()), p.evaluate((Z @ turn).ravel())
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(gradient.reshape(-1, 2) @ turn, turned.reshape(-1, 2), atol=1e-10)


# --- the paper's loop -------------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("weights", [None, np.array([0.1, 1.0, 3.0, 0.5, 2.0])], ids=["alike", "weighted"])
def test_a_small_literal_epoch_follows_the_gradient(kernel, weights):
    """With the conversions of rates and ridges; also pins the sign of eq. 13 and the factor of i = l."""
    p = problem(kernel, PaperLoop, weights=weights)
    state = p.start(0)
    _, gradient, _ = p.evaluate(state.latent.ravel())
    expected = -(1e-9 / p.reg_v) * gradient
    moved = (p.step(state).latent - state.latent).ravel()
    assert np.linalg.norm(moved - expected) <= 2e-5 * np.linalg.norm(expected)


def test_the_loop_in_plain_python():
    p = problem(Kernel("poly", 2), PaperLoop, lr_reconstruction=1e-2)
    state = p.start(0)
    Z, (rate, decay) = state.latent.copy(), p.rates()
    for j in range(4):
        everybody = np.arange(14)
        for rows, targets, reg, eta in ((everybody, p.X[:, [j]], p.reg_v, 1e-2), (p.rows, p.Y, p.reg_w, rate)):
            fit, _ = Dual(p.kernel, reg).solve(Z[rows], targets)
            for alpha in fit.coef.T:
                for a, i in zip(alpha, rows):
                    for b, l in zip(alpha, rows):  # noqa: E741
                        c, z, other = a * b * 2 * (Z[i] @ Z[l] + 1), Z[i].copy(), Z[l].copy()
                        Z[i] += eta * (c * other - decay[i] * z)
                        Z[l] += eta * (c * z - decay[l] * other)
    np.testing.assert_allclose(p.step(state).latent, Z, rtol=1e-12)


def test_the_optimum_is_where_small_epochs_rest():
    """Larger rates have another fixed point: Z moves between predictors and between pairs."""
    X, y, _ = sheet(n_samples=60, n_features=6, label_share=0.3)
    settings = {"preprocessing": "none", "tol": 0.0}
    optimum = SNF(max_iter=2000, **settings).fit(X, y).embedding_
    start = SNF(max_iter=1, init="random", init_scale=1.0, random_state=0, **settings).fit(X, y).embedding_
    moved = []
    for rows in (start, optimum):
        model = SNF(solver="sgd", lr_reconstruction=1e-6, max_iter=1, init=rows, **settings).fit(X, y)
        moved.append(np.linalg.norm(model.embedding_ - rows))
    assert moved[1] < 0.01 * moved[0]


def test_moderate_epochs_descend():
    X, y, _ = sheet(n_samples=60, n_features=6, label_share=0.3)
    model = SNF(solver="sgd", lr_reconstruction=1e-4, max_iter=30, preprocessing="none").fit(X, y)
    assert (np.diff(model.history_["objective"]) < 0).all()


def test_divergence_says_what_to_do():
    X, y, _ = sheet(n_samples=60, n_features=6)
    with pytest.warns(ConvergenceWarning, match=r"diverged.*lr_reconstruction \(say, to 0\.1: .* raise reg_v"):
        model = SNF(solver="sgd", lr_reconstruction=1.0, reg_v=1e-3, reg_z=0.01).fit(X, y)
    assert model.stop_ is Stop.diverged
    assert np.isfinite(model.predict(X)).all()


def test_an_unfinished_loop_warns():
    X, y, _ = sheet(n_samples=60, n_features=6)
    with pytest.warns(ConvergenceWarning, match="still falls .* use solver 'lbfgs'"):
        SNF(2, solver="sgd", lr_reconstruction=3e-3, max_iter=2, preprocessing="none").fit(X, y)


# --- starts -----------------------------------------------------------------------------------------------------------


def test_starts():
    X, _, _ = sheet()
    rng = np.random.default_rng(0)
    starts = pca_starts(X, 2, 0.5, rng)
    scores = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    expected = scores[0][:, :3] * scores[1][:3]
    expected *= 0.5 / expected[:, 0].std()
    for start, chosen in zip(starts, ([0, 1], [0, 2], [1, 2]), strict=True):
        np.testing.assert_allclose(np.abs(start), np.abs(expected[:, chosen]), atol=1e-9)
    (padded,) = pca_starts(X[:, :1], 3, 0.5, rng)
    assert padded.shape == (400, 3)
    assert (padded.std(axis=0) > 0).all()
    (flat,) = pca_starts(np.ones((20, 4)), 2, 0.5, rng)
    assert (flat.std(axis=0) > 0).all()  # Z = 0 would be stationary


def test_several_starts_end_no_higher():
    """Seed 9 sticks in a folded optimum from the first two components."""
    X, y, _ = sheet(seed=9)
    one, three = (SNF(2, preprocessing="none", max_iter=300, n_init=k, random_state=0).fit(X, y) for k in (1, 3))
    assert three.history_["objective"][-1] < 0.99 * one.history_["objective"][-1]
    snapshots = list(SNF(2, preprocessing="none", max_iter=5, n_init=3).iterate(X, y))
    assert [snapshot.stage for snapshot in snapshots] == [0] + [1] * 5
    assert len(problem(init="pca", n_init=6).starts(0)) == 6


def test_start_from_an_array():
    X, y, _ = sheet(n_samples=60)
    rows = np.random.default_rng(1).standard_normal((60, 2))
    model = SNF(init=rows, max_iter=1)
    np.testing.assert_array_equal(model.at(next(model.iterate(X, y))).embedding_, rows)
    with pytest.raises(ValueError, match="init must not be all 0"):
        SNF(init=np.zeros((60, 2))).fit(X, y)
    with pytest.raises(ValueError, match=r"init must be .* of shape \(60, 2\); got shape \(5, 2\)"):
        SNF(init=rows[:5]).fit(X, y)


# --- new rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"degree": 3}])
def test_unlabelled_rows_fold_in_where_they_are(settings):
    X, y, _ = sheet(n_samples=150, n_features=20)
    model = SNF(2 + len(settings), preprocessing="none", max_iter=3000, tol=0.0, **settings).fit(X, y)
    state, rows = model._state, np.isnan(y)
    own = state.latent[rows][:, None, :]
    back = fold_in(model._on_all, state.predictors, state.latent, X[rows], own, model.reg_z)
    assert np.abs(back - state.latent[rows]).max() <= 1e-6
    assert np.mean(np.abs(model.transform(X[rows]) - state.latent[rows]).max(axis=1) < 1e-5) > 0.95


def test_linear_fold_in_is_a_ridge_regression():
    X, y, _ = sheet(n_samples=80, n_features=10)
    model = SNF(2, degree=1, preprocessing="none").fit(X, y)
    state, new = model._state, np.random.default_rng(1).standard_normal((5, 10))
    loadings = model._on_all.jacobian(state.predictors, state.latent, np.zeros((1, 2)))[0]  # (D, M)
    expected = np.linalg.solve(loadings @ loadings.T + np.eye(2), loadings @ (new - state.predictors.bias).T).T
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)
    new[:, 3] = np.nan
    seen = np.arange(10) != 3
    V = loadings[:, seen]
    expected = np.linalg.solve(V @ V.T + np.eye(2), V @ (new - state.predictors.bias)[:, seen].T).T
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}], ids=str)
@pytest.mark.parametrize("missing", [0, 3])
def test_of_many_columns_the_fold_in_ends_where_no_step_leads_down(settings, missing):
    X, y, _ = sheet(n_samples=40, n_features=120)
    model = SNF(3, preprocessing="none", max_iter=30, **settings).fit(X, y)
    state, new = model._state, X[:6] + 0.1 * np.random.default_rng(1).standard_normal((6, 120))
    new[:, :missing] = np.nan
    ends = model.transform(new)
    residual = np.nan_to_num(new - model._on_all.predict(state.predictors, state.latent, ends))
    slopes = model._on_all.jacobian(state.predictors, state.latent, ends)
    np.testing.assert_allclose((slopes @ residual[:, :, None])[:, :, 0], model.reg_z * ends, atol=1e-5)


def test_nearest_rows():
    rng = np.random.default_rng(0)
    X, training, mask = rng.standard_normal((30, 4)), rng.standard_normal((50, 4)), rng.random((30, 4)) > 0.3
    for weights in (np.ones((30, 4)), mask.astype(float)):
        found = nearest_rows(X, training, 3, None if weights.all() else weights)
        distances = (weights[:, None, :] * (X[:, None, :] - training) ** 2).sum(axis=2)
        np.testing.assert_array_equal(np.sort(found), np.sort(np.argsort(distances, axis=1)[:, :3]))


def test_missing_cells_are_filled_with_their_reconstruction():
    X, y, _ = sheet(n_samples=150, n_features=20)
    holes = np.random.default_rng(0).random(X.shape) < 0.2
    with_holes = np.where(holes, np.nan, X)
    model = SNF(2, preprocessing="none", max_iter=3000, tol=0.0).fit(with_holes, y)
    np.testing.assert_allclose(model._state.filling, model.reconstruction_[holes], atol=1e-4)
    means = np.where(holes, np.nanmean(with_holes, axis=0), 0.0)[holes]
    assert np.mean((model.reconstruction_ - X)[holes] ** 2) < 0.8 * np.mean((means - X[holes]) ** 2)
    assert np.isfinite(model.transform(with_holes)).all()
    # The minimum over what stands in a missing cell is the error of the observed cells alone.
    error = ((model.reconstruction_ - X)[~holes] ** 2).sum()
    assert model.history_["reconstruction"][-1] == pytest.approx(error, rel=1e-4)


def test_shapes_of_resumed_runs():
    X, y, _ = sheet(n_samples=60)
    last = list(SNF(max_iter=2).iterate(X, y))[-1]
    X = X.copy()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="start has 0 missing cells, X has 1"):
        next(SNF().iterate(X, y, start=last))

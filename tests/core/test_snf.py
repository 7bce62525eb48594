"""SNF's objective and solvers: both forms of the regressions, gradient, closed forms, the paper's loop, fold-in."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from supdr import SNF, Stop
from supdr.datasets import make_curved_sheet
from supdr.functions.kernels import Kernel
from supdr.methods.snf.fold_in import fold_in, nearest_rows
from supdr.methods.snf.problem import SNFProblem, pca_starts
from supdr.methods.snf.solvers import SOLVERS, rates
from supdr.solvers.kernel_ridge import Dual
from tests.core.snf_cases import POLYNOMIALS, every_kernel


def problem(kernel=POLYNOMIALS[2], solver="lbfgs", n_rows=14, **settings):
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
    return SNFProblem(X=X, solver=SOLVERS[solver], **{**defaults, **settings})


def sheet(seed=0, **settings):
    dataset = make_curved_sheet(random_state=seed, **settings)
    return dataset.X, dataset.y, dataset.truth


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
    p = problem(kernel, "sgd", weights=weights)
    state = p.start(0)
    _, gradient, _ = p.evaluate(state.latent.ravel())
    expected = -(1e-9 / p.reg_v) * gradient
    moved = (p.step(state).latent - state.latent).ravel()
    assert np.linalg.norm(moved - expected) <= 2e-5 * np.linalg.norm(expected)


def test_the_loop_in_plain_python():
    p = problem(Kernel("poly", 2), "sgd", lr_reconstruction=1e-2)
    state = p.start(0)
    Z, (rate, decay) = state.latent.copy(), rates(p)
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


def test_the_rates_of_algorithm_1():
    """One epoch with eta_X, eta_Y and lambda_Z as the paper names them; the decay of labelled rows is lowered."""
    rng = np.random.default_rng(0)
    X, y, labelled = rng.standard_normal((14, 4)), rng.standard_normal(14), np.array([1, 3, 4, 8, 12])
    (n, M), N, eta_X, eta_Y, lambda_Z, reg_v, reg_w, degree = X.shape, 5, 1e-2, 3e-2, 1e-3, 0.7, 0.4, 3
    Z = 0.5 * rng.standard_normal((n, 2))
    start, visits = Z.copy(), np.full(n, float(n))
    visits[labelled] += N * eta_Y / eta_X
    for j in range(M):
        for rows, target, reg, eta in ((np.arange(n), X[:, j], reg_v, eta_X), (labelled, y[labelled], reg_w, eta_Y)):
            bordered = np.ones((len(rows) + 1, len(rows) + 1))
            bordered[:-1, :-1] = (Z[rows] @ Z[rows].T + 1.0) ** degree + reg * np.eye(len(rows))
            bordered[-1, -1] = 0.0
            alpha = np.linalg.solve(bordered, np.append(target, 0.0))[:-1]
            for a, i in zip(alpha, rows):
                for b, l in zip(alpha, rows):  # noqa: E741
                    c = a * b * degree * (Z[i] @ Z[l] + 1.0) ** (degree - 1)
                    z, other = Z[i].copy(), Z[l].copy()
                    Z[i] += eta * (c * other - lambda_Z * n / visits[i] * z)
                    Z[l] += eta * (c * z - lambda_Z * n / visits[l] * other)
    hidden = np.full(n, np.nan)
    hidden[labelled] = y[labelled]
    settings = {"reg_v": reg_v, "reg_w": reg_w, "reg_z": lambda_Z * reg_v * M * n, "degree": degree, "init": start}
    model = SNF(
        solver="sgd", lr_reconstruction=eta_X, lr_target=eta_Y, max_iter=1, tol=0.0, preprocessing="none", **settings
    )
    np.testing.assert_allclose(model.fit(X, hidden).embedding_, Z, rtol=1e-12)


def test_the_rate_of_the_target_sets_its_weight():
    X, y, _ = sheet(n_samples=60, n_features=6, label_share=0.3)
    settings = {"solver": "sgd", "max_iter": 5, "preprocessing": "none", "reg_v": 2.0, "reg_w": 0.5, "tol": 0.0}
    by_rate = SNF(lr_reconstruction=1e-4, lr_target=5e-5, **settings).fit(X, y)
    by_weight = SNF(lr_reconstruction=1e-4, target_weight=5e-5 * 6 * 2.0 / (1e-4 * 0.5), **settings).fit(X, y)
    np.testing.assert_allclose(by_rate.embedding_, by_weight.embedding_, rtol=1e-10)
    np.testing.assert_allclose(by_rate.history_["objective"], by_weight.history_["objective"], rtol=1e-10)
    assert by_rate.history_["label"][-1] > 0
    settings["solver"] = "lbfgs"
    with_rate, without = SNF(lr_target=5e-5, **settings).fit(X, y), SNF(**settings).fit(X, y)
    np.testing.assert_array_equal(with_rate.embedding_, without.embedding_)


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
    state, rows = model.snapshot_.state, np.isnan(y)
    own = state.latent[rows][:, None, :]
    back = fold_in(model._on_all, state.predictors, state.latent, X[rows], own, model.reg_z)
    assert np.abs(back - state.latent[rows]).max() <= 1e-6
    assert np.mean(np.abs(model.transform(X[rows]) - state.latent[rows]).max(axis=1) < 1e-5) > 0.95


def test_linear_fold_in_is_a_ridge_regression():
    X, y, _ = sheet(n_samples=80, n_features=10)
    model = SNF(2, degree=1, preprocessing="none").fit(X, y)
    state, new = model.snapshot_.state, np.random.default_rng(1).standard_normal((5, 10))
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
    state, new = model.snapshot_.state, X[:6] + 0.1 * np.random.default_rng(1).standard_normal((6, 120))
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
    np.testing.assert_allclose(model.snapshot_.state.filling, model.reconstruction_[holes], atol=1e-4)
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

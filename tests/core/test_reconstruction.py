"""Properties of the reconstruction part that LSDR and NSDR share."""

import numpy as np
import pytest

from supdr.solvers import reconstruction as rec
from supdr.solvers import reconstruction_start as starts

BETA, REG_U, REG_V = 0.7, 0.3, 0.2


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def make(rng, *, missing, row_bias, n_rows=30, m=7, d=3):
    """Incomplete data (or complete), and an arbitrary point."""
    X = rng.standard_normal((n_rows, m))
    observed = None
    if missing:
        hidden = rng.random((n_rows, m)) < 0.25
        hidden[:, 0] = hidden[0] = False
        X, observed = rec.split_missing(np.where(hidden, np.nan, X))
    latent = rng.standard_normal((n_rows, d + row_bias))
    return X, observed, latent, rng.standard_normal((d, m)), rng.standard_normal(m)


def objective(X, observed, latent, components, intercept_x):
    """R, in four lines of NumPy that look like the formula."""
    d, mask = len(components), 1.0 if observed is None else observed
    bias = latent[:, d:] if latent.shape[1] > d else 0.0
    e = X - latent[:, :d] @ components - bias - intercept_x
    return BETA * (mask * e**2).sum() + REG_U * (latent[:, :d] ** 2).sum() + REG_V * (components**2).sum()


def numerical_gradient(function, point, step=1e-5):
    gradient = np.empty(point.size)
    for index in range(point.size):
        shift = np.zeros(point.size)
        shift[index] = step
        shift = shift.reshape(point.shape)
        gradient[index] = (function(point + shift) - function(point - shift)) / (2 * step)
    return gradient.reshape(point.shape)


variants = pytest.mark.parametrize(("missing", "row_bias"), [(a, b) for a in (False, True) for b in (False, True)])


@variants
def test_terms_sum_to_the_objective(rng, missing, row_bias):
    X, observed, *point = make(rng, missing=missing, row_bias=row_bias)
    terms = rec.reconstruction_terms(X, *point, beta=BETA, reg_u=REG_U, reg_v=REG_V, observed=observed)
    assert set(terms) == {"reconstruction", "regularisation"}
    assert sum(terms.values()) == pytest.approx(objective(X, observed, *point), rel=1e-12)
    assert terms["reconstruction"] == pytest.approx(BETA * rec.reconstruction_error(X, *point, observed=observed))


@variants
def test_loadings_are_stationary(rng, missing, row_bias):
    X, observed, latent, _, _ = make(rng, missing=missing, row_bias=row_bias)
    components, intercept_x = rec.fit_loadings(
        X, latent[:, :3], REG_V, BETA, row_offset=latent[:, 3] if row_bias else None, observed=observed
    )
    by_components = numerical_gradient(lambda v: objective(X, observed, latent, v, intercept_x), components)
    by_intercept = numerical_gradient(lambda b: objective(X, observed, latent, components, b), intercept_x)
    assert abs(by_components).max() < 1e-7
    assert abs(by_intercept).max() < 1e-7


@variants
def test_fold_in_is_stationary(rng, missing, row_bias):
    X, observed, _, components, intercept_x = make(rng, missing=missing, row_bias=row_bias)
    latent = rec.fold_in(X, components, intercept_x, REG_U, BETA, row_bias=row_bias, observed=observed)
    assert latent.shape == (30, 3 + row_bias)
    gradient = numerical_gradient(lambda z: objective(X, observed, z, components, intercept_x), latent)
    assert abs(gradient).max() < 1e-7


@pytest.mark.parametrize("row_bias", [False, True])
def test_a_full_mask_is_no_mask(rng, row_bias):
    X, _, latent, components, intercept_x = make(rng, missing=False, row_bias=row_bias)
    everything = np.ones_like(X)
    for plain, masked in [
        (
            rec.fold_in(X, components, intercept_x, REG_U, BETA, row_bias=row_bias),
            rec.fold_in(X, components, intercept_x, REG_U, BETA, row_bias=row_bias, observed=everything),
        ),
        (
            rec.fit_loadings(X, latent, REG_V, BETA)[0],
            rec.fit_loadings(X, latent, REG_V, BETA, observed=everything)[0],
        ),
    ]:
        np.testing.assert_allclose(plain, masked, atol=1e-12)


@variants
def test_what_stands_in_hidden_cells_does_not_matter(rng, missing, row_bias):
    X, observed, latent, components, intercept_x = make(rng, missing=True, row_bias=row_bias)
    other = np.where(observed > 0, X, 1e3)
    kept = {"row_bias": row_bias, "observed": observed}
    np.testing.assert_array_equal(
        rec.fold_in(X, components, intercept_x, REG_U, BETA, **kept),
        rec.fold_in(other, components, intercept_x, REG_U, BETA, **kept),
    )
    error = [rec.reconstruction_error(data, latent, components, intercept_x, observed=observed) for data in (X, other)]
    assert error[0] == error[1]


def test_singular_systems_have_least_norm(rng):
    factor = rng.standard_normal((4, 2))
    system, right = factor @ factor.T, factor @ rng.standard_normal((2, 3))
    np.testing.assert_allclose(rec.solve_positive(system * 0.0, right), 0.0)
    np.testing.assert_allclose(rec.solve_positive(np.zeros((2, 4, 4)), np.stack([right, right])), 0.0)
    solution = rec.solve_positive(system + 1e-3 * np.eye(4), right)
    np.testing.assert_allclose(system @ solution + 1e-3 * solution, right, atol=1e-10)


@variants
def test_one_epoch_moves_against_the_gradient(rng, missing, row_bias):
    """(state(rate) - state(-rate)) / (2 rate) is minus the gradient up to O(rate^2), block by block."""
    X, observed, latent, components, intercept_x = make(rng, missing=missing, row_bias=row_bias)
    cells = rng.permutation(rec.sgd_cells(X.shape, observed))
    shrink_u = rec.sgd_shrinkage(REG_U, X.shape, observed, axis=1)
    shrink_v = rec.sgd_shrinkage(REG_V, X.shape, observed, axis=0)

    def epoch(rate):
        moved = latent.copy(), np.ascontiguousarray(components.T), intercept_x.copy()
        rec.reconstruction_epoch(X, *moved, cells, rate, BETA, shrink_u, shrink_v)
        return moved[0], moved[1].T, moved[2]

    rate = 1e-6
    directions = [(ahead - back) / (2 * rate) for ahead, back in zip(epoch(rate), epoch(-rate))]
    point = [latent, components, intercept_x]
    for index, direction in enumerate(directions):

        def along(block, index=index):
            return objective(X, observed, *point[:index], block, *point[index + 1 :])

        gradient = numerical_gradient(along, point[index])
        assert abs(direction + gradient).max() <= 1e-6 * abs(gradient).max()


def test_pca_start_spans_the_principal_plane_with_unit_variance(rng):
    X = rng.standard_normal((50, 6)) * [5.0, 3.0, 1.0, 0.5, 0.2, 0.1] + 7.0
    start = starts.pca_start(X, 2)
    np.testing.assert_allclose(start.T @ start / 50, np.eye(2), atol=1e-12)
    centred = X - X.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    residual = centred - start @ (start.T @ centred) / 50
    assert (residual**2).sum() == pytest.approx((values[2:] ** 2).sum())


def test_pca_start_is_reproducible_and_ignores_the_order_of_rows(rng):
    X = rng.standard_normal((40, 5)) * [4.0, 3.0, 2.0, 1.0, 0.5]
    order = rng.permutation(40)
    np.testing.assert_allclose(starts.pca_start(X, 3)[order], starts.pca_start(X[order], 3), atol=1e-10)


def test_pca_start_of_white_data_takes_their_first_columns(rng):
    left = np.linalg.svd(rng.standard_normal((30, 4)) - 0.0, full_matrices=False)[0]
    centred = np.linalg.qr(left - left.mean(axis=0))[0]
    white = np.sqrt(30) * (centred - centred.mean(axis=0))
    np.testing.assert_array_equal(starts.pca_start(white, 2), (white - white.mean(axis=0))[:, :2])


@pytest.mark.parametrize("init", ["pca", "random", "array"])
@pytest.mark.parametrize("row_bias", [False, True])
def test_initial_factors(rng, init, row_bias):
    X = rng.standard_normal((9, 4))
    given = rng.standard_normal((9, 6)) if init == "array" else init
    latent, components, intercept_x = starts.initial_factors(
        X, 6, given, 0.1, np.random.default_rng(1), reg_v=REG_V, beta=BETA, row_bias=row_bias
    )
    assert latent.shape == (9, 6 + row_bias)
    assert components.shape == (6, 4)
    assert intercept_x.shape == (4,)
    assert np.isfinite(latent).all()
    assert abs(latent[:, :6]).min(axis=0).max() > 0.0  # no coordinate is dead from the start
    if init == "array":
        np.testing.assert_array_equal(latent[:, :6], given)

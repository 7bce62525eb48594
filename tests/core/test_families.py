"""Exponential families: likelihoods, their derivatives, and minorants that touch and stay below."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from supdr.functions import families as fam
from supdr.functions.families import BERNOULLI, BOUNDS, FAMILIES, GAUSSIAN, POISSON

C = 0.7


def cells(code, rng, shape=(40, 3)):
    if code == BERNOULLI:
        return rng.integers(0, 2, shape).astype(float)
    return rng.poisson(2.0, shape).astype(float) if code == POISSON else rng.standard_normal(shape)


def literal(code, s, t):
    """l(s; t), cell by cell."""
    if code == BERNOULLI:
        return s * t - np.logaddexp(0.0, t)
    return s * t - np.exp(t) if code == POISSON else -C * (s - t) ** 2


def codes_of(code, n_columns=3):
    return np.full(n_columns, code)


every_family = pytest.mark.parametrize("code", range(3), ids=FAMILIES)


@every_family
def test_likelihood(code):
    rng = np.random.default_rng(0)
    s, t = cells(code, rng), 4.0 * rng.standard_normal((40, 3))
    assert fam.log_likelihood(codes_of(code), s, t, C) == pytest.approx(literal(code, s, t).sum(), rel=1e-13)


def test_likelihood_of_many_far_bits_neither_overflows_nor_loses_digits():
    t = np.full((300, 50), 2.0)
    t[::2] = -700.0
    s = np.ones_like(t)
    expected = 150 * 50 * (literal(BERNOULLI, 1.0, 2.0) - 700.0)
    assert fam.log_likelihood(codes_of(BERNOULLI, 50), s, t) == pytest.approx(expected, rel=1e-13)


@every_family
def test_residuals_are_the_derivative(code):
    rng = np.random.default_rng(1)
    s, t, h = cells(code, rng), rng.standard_normal((40, 3)), 1e-5
    numerical = (literal(code, s, t + h) - literal(code, s, t - h)) / (2 * h)
    np.testing.assert_allclose(fam.residuals(codes_of(code), s, t, C), numerical, atol=1e-6)


@pytest.mark.parametrize("bound", BOUNDS)
@every_family
def test_minorant_touches_and_stays_below(code, bound):
    """l(t0) + r (t - t0) - a / 2 (t - t0)^2 <= l(t); the Poisson one where t rises by at most 1."""
    rng = np.random.default_rng(2)
    s, t0 = cells(code, rng, (4000, 1)), 3.0 * rng.standard_normal((4000, 1))
    t = t0 + (rng.uniform(-6, 1, t0.shape) if code == POISSON else 5.0 * rng.standard_normal(t0.shape))
    a, g = fam.expand(codes_of(code, 1), s, t0, C, bound)
    slope = g - a * t0
    np.testing.assert_allclose(slope, fam.residuals(codes_of(code, 1), s, t0, C), atol=1e-12 * (1 + np.exp(t0).max()))
    gap = literal(code, s, t) - (literal(code, s, t0) + slope * (t - t0) - 0.5 * a * (t - t0) ** 2)
    assert gap.min() > -1e-11 * (1.0 + np.abs(literal(code, s, t0)).max())


def test_jaakkola_jordan_as_printed_once_corrected():
    """Eq. 6 with its signs put right: -log 2 - log cosh(th/2) + T th^2/4 + (2s-1) t/2 - T t^2/4."""
    rng = np.random.default_rng(3)
    s, t, th = rng.integers(0, 2, 4000), 5.0 * rng.standard_normal(4000), 5.0 * rng.standard_normal(4000)

    def bound(t, th, sign=-1.0):
        T = fam.tanh_ratio(th)
        return sign * np.log(2) - np.log(np.cosh(th / 2)) + T * th**2 / 4 + (2 * s - 1) * t / 2 - T * t**2 / 4

    likelihood = literal(BERNOULLI, s, t)
    assert (likelihood - bound(t, th)).min() > -1e-12
    np.testing.assert_allclose(bound(t, t), likelihood, atol=1e-13)
    assert np.mean(bound(t, th, 1.0) > likelihood) > 0.5  # as it reads, it is none


def test_tanh_ratio_is_smooth_at_zero():
    t = np.array([0.0, 1e-9, 0.9999e-4, 1.0001e-4, -1e-4, 2.0])
    np.testing.assert_allclose(fam.tanh_ratio(t)[:5], 0.5, atol=1e-9)
    assert fam.tanh_ratio(t)[5] == pytest.approx(np.tanh(1.0) / 2.0)


def test_bit_kernel_and_general_kernel_agree():
    """Columns of bits alone take a path without branches."""
    rng = np.random.default_rng(4)
    s, t = cells(BERNOULLI, rng, (200, 2)), 3.0 * rng.standard_normal((200, 2))
    t[:5] = [0.0, 3e-5]
    s[7, 1] = np.nan
    alone = fam.expand(codes_of(BERNOULLI, 2), s, t)
    padded = np.concatenate([s, np.zeros((200, 1))], axis=1), np.concatenate([t, np.zeros((200, 1))], axis=1)
    mixed = fam.expand(np.array([BERNOULLI, BERNOULLI, GAUSSIAN]), *padded)
    for one, other in zip(alone, mixed):
        np.testing.assert_array_equal(one, other[:, :2])


@pytest.mark.parametrize("bound", BOUNDS)
def test_missing_cells_weigh_nothing(bound):
    rng = np.random.default_rng(5)
    codes = np.arange(3)
    s = np.stack([cells(code, rng, (30,)) for code in codes], axis=1)
    t = rng.standard_normal((30, 3))
    s[::3] = np.nan
    a, g = fam.expand(codes, s, t, C, bound)
    assert not a[::3].any()
    assert not g[::3].any()
    assert not fam.residuals(codes, s, t, C)[::3].any()
    seen = np.arange(30) % 3 > 0
    whole = fam.log_likelihood(codes, s, t, C)
    assert whole == pytest.approx(fam.log_likelihood(codes, s[seen], t[seen], C), rel=1e-13)


@every_family
def test_null_loss_is_what_the_column_means_leave(code):
    rng = np.random.default_rng(6)
    s = cells(code, rng)
    s[0, 0] = np.nan
    loss, centre = fam.null_loss(codes_of(code), s, C)
    np.testing.assert_allclose(centre, np.nanmean(s, axis=0))
    if code == GAUSSIAN:
        assert loss == pytest.approx(C * np.nansum((s - centre) ** 2))
        return
    natural = np.log(centre) if code == POISSON else np.log(centre / (1 - centre))
    best = s * np.log(np.where(s > 0, s, 1.0)) - s if code == POISSON else np.where(np.isnan(s), np.nan, 0.0)
    assert loss == pytest.approx(np.nansum(best - literal(code, s, np.broadcast_to(natural, s.shape))))


def test_null_loss_of_constant_columns_is_zero():
    s = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    assert fam.null_loss(np.array([BERNOULLI, POISSON, GAUSSIAN]), s)[0] == 0.0


def test_means_and_softmax():
    t = np.array([[-800.0, 2.0, 1.0], [3.0, -1.0, 0.5]])
    np.testing.assert_allclose(
        fam.means(np.array([0, 1, 2]), t), np.stack([expit(t[:, 0]), t[:, 1], np.exp(t[:, 2])], 1)
    )
    p, log_sum = fam.softmax(t)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(log_sum, logsumexp(t, axis=1))


def test_boehning_bounds_the_softmax():
    rng = np.random.default_rng(7)
    for K in (2, 3, 7):
        H = (np.eye(K) - 1.0 / K) / 2
        for t0, t, k in zip(
            rng.standard_normal((200, K)) * 3, rng.standard_normal((200, K)) * 3, itertools.cycle(range(K))
        ):
            r = np.eye(K)[k] - fam.softmax(t0[None])[0][0]
            minorant = t0[k] - logsumexp(t0) + r @ (t - t0) - 0.5 * (t - t0) @ H @ (t - t0)
            assert minorant <= t[k] - logsumexp(t) + 1e-12


def test_bad_families_and_values():
    with pytest.raises(ValueError, match=r"family_x must be made of bernoulli, gaussian, poisson; got 'gamma'"):
        fam.family_codes("gamma", 3, "family_x")
    with pytest.raises(ValueError, match=r"family_x must be one family or one per column \(3\); got 2 names"):
        fam.family_codes(["gaussian", "poisson"], 3, "family_x")
    X = np.array([[0.0, 1.0], [1.0, 2.5]])
    with pytest.raises(ValueError, match=r"X: a bernoulli column holds 0 and 1 only; column 1 has 2.5 in row 1"):
        fam.check_values(np.array([BERNOULLI, BERNOULLI]), X, "X")
    with pytest.raises(ValueError, match=r"y: a poisson column holds the counts .*column 1 has 2.5 in row 1"):
        fam.check_values(np.array([GAUSSIAN, POISSON]), X, "y")
    with pytest.raises(ValueError, match="column 0 has -1 in row 0"):
        fam.check_values(np.array([POISSON]), np.array([[-1.0]]), "X")
    fam.check_values(np.array([GAUSSIAN, GAUSSIAN]), X, "X")
    fam.check_values(np.array([BERNOULLI]), np.array([[np.nan], [1.0]]), "X")

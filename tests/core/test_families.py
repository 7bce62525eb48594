"""Exponential families: likelihoods, their derivatives, and minorants that touch and stay below."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from supdr.functions import families as fam
from supdr.functions.families import (
    BERNOULLI,
    BOUNDS,
    FAMILIES,
    GAMMA,
    GAUSSIAN,
    LIMITED,
    NEGATIVE_BINOMIAL,
    POISSON,
    TARGET_FAMILIES,
)

C, SIZE = 0.7, 1.7


def cells(code, rng, shape=(40, 3)):
    if code == BERNOULLI:
        return rng.integers(0, 2, shape).astype(float)
    if code == GAUSSIAN:
        return rng.standard_normal(shape)
    return rng.gamma(2.0, size=shape) if code == GAMMA else rng.poisson(2.0, shape).astype(float)


def literal(code, s, t):
    """l(s; t), cell by cell."""
    if code == BERNOULLI:
        return s * t - np.logaddexp(0.0, t)
    if code == NEGATIVE_BINOMIAL:
        return s * t - (s + SIZE) * np.logaddexp(0.0, t)
    if code == GAMMA:
        return -t - s * np.exp(-t)
    return s * t - np.exp(t) if code == POISSON else -C * (s - t) ** 2


def codes_of(code, n_columns=3):
    return np.full(n_columns, code)


every_family = pytest.mark.parametrize("code", range(len(FAMILIES)), ids=FAMILIES)


@every_family
def test_likelihood(code):
    rng = np.random.default_rng(0)
    s, t = cells(code, rng), 4.0 * rng.standard_normal((40, 3))
    expected = literal(code, s, t)
    assert fam.log_likelihood(codes_of(code), s, t, C, SIZE) == pytest.approx(expected.sum(), rel=1e-13)
    np.testing.assert_allclose(fam.log_likelihoods(codes_of(code), s, t, C, SIZE), expected, rtol=1e-13)


def test_likelihood_of_many_far_bits_neither_overflows_nor_loses_digits():
    t = np.full((300, 50), 2.0)
    t[::2] = -700.0
    s = np.ones_like(t)
    expected = 150 * 50 * (literal(BERNOULLI, 1.0, 2.0) - 700.0)
    assert fam.log_likelihood(codes_of(BERNOULLI, 50), s, t) == pytest.approx(expected, rel=1e-13)


@every_family
def test_residuals_and_curvatures_are_the_derivatives(code):
    rng = np.random.default_rng(1)
    s, t, h = cells(code, rng), rng.standard_normal((40, 3)), 1e-5
    numerical = (literal(code, s, t + h) - literal(code, s, t - h)) / (2 * h)
    np.testing.assert_allclose(fam.residuals(codes_of(code), s, t, C, SIZE), numerical, atol=1e-6)
    up, down = (fam.residuals(codes_of(code), s, t + step, C, SIZE) for step in (h, -h))
    np.testing.assert_allclose(fam.curvatures(codes_of(code), s, t, C, SIZE), (down - up) / (2 * h), atol=1e-6)


@every_family
def test_cells_drawn_at_a_parameter_have_its_mean(code):
    """Scores sum to 0 on average: the likelihood, its derivative and the mean belong together."""
    rng, n = np.random.default_rng(8), 400_000
    mean = fam.means(codes_of(code, 1), np.array([[0.4]]), SIZE)[0, 0]
    drawn = {
        BERNOULLI: lambda: rng.random(n) < mean,
        GAUSSIAN: lambda: mean + rng.standard_normal(n),
        POISSON: lambda: rng.poisson(mean, n),
        GAMMA: lambda: rng.exponential(mean, n),
        NEGATIVE_BINOMIAL: lambda: rng.negative_binomial(SIZE, SIZE / (SIZE + mean), n),
    }[code]()
    scores = fam.residuals(codes_of(code, 1), drawn[:, None] * 1.0, np.full((n, 1), 0.4), C, SIZE)
    assert abs(scores.mean()) < 4.0 * scores.std() / np.sqrt(n)


@pytest.mark.parametrize("bound", BOUNDS)
@every_family
def test_minorant_touches_and_stays_below(code, bound):
    """l(t0) + r (t - t0) - a / 2 (t - t0)^2 <= l(t); of some families where t rises, or falls, by at most 1."""
    rng = np.random.default_rng(2)
    s, t0 = cells(code, rng, (4000, 1)), 3.0 * rng.standard_normal((4000, 1))
    near = LIMITED.get(code, 0.0) * rng.uniform(-6, 1, t0.shape)
    t = t0 + (near if code in LIMITED else 5.0 * rng.standard_normal(t0.shape))
    a, g = fam.expand(codes_of(code, 1), s, t0, C, bound, SIZE)
    slope, largest = g - a * t0, np.exp(np.abs(t0)).max() * (1.0 + np.abs(s).max())
    np.testing.assert_allclose(slope, fam.residuals(codes_of(code, 1), s, t0, C, SIZE), atol=1e-12 * largest)
    gap = literal(code, s, t) - (literal(code, s, t0) + slope * (t - t0) - 0.5 * a * (t - t0) ** 2)
    assert gap.min() > -1e-11 * (1.0 + np.abs(literal(code, s, t0)).max())


def test_negative_binomial_counts_of_great_size_are_poisson_counts():
    rng, size = np.random.default_rng(9), 1e9
    s, t = cells(POISSON, rng), rng.standard_normal((40, 3))
    found = fam.residuals(codes_of(NEGATIVE_BINOMIAL), s, t - np.log(size), C, size)
    np.testing.assert_allclose(found, fam.residuals(codes_of(POISSON), s, t), atol=1e-6)
    np.testing.assert_allclose(fam.means(codes_of(NEGATIVE_BINOMIAL), t - np.log(size), size), np.exp(t))


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
    codes = np.arange(len(FAMILIES))
    s = np.stack([cells(code, rng, (30,)) for code in codes], axis=1)
    t = rng.standard_normal(s.shape)
    s[::3] = np.nan
    a, g = fam.expand(codes, s, t, C, bound)
    assert not a[::3].any()
    assert not g[::3].any()
    assert not fam.residuals(codes, s, t, C)[::3].any()
    assert not fam.curvatures(codes, s, t, C)[::3].any()
    seen = np.arange(30) % 3 > 0
    whole = fam.log_likelihood(codes, s, t, C)
    assert whole == pytest.approx(fam.log_likelihood(codes, s[seen], t[seen], C), rel=1e-13)


def null_loss(codes, values, c=1.0, size=1.0):
    """Return H and the column means."""
    count, total = fam.cell_sums(values)
    losses = fam.number_losses(codes, values, total / count, c, size=size)
    return fam.null_loss_about(codes, count, total / count, losses), total / count


@every_family
def test_null_loss_is_what_the_column_means_leave(code):
    rng = np.random.default_rng(6)
    s = cells(code, rng)
    s[0, 0] = np.nan
    loss, centre = null_loss(codes_of(code), s, C, SIZE)
    np.testing.assert_allclose(centre, np.nanmean(s, axis=0))
    if code == GAUSSIAN:
        assert loss == pytest.approx(C * np.nansum((s - centre) ** 2))
        return
    best = np.where(np.isnan(s), np.nan, 0.0)
    if code == BERNOULLI:
        natural = np.log(centre / (1 - centre))
    else:
        shift = np.log(SIZE) if code == NEGATIVE_BINOMIAL else 0.0
        natural = np.log(centre) - shift
        best = np.where(s > 0, literal(code, s, np.log(np.where(s > 0, s, 1.0)) - shift), best)
        np.testing.assert_allclose(fam.null_parameters(codes_of(code), centre, 2, SIZE)[-1], natural)
    assert loss == pytest.approx(np.nansum(best - literal(code, s, np.broadcast_to(natural, s.shape))))


def test_null_loss_of_constant_columns_is_zero():
    s = np.array([[1.0, 0.0, 2.0, 0.5, 3.0]] * 2)
    assert null_loss(np.array([BERNOULLI, POISSON, GAUSSIAN, GAMMA, NEGATIVE_BINOMIAL]), s)[0] == 0.0


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
    with pytest.raises(ValueError, match=r"family_x must be made of bernoulli, .*negative_binomial; got 'weibull'"):
        fam.family_codes("weibull", 3, "family_x")
    with pytest.raises(ValueError, match=r"family_y must be made of bernoulli, gaussian, poisson; got 'gamma'"):
        fam.family_codes("gamma", 3, "family_y", TARGET_FAMILIES)
    with pytest.raises(ValueError, match=r"family_x must be one family or one per column \(3\); got 2 names"):
        fam.family_codes(["gaussian", "poisson"], 3, "family_x")
    X = np.array([[0.0, 1.0], [1.0, 2.5]])
    with pytest.raises(ValueError, match=r"X: a bernoulli column holds 0 and 1 only; column 1 has 2.5 in row 1"):
        fam.check_values(np.array([BERNOULLI, BERNOULLI]), X, "X")
    with pytest.raises(ValueError, match=r"y: a poisson column holds the counts .*column 1 has 2.5 in row 1"):
        fam.check_values(np.array([GAUSSIAN, POISSON]), X, "y")
    with pytest.raises(ValueError, match=r"X: a negative_binomial column holds the counts .*column 1 has 2.5 in row 1"):
        fam.check_values(np.array([GAUSSIAN, NEGATIVE_BINOMIAL]), X, "X")
    with pytest.raises(ValueError, match=r"X: a gamma column holds numbers > 0 only; column 0 has 0 in row 0"):
        fam.check_values(np.array([GAMMA, GAMMA]), X, "X")
    with pytest.raises(ValueError, match="column 0 has -1 in row 0"):
        fam.check_values(np.array([POISSON]), np.array([[-1.0]]), "X")
    fam.check_values(np.array([GAUSSIAN, GAUSSIAN]), X, "X")
    fam.check_values(np.array([BERNOULLI]), np.array([[np.nan], [1.0]]), "X")

"""What the paper of SDR-GLM names as extensions: weights of columns, and factors that are not negative."""

import numpy as np
import pytest

from supdr import SDRGLM
from supdr.functions.families import FAMILIES, residuals
from supdr.solvers.low_rank import packed_products
from supdr.solvers.nonnegative import solve_nonnegative

KINDS = (*FAMILIES, "mixed", "wide", "missing")
"""Families, and the other forms that features come in."""


def rows(kind, n_rows=40, seed=0):
    """X with two nonnegative factors, a label that one of them makes, and the families of the columns."""
    rng = np.random.default_rng(seed)
    n_columns = 60 if kind == "wide" else 8
    factors = abs(rng.standard_normal((n_rows, 2)))
    theta = np.minimum(factors @ abs(rng.standard_normal((2, n_columns))) - 1.0, 3.0)
    drawn = {
        "bernoulli": (rng.random(theta.shape) < 1.0 / (1.0 + np.exp(-theta))) * 1.0,
        "gaussian": theta + 0.3 * rng.standard_normal(theta.shape),
        "poisson": rng.poisson(np.exp(theta)) * 1.0,
        "gamma": rng.exponential(np.exp(theta)),
        "negative_binomial": rng.poisson(rng.exponential(np.exp(theta))) * 1.0,
    }
    y = (factors[:, 0] > 0.7).astype(int)
    if kind == "mixed":
        families = [FAMILIES[k % len(FAMILIES)] for k in range(n_columns)]
        return np.stack([drawn[name][:, k] for k, name in enumerate(families)], axis=1), y, families
    X = drawn.get(kind, drawn["gaussian"])
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y, kind if kind in FAMILIES else "gaussian"


def fitted(X, y, families, **settings):
    defaults = {"recon_weight": 0.1, "preprocessing": "none", "tol": 0.0, "max_iter": 20}
    return SDRGLM(2, family_x=families, **{**defaults, **settings}).fit(X, y)


def numbers(model, X):
    """Return all that columns have a say in."""
    singular = model.data_singular_values_, model.history_["singular_value_1"][-1:]
    return (
        model.history_["objective"],
        model.embedding_,
        model.transform(X),
        model.decision_function(X),
        np.array([model.recon_weight_, *model.null_losses_.values()]),
        *singular,
    )


# --- weights of columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["fast", "literal"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_weight_two_counts_as_if_it_were_there_twice(kind, solver):
    X, y, families = rows(kind)
    weights = np.ones(X.shape[1])
    weights[1], weights[4] = 2.0, 3.0
    copies = np.repeat(np.arange(X.shape[1]), weights.astype(int))
    copied = families if isinstance(families, str) else [families[k] for k in copies]
    once = fitted(X, y, families, column_weight=weights, solver=solver, recon_weight="auto")
    twice = fitted(X[:, copies], y, copied, solver=solver, recon_weight="auto")
    for found, expected in zip(numbers(once, X), numbers(twice, X[:, copies])):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(once.components_[:, copies], twice.components_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_weight_zero_has_no_say(kind):
    X, y, families = rows(kind)
    weights = np.ones(X.shape[1])
    weights[2] = 0.0
    others = families if isinstance(families, str) else [*families[:2], *families[3:]]
    weighted = fitted(X, y, families, column_weight=weights)
    without = fitted(np.delete(X, 2, axis=1), y, others)
    for found, expected in zip(numbers(weighted, X), numbers(without, np.delete(X, 2, axis=1))):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert np.abs(weighted.components_[:, 2]).max() > 0.0  # it is explained, if not listened to


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_one_change_nothing(kind):
    X, y, families = rows(kind)
    plain, ones = (fitted(X, y, families, column_weight=weights) for weights in (None, np.ones(X.shape[1])))
    for found, expected in zip(numbers(ones, X), numbers(plain, X)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one finite number >= 0 per column \(8\).*got shape \(2,\)"),
        ([-1.0, *[1.0] * 7], r"got -1 for column 0"),
        ([1.0, np.nan, *[1.0] * 6], r"got nan for column 1"),
        ([0.0] * 8, r"all are 0"),
        ("heavy", r"got 'heavy'"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    X, y, families = rows("gaussian")
    with pytest.raises(ValueError, match=f"column_weight must hold .*{message}"):
        fitted(X, y, families, column_weight=weights)


# --- factors that are not negative ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bounded", [0, 3, 5])
def test_bounded_quadratics_meet_the_conditions_of_their_maximum(n_bounded):
    rng = np.random.default_rng(0)
    roots, right = rng.standard_normal((30, 5, 5)), rng.standard_normal((30, 5))
    systems = roots @ roots.transpose(0, 2, 1)
    packed = np.stack([packed_products(root.T).sum(axis=0) for root in roots])
    found = solve_nonnegative(packed, 0.1, right, np.zeros((30, 5)), n_bounded)
    slope = right - np.einsum("nij,nj->ni", systems + 0.1 * np.eye(5), found)
    bounded, free = slice(0, n_bounded), slice(n_bounded, None)
    assert (found[:, bounded] >= 0.0).all()
    np.testing.assert_allclose(slope[:, free], 0.0, atol=1e-7)
    assert slope[:, bounded].max(initial=0.0) < 1e-7
    np.testing.assert_allclose(found[:, bounded] * slope[:, bounded], 0.0, atol=1e-7)
    if n_bounded:
        assert (found[:, bounded] == 0.0).any()


@pytest.mark.parametrize("init", ["svd", "random"])
@pytest.mark.parametrize("solver", ["fast", "literal"])
@pytest.mark.parametrize("kind", KINDS)
def test_nonnegative_factors_stay_so_while_j_rises(kind, solver, init):
    X, y, families = rows(kind)
    model = fitted(X, y, families, nonnegative=True, solver=solver, init=init, random_state=0, max_iter=60)
    objective = model.history_["objective"]
    assert (np.diff(objective) / (1.0 + np.abs(objective[:-1]))).max() < 1e-12
    for factor in (model.embedding_, model.components_, model.transform(X)):
        assert factor.min() >= 0.0
        assert factor.max() > 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_nonnegative_loadings_and_new_rows_meet_the_conditions_of_their_maximum(kind):
    """Slopes of J are 0 where a factor is positive, and not positive where it is 0."""
    X, y, families = rows(kind)
    model = fitted(X, y, families, nonnegative=True, max_iter=500)
    codes = np.array([FAMILIES.index(name) for name in model.family_x_])
    prepared = model._prepare(X)
    V, ridge = model.components_, model.recon_weight_

    def pulls(latent):
        return ridge * residuals(codes, prepared, latent @ V + model.snapshot_.state.intercept_x)

    new = model.transform(X)
    of_rows = pulls(new) @ V.T - ridge * new
    of_columns = model.embedding_.T @ pulls(model.embedding_) - ridge * V
    for slope, factor, scale in ((of_rows, new, 1e-6), (of_columns, V, 3e-3)):
        size = scale * (1.0 + np.abs(pulls(new)).sum())
        assert slope.max() < size
        assert np.abs(slope * factor).max() < size * (1.0 + factor.max())


def test_parts_explain_rows_that_are_made_of_parts():
    X, y, families = rows("gaussian")
    free, parts = (fitted(X, y, families, nonnegative=nonnegative, max_iter=200) for nonnegative in (False, True))
    assert free.history_["objective"][-1] <= parts.history_["objective"][-1]
    explained = parts.history_["reconstruction"][-1] / parts.null_losses_["reconstruction"]
    assert explained < 0.3  # two factors that are not negative made these rows


def test_a_negative_start_is_refused():
    X, y, families = rows("gaussian")
    start = np.full((len(X), 2), 1.0)
    fitted(X, y, families, nonnegative=True, init=start)
    start[3, 1] = -0.5
    with pytest.raises(ValueError, match=r"init must be >= 0 with nonnegative=True; got -0.5"):
        fitted(X, y, families, nonnegative=True, init=start)


# --- families ---------------------------------------------------------------------------------------------------------


def test_positive_numbers_and_counts_are_given_back_by_their_means():
    for kind in ("gamma", "negative_binomial"):
        X, y, families = rows(kind)
        model = fitted(X, y, families, recon_weight=3.0, max_iter=200)
        assert (model.reconstruction_ > 0.0).all()
        assert np.corrcoef(np.log(model.reconstruction_).ravel(), np.log(X + 0.5).ravel())[0, 1] > 0.5

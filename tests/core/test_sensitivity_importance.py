"""Importance of parameters: exact on a full grid, the textbook's for functions whose variances are known."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from supdr import LSDR
from supdr.sensitivity import Cell, Outcome, Result, Sweep, functional_anova, importance
from supdr.sensitivity.axes import visiting_order
from supdr.sensitivity.importance import coarse_part

RNG = np.random.default_rng(0)


def result_of(fits, names="abc"):
    """A sweep's result from the scores of its fits, (folds, *grid)."""
    fits = np.asarray(fits, dtype=float)
    grid = {name: list(range(size)) for name, size in zip(names, fits.shape[1:])}
    columns = fits.reshape(len(fits), -1).T
    cells = [
        Cell(number, {}, tuple(Outcome(number, 0, fold, {"error": score}) for fold, score in enumerate(column)))
        for number, column in enumerate(columns)
        if np.isfinite(column).all()
    ]
    return Result(grid, ["error"], cells)


def test_a_plane_is_decomposed_as_by_plain_numpy():
    values = RNG.random((4, 5))
    mean = values.mean()
    rows, columns = values.mean(axis=1) - mean, values.mean(axis=0) - mean
    rest = values - mean - rows[:, None] - columns
    expected = {(0,): np.mean(rows**2), (1,): np.mean(columns**2), (0, 1): np.mean(rest**2)}
    assert functional_anova(values) == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(3,), (2, 4), (3, 1, 4), (2, 3, 2, 3)])
def test_effects_add_up_to_the_variance(shape):
    values = RNG.random(shape)
    assert sum(functional_anova(values).values()) == pytest.approx(values.var())


def test_an_additive_function_has_no_interactions_and_the_variances_of_its_terms():
    a, b, c = RNG.random(4), RNG.random(6), RNG.random(3)
    effects = functional_anova(a[:, None, None] + b[:, None] + c)
    assert [effects[axis,] for axis in range(3)] == pytest.approx([a.var(), b.var(), c.var()])
    assert max(share for axes, share in effects.items() if len(axes) > 1) < 1e-30


def test_a_product_of_centred_factors_is_interaction_alone():
    a, b = np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 2.0])
    assert functional_anova(np.outer(a, b)) == pytest.approx({(0,): 0.0, (1,): 0.0, (0, 1): np.outer(a, b).var()})


@pytest.mark.parametrize(("values", "said"), [(3.0, "at least one axis"), ([1.0, np.nan], "1 of 2 are not")])
def test_what_is_no_full_grid_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        functional_anova(values)


def test_shares_of_parameters_and_folds_add_up_and_are_invariant():
    fits = RNG.random((5, 4, 3)) + 3 * RNG.random((4, 1))
    found = importance(result_of(fits))
    assert found.exact
    assert sum(found.effects.values()) + found.folds == pytest.approx(1.0)
    assert found.folds == pytest.approx(fits.var(axis=0).mean() / fits.var())
    assert importance(result_of(7 - 2 * fits)).effects == pytest.approx(found.effects)
    swapped = importance(result_of(fits.swapaxes(1, 2)))
    assert swapped.effects[("a",)] == pytest.approx(found.effects[("b",)])


def test_the_spread_is_that_of_the_folds_own_decompositions():
    fits = RNG.random((4, 5, 3))
    own = [functional_anova(grid)[0,] / grid.var() for grid in fits]
    assert importance(result_of(fits)).spread[("a",)] == pytest.approx(np.std(own))
    assert not importance(result_of(fits[:1])).spread


def test_the_sentence():
    a, b = np.arange(4.0), 0.1 * np.arange(3.0)
    found = importance(result_of((a[:, None] + b)[None]))
    assert found.sentence({"a": "C"}) == "C explains 99 %, b 1 %, their interaction 0 %, folds 0 %"
    assert importance(result_of(np.full((3, 2, 2), 0.1))).sentence() == "All fits have the same score."


def test_a_part_of_a_grid_is_estimated():
    grid = np.meshgrid(np.arange(6), np.arange(6), np.arange(6), indexing="ij")
    fits = np.array([5.0 * grid[0] + 2.0 * grid[1] + fold for fold in (0, 1)])
    whole = importance(result_of(fits))
    kept = RNG.random((6, 6, 6)) < 0.5
    part = importance(result_of(np.where(kept, fits, np.nan)))
    assert not part.exact
    assert part.sentence().startswith("Estimated from a part of the cells: a explains")
    assert part.effects == pytest.approx(whole.effects, abs=0.08)
    with pytest.raises(ValueError, match="at least two cells"):
        importance(result_of(np.where(np.arange(6)[:, None, None] < 0, fits, np.nan)))


@pytest.mark.parametrize("shape", [(7, 7), (9, 4), (8,), (2, 5), (1, 3), (3, 2, 4)])
def test_the_finished_coarse_part_of_a_grid_tells_before_the_rest_and_reaches_its_ends(shape):
    whole = result_of(RNG.random((3, *shape)))
    order, told = visiting_order(whole.grid), []
    for count in range(1, len(order) + 1):
        part = coarse_part(Result(whole.grid, whole.metrics, [whole.cells[number] for number in order[:count]]))
        if part is None:
            assert count < np.prod([min(size, 3) for size in shape])
            continue
        assert all(set(part.grid[name]) >= {values[0], values[-1]} for name, values in whole.grid.items())
        inside = np.ix_(*(list(map(values.index, part.grid[name])) for name, values in whole.grid.items()))
        np.testing.assert_array_equal(part.means(), whole.means()[inside])
        assert importance(part).exact
        told.append(len(part.cells))
    assert told[0] == np.prod([min(size, 3) for size in shape])
    assert told[-1] == len(order)
    assert told == sorted(told)


def test_a_sweep_tells_which_parameter_matters():
    sweep = Sweep(LSDR(max_iter=5), {"reg_u": [0.01, 100.0], "random_state": [0, 1]}, cv=2, scoring="objective")
    found = importance(sweep.result(sweep.run(*load_iris(return_X_y=True), "in-process")))
    assert found.exact
    assert found.effects["reg_u",] > 0.9 * (1 - found.folds)

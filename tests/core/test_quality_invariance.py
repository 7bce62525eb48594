"""No statistic of a map depends on the order of its rows, the names of the classes or the direction of its axes."""

import inspect

import numpy as np
import pytest

from supdr import quality
from supdr.baselines import PCAProjection

ROWS = 60
ORDER = np.random.default_rng(1).permutation(ROWS)


def measures_a_map(function):
    """Whether a function makes numbers of rows, places and labels alone, without a model or draws of its own."""
    signature = inspect.signature(function)
    needed = {name for name, each in signature.parameters.items() if each.default is each.empty}
    return needed <= {"X", "Z", "y"} and signature.return_annotation in ("float", "NDArray", "MapQuality", "TrustCurve")


STATISTICS = [name for name in quality.__all__ if name.islower() and measures_a_map(getattr(quality, name))]


def clouds():
    """Whole numbers: many rows are equally far from one another, on the map as in the input."""
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 3
    X = np.round(2 * rng.standard_normal((ROWS, 4)) + y[:, None])
    return {"X": X, "Z": X[:, :2].copy(), "y": y.astype(float)}


def changed(data, how):
    """Return the same rows in another order, classes by other names, axes that are flipped or swapped."""
    renamed = np.array(["z", "y", "x"])[data["y"].astype(int)]
    return {
        "order": {name: values[ORDER] for name, values in data.items()},
        "reversed": {name: values[::-1] for name, values in data.items()},
        "names": {**data, "y": renamed},
        "numbers": {**data, "y": 2.0 - data["y"]},
        "flipped": {**data, "X": -data["X"], "Z": data["Z"] * [1, -1]},
        "swapped": {**data, "X": data["X"][:, ::-1], "Z": data["Z"][:, ::-1]},
    }[how]


def asked(name, data):
    """Return what a function of the package says of a map, as numbers."""
    function = getattr(quality, name)
    parameters = inspect.signature(function).parameters
    answer = function(**{key: values for key, values in data.items() if key in parameters})
    if isinstance(answer, quality.TrustCurve):
        answer = [answer.trustworthiness, answer.continuity, answer.overlap]
    return np.array(list(answer.numbers.values()) if isinstance(answer, quality.MapQuality) else answer, dtype=float)


@pytest.mark.parametrize("how", ["order", "reversed", "names", "numbers", "flipped", "swapped"])
@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_a_map(name, how):
    data = clouds()
    expected, found = asked(name, data), asked(name, changed(data, how))
    if name.startswith("row_") and how in ("order", "reversed"):
        expected = expected[ORDER] if how == "order" else expected[::-1]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["order", "reversed", "flipped", "swapped"])
def test_distances_of_pairs(how):
    data = clouds()
    one, two = (np.sort(np.round(quality.distance_pairs(d["X"], d["Z"]), 9)) for d in (data, changed(data, how)))
    np.testing.assert_allclose(one, two)


def test_neighbours_that_are_lost_and_false():
    data = clouds()
    one = quality.changed_neighbours(data["X"], data["Z"], n_neighbors=5)
    two = quality.changed_neighbours(data["X"][ORDER], data["Z"][ORDER], n_neighbors=5)
    flipped = quality.changed_neighbours(-data["X"], -data["Z"], n_neighbors=5)
    for field in one._fields:
        np.testing.assert_array_equal(getattr(flipped, field), getattr(one, field))
        # Of rows that are equally near, which are named depends on the order; how many rows have any does not.
        none_there = (getattr(one, field) < 0).all(axis=1)[ORDER]
        np.testing.assert_array_equal((getattr(two, field) < 0).all(axis=1), none_there)


@pytest.mark.parametrize("how", ["order", "reversed", "names", "numbers"])
def test_quality_of_a_model_as_comparisons_and_sweeps_compute_it(how):
    data = clouds()
    model = PCAProjection(random_state=0).fit(data["X"], data["y"])
    other = changed(data, how)
    expected = quality.model_quality(model, data["X"], data["y"]).numbers
    found = quality.model_quality(model, other["X"], other["y"]).numbers
    assert found == pytest.approx(expected, rel=1e-9)

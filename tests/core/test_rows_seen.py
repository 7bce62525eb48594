"""A run on partitions as it is looked at: on rows of one's choice, from workers, and how far a round is."""

import pickle

import dask.array as da
import numpy as np
import pytest

import supdr
from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.rows.partitions import from_list, total

SETTINGS = {"MAC": {"n_centers": 15}, "LSDR": {"n_components": 2}, "SDRGLM": {"n_components": 2}}
METHODS = [name for name, each in supdr.METHODS.items() if each.takes_partitions and each.partition_support.any_rows]


pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 160)
    X = rng.normal(size=(3, 4))[codes] + 0.5 * rng.normal(size=(160, 4))
    y = codes.astype(float)
    y[::9] = np.nan
    return X, y


@pytest.mark.parametrize("name", METHODS)
def test_what_is_told_of_some_rows_is_what_is_told_of_them_among_all(rows, name):
    X, y = rows
    model = supdr.METHODS[name](max_iter=2, random_state=0, **SETTINGS.get(name, {}))
    last = list(model.iterate(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)))[-1]
    every, chosen = model.at(last), np.arange(3, 160, 7)
    some = model.at_rows(last, X[chosen], y[chosen], chosen)
    np.testing.assert_allclose(some.embedding_, every.embedding_[chosen], atol=1e-9)
    np.testing.assert_array_equal(some.transduction_, every.transduction_[chosen])
    light = pickle.loads(pickle.dumps(some.without_rows()))
    np.testing.assert_array_equal(light.predict(X), every.predict(X))
    np.testing.assert_allclose(light.transform(X), every.transform(X), atol=1e-9)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [([1, 1], "rising"), ([2, 1], "rising"), ([-1, 1], "rising"), ([1], "equally long"), ([1, 2, 3], "equally long")],
)
def test_rows_that_are_none_of_the_run_are_refused(rows, chosen, message):
    X, y = rows
    model = supdr.MAC(n_centers=10, max_iter=1, random_state=0)
    last = list(model.iterate(da.from_array(X, chunks=(80, 4)), da.from_array(y, chunks=80)))[-1]
    with pytest.raises(ValueError, match=message):
        model.at_rows(last, X[:2], y[:2], np.array(chosen))
    with pytest.raises(ValueError, match="run on partitions"):
        model.at_rows(next(model.iterate(X, y)), X[:2], y[:2], np.array([0, 1]))


@pytest.mark.parametrize("changes", [{"C": 4.0}, {"reg_w": 0.1}, {"mu": 5.0}, {"n_centers": 12}])
def test_a_run_goes_on_under_other_parameters_as_in_memory_and_reads_nothing_anew(rows, changes):
    X, y = rows
    dX, dy = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    ends = []
    for data in ((X, y), (dX, dy)):
        model = supdr.MAC(n_centers=15, max_iter=2, random_state=0, early_stopping=False, tol=-1)
        first = list(model.iterate(*data))[-1]
        ends.append([first, *model.set_params(**changes).iterate(*data, start=first)])
    np.testing.assert_allclose([s.objective for s in ends[1]], [s.objective for s in ends[0]], rtol=1e-4)
    assert ends[1][-1].run.partitions_ is ends[1][0].run.partitions_


def test_a_round_tells_how_far_it_is_and_can_be_given_up():
    said = []
    with run_context(report_progress=lambda done, count: said.append((done, count))):
        assert total(_squared, from_list(range(5))) == 30
        assert said == [(done, 5) for done in range(1, 6)]
        with run_context(stop_requested=lambda: len(said) > 6), pytest.raises(Interrupted):
            total(_squared, from_list(range(5)))
    assert said[-1] == (2, 5)


def _squared(value):
    return value**2

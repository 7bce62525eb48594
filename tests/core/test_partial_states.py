"""What a pass of MAC on partitions shows before it is complete: true of its rows, and without effect."""

import dask.array as da
import numpy as np
import pytest

from supdr import MAC
from supdr.engine.context import run_context, show_partial_state
from supdr.methods.mac.mapping import InMemoryFeatures
from supdr.methods.mac.problem import least_ridge
from supdr.methods.mac.solvers import PartialMap
from supdr.rows.partitions import gather
from tests.core.inside import problem_of

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 600)
    X = rng.normal(size=(3, 4))[codes] + 0.8 * rng.normal(size=(600, 4))
    y = codes.astype(float)
    y[::11] = np.nan
    return X, y


def partitions(rows):
    return [da.from_array(values, chunks=(100, *values.shape[1:])) for values in rows]


def model(**settings):
    return MAC(n_centers=20, early_stopping=False, max_iter=3, tol=-1.0, random_state=0, **settings)


def run(rows, **settings):
    """Return the snapshots of a run, and what each step showed before it."""
    fit, shown, steps = model(**settings), [], []
    X, y = partitions(rows)
    seen = []
    with run_context(observe=seen.append):
        for snapshot in fit.iterate(X, y):
            steps.append(snapshot)
            shown.append(list(seen))
            seen.clear()
    return fit, steps, shown


def test_an_observer_changes_nothing(rows):
    X, y = partitions(rows)
    _, steps, _ = run(rows)
    assert [each.objective for each in steps] == [each.objective for each in model().iterate(X, y)]
    show_partial_state(steps[0].state)  # there is no observer


def test_a_pass_shows_its_map_and_then_its_classifiers(rows):
    fit, steps, shown = run(rows)
    labelled = np.arange(0, 600, 7)
    X, y = (values[labelled] for values in rows)
    for step, before, seen in zip(steps[1:], steps, shown[1:]):
        assert all(not each.losses and each.iteration == before.iteration for each in seen)
        np.testing.assert_array_equal(seen[0].state.weights, before.state.weights)
        np.testing.assert_array_equal(seen[-1].state.weights, step.state.weights)
        # Wherever the rows of the pass are, those of a sample stand where the map puts them.
        partial = fit.at_rows(seen[-1], X, y, labelled)
        complete = fit.at_rows(step, X, y, labelled)
        np.testing.assert_allclose(partial.embedding_, complete.embedding_, atol=1e-12)
        np.testing.assert_allclose(partial.transform(X), complete.transform(X), atol=1e-12)
    assert any((each.state.heads.coef != before.state.heads.coef).any() for each in shown[1])


def values_of(partitions):
    return [np.asarray(each) for each in gather(np.asarray, partitions)]


def test_partitions_that_are_done_count_with_their_new_targets_and_the_others_with_the_old(rows):
    *_, before, after = model().iterate(*partitions(rows))
    problem, mapping, state = problem_of(before.run), before.state.mapping, before.state
    blocks = values_of(problem.all_rows.X)
    targets = [values_of(each.state.targets) for each in (before, after)]
    pulls = [{number: mapping.features(X).T @ Z for number, (X, Z) in enumerate(zip(blocks, each))} for each in targets]
    seen = []
    with run_context(observe=seen.append, snapshot_of=lambda shown: shown):
        arriving = PartialMap(problem, problem.features(mapping), state._replace(pulls=pulls[0]))
        arriving({number: (pulls[1][number], None) for number in (0, 3)})
        # All are done: what follows is the complete map.
        arriving({number: (pull, None) for number, pull in pulls[1].items()})
    mixed = np.concatenate([targets[number in (0, 3)][number] for number in range(len(blocks))])
    features = InMemoryFeatures(np.concatenate(blocks), mapping)
    expected = features.solve(mixed, features.pull_back(mixed), least_ridge(state.reg_w, state.mu, features))
    assert len(seen) == 1
    np.testing.assert_allclose(seen[0].weights, expected, rtol=1e-6, atol=1e-9)

"""Curves and snapshots: bounded, ordered, exact at the ends."""

import weakref
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from supdr.engine.diagnostics import Diagnostics
from supdr.engine.iterate import Snapshot
from supdr_viz.run.history import CurveLog, SnapshotRing, state_bytes
from supdr_viz.run.recording import Recording

ROOT = Path(__file__).parents[3]


class State(NamedTuple):
    array: np.ndarray
    iteration: int


def snapshot(iteration, size=1):
    return Snapshot(iteration, 0, {"objective": 1.0}, Diagnostics({}), State(np.zeros(size), iteration), 0.0)


def test_curves_are_the_same_object_until_something_is_added():
    log = CurveLog()
    log.append(0, {"train": 3.0})
    for change in (
        lambda: log.append(5, {"train": 2.0}),
        lambda: log.insert(2, {"test": 4.0}),
        lambda: log.insert(5, {"test": 1.0}),
        lambda: log.truncate(2),
    ):
        before = log.curves()
        assert log.curves() is before
        change()
        assert log.curves() is not before


def test_the_latest_values_are_those_of_the_last_column_before():
    log = CurveLog()
    assert log.latest(3, 100) == {}
    log.extend([2, 6], [{"train": 3.0}, {"train": 2.0, "test": 1.0}])
    assert log.latest(1, 100) == {}
    assert log.latest(6, 100) == log.latest(100, 100) == {"train": 2.0, "test": 1.0}
    assert log.latest(5, 100)["train"] == 3.0
    assert np.isnan(log.latest(5, 100)["test"])
    assert log.latest(11, 5) == log.latest(6, 0)
    assert log.latest(12, 5) == {}


def test_curves_keep_every_value_up_to_the_limit_and_the_ends_beyond():
    log = CurveLog()
    for i in range(3000):
        log.append(i, {"objective": 1.0 / (i + 1), "label": float(i)})
    few, table = log.curves(limit=500), log.table()
    assert 250 <= len(few.iteration) <= 500
    assert few.iteration[0] == 0
    assert few.iteration[-1] == 2999
    np.testing.assert_array_equal(few.values["label"], few.iteration)
    np.testing.assert_array_equal(table.values["label"], np.arange(3000))


def test_an_iteration_said_twice_is_replaced():
    log = CurveLog()
    log.append(3, {"objective": 5.0})
    log.append(3, {"objective": 4.0})
    np.testing.assert_array_equal(log.table().iteration, [3])
    np.testing.assert_array_equal(log.table().values["objective"], [4.0])


def test_a_curve_may_begin_late():
    log = CurveLog()
    log.append(0, {"objective": 1.0})
    log.append(1, {"objective": 1.0, "bound": 0.5})
    np.testing.assert_array_equal(log.table().values["bound"], [np.nan, 0.5])


def test_columns_added_together_are_as_if_added_one_by_one():
    rows = [{"objective": float(i), **({"bound": 0.5 * i} if i % 3 == 2 else {})} for i in range(900)]
    alone, together = CurveLog(), CurveLog()
    for i, row in enumerate(rows):
        alone.append(i, row)
    for first in (0, 1, 100, 90):  # the last time some are said again
        together.extend(range(first, len(rows)), rows[first:])
    one, other = alone.table(), together.table()
    np.testing.assert_array_equal(one.iteration, other.iteration)
    assert one.values.keys() == other.values.keys()
    for name, values in one.values.items():
        np.testing.assert_array_equal(values, other.values[name])


def test_going_back_to_an_earlier_iteration_forgets_the_later_ones():
    recording = Recording()
    recording.begin_segment("estimator", snapshot(0))
    steps = recording.batch()
    for i in (*range(1, 8), 4):
        steps.add(snapshot(i))
    recording.extend(steps)
    assert recording.ring.newest.iteration == 4
    assert recording.segments[-1].last_iteration == 4
    np.testing.assert_array_equal(recording.losses.table().iteration, np.arange(5))


def test_steps_that_say_other_names_are_recorded_with_what_each_said():
    recording = Recording()
    recording.begin_segment("estimator", snapshot(0))
    steps, said = recording.batch(), [{}, {"bound": 0.5}, {"bound": 0.25, "unwatched": 2.0}, {}, {"surrogate": 3.0}]
    for i, at_hand in enumerate(said, 1):
        steps.add(replace(snapshot(i), losses={"objective": 1.0 / i}, diagnostics=Diagnostics(at_hand)))
    recording.extend(steps)
    table = recording.losses.table()
    np.testing.assert_array_equal(table.iteration, range(6))
    np.testing.assert_array_equal(table.values["objective"], [1.0, *(1.0 / i for i in range(1, 6))])
    np.testing.assert_array_equal(table.values["bound"], [np.nan, np.nan, 0.5, 0.25, np.nan, np.nan])
    np.testing.assert_array_equal(table.values["surrogate"], [*[np.nan] * 5, 3.0])
    assert table.values.keys() == {"objective", "bound", "surrogate"}


def test_what_was_forgotten_does_not_come_back_with_later_columns():
    log = CurveLog()
    log.extend([0, 1, 2], [{"objective": 1.0, "bound": 0.5}] * 3)
    log.truncate(0)
    log.extend([1, 2], [{"objective": 2.0}] * 2)
    np.testing.assert_array_equal(log.table().values["bound"], [0.5, np.nan, np.nan])


def test_what_is_not_going_to_be_kept_is_let_go_of_at_once():
    recording = Recording()
    recording.begin_segment("estimator", snapshot(0))
    for i in range(1, 1000):
        recording.append(snapshot(i))
    steps, arrays = recording.batch(), {}
    for i in range(1000, 1032):
        arrays[i] = weakref.ref((step := snapshot(i)).state.array)
        steps.add(step)
    del step
    alive = [i for i, array in arrays.items() if array() is not None]
    recording.extend(steps)
    assert set(alive) == {1031, *range(1000, 1032)} & set(recording.ring.iterations)
    assert len(alive) < 10
    assert recording.losses.table().iteration[-1] == 1031


def test_rare_values_are_drawn_where_curves_are_thinned():
    log = CurveLog()
    for i in range(64):
        log.append(i, {"objective": 1.0})
    for i in (3, 5, 6, 40):
        log.insert(i, {"bound": float(i)})
    few = log.curves(limit=20)
    np.testing.assert_array_equal(few.iteration, [*range(0, 64, 4), 63])
    known = np.isfinite(few.values["bound"])
    np.testing.assert_array_equal(few.iteration[known], [4, 8, 40])
    np.testing.assert_array_equal(few.values["bound"][known], [3.0, 6.0, 40.0])


@pytest.mark.parametrize("order", [[5, 1, 3, 1], [1, 3, 5], [5, 3, 1]])
def test_insert_keeps_order(order):
    log = CurveLog()
    for iteration in order:
        log.insert(iteration, {"train": float(iteration)})
    table = log.table()
    np.testing.assert_array_equal(table.iteration, [1, 3, 5])
    np.testing.assert_array_equal(table.values["train"], [1.0, 3.0, 5.0])


def test_truncate_forgets_what_came_after():
    log = CurveLog()
    for i in range(10):
        log.append(i, {"objective": float(i)})
    log.truncate(4)
    np.testing.assert_array_equal(log.table().iteration, np.arange(5))


def test_the_ring_is_bounded_and_keeps_first_and_newest():
    ring = SnapshotRing(max_items=20)
    for i in range(1001):
        ring.append(snapshot(i))
        assert len(ring.iterations) <= 21
    assert ring.iterations[0] == 0
    assert ring.iterations[-1] == 1000
    gaps = np.diff(ring.iterations)
    assert gaps.max() <= 4 * 1001 / 20


def test_the_ring_is_bounded_in_bytes():
    ring = SnapshotRing(max_items=1000, max_bytes=80_000)
    for i in range(100):
        ring.append(snapshot(i, size=1000))
    assert len(ring.iterations) <= 11


def test_nearest_and_truncate():
    ring = SnapshotRing()
    for i in range(10):
        ring.append(snapshot(i))
    assert ring.nearest(4).iteration == 4
    assert ring.nearest(99).iteration == 9
    ring.truncate(ring.nearest(4))
    assert ring.iterations == [0, 1, 2, 3, 4]
    assert ring.newest.iteration == 4
    assert SnapshotRing().nearest(0) is None


def test_going_back_to_the_best_iterate_is_recorded():
    ring = SnapshotRing()
    for i in (0, 1, 2, 3, 1):
        ring.append(snapshot(i))
    assert ring.iterations == [0, 1]


def test_state_bytes_counts_nested_arrays():
    assert state_bytes((np.zeros(3), (np.zeros(2), 5), [np.zeros(1)])) == 48


def kept_by_one_and_by_ten():
    """Return the bytes of state that one run keeps, and ten together, and the fewest snapshots of one of these."""
    rings = []
    rings.append(SnapshotRing(n_runs=lambda: len(rings)))

    def run(start):
        for iteration in range(start, start + 200):
            for ring in rings:
                ring.append(snapshot(iteration, size=1000))
        return sum(state_bytes(kept.state) for ring in rings for kept in ring.snapshots)

    alone = run(0)
    rings += [SnapshotRing(n_runs=lambda: len(rings)) for _ in range(9)]
    return alone, run(200), min(len(ring.snapshots) for ring in rings)


def test_many_runs_share_what_the_server_keeps(monkeypatch):
    monkeypatch.setenv("SUPDR_MOST_HISTORY_MB", "1")
    alone, together, fewest = kept_by_one_and_by_ten()
    assert 500_000 < alone <= 1_100_000
    assert 400_000 < together <= 1_100_000
    assert fewest > 2

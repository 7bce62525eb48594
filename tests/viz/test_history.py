"""Curves and snapshots: bounded, ordered, exact at the ends."""

from typing import NamedTuple

import numpy as np
import pytest

from supdr.engine.iterate import Snapshot
from supdr_viz.run.history import CurveLog, SnapshotRing, state_bytes


class State(NamedTuple):
    array: np.ndarray
    iteration: int


def snapshot(iteration, size=1):
    return Snapshot(iteration, 0, {"objective": 1.0}, {}, State(np.zeros(size), iteration), 0.0)


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

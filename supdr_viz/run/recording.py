"""The recording of one run so far: snapshots, curves, and the segments that a Python snippet repeats."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Label
from supdr_viz.run.history import CurveLog, SnapshotRing

# Steps per second are averaged over this many seconds.
RATE_WINDOW = 2.0

# Of a snapshot whose rows are in partitions: targets, latent rows and multipliers.
BYTES_A_ROW_AND_CLASS = 24

# That the snapshots of a run hold on all workers together.
MOST_BYTES_ELSEWHERE = 1_000_000_000

# Iterations after which errors are not said of a run at rest any more.
STALE = 5

# Diagnostics that are drawn with the losses.
WATCHED = ("surrogate", "bound")


@dataclass
class Segment:
    """A stretch of the run under one set of hyper-parameters and labels."""

    estimator: Any
    first_iteration: int
    last_iteration: int
    taught: tuple[Label, ...] = ()


class CurveChunk(NamedTuple):
    """The points of curves of successive steps that have the same names.

    `iterations`: rising; `values`: step by step, those of a step in the order of the names.
    """

    names: tuple[str, ...]
    iterations: array[int]
    values: array[float]


class StepBatch:
    """Steps on their way into a recording, one after the other.

    Of a step that is not going to be kept only numbers stay: the next one finds its memory free, and in the cache.

    `keeps`: ``keeps(snapshot)``: whether it is going to be kept. `kept`: those that are, the newest left out. `pieces`:
    of all steps; one that begins at an earlier iteration than the one before ends, replaces what is there of it.
    """

    def __init__(self, keeps: Callable[[Snapshot], bool]) -> None:
        self._keeps = keeps
        self.kept: list[Snapshot] = []
        self.newest: Snapshot | None = None
        self.pieces: list[CurveChunk] = []
        self._names: tuple[str, ...] = ()

    def add(self, snapshot: Snapshot) -> None:
        """Add the next step; a run may end by going back to its best iterate."""
        before, drawn = self.newest, _curves_of(snapshot)
        if before is not None and self._keeps(before):
            self.kept.append(before)
        names = tuple(drawn)
        if before is None or names != self._names or snapshot.iteration <= before.iteration:
            self.pieces.append(CurveChunk(names, array("q"), array("d")))
            self._names = names
        self.newest = snapshot
        _, iterations, values = self.pieces[-1]
        iterations.append(snapshot.iteration)
        values.extend(drawn.values())


class Recording:
    """The memory of a run.  Not locked: its owner serialises changes.  Segments and snapshots can be read meanwhile.

    `n_runs`: returns how many runs share the memory of the process.
    """

    def __init__(self, n_runs: Callable[[], int] = lambda: 1) -> None:
        self.ring = SnapshotRing(n_runs=n_runs)
        self.losses = CurveLog()
        self.errors = CurveLog()
        self.segments: list[Segment] = []
        self._marks: list[tuple[float, int]] = []
        self._seconds: list[tuple[int, float]] = []

    def hold_elsewhere(self, n_rows: int, n_classes: int) -> None:
        """Keep only as many snapshots as the workers of a cluster have room for: their states are there."""
        each = BYTES_A_ROW_AND_CLASS * n_rows * n_classes
        self.ring.max_items = max(2, min(self.ring.max_items, MOST_BYTES_ELSEWHERE // each))

    def begin_segment(self, estimator: Any, first: Snapshot, taught: tuple[Label, ...] = ()) -> None:
        """Note that `estimator` goes on from `first` with these taught labels; a segment without steps is replaced."""
        before = 0.0 if self.ring.newest is None else self.seconds(self.ring.newest)
        self._seconds = [mark for mark in self._seconds if mark[0] < first.iteration] + [(first.iteration, before)]
        segments = self.segments
        if segments and segments[-1].first_iteration == segments[-1].last_iteration == first.iteration:
            segments = segments[:-1]
        if not segments or segments[-1].estimator is not estimator:
            segments = [*segments, Segment(estimator, first.iteration, first.iteration, taught)]
        self.segments = segments
        self.append(first)

    def batch(self) -> StepBatch:
        """Return an empty batch, for the steps that come next."""
        return StepBatch(self.ring.keeps)

    def extend(self, steps: StepBatch) -> None:
        """Keep what is to be kept of steps, and the losses of all; there is at least one."""
        assert steps.newest is not None
        for snapshot in (*steps.kept, steps.newest):
            self.ring.append(snapshot)
        for names, iterations, values in steps.pieces:
            self.losses.extend_table(iterations, names, np.asarray(values).reshape(len(iterations), len(names)))
        self.segments[-1].last_iteration = steps.newest.iteration

    def append(self, snapshot: Snapshot) -> None:
        """Keep a snapshot and its losses."""
        steps = self.batch()
        steps.add(snapshot)
        self.extend(steps)

    def watch(self, snapshot: Snapshot) -> None:
        """Note what is drawn with the losses and only known of snapshots that are looked at, as this one is."""
        diagnostics = snapshot.diagnostics
        late = {name: diagnostics[name] for name in WATCHED if name in diagnostics and name not in diagnostics.at_hand}
        if late:
            self.losses.insert(snapshot.iteration, late)

    def seconds(self, snapshot: Snapshot) -> float:
        """Return the seconds inside the steps up to `snapshot`, all segments together."""
        return snapshot.elapsed + next(
            (before for first, before in reversed(self._seconds) if first <= snapshot.iteration), 0.0
        )

    def go_back(self, snapshot: Snapshot) -> None:
        """Forget what came after `snapshot`."""
        self.ring.truncate(snapshot)
        self.losses.truncate(snapshot.iteration)
        self.errors.truncate(snapshot.iteration)
        self.segments = [
            replace(segment, last_iteration=min(segment.last_iteration, snapshot.iteration))
            for segment in self.segments
            if segment.first_iteration <= snapshot.iteration
        ]

    def estimator_of(self, snapshot: Snapshot) -> Any:
        """Return the estimator under which `snapshot` was made: the latest segment that holds its iteration."""
        return next(
            segment.estimator for segment in reversed(self.segments) if segment.first_iteration <= snapshot.iteration
        )

    def numbers(self, snapshot: Snapshot, *, at_rest: bool = False) -> dict[str, float]:
        """Return what the status line says of `snapshot`: objective, steps per second, the last known errors.

        At rest errors of a much earlier iteration are left out: those of this one are on their way.
        ``"gap"``: by how many per cent of the objective it may lie above its least value, if a bound is known.
        """
        numbers = {"objective": snapshot.objective, "rate": self._rate()}
        available = snapshot.diagnostics.available
        if "bound" in available and snapshot.objective > 0:
            numbers["gap"] = 100.0 * (1.0 - max(available["bound"], 0.0) / snapshot.objective)
        within = STALE if at_rest else snapshot.iteration
        return {**numbers, **self.errors.latest(snapshot.iteration, within)}

    def forget_rate(self) -> None:
        """Start measuring steps per second anew."""
        self._marks = []

    def _rate(self) -> float:
        if self.ring.newest is None:
            return 0.0
        now, iteration = time.monotonic(), self.ring.newest.iteration
        self._marks = [mark for mark in self._marks if now - mark[0] < RATE_WINDOW and mark[1] <= iteration]
        self._marks.append((now, iteration))
        elapsed = now - self._marks[0][0]
        return (iteration - self._marks[0][1]) / elapsed if elapsed > 0.2 else 0.0


def _curves_of(snapshot: Snapshot) -> Mapping[str, float]:
    """Return what is drawn of a snapshot with the losses, as far as it is known."""
    at_hand = snapshot.diagnostics.at_hand
    if not at_hand:
        return snapshot.losses
    watched = {name: at_hand[name] for name in WATCHED if name in at_hand}
    return {**snapshot.losses, **watched} if watched else snapshot.losses

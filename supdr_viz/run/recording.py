"""What one run has done so far: snapshots, curves, and the legs that a Python snippet repeats."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.run.history import CurveLog, SnapshotRing

RATE_WINDOW = 2.0
"""Steps per second are averaged over this many seconds."""

WATCHED = ("surrogate", "bound")
"""Diagnostics that are drawn with the losses."""


@dataclass
class Leg:
    """A stretch of the run under one set of hyper-parameters."""

    estimator: Any
    first_iteration: int
    last_iteration: int


class Recording:
    """The memory of a run.  Not locked: its owner serialises changes.  Legs and snapshots can be read meanwhile."""

    def __init__(self) -> None:
        self.ring = SnapshotRing()
        self.losses = CurveLog()
        self.errors = CurveLog()
        self.legs: list[Leg] = []
        self._marks: list[tuple[float, int]] = []
        self._seconds: list[tuple[int, float]] = []

    def begin_leg(self, estimator: Any, first: Snapshot) -> None:
        """Note that `estimator` carries on from `first`; a leg without steps is replaced."""
        before = 0.0 if self.ring.newest is None else self.seconds(self.ring.newest)
        self._seconds = [mark for mark in self._seconds if mark[0] < first.iteration] + [(first.iteration, before)]
        legs = self.legs
        if legs and legs[-1].first_iteration == legs[-1].last_iteration == first.iteration:
            legs = legs[:-1]
        if not legs or legs[-1].estimator is not estimator:
            legs = [*legs, Leg(estimator, first.iteration, first.iteration)]
        self.legs = legs
        self.add(first)

    def add(self, snapshot: Snapshot) -> None:
        """Keep a snapshot and its losses."""
        self.ring.append(snapshot)
        values = dict(snapshot.losses)
        values |= {name: snapshot.diagnostics[name] for name in WATCHED if name in snapshot.diagnostics}
        # A run may end by going back to its best iterate.
        self.losses.truncate(snapshot.iteration)
        self.losses.append(snapshot.iteration, values)
        self.legs[-1].last_iteration = snapshot.iteration

    def seconds(self, snapshot: Snapshot) -> float:
        """Return the seconds inside the steps up to `snapshot`, all legs together."""
        return snapshot.elapsed + next(
            (before for first, before in reversed(self._seconds) if first <= snapshot.iteration), 0.0
        )

    def go_back(self, snapshot: Snapshot) -> None:
        """Forget what came after `snapshot`."""
        self.ring.truncate(snapshot)
        self.losses.truncate(snapshot.iteration)
        self.errors.truncate(snapshot.iteration)
        self.legs = [
            replace(leg, last_iteration=min(leg.last_iteration, snapshot.iteration))
            for leg in self.legs
            if leg.first_iteration <= snapshot.iteration
        ]

    def estimator_of(self, snapshot: Snapshot) -> Any:
        """Return the estimator under which `snapshot` was made: the latest leg that holds its iteration."""
        return next(leg.estimator for leg in reversed(self.legs) if leg.first_iteration <= snapshot.iteration)

    def numbers(self, snapshot: Snapshot) -> dict[str, float]:
        """Return what the status line says of `snapshot`: objective, steps per second, the last known errors.

        ``"gap"``: by how many per cent of the objective it may lie above its least value, if a bound is known.
        """
        numbers = {"objective": snapshot.objective, "rate": self._rate()}
        if "bound" in snapshot.diagnostics and snapshot.objective > 0:
            numbers["gap"] = 100.0 * (1.0 - max(snapshot.diagnostics["bound"], 0.0) / snapshot.objective)
        curves = self.errors.table()
        place = int(curves.iteration.searchsorted(snapshot.iteration, side="right")) - 1
        if place >= 0:
            numbers.update({key: float(values[place]) for key, values in curves.values.items()})
        return numbers

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

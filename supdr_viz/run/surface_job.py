"""The job that makes decision surfaces, under a budget of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.pictures.surface import COARSE, FINE, evaluate
from supdr_viz.pictures.types import Surface
from supdr_viz.run.paint_job import Display, Request, snapshot_key

# Counting all rows that are on disk takes about this share of a run's time; at rest they are counted at once.
COUNT_SHARE = 0.15

# Surfaces take about this share of a run's time …
SURFACE_SHARE = 0.07

# … but come neither more often than the first nor, while anything changes, more rarely than the second (seconds). One
# that takes longer than that, as with many rows, is followed by a pause of its own length.
SURFACE_INTERVAL = (0.22, 0.25)


class SurfaceJob:
    """Makes a surface of what the newest frame shows; at rest a fine one.

    It is evaluated once for a snapshot; when rows only get other colours, they are counted again.

    surface: the newest one that was not taken yet.
    """

    def __init__(self, display: Display, framed: Callable[[], tuple[int, int] | None]) -> None:
        self._display, self._framed = display, framed
        self.surface: Surface | None = None
        self._painted: tuple[Any, ...] | None = None
        self._coloured: tuple[Any, ...] | None = None
        self._version = 0
        self._next = self._next_count = 0.0

    def hurry(self) -> None:
        """Make another surface at once: the user has changed something."""
        self._version += 1
        self._next = 0.0

    def has_turn(self, now: float) -> bool:
        """Whether enough time has passed since the last one."""
        return now >= self._next

    def put_incomplete(self, surface: Surface) -> None:
        """Offer a surface of a step that is under way."""
        self.surface, self._next = surface, self._display.clock() + SURFACE_INTERVAL[0]

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """See `Job.due`: while a run goes on, a surface is made only of what a frame shows."""
        if self._display.builder.plane is None or (not at_rest and self._framed() != snapshot_key(snapshot)):
            return None
        if self._key(snapshot, at_rest) != self._painted:
            return self._next - now
        return 0.0 if self._colours() != self._coloured else None

    def work(self, request: Request) -> bool:
        """See `Job.work`."""
        display, builder, snapshot, now = self._display, self._display.builder, request.snapshot, self._display.clock()
        with display.lock:
            due = self.due(now, snapshot, request.at_rest)
            plane = builder.plane
            if plane is None or due is None or due > 0 or not request.current():
                return False
            key, colours, before = self._key(snapshot, request.at_rest), self._colours(), builder.surface
            options = display.options
        fitted = display.fitted(snapshot)
        if key == self._painted and before is not None:
            cost, counts, surface = 0.0, False, before
        else:
            resolution = FINE if request.at_rest else COARSE
            parts = builder.scene, builder.split, plane
            surface = evaluate(fitted, *parts, iteration=snapshot.iteration, resolution=resolution)
            cost, counts = display.clock() - now, request.at_rest or now >= self._next_count
        surface = builder.valued(surface, fitted, options)
        surface = builder.counted(surface, fitted, snapshot, colour_by=colours[0], everywhere=counts)
        rates = error_rates(surface, builder.scene, snapshot)
        with display.lock:
            if not request.current():
                return False
            self.surface, self._painted, self._coloured = surface, key, colours
            builder.surface = surface
            self._wait(now, cost, counts)
            if rates:
                display.recording.errors.insert(snapshot.iteration, rates)
            display.stale = True
        return True

    def _wait(self, began: float, cost: float, counts: bool) -> None:
        """Set when the next surface may be made.

        `cost`: seconds that this one took without what was counted; `counts`: whether all rows were counted.
        """
        shortest, longest = SURFACE_INTERVAL
        ended = self._display.clock()
        self._next = ended + min(max(cost / SURFACE_SHARE, shortest), max(longest, cost))
        if counts:
            self._next_count = ended + (ended - began) * (1.0 / COUNT_SHARE - 1.0)

    def _key(self, snapshot: Snapshot, at_rest: bool) -> tuple[Any, ...]:
        plane = self._display.builder.plane
        return (self._version, *snapshot_key(snapshot), plane and plane.extent, at_rest)

    def _colours(self) -> tuple[Any, ...]:
        """Return what is counted or computed for colours beside the surface."""
        display = self._display
        options, counts = display.options, display.builder.scene.drawn is not None
        if not counts or display.builder.split.whole is not None:
            return ("label", None, options.computed)
        return options.colour_by, display.builder.truth if options.colour_by == "trust" else None, options.computed

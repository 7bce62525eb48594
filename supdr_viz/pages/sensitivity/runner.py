"""A sweep that runs beside the page: one thread that asks for cells, and can be paused, cancelled and resumed."""

from __future__ import annotations

import enum
import functools
import logging
import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from supdr.sensitivity import Cell, Store, StoreError, Sweep, SweepError, search_by_halving
from supdr_viz.data.quotas import most
from supdr_viz.pages.service import Sweeps

LOG = logging.getLogger(__name__)

# Seconds to wait for a file that another program writes to: a page is built meanwhile, and all visitors wait.
SOON = 0.3


class Phase(enum.StrEnum):
    """What a runner is doing."""

    idle = "idle"
    waiting = "waiting"
    running = "running"
    paused = "paused"
    stopping = "stopping"
    finished = "finished"
    cancelled = "cancelled"
    failed = "failed"


def store_path() -> tuple[str, str]:
    """Return where the page keeps finished fits: ``SUPDR_SWEEPS``, or a file in the user's cache folder.

    In memory if that folder cannot be used: sweeps then end with the page.

    Returns `path, problem`: why it is in memory; empty if it is not.
    """
    chosen = os.environ.get("SUPDR_SWEEPS")
    path = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supdr"
    path = path if chosen else path / "sweeps.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Store(path, busy_seconds=SOON).close()
    except (OSError, RuntimeError, StoreError) as error:
        LOG.warning("Sweeps are not kept: %s", error)
        return ":memory:", str(error)
    return str(path), ""


class SweepRunner:
    """Runs one sweep at a time for one page, which looks now and then how far it is.

    `sweeps`: of all pages; `owner`: whose it is; empty: unknown. `cells`: finished ones; the dictionary only grows
    while a sweep runs. `message`: why it failed.
    """

    def __init__(self, sweeps: Sweeps, owner: str = "") -> None:
        self._sweeps, self.owner = sweeps, owner
        self._go = threading.Event()
        self._cancelled = False
        self._has_turn = False
        self._thread: threading.Thread | None = None
        self.sweep: Sweep | None = None
        self.cells: dict[int, Cell] = {}
        self.phase = Phase.idle
        self.message = ""
        sweeps.join(self)

    @property
    def active(self) -> bool:
        """Whether a sweep is under way, paused ones included."""
        return self.phase in (Phase.waiting, Phase.running, Phase.paused, Phase.stopping)

    def start(self, sweep: Sweep, X: Any, y: Any, executor: Any = None) -> None:
        """Begin a sweep; one that is under way must be cancelled first.  It fails where too many are under way."""
        if self.active:
            raise RuntimeError("a sweep is under way: cancel it first")
        self.sweep, self.cells, self.message = sweep, {}, ""
        refusal = self._sweeps.refusal(self.owner)
        if refusal:
            self.phase, self.message = Phase.failed, refusal
            return
        self._cancelled = False
        self._go.set()
        self.phase = Phase.waiting
        self._thread = threading.Thread(
            target=self._work, args=(sweep, X, y, executor), name="supdr-sweep", daemon=True
        )
        self._thread.start()

    def pause(self) -> None:
        """Hand out no more cells; those at work are finished and kept."""
        if self.phase in (Phase.running, Phase.waiting):
            self._go.clear()
            self.phase = Phase.paused

    def resume(self) -> None:
        """Go on."""
        if self.phase is Phase.paused:
            self.phase = Phase.running
            self._go.set()

    def cancel(self) -> None:
        """End the sweep; what is finished stays in the store."""
        if self.active:
            self._cancelled = True
            self.phase = Phase.stopping
            self._go.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the sweep has ended, or so many seconds have passed."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self, sweep: Sweep, X: Any, y: Any, executor: Any) -> None:
        try:
            self._take_turns(sweep, X, y, executor)
            self.phase = Phase.cancelled if self._cancelled else Phase.finished
        except (StoreError, SweepError, ValueError, ImportError, OSError) as error:
            self.phase, self.message = Phase.failed, str(error)
        except Exception as error:
            LOG.exception("A sweep failed")
            self.phase, self.message = Phase.failed, f"{type(error).__name__}: {error}"

    def _take_turns(self, sweep: Sweep, X: Any, y: Any, executor: Any) -> None:
        try:
            if not self._wait_for_turn():
                return
            if self.phase is Phase.waiting:
                self.phase = Phase.running
            cells = sweep.run(X, y, executor, workers=most("workers") or None)
            try:
                self._follow(cells)
            finally:
                cells.close()
        finally:
            self._give_turn()

    def _follow(self, cells: Any) -> None:
        while True:
            if not self._go.is_set():
                self._give_turn()  # a paused sweep lets others go first
                self._go.wait()
                if not self._wait_for_turn():
                    return
            if self._cancelled:
                return
            cell = next(cells, None)
            if cell is None:
                return
            self.cells[cell.number] = cell

    def _wait_for_turn(self) -> bool:
        while not self._cancelled and not self._has_turn:
            self._has_turn = self._sweeps.turn.acquire(timeout=0.2)
        return self._has_turn

    def _give_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._sweeps.turn.release()


class ShownSweep:
    """A sweep of a page, and how much of it is on display.

    `ready`: the sweep with its rows and labels; None: the settings give none. `drawn`: number of cells on display.
    `phase`: what the page says that the runner is doing.
    """

    def __init__(self, sweeps: Sweeps, owner: str = "") -> None:
        self.runner = SweepRunner(sweeps, owner)
        self.ready: tuple[Sweep, Any, Any] | None = None
        self.drawn, self.phase = 0, Phase.idle

    @property
    def started(self) -> Sweep | None:
        """The sweep; None before its start."""
        return self.ready[0] if self.ready is not None and self.runner.sweep is self.ready[0] else None

    @property
    def busy(self) -> bool:
        """Whether cells are computed or not shown yet."""
        runner = self.runner
        if runner.active and runner.phase is not Phase.paused:
            return True
        return self.started is not None and (runner.phase is not self.phase or self.drawn < len(runner.cells))

    def start(self) -> None:
        """Begin the sweep, on the cluster that ``SUPDR_SCHEDULER`` names if it is set."""
        assert self.ready is not None
        self.runner.start(*self.ready, os.environ.get("SUPDR_SCHEDULER"))


class _Cancelled(Exception):
    """The visitor has cancelled a search."""


class HalvingRunner:
    """Runs one search by successive halving beside the page; its fits wait their turn as those of sweeps do.

    `fits`: how many have been made. `found`: the finished search; `message`: why there is none.
    """

    def __init__(self, sweeps: Sweeps) -> None:
        self._sweeps = sweeps
        self._cancelled = False
        self._thread: threading.Thread | None = None
        self.fits = 0
        self.found: Any = None
        self.message = ""

    @property
    def active(self) -> bool:
        """Whether a search is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, sweep: Sweep, X: Any, y: Any, metric: str) -> None:
        """Search the grid of a sweep."""
        self._cancelled, self.fits, self.found, self.message = False, 0, None, ""
        folds = sweep.cv if isinstance(sweep.cv, int) else 2
        work = functools.partial(
            search_by_halving, sweep.estimator, sweep.grid, X, y, metric=metric, cv=folds, seed=sweep.seeds[0]
        )
        self._thread = threading.Thread(target=self._work, args=(work,), name="supdr-halving", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """End the search after the fit at work."""
        self._cancelled = True

    def _work(self, work: Callable[..., Any]) -> None:
        try:
            with self._sweeps.turn, threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.found = work(on_fit=self._count)
        except _Cancelled:
            self.message = "The search was cancelled."
        except ValueError as error:
            self.message = str(error)
        except Exception as error:
            LOG.exception("A search failed")
            self.message = f"{type(error).__name__}: {error}"

    def _count(self) -> None:
        if self._cancelled:
            raise _Cancelled
        self.fits += 1

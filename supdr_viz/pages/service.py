"""What all pages of one process share: worker threads, files, and the runs and sweeps that its quotas count."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import panel as pn

from supdr_viz.data.quotas import most
from supdr_viz.pages import PAGES
from supdr_viz.run.pool import Pool
from supdr_viz.ui.background import Background, Turns
from supdr_viz.ui.visitor import HeldFiles, Tickets, Visit


class Addresses:
    """Addresses at which this process serves the pages; until a server tells them, those of ``supdr-viz``.

    `own`: names of the pages that have an address of their own, their name; `other`: address at which every other page
    is reached, as ``?page=NAME``.
    """

    def __init__(self) -> None:
        self.own: Collection[str] = tuple(PAGES)
        self.other = ""

    def take(self, served: Collection[str], here: str) -> None:
        """Learn what a server has.

        `served`: addresses of its applications, as ``/explorer``; empty: unknown. `here`: address of an application
        that shows pages.
        """
        self.own = [name for name in PAGES if f"/{name}" in served]
        self.other = next(iter(self.own), "") or here.strip("/") or "./"


class Sweeps:
    """The sweeps of all pages.

    `turn`: held while one computes: the processors are shared by all.
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self._runners: WeakSet[Any] = WeakSet()

    def join(self, runner: Any) -> None:
        """Count a runner of sweeps, which has an `owner` and may be `active`."""
        self._runners.add(runner)

    def refusal(self, owner: str) -> str:
        """Say why no further sweep may begin; empty if one may.

        `owner`: whose it is; empty: unknown.
        """
        under_way = [runner.owner for runner in self._runners if runner.active]
        if len(under_way) >= most("sweeps"):
            return f"This server has {len(under_way):,} sweeps under way, as many as it may. Please try later."
        own = under_way.count(owner)
        if owner and own >= most("sweeps-each"):
            return f"You have {own:,} sweeps under way, as many as a visitor may on this server. Cancel one first."
        return ""


def _pool() -> Pool:
    return Pool(most("threads") or None, share=min(most("cpu-percent"), 100) / 100.0)


@dataclass(frozen=True, eq=False)
class Service:
    """What all pages of one process share.

    pool: trains. targets: what can be played, of all pages. turns, long_turns: what slow work beside the pages waits
    for, see `Background`.
    """

    pool: Pool = field(default_factory=_pool)
    addresses: Addresses = field(default_factory=Addresses)
    files: HeldFiles = field(default_factory=HeldFiles)
    tickets: Tickets = field(default_factory=Tickets)
    sweeps: Sweeps = field(default_factory=Sweeps)
    targets: WeakSet[Any] = field(default_factory=WeakSet)
    turns: Turns = field(default_factory=lambda: Turns(lambda: most("tasks")))
    long_turns: Turns = field(default_factory=lambda: Turns(lambda: 1))

    @classmethod
    def of_process(cls) -> Service:
        """Return the one of this process."""
        return pn.state.as_cached("supdr_viz", cls)

    def visit(self) -> Visit:
        """Return what the page that is being built has of the process."""
        return Visit(self.files, self.tickets, Background(self.turns, self.long_turns))

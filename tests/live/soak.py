"""Half an hour in which twenty visitors do everything at random, and what it did to the server.

    python -m tests.live.soak --minutes 30 --visitors 20 --seed 0 --write docs/results/soak.md

What is measured is held against budgets; 1 is returned if one is not kept.  A page in a real browser is used at random
meanwhile, and whatever its console says is an error is counted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supdr_viz.papers.report import machine
from tests.live.hands import Hands
from tests.live.monkey import Monkey
from tests.live.report import KEPT, Soak, lines, page
from tests.live.server import Server

WATCH_SECONDS = 5.0
"""Between two looks at the server."""

LEAVE_SECONDS = 120.0
"""In which the pages of those who have left are gone."""


@dataclass
class Watch:
    """What is seen of the server from outside: (pages opened so far, megabytes, seconds until it answered)."""

    server: Server
    monkeys: list[Monkey]
    seen: list[tuple[int, float, float]] = field(default_factory=list)
    end: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Look again and again until told to stop."""
        while not self.end.wait(WATCH_SECONDS):
            asked = time.monotonic()
            with contextlib.suppress(OSError):
                self.server.health()
            opened = sum(monkey.done["visit"] for monkey in self.monkeys)
            self.seen.append((opened, self.server.megabytes, time.monotonic() - asked))

    @property
    def growth(self) -> float:
        """Megabytes a page by which the server grew in the second half."""
        half = self.seen[len(self.seen) // 2 :]
        quarter = max(1, len(half) // 4)
        first, last = (np.median(part, axis=0) for part in (half[:quarter], half[-quarter:]))
        return float((last[1] - first[1]) / max(1.0, last[0] - first[0]))


async def _visits(monkeys: list[Monkey], until: float) -> None:
    await asyncio.gather(*(monkey.live(until) for monkey in monkeys))


def soak(minutes: float, visitors: int, seed: int, *, browser: bool = True) -> Soak:
    """Let visitors loose on a server.

    Parameters
    ----------
    minutes : float
    visitors : int
    seed : int
    browser : bool
        Whether a page in a real browser is used, too.

    Returns
    -------
    Soak
    """
    with Server() as server:
        chances = np.random.default_rng(seed).spawn(visitors + 1)
        monkeys = [Monkey(server, rng) for rng in chances[1:]]
        watch = Watch(server, monkeys)
        watcher = threading.Thread(target=watch.watch, daemon=True)
        watcher.start()
        until = time.monotonic() + 60.0 * minutes
        hands = Hands(server, chances[0]) if browser else None
        user = threading.Thread(target=hands.use, args=(until,), daemon=True) if hands is not None else None
        if user is not None:
            user.start()
        asyncio.run(_visits(monkeys, until))
        if user is not None:
            user.join()
        watch.end.set()
        watcher.join()
        gone = time.monotonic() + LEAVE_SECONDS
        left = server.counts
        while max(left.values()) > KEPT and time.monotonic() < gone:
            time.sleep(2.0)
            left = server.counts
        _, memory, answers = zip(*watch.seen, strict=True)
        return Soak(
            minutes,
            visitors,
            seed,
            done=sum((monkey.done for monkey in monkeys), Counter()),
            frames=sum(monkey.frames for monkey in monkeys),
            waits=[wait for monkey in monkeys for wait in monkey.waits],
            answers=list(answers),
            memory=list(memory),
            growth=watch.growth,
            left=left,
            held_by=server.left if max(left.values()) > KEPT else [],
            browser=(hands.done, hands.pages) if hands is not None else None,
            errors={
                "server": server.errors,
                "visitor": [each for monkey in monkeys for each in monkey.lost],
                "browser": hands.errors if hands is not None else [],
            },
        )


def main() -> int:
    """Run from the command line; 1 if a budget was not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="only visitors without a browser")
    parser.add_argument(
        "--write", type=Path, metavar="FILE.md", help="write the figures as a page of the documentation"
    )
    asked = parser.parse_args()
    seen = soak(asked.minutes, asked.visitors, asked.seed, browser=asked.browser)
    print(*lines(seen), sep="\n")
    if asked.write is not None:
        asked.write.write_text(page(seen, machine()), encoding="utf-8")
    return 1 if seen.findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""What it costs a run to be watched: steps under a client that takes every frame, and of the bare loop, in turn."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
from typing import NamedTuple

from client import Client, Served

BARE = """
import sys, threadpoolctl, time
import supdr_viz.experiment.build as making
from supdr_viz.experiment.splitting import split
from supdr_viz.experiment.settings import parse_query
threadpoolctl.threadpool_limits(1)
pairs = [part.split("=") for part in sys.argv[1].strip("?").split("&")]
settings, _ = parse_query({key: [value.encode()] for key, value in pairs})
parts = split(making.build_dataset(settings), settings)
run = making.build_estimator(settings).iterate(parts.X_train, parts.y_train)
for _ in range(50):
    next(run)
began, worked, count = time.monotonic(), time.thread_time(), 0
while time.monotonic() - began < float(sys.argv[2]):
    next(run)
    count += 1
elapsed = time.monotonic() - began
print(count / elapsed, (time.thread_time() - worked) / elapsed)
"""
"""A run that no page shows: prints steps a second, and the share of the time for which it had a core."""


class Pace(NamedTuple):
    """Steps of a run.

    Attributes
    ----------
    steps : float
        A second.
    core : float
        Share of the time for which its thread was on a core; the rest it waited for one, or for another thread.
    painting : float
        Share of the time for which it was on a core to make frames and surfaces.
    """

    steps: float
    core: float
    painting: float = 0.0

    @property
    def alone(self) -> float:
        """Steps a second that it would take on a core of its own: frames come by the clock, and no more often."""
        return self.steps / (self.core - self.painting) * (1.0 - self.painting)


def watching(served: Served, query: str, seconds: float = 6.0, rounds: int = 3) -> list[tuple[str, str, str]]:
    """Compare a watched run with a bare one: by the clock, and by seconds on a core, which other work leaves alone."""
    bare, watched = [], []
    for _ in range(rounds):
        answer = subprocess.check_output([sys.executable, "-c", BARE, query, str(seconds)])
        bare.append(Pace(*map(float, answer.split())))
        watched.append(asyncio.run(_watched(served, query, seconds)))
    pairs = list(zip(watched, bare, strict=True))
    ratio = statistics.median(w.steps / b.steps for w, b in pairs)
    own = statistics.median((w.steps / w.core) / (b.steps / b.core) for w, b in pairs)
    alone = statistics.median(w.alone / b.alone for w, b in pairs)
    steps, free = (statistics.median(each.steps for each in runs) for runs in (watched, bare))
    cores, free_cores = (100 * statistics.median(each.core for each in runs) for runs in (watched, bare))
    return [
        ("cost of watching a run", f"{steps:.0f} against {free:.0f} steps / s: {100 * (1 - ratio):.0f} %", "<= 10 %"),
        ("the same by seconds on a core", f"{100 * (1 - own):.0f} %", ""),
        ("the same on a core of its own", f"{100 * (1 - alone):.0f} %", "<= 10 %"),
        ("without a core, watched and not", f"{100 - cores:.0f} % and {100 - free_cores:.0f} % of the time", ""),
    ]


async def _watched(served: Served, query: str, seconds: float) -> Pace:
    until, client = asyncio.Event(), Client(served)
    task = asyncio.create_task(client.run(query, until))
    while client.frames == 0:
        await asyncio.sleep(0.1)
        if task.done():
            task.result()
    await asyncio.to_thread(served.gauges, "run")
    await asyncio.sleep(2.0)
    before = await asyncio.to_thread(served.gauges)
    await asyncio.sleep(seconds)
    after = await asyncio.to_thread(served.gauges)
    until.set()
    await asyncio.wait([task], timeout=2.0)
    await asyncio.to_thread(served.gauges, "pause")
    elapsed = after["now"] - before["now"]
    steps, core, painting = ((after[each] - before[each]) / elapsed for each in ("steps", "pool_cpu", "painting"))
    return Pace(steps, core, painting)

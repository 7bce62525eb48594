"""Rows on disk, watched live: frames a second, and how soon a control has its frame, on two workers of this machine.

    python benchmarks/live_rows.py [--rows 1000000] [--centers 50] [--seconds 60]

Three spirals as ``.npy`` in a temporary folder.  Times of the clock mean little on a busy machine: the seconds of
the processor that a pass costs the workers are printed beside them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supdr_viz.kit import cluster
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.settings import on_disk
from supdr_viz.settings.experiment import Experiment
from supdr_viz.settings.state import Settings


def write_spirals(folder: Path, n: int) -> None:
    """Write rows and labels of three spirals."""
    rng = np.random.default_rng(0)
    turn, arm = rng.uniform(0.25, 1.0, n), rng.integers(0, 3, n)
    angle = 2.0 * np.pi * (turn + arm / 3)
    X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(n, 2))
    np.save(folder / "rows.npy", X.astype(np.float32))
    np.save(folder / "labels.npy", arm.astype(np.int8))


class Viewer:
    """Takes each frame as soon as it is there and asks for the next, as a page does."""

    def __init__(self, session: Session) -> None:
        self.session, self.frames = session, []
        self._ends = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._ends.wait(0.005):
            frame = self.session.player.take_frame()
            if frame is not None:
                self.session.player.take_surface()
                self.frames.append((time.monotonic(), frame.iteration))
                self.session.player.request_frame()

    def end(self) -> None:
        """Look no more."""
        self._ends.set()


def waited(condition: Callable[[], Any], seconds: float = 600.0) -> float:
    """Wait until the condition holds; return how long it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise TimeoutError("it did not happen")
        time.sleep(0.005)
    return time.monotonic() - began


def processor_seconds(client: Any) -> float:
    """Return the seconds of the processor that all workers have used."""
    return sum(client.run(time.process_time).values())


def measure(n: int, centers: int, seconds: float) -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as place:
        write_spirals(Path(place), n)
        os.environ[on_disk.VARIABLE] = on_disk.described([f"spirals={place}"])
        os.environ[cluster.VARIABLE] = "dask"
        os.environ["SUPDR_MOST_WORKERS"] = "2"
        client = cluster.connect()
        began = time.monotonic()
        dataset = on_disk.open_rows("spirals", "labels.npy")
        print(f"opened: {time.monotonic() - began:.1f} s")
        options = {"n_centers": centers, "max_iter": 10_000, "early_stopping": False, "tol": 0.0}
        settings = Settings(
            data="rows", data_options={"name": "spirals", "target": "labels.npy"}, method="MAC", speed="fast"
        )
        settings = settings.with_options(**{k: v for k, v in options.items() if k in settings.method_options})
        session = Session(Pool(1), lambda: None)
        viewer = Viewer(session)
        began = time.monotonic()
        session.apply(Experiment(settings, dataset))
        waited(lambda: viewer.frames)
        print(f"first frame of a new run: {time.monotonic() - began:.1f} s")
        waited(lambda: session.player.at_rest or session.player.status.phase is Phase.failed)
        print(f"with density and errors: {time.monotonic() - began:.1f} s")
        used, began, known = processor_seconds(client), time.monotonic(), len(viewer.frames)
        session.player.run()
        while time.monotonic() - began < seconds:
            time.sleep(0.1)
        passes, took = session.player.iteration, time.monotonic() - began
        cost = (processor_seconds(client) - used) / max(passes, 1)
        shown = len({iteration for _, iteration in viewer.frames[known:]})
        print(f"{passes} passes in {took:.0f} s, {shown} iterations shown: {shown / took:.2f} a second")
        print(f"a pass with its frame, density and errors: {cost:.2f} s of the processor on both workers together")
        known, began = len(viewer.frames), time.monotonic()
        session.apply(Experiment(settings.with_options(C=2.0), dataset))
        waited(lambda: len(viewer.frames) > known)
        print(f"a knob to its first frame: {time.monotonic() - began:.2f} s")
        session.player.run()
        time.sleep(1.0)
        session.player.pause()
        print(f"pause to rest of the run: {waited(lambda: session.player.status.phase is Phase.paused):.2f} s")
        viewer.end()
        session.close()


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--centers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    measure(arguments.rows, arguments.centers, arguments.seconds)


if __name__ == "__main__":
    main()

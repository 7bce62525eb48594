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
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data import rows_on_disk
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.run import cluster
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase


def write_spirals(folder: Path, n: int) -> None:
    """Write rows and labels of three spirals."""
    rng = np.random.default_rng(0)
    turn, arm = rng.uniform(0.25, 1.0, n), rng.integers(0, 3, n)
    angle = 2.0 * np.pi * (turn + arm / 3)
    X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(n, 2))
    np.save(folder / "rows.npy", X.astype(np.float32))
    np.save(folder / "labels.npy", arm.astype(np.int8))


class Seen(NamedTuple):
    """A frame as it came: when, of which iteration, what is said of it, and where the sample's rows stand."""

    at: float
    iteration: int
    caption: str
    latent: NDArray

    @property
    def complete(self) -> bool:
        """Whether it is of a complete pass."""
        return "within" not in self.caption and "sample" not in self.caption


class Viewer:
    """Takes each frame as soon as it is there and asks for the next, as a page does."""

    def __init__(self, session: Session) -> None:
        self.session, self.frames = session, list[Seen]()
        self._ends = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._ends.wait(0.005):
            frame = self.session.player.take_frame()
            if frame is not None:
                self.session.player.take_surface()
                self.frames.append(Seen(time.monotonic(), frame.iteration, frame.latent_caption, frame.latent))
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


def moved(one: Seen, other: Seen) -> bool:
    """Tell whether rows stand elsewhere in another frame."""
    return not np.array_equal(one.latent, other.latent)


def say_frames(frames: list[Seen], passes: int, took: float) -> None:
    """Print how often the sample was shown, how often it stood elsewhere, and the longest time without a frame."""
    steps = sum(moved(*pair) for pair in pairwise(frames))
    longest = max((later.at - earlier.at for earlier, later in pairwise(frames)), default=took)
    print(
        f"{passes} passes in {took:.0f} s; {len(frames) / took:.2f} frames a second, {steps / took:.2f} in which rows "
        f"have moved; longest time without one {longest:.1f} s"
    )


def turn(viewer: Viewer, name: str, experiment: Experiment) -> None:
    """Change a hyper-parameter, and print how long its first frame takes, and the first one in which rows move."""
    known, before, began = len(viewer.frames), viewer.frames[-1], time.monotonic()
    viewer.session.apply(experiment)
    waited(lambda: len(viewer.frames) > known)
    first = viewer.frames[known].at - began
    waited(lambda: any(moved(before, frame) for frame in viewer.frames[known:]))
    print(f"{name} to its first frame: {first:.2f} s, to one in which rows move: {time.monotonic() - began:.2f} s")


def processor_seconds(client: Any) -> float:
    """Return the seconds of the processor that all workers have used."""
    return sum(client.run(time.process_time).values())


def measure(n: int, centers: int, seconds: float) -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as place:
        write_spirals(Path(place), n)
        os.environ[rows_on_disk.VARIABLE] = rows_on_disk.described([f"spirals={place}"])
        os.environ[cluster.VARIABLE] = "dask"
        os.environ["SUPDR_MOST_WORKERS"] = "2"
        client = cluster.connect()
        began = time.monotonic()
        dataset = rows_on_disk.open_rows("spirals", "labels.npy")
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
        print(f"first frame of a new run, of the sample alone: {viewer.frames[0].at - began:.1f} s")
        waited(lambda: any(frame.complete for frame in viewer.frames))
        print(f"all rows at their start: {time.monotonic() - began:.1f} s")
        waited(lambda: session.player.at_rest or session.player.status.phase is Phase.failed)
        print(f"with density and errors of all rows: {time.monotonic() - began:.1f} s")
        used, began, known = processor_seconds(client), time.monotonic(), len(viewer.frames)
        session.player.run()
        while time.monotonic() - began < seconds:
            time.sleep(0.1)
        passes, took = session.player.iteration, time.monotonic() - began
        cost = (processor_seconds(client) - used) / max(passes, 1)
        say_frames(viewer.frames[known:], passes, took)
        print(f"a pass with its frames, density and errors: {cost:.2f} s of the processor on both workers together")
        for name, value in (("C", 2.0), ("n_centers", centers + 10)):
            settings = settings.with_options(**{name: value})
            turn(viewer, name, Experiment(settings, dataset))
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

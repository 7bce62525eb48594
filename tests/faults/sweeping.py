"""A sweep whose processes are killed while it runs, and what must be left of it.

    python -m tests.faults.sweeping STORE EXECUTOR

runs it and prints every cell as it is finished.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter

import psutil
from sklearn.datasets import load_iris

from supdr import LSDR
from supdr.sensitivity import Sweep

GRID = {"beta": [0.1, 0.3, 0.5, 0.7, 0.9], "reg_u": [0.1, 0.3, 1.0, 3.0, 10.0, 30.0]}
FOLDS = 3
CELLS = len(GRID["beta"]) * len(GRID["reg_u"])
WORKERS = 2


def slow(fitted, X, y):
    """Score as usual, after a moment in which something may happen."""
    time.sleep(0.02)
    return float(fitted.score(X, y))


def sweep(store, **grid):
    """Return the sweep, which does not depend on chance."""
    return Sweep(LSDR(max_iter=2), grid or GRID, cv=FOLDS, scoring={"score": slow}, store=store)


def run(store, executor, workers=None):
    """Yield the finished cells."""
    yield from sweep(store).run(*load_iris(return_X_y=True), executor, workers=workers)


def untouched():
    """Return the score of every cell of a sweep that nobody disturbed."""
    return {cell.number: repr(cell.mean("score")) for cell in run(None, "in-process")}


def wrong(cells, expected):
    """Say what is wrong with the cells that a run has yielded: (number, score) each."""
    counts = Counter(number for number, _ in cells)
    said = [f"cell {number} came {count} times" for number, count in counts.items() if count > 1]
    said += [f"cell {number} was lost" for number in sorted(set(expected) - set(counts))]
    return said + [
        f"cell {number} has {score} instead of {expected[number]}"
        for number, score in cells
        if expected[number] != score
    ]


def fits(store):
    """Return what is in a store, key -> scores, as long as it is sound."""
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        [[verdict]] = connection.execute("PRAGMA integrity_check").fetchall()
        found = connection.execute("SELECT key, scores FROM fits").fetchall()
    connection.close()
    assert verdict == "ok", verdict
    assert len(found) == len(dict(found)), "a fit is there twice"
    return dict(found)


def kill_sweeps(store, rng, kills, expected):
    """Kill the process of a sweep, and start it again, until it was killed so often; return what was found wrong."""
    said, done, known, part = [], 0, {}, 0
    while done < kills:
        part += 1
        path, seen = f"{store}-{part}", []
        while True:
            command = [sys.executable, "-m", "tests.faults.sweeping", path, "in-process"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                wanted = int(rng.integers(1, 8))
                killed = False
                lines = []
                for line in process.stdout:
                    lines.append(line.split())
                    if done < kills and not killed and sum(each[2] == "computed" for each in lines) == wanted:
                        time.sleep(float(rng.uniform(0, 0.08)))
                        process.send_signal(signal.SIGKILL)
                        killed = True
            done += killed
            lines = [each for each in lines if len(each) == 3]
            stored = {number for number, _, how in lines if how == "stored"}
            if not killed:
                said += [f"finished cell {number} was computed again" for number in seen if number not in stored]
            seen = sorted({*seen, *(number for number, *_ in lines)})
            now = fits(path)
            said += [f"fit {key} is gone or another" for key, scores in known.items() if now.get(key) != scores]
            known = now
            if not killed:
                said += wrong([(int(number), score) for number, score, _ in lines], expected)
                known = {}
                break
    return done, said


class Killer(threading.Thread):
    """Kills one of some processes after each progress, a moment later, until told to stop.

    Without progress in between, a fit may meet its third death, with which a sweep rightly gives it up.
    """

    def __init__(self, processes, rng, kills, progress):
        super().__init__(daemon=True)
        self._processes, self._rng, self._left, self._progress = processes, rng, kills, progress
        self._end = threading.Event()
        self.kills = 0

    def run(self):
        """Wait and kill."""
        seen = 0
        while self.kills < self._left and not self._end.wait(float(self._rng.uniform(0, 0.3))):
            found, now = self._processes(), self._progress()
            if found and now >= seen + 2:
                seen = now
                with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(found[self._rng.integers(len(found))], signal.SIGKILL)
                    self.kills += 1

    def stop(self):
        """Kill no more."""
        self._end.set()
        self.join()


def loky_workers():
    """Return the numbers of loky's processes that compute."""
    children = psutil.Process().children()
    return [each.pid for each in children if any("LokyProcess" in part for part in _command(each))]


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def kill_workers(store, rng, kills, expected, executor="loky", processes=loky_workers):
    """Kill workers while sweeps run, until so many were killed; return what was found wrong."""
    said, done, part = [], 0, 0
    while done < kills:
        part += 1
        path = f"{store}-{part}"
        cells = []
        killer = Killer(processes, rng, kills - done, cells.__len__)
        killer.start()
        try:
            for cell in run(path, executor, WORKERS if executor == "loky" else None):
                cells.append((cell.number, repr(cell.mean("score"))))
                said += [f"cell {cell.number}: {error}" for error in cell.errors]
        finally:
            killer.stop()
        done += killer.kills
        said += wrong(cells, expected)
        if len(fits(path)) != CELLS * FOLDS:
            said.append(f"{len(fits(path))} fits instead of {CELLS * FOLDS}")
    return done, said


@contextlib.contextmanager
def mortal_workers():
    """Give the client of a Dask cluster of this machine and what tells its processes; nannies start new workers."""
    import dask
    import distributed

    # A worker that is away at one moment, and again so many seconds later, is given up by the cluster: not here, where
    # that is so all the time.
    always = {"distributed.scheduler.allowed-failures": 100, "distributed.deploy.lost-worker-timeout": "1 hour"}
    with dask.config.set(always):
        cluster = distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
        with cluster, distributed.Client(cluster, set_as_default=False) as client, client.as_current():

            def processes():
                # Of those that run: Dask starts none again that dies while it starts.
                nannies = [each for each in cluster.workers.values() if each.process is not None and each.pid]
                return [each.pid for each in nannies if each.process.status is distributed.Status.running]

            yield client, processes


def kill_dask_workers(store, rng, kills, expected):
    """The same with a Dask cluster."""
    with mortal_workers() as (client, processes):
        return kill_workers(store, rng, kills, expected, client, processes)


if __name__ == "__main__":
    for each in run(sys.argv[1], sys.argv[2]):
        print(each.number, repr(each.mean("score")), "stored" if each.stored else "computed", flush=True)

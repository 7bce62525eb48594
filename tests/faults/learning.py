"""Runs on rows in partitions whose workers, or whose own process, are killed, and what they must come to all the same.

    python -m tests.faults.learning FOLDER METHOD SCHEDULER

goes on with the run of a folder on a cluster and prints the objective of every pass.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import supdr
from supdr.datasets import read_rows
from tests.faults.sweeping import Killer, mortal_workers

PASSES = 12
MODELS = {
    "MAC": supdr.MAC(n_centers=40, max_iter=PASSES, random_state=0, early_stopping=False, calibrate=False, tol=-1.0),
    "SDRGLM": supdr.SDRGLM(2, max_iter=PASSES, random_state=0, calibrate=False, tol=-1.0),
    "LSDR": supdr.LSDR(2, loss="squared", max_iter=PASSES, random_state=0, calibrate=False, tol=-1.0),
}


def written(folder):
    """Write rows with three classes and return their folder."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 4_000)
    np.save(folder / "rows.npy", rng.normal(size=(3, 6))[label] + rng.normal(size=(4_000, 6)))
    np.save(folder / "labels.npy", label.astype(float))
    return folder


def snapshots(folder, method, checkpoint=None):
    """Return the stream of a run on the rows of a folder, in eight partitions."""
    rows = read_rows(folder / "rows.npy", folder / "labels.npy", partition_rows=500)
    return MODELS[method].iterate(*rows, checkpoint=checkpoint)


def undisturbed(folder):
    """Return the objectives of all passes of each method, where nobody kills anything."""
    return {name: [each.objective for each in snapshots(folder, name)] for name in MODELS}


def wrong(found, expected, name):
    """Say what is wrong with the objectives of a run, pass -> objective, that has come to its end."""
    said = [] if set(found) >= {PASSES} else [f"{name}: pass {PASSES} never came, the last was {max(found, default=0)}"]
    return said + [
        f"{name}: pass {number} has {objective!r} instead of {expected[number]!r}"
        for number, objective in found.items()
        if abs(objective - expected[number]) > 1e-8 * abs(expected[number])
    ]


def kill_row_workers(store, rng, kills, _expected=None):
    """Kill workers while methods learn rows in partitions; return how many, and what was found wrong."""
    folder, said, done = written(Path(store).parent), [], 0
    with mortal_workers() as (_, processes):
        expected = undisturbed(folder)
        while done < kills:
            for name in MODELS:
                found = {}
                killer = Killer(processes, rng, kills - done, found.__len__)
                killer.start()
                try:
                    for snapshot in snapshots(folder, name):
                        found[snapshot.iteration] = snapshot.objective
                finally:
                    killer.stop()
                done += killer.kills
                said += wrong(found, expected[name], name)
    return done, said


def kill_row_clients(store, rng, kills, _expected=None):
    """Kill the process of a run with checkpoints, and start it again, until it was killed so often."""
    folder, said, done, part = written(Path(store).parent), [], 0, 0
    with mortal_workers() as (client, _):
        expected = undisturbed(folder)
        while done < kills:
            name, checkpoint, found, ended = list(MODELS)[part % len(MODELS)], folder / f"kept-{part}", {}, False
            part += 1
            while not ended:
                command = [sys.executable, "-m", "tests.faults.learning", folder, name, client.scheduler.address]
                with subprocess.Popen([*command, checkpoint], stdout=subprocess.PIPE, text=True) as process:
                    wanted, seen, killed = int(rng.integers(1, 5)), 0, False
                    for line in process.stdout:
                        if len(words := line.split()) == 2:  # whole lines only
                            found[int(words[0])] = float(words[1])
                            seen += 1
                        if done < kills and not killed and seen == wanted:
                            time.sleep(float(rng.uniform(0, 0.3)))
                            process.send_signal(signal.SIGKILL)
                            killed = True
                # A signal may come too late, when all is done.
                ended = process.returncode == 0
                done += killed and not ended
                if not killed and not ended:
                    said.append(f"{name}: its process ended with {process.returncode}")
                    break
            said += wrong(found, expected[name], name)
    return done, said


def main():
    """Go on with a run, and print what it comes to."""
    from distributed import Client

    folder, method, scheduler, checkpoint = sys.argv[1:]
    with Client(scheduler):
        for snapshot in snapshots(Path(folder), method, checkpoint):
            print(snapshot.iteration, repr(snapshot.objective), flush=True)


if __name__ == "__main__":
    main()

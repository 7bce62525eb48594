"""The store of sweeps: kill -9 loses nothing, and whatever is wrong with the file is said in one sentence."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from supdr import LSDR
from supdr.sensitivity import Store, StoreError, Sweep
from supdr.sensitivity.outcome import Outcome
from tests.core.rights import without_rights

X, Y = load_iris(return_X_y=True)

PROGRAM = """
import sys, time
from sklearn.datasets import load_iris
from supdr import LSDR
from supdr.sensitivity import Sweep

def slow(fitted, X, y):
    time.sleep(0.05)
    return float(fitted.score(X, y))

if __name__ == "__main__":
    X, y = load_iris(return_X_y=True)
    grid = {"beta": [0.1, 0.5, 0.9], "reg_u": [0.1, 1.0, 10.0]}
    sweep = Sweep(LSDR(max_iter=2), grid, cv=2, scoring={"score": slow}, store=sys.argv[1])
    for cell in sweep.run(X, y, sys.argv[2], workers=2 if sys.argv[2] == "loky" else None):
        print(cell.number, "stored" if cell.stored else "computed", repr(cell.mean("score")), flush=True)
"""

FULL = """
import resource, signal, sys
import numpy as np
from sklearn.datasets import load_iris
from supdr import LSDR
from supdr.sensitivity import StoreError, Sweep

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
sweep = Sweep(LSDR(max_iter=1), {"beta": list(np.linspace(0.1, 0.9, 12))}, cv=0.5, store=sys.argv[1])
try:
    for cell in sweep.run(*load_iris(return_X_y=True), "in-process"):
        print(cell.number)
except StoreError as error:
    print("StoreError:", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
@pytest.mark.parametrize("executor", ["in-process", pytest.param("loky", marks=pytest.mark.slow)])
def test_kill_in_mid_sweep_and_resume(tmp_path, executor):
    """Nothing is lost, nothing is computed twice, and the result is that of an undisturbed run."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    store = tmp_path / "killed.sqlite"
    command = [sys.executable, str(script), str(store), executor]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        seen = dict([next(process.stdout).split(maxsplit=1) for _ in range(2)])
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with Store(store) as left:
        fits = len(left)
    assert fits >= 4  # two fits make a cell, and a cell is shown after it is written
    lines = [line.split(maxsplit=1) for line in subprocess.check_output(command, text=True).splitlines()]
    assert len(lines) == 9
    resumed = dict(lines)
    assert len(resumed) == 9
    stored = {number: rest.split()[1] for number, rest in resumed.items() if rest.startswith("stored")}
    assert set(seen) <= set(stored)
    assert all(seen[number].split()[1] == stored[number] for number in seen)
    with Store(store) as whole:
        assert len(whole) == 18
    grid = {"beta": [0.1, 0.5, 0.9], "reg_u": [0.1, 1.0, 10.0]}
    untouched = Sweep(LSDR(max_iter=2), grid, cv=2, scoring="accuracy").run(X, Y, "in-process")
    expected = {str(cell.number): repr(cell.mean("accuracy")) for cell in untouched}
    assert {number: rest.split()[1] for number, rest in resumed.items()} == expected


def fit(store, count=1, **grid):
    sweep = Sweep(LSDR(max_iter=1), grid or {"beta": list(np.linspace(0.1, 0.9, count))}, cv=0.5, store=store)
    return list(sweep.run(X, Y, "in-process"))


def test_a_locked_store_is_said(tmp_path):
    path = tmp_path / "s.sqlite"
    fit(path)
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with Store(path, busy_seconds=0.1) as store, pytest.raises(StoreError, match="is locked"):
            store.add("LSDR", [("key", {}, Outcome(0, 0, 0))])
    finally:
        other.close()


def test_two_programs_may_share_a_store(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as one, Store(path) as two:
        one.add("LSDR", [("a", {}, Outcome(0, 0, 0))])
        two.add("LSDR", [("b", {}, Outcome(0, 0, 0)), ("a", {}, Outcome(9, 9, 9))])
        assert len(one) == len(two) == 2


def test_a_full_disk_is_said_and_finished_fits_are_kept(tmp_path):
    path = tmp_path / "s.sqlite"
    fit(path)
    with Store(path) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        rows = [(f"key {number}", {"a": "x" * 500}, Outcome(number, 0, 0)) for number in range(200)]
        with pytest.raises(StoreError, match="disk is full"):
            store.add("LSDR", rows)
    with Store(path) as store:
        assert len(store) == 1
    assert all(cell.stored for cell in fit(path))


@pytest.mark.parametrize("where", ["head", "middle"])
def test_a_damaged_file_is_said(tmp_path, where):
    path = tmp_path / "s.sqlite"
    fit(path, 40)
    content = bytearray(path.read_bytes())
    if where == "head":
        content[:64] = b"no database at all".ljust(64, b".")
    else:
        content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged or not a store"):
        fit(path, 40)


def test_a_file_of_another_kind_is_said(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 100)
    with pytest.raises(StoreError, match="not a store"):
        fit(text)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        fit(other)
    assert text.read_text().startswith("not a database")


def test_a_missing_folder_and_a_folder_are_said(tmp_path):
    with pytest.raises(StoreError, match="no folder"):
        fit(tmp_path / "nowhere" / "s.sqlite")
    with pytest.raises(StoreError, match="cannot be opened"):
        fit(tmp_path)


def test_a_store_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "s.sqlite"
    fit(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        fit(path)


def test_cancelling_keeps_what_is_finished(tmp_path):
    path = Path(tmp_path / "s.sqlite")
    sweep = Sweep(LSDR(max_iter=1), {"beta": [0.1, 0.5, 0.9]}, cv=2, store=path)
    run = sweep.run(X, Y, "in-process")
    first = next(run)
    run.close()
    cells = list(sweep.run(X, Y, "in-process"))
    assert [cell.number for cell in cells if cell.stored] == [first.number]


@pytest.mark.skipif(sys.platform == "win32", reason="a launcher may stand between parent and worker")
def test_a_worker_whose_parent_died_while_it_started_ends():
    program = "import os, time; from supdr.engine.processes import _follow_parent as f; f(os.getpid()); time.sleep(600)"
    assert subprocess.run([sys.executable, "-c", program], timeout=300, check=False).returncode == 1


def test_a_sweep_goes_on_after_the_clock_was_set_back(tmp_path):
    path = tmp_path / "s.sqlite"
    fit(path, beta=[0.1])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE fits SET finished = finished + 1e9")  # what is finished now was so before
    sweep = Sweep(LSDR(max_iter=1), {"beta": [0.1, 0.5, 0.9]}, cv=0.5, store=path)
    assert [cell.stored for cell in sweep.run(X, Y, "in-process")].count(True) == 1
    assert sweep.progress.seconds_left is None or sweep.progress.seconds_left >= 0
    assert all(cell.stored for cell in sweep.run(X, Y, "in-process"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process's files are set by Unix")
def test_a_disk_that_takes_no_more_is_said_and_finished_cells_are_kept(tmp_path):
    script, path = tmp_path / "program.py", tmp_path / "s.sqlite"
    script.write_text(FULL)
    said = subprocess.run([sys.executable, str(script), str(path)], capture_output=True, text=True, check=False)
    finished, _, why = said.stdout.partition("StoreError: ")
    assert "disk" in why, said.stderr
    assert str(path) in why
    assert finished.split()
    cells = fit(path, 12)
    assert {cell.number for cell in cells if cell.stored} >= set(map(int, finished.split()))


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of Unix")
def test_a_store_that_can_only_be_read_is_said():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        fit(path)
        before = path.read_bytes()
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with without_rights(), pytest.raises(StoreError, match=r"cannot be opened for writing.*Check the permissions"):
            Store(path)
        Path(folder).chmod(0o755)
        assert path.read_bytes() == before

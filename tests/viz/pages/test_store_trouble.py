"""Where finished fits cannot be kept, the page says why in one sentence, nobody waits for it, and sweeps work."""

import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from supdr import LSDR
from supdr.sensitivity import Store, Sweep
from supdr_viz.pages.sensitivity.runner import Phase, SweepRunner, store_path
from supdr_viz.pages.service import Sweeps
from tests.core.rights import without_rights
from tests.viz.visitor import Visitor

SWEEP = (
    "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=4&method.tol=0&seed=5"
    "&sweep.x=reg_u:log:0.01:1:2&sweep.y=beta:list:0.1,0.5&sweep.folds=2"
)


@pytest.fixture
def path(tmp_path, keep_sweeps_in):
    path = tmp_path / "kept" / "sweeps.sqlite"
    path.parent.mkdir()
    keep_sweeps_in(path)
    return path


@contextlib.contextmanager
def locked(path):
    """Let another program have the file for itself."""
    Store(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("CREATE TABLE IF NOT EXISTS fits (key)")
    other.commit()
    try:
        yield
    finally:
        other.close()


def test_a_page_does_not_wait_for_a_store_that_is_locked_and_says_so(path):
    with locked(path):
        began = time.monotonic()
        where, why = store_path()
        assert time.monotonic() - began < 2.0
        assert where == ":memory:"
        assert f"the store {path} is locked: another program is writing to it" in why
        with Visitor(SWEEP, page="sensitivity") as visitor:
            assert visitor.sees("is locked: another program is writing to it")
            visitor.press("Run").settle()
            assert visitor.chip == "finished"
            assert "4 of 4 cells" in visitor.status
    assert store_path() == (str(path), "")
    with Store(path) as store:
        assert len(store) == 0


def test_a_sweep_whose_store_is_locked_meanwhile_says_so_and_is_taken_up_again(path):
    store = Store(path, busy_seconds=0.1)
    store.close()
    sweep = Sweep(LSDR(max_iter=1), {"beta": [0.1, 0.9]}, cv=2, store=store)
    runner = SweepRunner(Sweeps())
    with locked(path):
        runner.start(sweep, *load_iris(return_X_y=True), "in-process")
        runner.wait()
        assert runner.phase is Phase.failed
        assert runner.message.count("is locked") == 1
        assert "\n" not in runner.message
    runner.start(sweep, *load_iris(return_X_y=True), "in-process")
    runner.wait()
    assert runner.phase is Phase.finished
    with Store(path) as store:
        assert len(store) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of Unix")
@pytest.mark.parametrize("there", [False, True])
def test_in_a_folder_that_can_only_be_read_sweeps_are_kept_in_memory(there, keep_sweeps_in):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweeps.sqlite"
        keep_sweeps_in(path)
        if there:
            Store(path).close()
        before = os.listdir(folder)
        Path(folder).chmod(0o555)
        with without_rights():
            where, why = store_path()
        Path(folder).chmod(0o755)
        assert where == ":memory:"
        assert f"the store {path} cannot be opened for writing" in why
        assert os.listdir(folder) == before


def test_where_there_can_be_no_folder_sweeps_are_kept_in_memory(path, keep_sweeps_in):
    path.write_text("a file")
    keep_sweeps_in(path / "sweeps.sqlite")
    where, why = store_path()
    assert where == ":memory:"
    assert str(path) in why
    assert path.read_text() == "a file"

"""Runs on partitions that outlive what is lost: a client, a worker, a scheduler."""

import os
import signal
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest

from supdr import MAC
from supdr.rows import checkpoints, partitions
from tests.full_disk import room_for

ROWS = 300


def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, ROWS)
    X = 2.0 * rng.normal(size=(3, 4))[codes] + rng.normal(size=(ROWS, 4))
    return da.from_array(X, (100, 4)), da.from_array(codes.astype(float), 100)


def model(max_iter=4):
    return MAC(n_centers=20, max_iter=max_iter, tol=-1, random_state=3, early_stopping=False)


def objectives(stream):
    return [snapshot.objective for snapshot in stream]


def test_a_run_goes_on_bit_for_bit_and_ends_where_it_would_have(tmp_path, in_this_thread):
    expected = objectives(model().iterate(*rows()))
    stream = model().iterate(*rows(), checkpoint=tmp_path)
    begun = [next(stream).objective for _ in range(3)]
    del stream
    again = objectives(model().iterate(*rows(), checkpoint=tmp_path))
    assert begun + again[1:] == expected
    assert objectives(model().iterate(*rows(), checkpoint=tmp_path)) == expected[-1:]
    assert [place.name for place in tmp_path.iterdir()] == ["pass-000000004"]


def test_a_checkpoint_that_was_cut_off_counts_for_nothing(tmp_path, in_this_thread):
    stream = model().iterate(*rows(), checkpoint=tmp_path, checkpoint_every=2)
    for _ in range(4):
        next(stream)
    assert [place.name for place in tmp_path.iterdir()] == ["pass-000000002"]
    with room_for(1000), pytest.raises(OSError, match=r"too large|written"):
        next(stream)
    assert (tmp_path / "pass-000000004.unfinished").exists()
    assert len(objectives(model().iterate(*rows(), checkpoint=tmp_path))) == 3


def test_what_does_not_fit_is_refused(tmp_path, in_this_thread):
    X, y = rows()
    with pytest.raises(ValueError, match="checkpoint must be None where X is in memory"):
        model().iterate(X.compute(), y.compute(), checkpoint=tmp_path)
    with pytest.raises(ValueError, match="early_stopping must be False with checkpoint"):
        model().set_params(early_stopping="loo").iterate(X, y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="checkpoint_every must be"):
        model().iterate(X, y, checkpoint=tmp_path, checkpoint_every=0)
    next(model().iterate(X, y, checkpoint=tmp_path))
    with pytest.raises(ValueError, match="belongs to other rows"):
        next(model().iterate(X + 1, y, checkpoint=tmp_path))


def cluster():
    distributed = pytest.importorskip("distributed")
    place = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    return place, distributed.Client(place)


@pytest.mark.slow
def test_a_worker_killed_in_a_pass_changes_no_number(monkeypatch):
    monkeypatch.setattr(partitions, "LEAST_ROWS", 1)  # images come in pieces
    place, client = cluster()
    with place, client:
        expected = objectives(model().iterate(*rows()))
        stream = model().iterate(*rows())
        found = [next(stream).objective for _ in range(2)]
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert found + objectives(stream) == expected


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from test_mac_checkpoints import model, rows
for snapshot in model(400).iterate(*rows(), checkpoint={path!r}):
    print(snapshot.iteration, flush=True)
"""


@pytest.mark.slow
def test_a_client_killed_goes_on_from_its_checkpoint(tmp_path, in_this_thread):
    program = PROGRAM.format(folder=os.path.dirname(__file__), path=str(tmp_path))
    for least in ("1", "3"):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            while process.stdout.readline().strip() != least:
                assert process.poll() is None
            process.kill()
    reached = checkpoints.load(tmp_path)[0].iteration
    expected = objectives(model(reached + 2).iterate(*rows()))
    assert objectives(model(reached + 2).iterate(*rows(), checkpoint=tmp_path)) == expected[-3:]


@pytest.mark.slow
def test_a_lost_scheduler_is_said(tmp_path):
    distributed = pytest.importorskip("distributed")
    program = "from distributed import LocalCluster\nimport time\nif __name__ == '__main__':\n"
    program += "    place = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=':0')\n"
    program += "    print(place.scheduler_address, flush=True)\n    time.sleep(600)\n"
    (tmp_path / "place.py").write_text(program)
    with subprocess.Popen([sys.executable, str(tmp_path / "place.py")], stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}), distributed.Client(address):
            stream = model(400).iterate(*rows(), checkpoint=tmp_path / "kept")
            next(stream), next(stream)
            process.kill()
            with pytest.raises(RuntimeError, match=r"cluster cannot be reached any more: .* resumes at the newest"):
                list(stream)
    assert checkpoints.load(tmp_path / "kept")[0].iteration >= 1

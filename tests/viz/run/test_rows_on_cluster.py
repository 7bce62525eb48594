"""Rows on disk in the explorer on a cluster: how far a pass is, breaking it off, and a lost scheduler."""

import contextlib
import time

import numpy as np
import pytest

from supdr_viz.data import cluster, rows_on_disk
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase

N = 40_000


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    X = rng.normal(size=(3, 6))[codes] + 0.7 * rng.normal(size=(N, 6))
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    np.save(tmp_path / "labels.npy", codes.astype(float))
    np.save(tmp_path / "prices.npy", X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=N))
    return tmp_path


@pytest.fixture
def local(monkeypatch):
    from distributed import LocalCluster, default_client

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as made:
        monkeypatch.setenv(cluster.VARIABLE, made.scheduler_address)
        yield made
    with contextlib.suppress(ValueError):  # there may be none
        default_client().close(timeout=2)


def waited(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return value


def rests(player):
    """Take what was painted, as a page does, and tell whether a pause has left nothing to do."""
    player.take_frame(), player.take_surface()
    return player.status.phase is Phase.paused and player.at_rest


@pytest.mark.slow
def test_a_run_on_a_cluster_is_watched_broken_off_and_told_of_a_lost_scheduler(folder, local, offer_rows):
    offer_rows(f"clouds={folder}")
    cluster.connect()
    dataset = rows_on_disk.open_rows("clouds", "labels.npy")
    options = {"n_centers": 400, "max_iter": 200, "early_stopping": False, "tol": 0.0}
    from supdr_viz.experiment.methods import METHOD_FORMS

    known = {spec.name for spec in METHOD_FORMS["MAC"]}
    settings = Settings(
        data="rows",
        data_options={"name": "clouds", "target": "labels.npy"},
        method="MAC",
        method_options={name: value for name, value in options.items() if name in known},
        speed="fast",
    )
    said = set()
    session = Session(Pool(1), lambda: said.add(session.player.status.progress))
    try:
        session.apply(Experiment(settings, dataset))
        waited(lambda: session.player.status.phase is Phase.ready and session.player.take_surface())
        session.player.run()
        waited(lambda: session.player.iteration >= 2)
        assert any(words.startswith("pass ") and words.endswith(tuple("0123456789")) for words in said)
        # A knob breaks the pass off, and the run goes on.
        before = session.player.iteration
        session.apply(Experiment(settings.with_options(C=3.0), dataset))
        waited(lambda: session.player.iteration > before)
        session.player.pause()
        waited(lambda: rests(session.player))
        session.player.run()
        waited(lambda: session.player.status.phase is Phase.running)
        local.close()
        waited(lambda: session.player.status.phase is Phase.failed)
        message = session.player.status.message
        assert "cluster cannot be reached" in message
        assert message.count(". ") == 0
    finally:
        session.close()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["LSDR", "SDRGLM"])
def test_numbers_are_learnt_and_counted_by_the_workers(folder, local, method, offer_rows):
    offer_rows(f"clouds={folder}")
    cluster.connect()
    dataset = rows_on_disk.open_rows("clouds", "prices.npy")
    options = {"name": "clouds", "target": "prices.npy"}
    settings = Settings(data="rows", data_options=options, method=method, label_share=0.5, speed="fast")
    session = Session(Pool(1), lambda: None)
    try:
        session.apply(Experiment(settings, dataset))
        waited(lambda: session.player.status.phase is Phase.ready and session.player.take_surface())
        session.player.step()
        surface = waited(lambda: session.player.iteration == 1 and session.player.take_surface())
        fitted, whole = session.player.fitted, session.split.whole
        loss = (fitted.predict(whole.X_test.compute()) - whole.y_test.compute()) ** 2
        assert surface.rates["test"] == pytest.approx(loss.mean())
        assert {"train", "labelled", "unlabelled", "constant"} <= set(surface.rates)
    finally:
        session.close()

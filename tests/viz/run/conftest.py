"""Fixtures of the tests of runs: a player, and rows on disk in three clouds."""

from functools import partial

import numpy as np
import pytest

from supdr.datasets import read_rows
from supdr_viz.data import rows_on_disk
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.run.player import Player
from tests.viz.clouds import PARTITION, N, settings_of
from tests.viz.hands import SPIRALS, load


@pytest.fixture
def player(hands):
    """Return a player with spirals, at its start."""
    player = Player(hands.pool, lambda: None)
    load(player, SPIRALS)
    yield player
    player.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of the rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    X = (rng.normal(size=(3, 4))[codes] * 1.5 + 0.6 * rng.normal(size=(N, 4))).astype(np.float32)
    y = codes + 5.0  # labels need not be numbers of classes
    y[::50] = np.nan
    folder = tmp_path_factory.mktemp("disk") / "clouds"
    folder.mkdir()
    np.save(folder / "rows.npy", X)
    np.save(folder / "labels.npy", y)
    return folder


@pytest.fixture
def in_partitions(monkeypatch):
    """Let few rows on disk be read in partitions, with a sample of 120."""
    monkeypatch.setattr(rows_on_disk, "SHOWN", 120)
    monkeypatch.setattr(rows_on_disk, "read_rows", partial(read_rows, partition_rows=PARTITION))


@pytest.fixture
def offered(folder, offer_rows, in_partitions):
    """Offer the rows by their name."""
    offer_rows(folder)


@pytest.fixture
def experiment(offered):
    """Return the rows and settings for them."""
    return Experiment(settings_of(), rows_on_disk.open_rows("clouds", "labels.npy"))

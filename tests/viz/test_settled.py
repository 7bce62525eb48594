"""When a page calls itself settled: tests, and whoever drives a page by program, wait for that alone."""

import pytest

from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.scene import build_scene
from supdr_viz.run.player import Player
from tests.viz.hands import Hands
from tests.viz.visitor import Visitor

SETTINGS = Settings(
    data="spirals", data_options={"n_per_class": 60}, method="LSDR", method_options={"max_iter": 5000, "tol": 0.0}
)


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def player(hands):
    player, dataset = Player(hands.pool, lambda: None), build_dataset(SETTINGS)
    rows = split(dataset, SETTINGS)
    player.load(build_estimator(SETTINGS, dataset.task), rows, build_scene(dataset, rows))
    yield player
    player.close()


def show_all(hands, player):
    """Take and draw what comes until nothing more does."""
    hands.rest()
    while player.take_frame() is not None:
        player.take_surface()
        player.request_frame()
        hands.rest()


def test_a_player_is_at_rest_when_all_is_done_drawn_and_taken(hands, player):
    assert not player.at_rest
    hands.rest()
    assert not player.at_rest  # a frame waits
    show_all(hands, player)
    assert player.at_rest
    for act in (player.step, lambda: player.show(0), lambda: player.show(None), player.reset):
        act()
        assert not player.at_rest
        show_all(hands, player)
        assert player.at_rest
    player.run()
    hands.work(1.0)
    assert not player.at_rest  # the next step is wanted, if not now
    player.pause()
    show_all(hands, player)
    assert player.at_rest


def test_a_page_answers_once_nothing_is_on_its_way():
    busy = [True, True, True, False]
    with Visitor("?data=iris&method=LDA") as visitor:
        visitor.bridge.unsettled_while(lambda: busy.pop(0))
        visitor.settle()
        assert not busy

"""When a page calls itself settled: tests, and whoever drives a page by program, wait for that alone."""

import pytest

from supdr_viz.run.player import Player
from tests.viz.hands import SPIRALS, load
from tests.viz.visitor import Visitor

SETTINGS = SPIRALS.with_options(max_iter=5000)


@pytest.fixture
def player(hands):
    player = Player(hands.pool, lambda: None)
    load(player, SETTINGS)
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

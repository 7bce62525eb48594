"""Fixtures of the tests of serving: a waiting room whose time a test lets pass."""

import pytest

from supdr_viz.serving.waiting_room import WaitingRoom
from tests.viz.clock import Clock


@pytest.fixture
def clock():
    """Return a clock that a test sets."""
    return Clock()


@pytest.fixture
def queue(clock):
    """Return a waiting room by that clock."""
    return WaitingRoom(clock)

"""Buttons and choices that are one component: what is pressed is done once, and only what is offered."""

import pytest
from panel.models.esm import DataEvent

from supdr_viz.ui.bar import Bar, Button, Switches, Toggle
from supdr_viz.ui.binding import Bound


def say(bar, **message):
    for callback in bar._msg__callbacks:
        callback(DataEvent(model=None, data=message))


@pytest.fixture
def held():
    told = []
    parts = {
        "go": Button("Go", lambda: told.append("go"), icon="play_arrow"),
        "speed": Toggle("Speed", ["slow", "fast"], "slow"),
        "over": Switches("Marks", ["pull", "morph"]),
    }
    Bound(parts["over"], told.append)
    return Bar(parts), parts, told


def test_a_press_does_what_it_says(held):
    bar, parts, told = held
    say(bar, part="go", value=True)
    say(bar, part="speed", value="fast")
    for option in ("morph", "pull", "morph"):
        say(bar, part="over", value=option)
    assert parts["speed"].value == "fast"
    assert parts["over"].value == ["pull"]
    assert told == ["go", ["morph"], ["morph", "pull"], ["pull"]]


def test_the_browser_is_told_of_every_press_and_of_every_change(held):
    """It shows a press at once, and waits until the server has heard of it before it believes the server again."""
    bar, parts, _ = held
    say(bar, part="speed", value="fast")
    say(bar, part="speed", value="slow")
    assert (bar.parts["speed"]["value"], bar.parts["speed"]["heard"]) == ("slow", 2)
    parts["go"].param.update(label="Stop", disabled=True)
    assert (bar.parts["go"]["label"], bar.parts["go"]["disabled"], "heard" in bar.parts["go"]) == ("Stop", True, False)


@pytest.mark.parametrize(
    "message",
    [
        {"part": "speed", "value": "faster"},
        {"part": "speed", "value": ["fast"]},
        {"part": "over", "value": {"pull": 1}},
        {"part": "none", "value": "fast"},
        {"part": ["go"], "value": True},
        {},
    ],
)
def test_what_is_not_offered_is_not_taken(held, message):
    bar, parts, told = held
    say(bar, **message)
    assert (parts["speed"].value, parts["over"].value, told) == ("slow", [], [])


@pytest.mark.parametrize("state", [{"disabled": True}, {"visible": False}])
def test_what_cannot_be_pressed_is_not(held, state):
    bar, parts, told = held
    for part in parts.values():
        part.param.update(**state)
    say(bar, part="go", value=True)
    say(bar, part="speed", value="fast")
    say(bar, part="over", value="pull")
    assert (parts["speed"].value, told) == ("slow", [])

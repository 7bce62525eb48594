"""A control tells the visitor's changes from the program's, and from what a busy browser sends back."""

import itertools

import numpy as np
import param
import pytest

from supdr_viz.experiment.settings import to_query
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import sweep_query
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.ui import binding, widgets
from supdr_viz.ui.bar import Toggle
from supdr_viz.ui.binding import SOON, Bound, BoundChoice
from tests.viz.visitor import Visitor

FIRST, SECOND = (PRESETS[name] for name in ("digits-on-a-plane", "two-spirals"))
LETTERS = ["a", "b", "c", "d"]


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def bound():
    """A menu, what it reports, and its clock."""
    clock, seen = Clock(), []
    menu = widgets.select("Letter", {each: each for each in LETTERS}, "a")
    return Bound(menu, seen.append, clock=clock), seen, clock


def test_only_the_visitors_changes_are_reported(bound):
    """Whatever comes in which order, with time between."""
    letter, seen, clock = bound
    expected, shown = [], "a"
    for number, by_program in zip(np.random.default_rng(0).integers(0, 4, 200), itertools.cycle([True, False, False])):
        clock.now += SOON
        new = LETTERS[number]
        if by_program:
            letter.show(new)
        else:
            letter.widget.value = new
            expected += [new] * (new != shown)
        shown = new
        assert letter.value == letter.widget.value == shown
    assert seen == expected


def test_what_the_visitor_chose_can_be_shown_again_and_corrected():
    seen = []
    menu = widgets.select("Letter", {each: each for each in LETTERS}, "a")

    def corrected(value):
        seen.append(value)
        letter.show("d" if value == "c" else value)

    letter = Bound(menu, corrected)
    for value in ("b", "c", "b"):
        menu.value = value
    assert seen == ["b", "c", "b"]
    menu.value = "c"
    assert menu.value == letter.value == "d"


def test_what_was_shown_for_a_moment_and_comes_back_is_put_right(bound):
    letter, seen, clock = bound
    for value in ("b", "c", "d"):
        letter.show(value)
        clock.now += 0.3
    for value in ("b", "c"):
        letter.widget.value = value
        assert letter.widget.value == letter.value == "d"
    assert seen == []
    letter.widget.value = "b"  # a browser sends a value back once: the second time the visitor has chosen it
    assert (letter.widget.value, seen) == ("b", ["b"])


def test_what_was_not_shown_is_the_visitors_at_once(bound):
    letter, seen, _ = bound
    letter.show("b")
    letter.show("c")
    letter.widget.value = "d"
    assert seen == ["d"]
    letter.widget.value = "b"  # after a change of the visitor's own, what was shown before is history
    assert seen == ["d", "b"]


def test_a_while_later_it_is_the_visitors_choice(bound):
    letter, seen, clock = bound
    letter.show("b")
    letter.show("c")
    clock.now += SOON
    letter.widget.value = "b"
    assert seen == ["b"]


def test_what_stood_for_long_can_be_had_back_at_once(bound):
    letter, seen, clock = bound
    letter.show("b")
    clock.now += SOON
    letter.show("c")
    letter.widget.value = "b"
    assert seen == ["b"]


def test_parts_of_a_bar_send_nothing_back():
    seen = []
    speed = Bound(Toggle("Speed", LETTERS, "a"), seen.append, clock=Clock())
    for value in ("b", "c"):
        speed.show(value)
    speed.widget.value = "b"
    assert seen == ["b"]


def test_where_a_slider_is_let_go_of_may_come_back_too():
    """The program sets it as well: else the same place could not be chosen twice."""
    seen = []
    slider = widgets.Slider("C", 1.0, 1e-3, 1e3, 0.1, log=True, on_change=seen.append)
    for value in (10.0, 100.0):
        slider.show(value)
    slider.widget.param.update(value=1.0, value_throttled=1.0)
    assert (slider.value, slider.widget.value, seen) == (100.0, 2.0, [])


def test_texts_stand_for_values_and_others_for_none():
    seen = []
    choice = BoundChoice(Toggle("Arms", ["none", "three"], "none"), {"none": None, "three": 3}, seen.append)
    assert choice.value is None
    choice.widget.value = "three"
    choice.widget.value = "four"
    choice.widget.value = "none"
    assert seen == [3, None]
    choice.offer({"one": 1, "two": 2}, 2)
    assert (choice.widget.options, choice.widget.value, seen) == (["one", "two"], "two", [3, None])


def test_options_and_value_change_together(bound):
    letter, seen, _ = bound
    told = []
    letter.widget.param.watch(lambda *events: told.append({each.name for each in events}), ["value", "options"])
    letter.show("z", options={"z": "z"})
    letter.show("z", options={"y": "y", "z": "z"})
    assert (told, letter.widget.value, seen) == ([{"value", "options"}, {"options"}], "z", [])


def test_nothing_is_no_value(bound):
    letter, seen, _ = bound
    letter.widget.value = None
    assert (letter.value, seen) == ("a", [])


def test_what_a_visitors_change_raises_is_told():
    class Knob(param.Parameterized):
        value = param.Integer(0)

    knob = Knob()
    with Visitor("?data=iris&method=LDA") as visitor:
        visitor.do(lambda: Bound(knob, lambda value: 1 / value))
        visitor.do(lambda: knob.param.update(value=1))
        assert not visitor.notices
        visitor.do(lambda: knob.param.update(value=0))
        assert "division by zero" in visitor.notices


@pytest.fixture
def patient(monkeypatch):
    """A busy server needs longer than a moment for each of two examples."""
    monkeypatch.setattr(binding, "SOON", 600.0)


@pytest.mark.usefixtures("patient")
def test_an_echo_changes_neither_the_example_nor_what_the_menu_shows():
    with Visitor() as visitor:
        menu = visitor.widget("Data set")
        visitor.choose("Example", FIRST.label).choose("Example", SECOND.label)
        names = {name: label for label, name in menu.options.items()} if isinstance(menu.options, dict) else {}
        visitor.do(lambda: visitor.tell(menu, value=names.get("digits", "Digits")))
        visitor.settle()
        assert visitor.query == to_query(SECOND.settings)
        assert visitor.widget("Example").value == SECOND.name
        [model, _] = next(iter(menu._models.values()))
        assert model.data.value == names.get("spirals", "K spirals")
        visitor.choose("Data set", "Iris").settle()
        assert "data=iris" in visitor.query


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_an_echo_changes_no_prepared_sweep_either():
    first, second = SWEEP_PRESETS["sldr-dimensions"], SWEEP_PRESETS["mac-dimensions"]
    with Visitor(page="sensitivity") as visitor:
        visitor.choose("Example", first.label).choose("Example", second.label)
        method = visitor.widget("Method")
        visitor.do(lambda: visitor.tell(method, value="SLDR"))
        visitor.settle()
        assert visitor.query == sweep_query(second.settings)
        assert visitor.widget("Example").value == second.name
        visitor.choose("Method", "LSDR").settle()
        assert "method=LSDR" in visitor.query

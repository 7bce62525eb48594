"""Settings that a busy browser sends back are not taken for the visitor's wish; what the visitor wants is."""

import pytest

from supdr_viz.controls.stale_updates import SOON, StaleUpdates
from supdr_viz.experiment.settings import Settings, to_query
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import sweep_query
from supdr_viz.presets.catalogue import PRESETS
from tests.viz.visitor import Visitor

OPENING, FIRST, SECOND = (PRESETS[name] for name in ("three-spirals", "digits-on-a-plane", "two-spirals"))
DATA = {"data": "digits", "data_options": {}}


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def shown():
    """Two examples, one right after the other; what controls say is compared with them."""
    clock = Clock()
    echoes = StaleUpdates(clock)
    echoes.show(OPENING.settings)
    clock.now += 0.5
    echoes.show(FIRST.settings)
    return echoes, clock


def test_what_was_shown_for_a_moment_comes_back_as_an_echo(shown):
    echoes, _ = shown
    now, before = SECOND.settings, FIRST.settings
    assert echoes.holds(now, DATA)
    assert echoes.holds(now, {"method": before.method, "method_options": {}})
    assert echoes.holds(now, {"test_share": before.test_share})
    assert echoes.holds(now, {"method_options": {**now.method_options, "n_layers": before.method_options["n_layers"]}})


def test_what_was_not_shown_or_holds_already_is_none(shown):
    echoes, _ = shown
    now = SECOND.settings
    assert not echoes.holds(now, {"data": "iris", "data_options": {}})
    assert not echoes.holds(now, {"data_options": {**now.data_options, "n_per_class": 151}})
    assert not echoes.holds(now, {"seed": 7})
    assert not echoes.holds(now, {"data": now.data, "data_options": now.data_options})


def test_a_while_later_or_after_a_change_it_is_the_visitors_wish(shown):
    echoes, clock = shown
    clock.now += SOON
    assert not echoes.holds(SECOND.settings, DATA)
    clock.now -= SOON
    assert echoes.holds(SECOND.settings, DATA)
    echoes.forget()
    assert not echoes.holds(SECOND.settings, DATA)


def test_what_stood_for_long_can_be_wanted_back_at_once():
    clock = Clock()
    echoes = StaleUpdates(clock)
    echoes.show(Settings(data="iris"))
    clock.now += SOON
    echoes.show(FIRST.settings)
    assert not echoes.holds(SECOND.settings, DATA)


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

"""Presenting: examples one after another by keys, short links, and the link for students by one press."""

from unittest import mock

import pytest

from supdr_viz.experiment.codec import link_entries
from supdr_viz.experiment.settings import to_query
from supdr_viz.pages.cards import Cards
from supdr_viz.pages.explorer.presenter import SHOWN
from supdr_viz.pages.service import Service
from supdr_viz.presets.catalogue import PRESETS
from tests.viz.visitor import Visitor


def presented(visitor):
    return next(iter(visitor.page.select(Cards))).presented


def test_keys_lead_through_the_list_and_escape_leaves():
    with Visitor() as visitor:
        visitor.press("Present")
        assert visitor.query == f"example={SHOWN[0]}&present=1"
        assert presented(visitor)["place"] == f"1 / {len(SHOWN)}"
        visitor.key("ArrowRight").settle()
        assert visitor.query == f"example={SHOWN[1]}&present=1"
        assert visitor.stands == ("ready", 0)  # the key is no step of the run
        visitor.key("ArrowLeft").key("ArrowLeft").settle()
        assert visitor.query == f"example={SHOWN[-1]}&present=1"  # it goes round
        title = presented(visitor)["title"]
        visitor.key("Escape").settle()
        assert presented(visitor) == {}
        assert visitor.sees(PRESETS[SHOWN[-1]].note.split(".")[0])
        assert title
        assert "present" not in visitor.query
        visitor.key("ArrowRight").settle()
        assert visitor.iteration == 1  # and now it is


def test_space_runs_what_is_presented():
    with Visitor("?example=three-spirals&present=1") as visitor:
        assert presented(visitor)["title"]
        visitor.key(" ").settle()
        assert visitor.iteration > 1


@pytest.mark.parametrize("name", [SHOWN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in SHOWN[1:3])])
def test_a_short_link_opens_the_example_that_it_names(name):
    with Visitor(f"?example={name}") as visitor:
        visitor.press("Share")
        fields = [visitor.widget("Link").value, visitor.widget("Short link to this example").value]
    with Visitor("?" + fields[0].partition("?")[2]) as visitor:
        assert visitor.sees(PRESETS[name].note.split(".")[0])
    assert fields[1].endswith(f"?example={name}")


def test_a_short_link_may_change_settings_of_its_example():
    with Visitor("?example=three-spirals&method.C=3&view.colour=doubt&seed=7") as visitor:
        assert not visitor.sees("ignored")
        query = visitor.query
    with Visitor("?example=three-spirals") as visitor:
        own = link_entries(to_query(PRESETS["three-spirals"].settings))
    assert link_entries(query) == {**own, "method.C": "3", "view.colour": "doubt", "seed": "7"}
    with Visitor("?example=three-spirals&method=KNN") as visitor:
        other = {key: text for key, text in own.items() if not key.startswith("method")}
        assert link_entries(visitor.query) == {**other, "method": "KNN"}
    with Visitor("?example=nothing&data=iris") as visitor:
        assert visitor.sees("There is no example 'nothing'")
        assert "data=iris" in visitor.query


def test_settings_of_ones_own_have_no_short_link():
    with Visitor("?data=moons&method=LDA&seed=3") as visitor:
        visitor.press("Share")
        shown = visitor.page.select(lambda each: getattr(each, "label", "") == "Short link to this example")
        assert not any(each.visible for each in shown)


def test_an_unknown_example_is_said():
    with Visitor("?example=nothing") as visitor:
        assert visitor.sees("no example 'nothing'")
        assert visitor.iteration == 0


def test_the_class_link_is_one_press_away():
    with mock.patch.object(Service.of_process().tickets, "offered", True), Visitor("?present=1") as visitor:
        visitor.press("Link for students")
        visitor.do(lambda: visitor.send({"kind": "copied", "done": True}))
        assert "follow?ticket=" in visitor.notices
        visitor.press("Share")
        assert "follow?ticket=" in visitor.widget("Link for students", visible=True).value


def test_a_class_link_names_an_address_that_others_reach_or_says_that_none_do():
    with mock.patch.object(Service.of_process().tickets, "offered", True), Visitor() as visitor:
        visitor.press("Share")
        visitor.press("Open a link for students")
        assert visitor.sees("Only this computer can open the link")
        assert visitor.sees("--address 0.0.0.0")
        visitor.press("End the link for students")
        assert not visitor.sees("Only this computer")
        visitor.do(lambda: visitor.bridge.param.update(origin="http://localhost:5006/class/explorer"))
        for names, host in (
            (["localhost:5006", "10.0.0.7:80"], "localhost:5006"),
            (["127.0.0.1:5006", "10.0.0.7:5006"], "10.0.0.7:5006"),
        ):
            with mock.patch.object(Service.of_process().tickets, "names", names):
                visitor.press("Open a link for students")
                link = visitor.widget("Link for students", visible=True).value
                assert link.startswith(f"http://{host}/class/follow?ticket=")
                assert visitor.sees("Only this computer") is host.startswith("localhost")
                visitor.press("End the link for students")
        visitor.do(lambda: visitor.bridge.param.update(origin="https://school.example/explorer"))
        visitor.press("Open a link for students")
        assert visitor.widget("Link for students", visible=True).value.startswith("https://school.example/follow?")
        assert not visitor.sees("Only this computer")

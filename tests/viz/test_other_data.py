"""Data of one's own, and other data than before: with which settings they begin, and what counts at once."""

import numpy as np
import panel as pn
import pytest

from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.methods import MENU, method_menu
from supdr_viz.experiment.settings import Settings
from tests.viz.visitor import Visitor

SPIRALS = "?data=spirals&data.n_per_class=60&method=NSDR&method.gamma=10&method.C=10"


def csv(target, gaps=0):
    rng = np.random.default_rng(0)
    cells = np.round(rng.normal(size=(60, 3)) + np.asarray(target, dtype=float)[:, None], 3).astype(str)
    cells[:gaps, 1] = ""
    return "\n".join(["a,b,c,target", *(",".join([*row, str(y)]) for row, y in zip(cells, target))])


CLASSES, NUMBERS = np.arange(60) % 2, np.linspace(0, 1, 60)


def use(visitor, content, name="mine.csv"):
    visitor.choose("Data set", "A file …").upload(name, content)
    return visitor.press("Use this file").settle()


def test_other_data_begin_with_the_methods_defaults():
    with Visitor(SPIRALS) as visitor:
        use(visitor, csv(CLASSES))
        assert "data.name=mine.csv&method=NSDR&test=" in visitor.query
        visitor.choose("Kernel", "linear").settle()
        visitor.choose("Data set", "Iris").settle()
        assert "data=iris&method=NSDR&test=" in visitor.query


def test_a_method_that_does_not_fit_other_data_is_not_chosen():
    with Visitor(SPIRALS) as visitor:
        use(visitor, csv(NUMBERS))
        assert "method=LSDR" in visitor.query
        assert visitor.stands == ("ready", 0)
        visitor.choose("Method", "PLS regression").settle()
        visitor.choose("Data set", "Iris").settle()
        assert "method=NSDR" in visitor.query


def test_what_was_set_for_a_file_stays_when_it_comes():
    with Visitor("?data=file&data.name=mine.csv&method=NSDR&method.gamma=7") as visitor:
        visitor.upload("mine.csv", csv(CLASSES)).press("Use this file").settle()
        assert "method.gamma=7" in visitor.query
        assert visitor.stands == ("ready", 0)


def test_columns_that_are_compared_keep_what_distinguishes_them():
    with Visitor("?data=moons&method=LSDR&method.beta=0.3&b=LSDR&b.beta=0.9", page="compare") as visitor:
        visitor.choose("Data set", "Iris").settle()
        assert "method.beta=0.3" in visitor.query
        assert "b.beta=0.9" in visitor.query


@pytest.mark.parametrize("source", [each for each in SOURCES.values() if each.at_hand], ids=lambda each: each.name)
def test_sources_know_what_is_to_be_learnt(source):
    assert build_dataset(Settings(data=source.name)).task == source.task


def test_the_menu_of_methods_says_what_each_learns():
    menu = method_menu()
    assert {name for group in menu.values() for name in group.values()} == set(MENU)
    assert "SLDR" in menu["Methods: several views"]
    assert "LSDR" in menu["Methods: classes and numbers"]
    assert "NSDR" in menu["Methods: classes"]
    assert "Elastic Net" in menu["Baselines: numbers"]


def test_drawn_points_count_at_once():
    with Visitor(SPIRALS) as visitor:
        rows = len(visitor.places("input"))
        tell = visitor.stage().hear
        for points in ([[0.1, 0.2, 1]], [[0.1, 0.2, 1], [0.5, -0.5, 0]], [[0.3, 0.2, 1], [0.5, -0.5, 0]]):
            visitor.do(lambda points=points: tell({"kind": "drawn", "points": points}))
            visitor.settle()
            assert len(visitor.places("input")) == rows + len(points)
            assert f"{len(points)} drawn point" in visitor.head("Input space")
            assert visitor.stage().get("planes", "input", "drawn") == points  # and can be moved and deleted
        assert "drawn=0.3,0.2,1;0.5,-0.5,0" in visitor.query
        visitor.do(lambda: tell({"kind": "drawn", "points": []}))
        visitor.settle()
        assert "drawn" not in visitor.query
        assert len(visitor.places("input")) == rows


def test_what_a_closed_drawer_has_not_drawn_is_emptied_and_not_hidden():
    """The kit cannot show a pane that was hidden before it was drawn: on a phone the controls wait in a drawer."""
    with Visitor(SPIRALS) as visitor:
        about = next(each for each in visitor.page.select(pn.pane.HTML) if "training and" in str(each.object))
        hidden = []
        about.param.watch(lambda event: hidden.append(event.new), "visible")
        visitor.choose("Example", "Fig. 3: NSDR on ionosphere").settle()
        assert "training and" not in about.object
        visitor.choose("Data set", "Two moons").settle()
        assert "training and" in about.object
        assert hidden == []

"""What a page is made of: what nobody sees is not built, and nothing is sent twice that a browser can keep."""

import json
import re
from functools import partial

import panel as pn
import pytest

from supdr_viz.lessons import LESSONS
from supdr_viz.pages.lessons.page import address
from tests.viz.visitor import Visitor, describe_as_served

LIGHT = {"explorer": (121, 113_500), "compare": (167, 132_000), "sensitivity": (320, 204_000), "lessons": (101, 90_500)}
"""Most models in a page's document when it opens, and most bytes of it, with what it says of the kit's components.

The page of sweeps opens with the finished cells of an example: its charts come after the page has been painted.
"""


def labels(visitor):
    return [part.label for part in (*visitor.page.select(), *visitor.parts()) if getattr(part, "label", "")]


@pytest.mark.parametrize("page", LIGHT)
def test_a_page_is_light(monkeypatch, own_files, page):
    own_files(True)
    monkeypatch.setattr(pn.config, "raw_css", [])  # what a page left there that was built without a server
    describe_as_served(monkeypatch)
    models, size = LIGHT[page]
    with Visitor(page=page) as visitor:
        document = visitor.session.document
        assert len(list(document.models)) <= models
        text = json.dumps(document.to_json(deferred=False), separators=(",", ":"))
        assert len(re.sub(r'"p\d+"', '"p1000"', text)) <= size  # however many models there were before


def test_a_wide_window_has_no_drawer_until_it_is_narrow():
    with Visitor("?data=iris&method=LDA") as visitor:
        assert labels(visitor).count("Share") == 1
        for narrow in (True, False, True):
            visitor.do(partial(visitor.bridge.param.update, narrow=narrow))
        assert labels(visitor).count("Share") == 2


def test_a_lesson_has_controls_where_it_leaves_them_to_the_visitor():
    lesson = LESSONS["1-why-supervise"]
    assert [step.free for step in lesson.steps[-2:]] == [False, True]
    with Visitor(f"?{address(lesson.name, len(lesson.steps) - 1)}", page="lessons") as visitor:
        assert "Data set" in labels(visitor)
        visitor.press("Back")
        assert "Data set" not in labels(visitor)
        assert "Lesson" in labels(visitor)

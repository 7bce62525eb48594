"""What a page is made of: what nobody sees is not built, and nothing is sent twice that a browser can keep."""

import json
from functools import partial

from supdr_viz.kit.own_files import OwnFile
from supdr_viz.lessons import LESSONS
from supdr_viz.pages.lessons import address
from tests.viz.visitor import Visitor

MODELS, BYTES = 120, 130_000
"""Most models, and most bytes of them, in the opening explorer: what the kit says of its own classes comes on top."""


def labels(visitor):
    return [part.label for part in (*visitor.page.select(), *visitor.parts()) if getattr(part, "label", "")]


def test_the_explorer_is_light(monkeypatch):
    monkeypatch.setattr(OwnFile, "offered", True)
    with Visitor() as visitor:
        document = visitor._session.document
        assert len(list(document.models)) <= MODELS
        roots = document.to_json(deferred=False)["roots"]
        assert len(json.dumps(roots, separators=(",", ":"))) <= BYTES


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

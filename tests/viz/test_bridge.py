"""The page's helper: what changes is sent from the browser's first word on."""

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from supdr_viz.kit.bridge import Bridge
from tests.viz.test_gaps import sent_by


@pytest.fixture
def page():
    """A document with a bridge in it, and the bridge's model."""
    document = Document()
    with set_curdoc(document):
        model = Bridge().get_root(document)
        document.add_root(model)
        yield document, model


def sent(document, model):
    """What the browser gets when the server changes a height."""

    def change():
        model.height = (model.height or 0) + 1

    return sent_by(document, change)


def test_nothing_is_sent_before_the_browser_has_the_document(page):
    document, model = page
    model.height = 3  # a change of the server's own
    assert sent(document, model) == []


def test_whatever_the_browser_says_first_shows_that_it_is_there(page):
    document, model = page
    change = {"kind": "ModelChanged", "model": {"id": model.id}, "attr": "height", "new": 7}
    document.apply_json_patch({"events": [change]}, setter=object())
    assert len(document.callbacks.change_callbacks()) == 0  # heard once is enough
    [event] = sent(document, model)
    assert (event.attr, event.new) == ("height", 8)


@pytest.mark.parametrize("hours", [0, 3])
def test_a_page_is_closed_after_as_many_hours_as_it_may_be_open(hours, monkeypatch):
    monkeypatch.setattr(Bridge, "most_hours", hours)
    document = Document()
    with set_curdoc(document):
        bridge = Bridge()  # without a browser a page is there at once
        waits = [(each.timeout, each.callback) for each in document.session_callbacks]
        assert [wait for wait, _ in waits] == ([3 * 3600 * 1000] if hours else [])
        said = []
        monkeypatch.setattr(bridge, "_send_msg", said.append)
        for _, end in waits:
            end()
        assert said == ([{"kind": "end"}] if hours else [])

"""The page's helper: what changes is sent from the browser's first word on."""

import pytest
from bokeh.document import Document
from bokeh.document.events import MessageSentEvent
from panel.io.state import set_curdoc

from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.visitor import Visit
from tests.viz.sent_events import NEWER, sent_by


@pytest.fixture
def page():
    """A document with a bridge in it, and the bridge's model."""
    document = Document()
    with set_curdoc(document):
        model = Bridge(Visit()).get_root(document)
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
    assert len(sent(document, model)) == NEWER  # Panel 1.10 leaves it to Bokeh, which has no connection yet


def test_whatever_the_browser_says_first_shows_that_it_is_there(page):
    document, model = page
    change = {"kind": "ModelChanged", "model": {"id": model.id}, "attr": "height", "new": 7}
    document.apply_json_patch({"events": [change]}, setter=object())
    assert len(document.callbacks.change_callbacks()) == 0  # heard once is enough
    [event] = sent(document, model)
    assert (event.attr, event.new) == ("height", 8)


def test_a_page_is_closed_after_as_many_hours_as_it_may_be_open(monkeypatch):
    monkeypatch.setenv("SUPDR_MOST_HOURS", "2")
    document, told = Document(), []
    with set_curdoc(document):
        document.add_root(Bridge(Visit()).get_root(document))  # without a browser a page is there at once
        [callback] = document.session_callbacks
        assert callback.timeout == 2 * 3_600_000
        document.on_change(told.append)
        callback.callback()
    [sent] = [event for event in told if isinstance(event, MessageSentEvent)]
    assert sent.msg_data.data == {"kind": "end"}


def test_a_page_stays_open_where_hours_do_not_count(monkeypatch):
    monkeypatch.setenv("SUPDR_MOST_HOURS", "0")
    document = Document()
    with set_curdoc(document):
        document.add_root(Bridge(Visit()).get_root(document))
    assert not document.session_callbacks

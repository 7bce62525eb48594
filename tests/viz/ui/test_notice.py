"""The boxes above the plots: what they say is shown as it is, whoever wrote it, and can be closed where it may be."""

import html

import panel_material_ui as pmui
import pytest
from panel.pane.markup import Markdown

from supdr_viz.ui.markup import literal
from supdr_viz.ui.notice import SEVERAL, Notice, remarks

SENTENCES = (
    "There is no data set '[free](https://evil.example)'; known are curved_sheet, latent_bits.",
    "*Column* `b` ~~is~~ <b>bold</b> & www.evil.example, ![x](x.png)",
    "# heading 1. first | second",
)


def rendered(text):
    return Markdown._get_parser("markdown-it", ()).render(text)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_stands_as_it_is(sentence):
    assert rendered(sentence) != f"<p>{html.escape(sentence)}</p>\n"  # by itself it would act
    assert html.unescape(rendered(literal(sentence))) == f"<p>{sentence}</p>\n"


def test_remarks_stay_until_they_are_closed_and_may_be_said_anew():
    assert not remarks([]).shown
    notice = remarks(["One.", "Two."])
    [box] = notice.view.select(pmui.Alert)
    assert rendered(box.object) == f"<p>{SEVERAL}</p>\n<p>One.</p>\n<p>Two.</p>\n"
    assert notice.shown
    box.closed = True  # as the browser says it
    assert not notice.shown
    notice.say("Three.", "info")
    assert notice.shown
    assert not box.closed


def test_what_is_in_the_way_cannot_be_closed():
    notice = Notice()
    notice.say("No rows.", "error")
    [box] = notice.view.select(pmui.Alert)
    assert not box.closeable

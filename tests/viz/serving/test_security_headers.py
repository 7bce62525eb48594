"""What stands between the server and the network, without a server."""

from types import SimpleNamespace
from weakref import ref

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from panel.io.state import set_curdoc
from tornado.httputil import HTTPHeaders

from supdr_viz.serving.security_headers import Headers, Visitors, policy
from supdr_viz.ui.visitor import COOKIE


class Request:
    host = "localhost:5006"


def visit(build, path="", visitor=""):
    """Build a page; return it and the function that ends its session."""
    document = Document()
    context = BokehSessionContext("somebody", None, document)
    if path or visitor:
        cookies = {COOKIE: f"0-{visitor}"} if visitor else {}
        context._request = SimpleNamespace(path=path, arguments={}, headers={}, cookies=cookies)
        document._session_context = ref(context)
    with set_curdoc(document):
        page = build()

    def leave():
        for callback in document.session_destroyed_callbacks:
            callback(context)

    return page, leave


def test_pages_beyond_the_limit_are_told_so_until_somebody_leaves():
    arrived = []
    visitors = Visitors(2, 0, lambda: arrived.append(None))
    build = visitors.admitting(lambda: "page")
    other = visitors.admitting(lambda: "other page")
    (first, leave), (second, _) = visit(build), visit(other)
    assert (first, second) == ("page", "other page")
    assert arrived == [None, None]  # without a browser a page is there at once
    refused, leave_refused = visit(build)
    assert "This server shows 2 pages at a time, and no more are free." in refused.object
    leave_refused()
    assert visitors.open == 2
    leave()
    assert visit(build)[0] == "page"
    assert visitors.open == 2


def test_a_page_that_is_gone_is_not_built_again_behind_the_line():
    visitors, built = Visitors(2, 0, lambda: None), []

    def page():
        built.append(None)
        return "page"

    def reloads():
        asked = visitors.admitting(page)()
        scripts = pn.state.curdoc.callbacks.js_event_callbacks["document_ready"]
        return asked, [script.code for script in scripts]

    (asked, scripts), _ = visit(reloads, "/explorer/ws")
    assert "comes back" in asked.object
    assert scripts == ["location.reload()"]
    assert not built
    assert visitors.open == 0


ANNA, BERT = "anna-anna-anna-a", "bert-bert-bert-b"


def test_one_visitor_leaves_room_for_others():
    visitors = Visitors(10, 2, lambda: None)
    build = visitors.admitting(lambda: "page")
    (_, leave), _ = visit(build, visitor=ANNA), visit(build, visitor=ANNA)
    refused, _ = visit(build, visitor=ANNA)
    assert "On this server a visitor may have 2 pages open. Please close one first." in refused.object
    assert [visitors.refuse(each) for each in (ANNA, BERT, "")] == [429, 0, 0]
    assert visit(build, visitor=BERT)[0] == "page"
    assert visitors.open == 3
    leave()
    assert visitors.refuse(ANNA) == 0
    assert visitors.open == 2


def test_without_a_limit_everybody_comes_in():
    visitors = Visitors(0, 0, lambda: None)
    assert [visit(visitors.admitting(lambda: "page"))[0] for _ in range(5)] == ["page"] * 5
    assert visitors.open == 5


def test_what_an_answer_says_by_itself_stays():
    headers = HTTPHeaders({"Referrer-Policy": "no-referrer"})
    status, told, chunk = Headers(Request()).transform_first_chunk(200, headers, b"text", True)
    assert (status, chunk) == (200, b"text")
    assert told["Referrer-Policy"] == "no-referrer"
    assert told["Content-Security-Policy"] == policy("localhost:5006")


def test_only_named_sites_show_the_pages_in_a_frame():
    headers = HTTPHeaders()
    Headers.shown_in(["https://school.example"])(Request()).transform_first_chunk(200, headers, b"", True)
    assert "frame-ancestors 'self' https://school.example;" in headers["Content-Security-Policy"]
    assert "school.example" not in policy("localhost:5006")


@pytest.mark.parametrize("host", ["a; script-src *", "a b", "a,b", "'strict-dynamic'"])
def test_a_name_that_is_none_does_not_become_a_rule(host):
    assert host not in policy(host)
    assert "ws://" not in policy(host)

"""Admission: who is let in, who waits and who is refused, and what they are told."""

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import quote

import pytest
import tornado.httpclient
import tornado.httpserver
import tornado.web
from bokeh.document import Document
from bokeh.events import DocumentReady
from tornado.httputil import HTTPHeaders
from tornado.testing import bind_unused_port
from tornado.web import Finish, HTTPError

from supdr_viz.serving.admission import Admission, Ended, Refusal
from supdr_viz.serving.page_start import FilesAsked
from supdr_viz.serving.visitor_cookie import Cookie, process_of, visitor_of
from supdr_viz.serving.waiting_room import BREATH, LONGEST_LULL, LULL, WaitingRoom
from supdr_viz.ui.visitor import PAYLOAD
from tests.viz.made_requests import request_of


def session_of(request, session=None):
    """Return what the server knows of a session that a request begins."""
    return SimpleNamespace(request=request, session=session, token_payload={PAYLOAD: visitor_of(request)})


def knock(at, path):
    """Ask for a page; return what is said: nothing if it is built."""
    request = request_of(path)

    async def process():
        at.process_request(request)
        await at.on_session_created(session_of(request))
        at.process_request(request)  # the server asks twice

    try:
        with ThreadPoolExecutor(1) as thread:  # this one may have the browser's event loop
            thread.submit(asyncio.run, process()).result()
    except HTTPError as error:
        return error.status_code
    except Finish as answer:
        return answer.args[0]
    assert "turn" not in request.arguments
    return None


def of_a_crowd(queue, pauses, between):
    """Let one in and knock for others meanwhile; return how many were answered before the page was built."""
    at, first = Admission(queue, lambda caller: 0, FilesAsked()), request_of("/explorer")

    async def crowd():
        at.process_request(first)
        page = asyncio.create_task(at.on_session_created(session_of(first)))
        answered = 0
        for pause in pauses:
            await asyncio.sleep(pause)
            between()
            if page.done():
                break
            with pytest.raises(Finish):
                at.process_request(request_of("/explorer"))
            answered += 1
        await page
        return answered

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, crowd()).result()


def test_who_has_come_is_answered_before_a_page_is_built(queue):
    assert of_a_crowd(queue, [LULL / 4] * 9 + [BREATH / 2] * 3, between=lambda: None) == 12
    assert queue.waiting == 12


def test_a_stream_of_others_does_not_keep_a_page_from_being_built(queue, clock):
    def later():
        clock.now += LONGEST_LULL / 3

    assert of_a_crowd(queue, [LULL / 4] * 40, between=later) < 40


def test_a_browser_that_comes_back_does_not_touch_the_queue(queue, clock):
    at = Admission(queue, lambda caller: 0, FilesAsked())
    assert knock(at, "/explorer") is None
    queue.enter("")
    back = session_of(request_of("/explorer/ws"))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, at.on_session_created(back)).result()
    clock.now += 10 * BREATH
    assert queue.before(queue.join())  # the page of the other is still to be built


def test_the_page_that_waits_comes_back_with_its_place_and_its_address(queue, clock):
    at = Admission(queue, lambda caller: 0, FilesAsked())
    assert knock(at, "/explorer") is None
    said = knock(at, "/explorer?data=moons&note=%3Cimg%20src=x%3E&note=2")
    assert "1 ahead of you" in said
    assert "<img" not in said
    again = re.search('data-again="([^"]+)"', said)[1].replace("&amp;", "&")
    assert again.startswith("explorer?data=moons&note=%3Cimg+src%3Dx%3E&note=2&turn=")
    assert f"url={again}".replace("&", "&amp;") in said  # without scripts, too
    clock.now += BREATH
    assert knock(at, f"/{again}") is None
    assert knock(at, "/explorer?turn=nobody") != 503


class Kept:
    """A session, and how often it is kept from ending."""

    def __init__(self):
        self.document, self.times = Document(), 0

    def block_expiration(self):
        self.times += 1

    def unblock_expiration(self):
        self.times -= 1


def test_a_page_is_kept_until_its_slow_browser_has_come(queue):
    at, came, gone = Admission(queue, lambda caller: 0, FilesAsked(), comes_within=0.2), Kept(), Kept()

    async def visit():
        for session in (came, gone):
            await at.on_session_created(session_of(request_of("/explorer"), session))
        await asyncio.sleep(0)
        kept = came.times, gone.times
        came.document.callbacks.trigger_event(DocumentReady())
        arrived = came.times, gone.times
        end = time.monotonic() + 30
        while gone.times and time.monotonic() < end:
            await asyncio.sleep(0.01)
        return kept, arrived

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, visit()).result() == ((1, 1), (0, 1))
    assert (came.times, gone.times) == (0, 0)


def test_pages_whose_browser_never_comes_are_kept_in_bounded_number(queue):
    at, sessions = Admission(queue, lambda caller: 0, FilesAsked(), most_kept=3), [Kept() for _ in range(6)]

    async def visit():
        for session in sessions:
            await at.on_session_created(session_of(request_of("/explorer"), session))
            await asyncio.sleep(0)
            if session is sessions[1]:
                session.document.callbacks.trigger_event(DocumentReady())

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, visit()).result()
    assert [session.times for session in sessions] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("named", ["bokeh-session-id=theirs", "bokeh-token=theirs", ""])
def test_no_address_leads_into_the_page_of_somebody_else(queue, named):
    at, request = Admission(queue, lambda caller: 0, FilesAsked()), request_of(f"/explorer?data=moons&{named}")
    if not named:
        request.headers["Bokeh-Session-Id"] = "theirs"
    with pytest.raises(HTTPError, match="403"):
        at.process_request(request)
    assert knock(at, "/explorer?data=moons") is None  # and nobody is kept waiting


def test_without_room_nobody_waits(queue):
    at = Admission(queue, lambda caller: 503, FilesAsked())
    assert knock(at, "/explorer") == 503
    assert queue.waiting == 0
    assert knock(at, "/explorer/ws") is None  # of a page that is there


def test_who_asks_is_known_by_a_cookie_and_travels_with_the_page(queue):
    asked = []
    at = Admission(queue, lambda caller: asked.append(caller) or 0, FilesAsked())
    known, new = request_of("/explorer"), request_of("/explorer")
    known.headers["Cookie"] = "supdr=3-abcdefghijklmnop"

    async def process():
        return at.process_request(known), at.process_request(known)

    with ThreadPoolExecutor(1) as thread:
        payloads = thread.submit(asyncio.run, process()).result()
    assert payloads == ({"visitor": "abcdefghijklmnop"},) * 2
    assert asked == ["abcdefghijklmnop"]
    assert visitor_of(new) == visitor_of(new)
    assert visitor_of(new) not in asked


def test_in_a_frame_of_another_site_the_cookie_is_for_that_frame():
    request = request_of("/explorer")
    request.headers["Sec-Fetch-Dest"], request.headers["Sec-Fetch-Site"] = "iframe", "cross-site"
    _, headers, _ = Cookie.of(2)(request).transform_first_chunk(
        200, HTTPHeaders({"Content-Type": "text/html"}), b"", True
    )
    assert headers["Set-Cookie"].endswith("; SameSite=None; Secure; Partitioned")


@pytest.mark.parametrize(
    ("cookie", "kind", "given"),
    [
        ("", "text/html; charset=UTF-8", r"supdr=2-[\w-]{16}; Path=/; HttpOnly; SameSite=Lax"),
        ("supdr=1-abcdefghijklmnop", "text/html", r"supdr=2-abcdefghijklmnop; .*"),
        ("supdr=2-abcdefghijklmnop", "text/html", None),
        ("supdr=2-<script>alert(1)", "text/html", r"supdr=2-[\w-]{16}; .*"),
        ("", "text/javascript", None),
    ],
)
def test_a_page_brings_a_cookie_that_leads_back_to_its_process(cookie, kind, given):
    request = request_of("/explorer")
    request.headers["Cookie"] = cookie
    _, headers, _ = Cookie.of(2)(request).transform_first_chunk(200, HTTPHeaders({"Content-Type": kind}), b"", True)
    said = headers.get("Set-Cookie")
    assert said is None if given is None else re.fullmatch(given, said)
    if said:
        assert process_of(said.partition(";")[0].partition("=")[2]) == 2


def test_too_many_who_wait_are_refused(clock):
    at = Admission(WaitingRoom(clock, longest=1), lambda caller: 0, FilesAsked())
    answers = [knock(at, "/explorer") for _ in range(3)]
    assert answers[0] is None
    assert "ahead of you" in answers[1]
    assert answers[2] == 503


def test_a_refusal_is_a_plain_page(queue):
    refusal = Refusal.saying({503: "All <seats> are taken."})(request_of("/"))
    status, headers, text = refusal.transform_first_chunk(503, HTTPHeaders({"Content-Length": "3"}), b"old", True)
    assert b"All &lt;seats&gt; are taken." in text
    assert (status, headers["Content-Length"], headers["Retry-After"]) == (503, str(len(text)), "30")
    assert refusal.transform_first_chunk(404, HTTPHeaders(), b"old", True)[2] == b"old"


@pytest.mark.parametrize(("path", "home"), [("/nothing", "./"), ("/a/b/c", "../../")])
def test_an_address_that_leads_nowhere_leads_home(path, home):
    headers = HTTPHeaders({"Content-Type": "text/html; charset=UTF-8"})
    status, headers, text = Refusal(request_of(path)).transform_first_chunk(404, headers, b"old", True)
    assert (status, headers["Content-Length"]) == (404, str(len(text)))
    assert f'href="{home}"'.encode() in text


@pytest.mark.parametrize(
    ("again", "link"),
    [
        ("explorer?data=moons&x=<b>", "explorer?data=moons&amp;x=&lt;b&gt;"),
        ("https://elsewhere.example", "."),
        ("javascript:alert(1)", "."),
        ("//elsewhere.example/explorer", "."),
        ("", "."),
    ],
)
def test_a_page_that_was_open_for_very_long_leads_back_to_itself_only(again, link):
    application = tornado.web.Application([Ended.route(["explorer"], 48)])
    body = asked(application, f"/ended?again={quote(again)}")
    assert "This page was open for 48 hours, as long as this server allows." in body
    assert f'href="{link}">' in body


def asked(application, path):
    """Return what an application answers."""

    async def ask():
        socket, port = bind_unused_port()
        server = tornado.httpserver.HTTPServer(application)
        server.add_socket(socket)
        answer = await tornado.httpclient.AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}{path}")
        server.stop()
        return answer.body.decode()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, ask()).result()

"""Several processes behind one address: visitors stay with theirs, and what ends is started again."""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import psutil
import pytest

from supdr_viz.data.quotas import QUOTAS, variable
from supdr_viz.serving.front import shares
from supdr_viz.serving.relay import meant_process
from tests.live.loops import awaited
from tests.live.page import Page
from tests.live.server import free_port

SOON = 120


class Several:
    """The command with two processes."""

    def __init__(self):
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        command = [sys.executable, "-m", "supdr_viz.cli", "--workers", "2", "--port", str(self.port), "--no-browser"]
        self.process = subprocess.Popen([*command, "--most-pages-each", "2"], stdout=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline()

    @property
    def workers(self):
        """Number -> process."""
        found = {}
        for each in psutil.Process(self.process.pid).children():
            words = each.cmdline()
            found[int(words[words.index("--worker") + 1])] = each
        return found

    def get(self, path, cookie=""):
        request = urllib.request.Request(f"{self.url}/{path}", headers={"Cookie": cookie})
        with urllib.request.urlopen(request, timeout=SOON) as answer:
            return answer.read().decode(), answer.headers.get("Set-Cookie", "")


@pytest.fixture(scope="module")
def several():
    server = Several()
    yield server
    ends(server, signal.SIGTERM)


def ends(server, how):
    """End the server; nothing may be left."""
    workers = list(server.workers.values())
    server.process.send_signal(how)
    _, alive = psutil.wait_procs(workers, SOON)
    assert not alive
    assert (server.process.wait(SOON) == 0) == (how != signal.SIGKILL)
    server.process.stdout.close()


def until(holds):
    end = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def healthy(server):
    try:
        return json.loads(server.get("health")[0])["processes"] == 2
    except (OSError, KeyError):
        return False


def number_of(cookie):
    return int(re.match(r"supdr=(\d)-", cookie)[1])


def test_visitors_are_spread_and_stay_where_they_are(several):
    assert several.said == f"The explorer is at {several.url}/explorer   (Ctrl+C stops it)\n"
    given = [several.get("follow")[1].partition(";")[0] for _ in range(4)]
    assert sorted(number_of(cookie) for cookie in given) == [1, 1, 2, 2]
    for cookie in given:
        assert several.get("follow", cookie)[1] == ""  # at home
    assert json.loads(several.get("health")[0]) | {"pages": 0, "runs": 0, "waiting": 0} == {
        "status": "ok",
        "processes": 2,
        "pages": 0,
        "runs": 0,
        "waiting": 0,
    }


def test_pages_and_their_live_views_work_in_every_process(several):
    async def both():
        pages = [await Page(several.url, "explorer", "?data=iris&method=LSDR&method.max_iter=5").open() for _ in (1, 2)]
        assert sorted(page.ticket.partition("-")[0] for page in pages) == ["1", "2"]
        for page in pages:
            await page.key(" ")
        for page in pages:
            end = time.monotonic() + SOON
            while page.tree.get("iteration") != 5 and time.monotonic() < end:
                await asyncio.sleep(0.02)
        shown = [page.tree.get("iteration") for page in pages]
        for page in pages:
            await page.close()
        return shown

    assert awaited(both()) == [5, 5]


def test_a_visitor_with_too_many_pages_is_told_and_others_come_in(several):
    async def open_two():
        first = await Page(several.url).open()
        pages = [first, await Page(several.url, cookie=first.cookie).open()]
        with pytest.raises(urllib.error.HTTPError) as refused:
            several.get("explorer", first.cookie)
        assert refused.value.code == 429
        assert b"a visitor may have 2 pages open" in refused.value.read()
        assert "<title>supdr" in several.get("explorer")[0]
        for page in pages:
            await page.close()

    awaited(open_two())


@pytest.mark.slow
def test_a_process_that_is_killed_is_started_again_and_the_other_goes_on(several):
    first, second = several.workers[1], several.workers[2]
    first.kill()
    first.wait()
    body, cookie = several.get("explorer", "supdr=1-abcdefghijklmnop")
    assert "<title>supdr" in body
    assert re.match(r"(supdr=2-abcdefghijklmnop)?", cookie)
    until(lambda: healthy(several))
    assert several.workers[1].pid != first.pid
    assert several.workers[2].pid == second.pid


def test_what_is_no_request_is_cut_off_and_harms_nobody(several):
    async def speak(words, *, goes_on=False):
        reader, writer = await asyncio.open_connection("localhost", several.port)
        try:
            writer.write(words)
            if not goes_on:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    for words in (b"", b"\0\xff" * 100, b"GET / HTTP/1.1\r\n", b"A" * 200_000):
        with contextlib.suppress(ConnectionError):
            assert awaited(speak(words)) == b""
    # Whoever waits for an answer has not hung up: to somebody who has, the server need not say anything.
    assert b"400 Bad Request" in awaited(speak(b"nonsense\r\n\r\n", goes_on=True))
    assert "<title>" in several.get("follow")[0]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_it_ends(how):
    ends(Several(), how)


@pytest.mark.parametrize(
    ("head", "number"),
    [
        (b"GET /explorer HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET /explorer HTTP/1.1\r\nCookie: a=b; supdr=2-abcdefghijklmnop\r\n\r\n", 2),
        (b"GET /stage?ticket=3-xyz HTTP/1.1\r\ncookie: supdr=2-abcdefghijklmnop\r\n\r\n", 3),
        (b"GET /explorer HTTP/1.1\r\nCookie: supdr=2; supdr=x\r\n\r\n", None),
        (b"GET /explorer HTTP/1.1\r\nCookie: \xff\xfe=;;;\r\n\r\n", None),
        (b"\r\n\r\n", None),
    ],
)
def test_where_a_request_wants_to(head, number):
    assert meant_process(head, {}) == number


def test_quotas_of_all_are_shared_out_and_others_are_not(monkeypatch):
    monkeypatch.setenv(variable("pages"), "5")
    monkeypatch.setenv(variable("training"), "0")
    each = {name: int(shares(2)[variable(name)]) for name in QUOTAS}
    assert each["pages"] == 3
    assert each["training"] == 0  # no limit
    assert each["pages-each"] == QUOTAS["pages-each"].default
    assert each["rows"] == QUOTAS["rows"].default
    assert min(each["workers"], each["threads"]) >= 1

"""Every address of a server: which ask for the password, which are open, and that no other site gets in."""

import contextlib
import http.cookiejar
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import pytest
from bokeh.util.token import generate_jwt_token, generate_session_id, get_token_payload

from supdr_viz.pages import PAGES

PROGRAM = """
import json, sys
import panel as pn
from supdr_viz import cli

made = pn.io.server.get_server

def listing(*arguments, **options):
    server = made(*arguments, **options)
    print(json.dumps([rule.matcher.regex.pattern for rule in server._tornado.wildcard_router.rules]))
    return server

pn.io.server.get_server = listing
sys.exit(cli.main())
"""

ASKS = {f"/{page}{rest}" for page in PAGES for rest in ("/?$", "/metadata$")} | {"/?$"}
"""Nothing without the password."""

SOCKETS = {f"/{page}/ws$" for page in PAGES}
"""Connections of pages: closed without the password, and to pages of other sites."""

OPEN = {
    "/$",  # leads to a page, which asks
    "/login$",
    "/logout$",
    "/favicon.ico$",
    r"/own/(\w+\.(?:css|js|webp))$",  # the same files for everybody, as the next ones
    *(f"/{page}/static/(.*)$" for page in PAGES),
    "/components/.*$",  # nothing: before the kit's own, the next one
    "/components/(.*)$",
    *(f"/{page}/autoload.js$" for page in PAGES),  # nothing, too
    "/static/extensions/(.*)$",
    "/static/(.*)$",
    "/turn$",  # a number
    "/ended$",  # a sentence
    "/health$",  # numbers
    "/follow$",  # a page without content; what it shows comes by the next one
    "/stage$",  # whose ticket is the key
}


class Guarded:
    """A server that asks for a password, and its routes."""

    def __init__(self, modules):
        command = [sys.executable, "-c", PROGRAM, "--port", "0", "--no-browser", "--basic-auth", "open sesame"]
        found = os.pathsep.join([str(modules), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": found},
        )
        for line in self.process.stdout:
            if line.startswith("["):
                self.routes = json.loads(line)
            if found := re.search(r"http://localhost:(\d+)/", line):
                self.port = int(found[1])
                break

    def answer(self, path):
        """Return the status without a password, and where it leads."""
        opener = urllib.request.build_opener(Stays)
        try:
            with opener.open(f"http://localhost:{self.port}{path}", timeout=60) as answer:
                return answer.status, ""
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Location", "")

    @property
    def pages(self):
        """How many pages it has."""
        with urllib.request.urlopen(f"http://localhost:{self.port}/health", timeout=60) as answer:
            return json.load(answer)["pages"]

    def visit(self):
        """Log in, which leads to the explorer; return the cookies and the page's token."""
        said = urllib.parse.urlencode({"username": "anna", "password": "open sesame"}).encode()
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        with opener.open(f"http://localhost:{self.port}/login", said, timeout=60) as answer:
            found = re.search(r'"token":\s*"([^"]+)"', answer.read().decode())
        return "; ".join(f"{each.name}={each.value}" for each in jar), found[1]

    def upgraded(self, path, origin, protocol="", cookie=""):
        """Ask for a websocket; return the status, and the first byte of what is said on it if it is one."""
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: localhost:{self.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            f"Origin: {origin}",
            *([f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []),
            *([f"Cookie: {cookie}"] if cookie else []),
        ]
        with socket.create_connection(("localhost", self.port), timeout=60) as connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            said = b""
            while b"\r\n\r\n" not in said and (piece := connection.recv(4096)):
                said += piece
            head, _, rest = said.partition(b"\r\n\r\n")
            status = int(head.split()[1])
            with contextlib.suppress(ConnectionError):
                rest = rest or (connection.recv(1) if status == 101 else b"")
            return status, rest[:1]


class Stays(urllib.request.HTTPRedirectHandler):
    """Follows nothing."""

    def redirect_request(self, *_arguments):
        return None


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    modules = tmp_path_factory.mktemp("modules")
    (modules / "ends_the_server.py").write_text("raise SystemExit")
    server = Guarded(modules)
    yield server
    server.process.terminate()
    server.process.wait(30)
    server.process.stdout.close()


@pytest.fixture(scope="module")
def inside(guarded):
    """Cookies and token of somebody who knows the password."""
    return guarded.visit()


def test_every_route_is_known_to_ask_or_to_be_open(guarded):
    assert set(guarded.routes) == ASKS | SOCKETS | OPEN


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("rest", ["", "/", "/metadata", "?turn=x"])
def test_without_the_password_a_page_leads_to_the_login(guarded, page, rest):
    status, location = guarded.answer(f"/{page}{rest}")
    assert status == 302
    assert "login?next=%2F" + page in location


def test_the_login_asks_for_the_password(guarded):
    with urllib.request.urlopen(f"http://localhost:{guarded.port}/explorer", timeout=60) as answer:
        assert "/login" in answer.geturl()
        assert 'type="password"' in answer.read().decode()


def test_what_is_open_holds_nothing_of_a_page(guarded):
    assert guarded.answer("/") == (302, "/explorer")
    known = {path: guarded.answer(path)[0] for path in ("/turn?of=x", "/ended", "/health", "/follow", "/login")}
    assert set(known.values()) == {200}
    for path in ("/own/none.js", "/components/none", "/static/none.js", "/explorer/static/none.js", "/nowhere"):
        assert guarded.answer(path)[0] in (400, 403, 404)
    for path in ("/static/../../server.py", "/static/%2e%2e/%2e%2e/settings.py", "/components/os/path/__file__/x"):
        assert guarded.answer(path)[0] in (400, 403, 404)


@pytest.mark.parametrize("path", ["/static/js/bokeh.min.js", "/static/extensions/panel/panel.min.js"])
def test_scripts_travel_packed(guarded, path):
    headers = {"Host": "lecture.example", "Accept-Encoding": "gzip"}
    request = urllib.request.Request(f"http://localhost:{guarded.port}{path}", headers=headers)
    packed = None
    while packed is None:  # the first to ask gets it as it is
        with urllib.request.urlopen(request, timeout=60) as answer:
            packed = answer.headers["Content-Encoding"]
    assert packed == "gzip"


def test_no_address_has_the_server_import_a_module(guarded):
    for path in ("ends_the_server/any/css/x", "lib2to3.__main__/any/css/x", "..x/any/css/x", "/any/css/x"):
        assert guarded.answer(f"/components/{path}")[0] == 404
    assert guarded.pages == 0


@pytest.mark.parametrize("path", ["/explorer", "/login", "/health", "/nowhere"])
def test_nobody_can_post_much(guarded, path):
    """It is refused before it comes: what is posted is held in memory."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost:{guarded.port}\r\nContent-Length: {50 * 2**20}\r\n\r\n"
    with socket.create_connection(("localhost", guarded.port), timeout=60) as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("page", PAGES)
def test_without_the_password_a_made_up_session_gets_no_page(guarded, page):
    """Whoever knows the kit can write a token; the login is asked for, too."""
    protocol = f"bokeh, {generate_jwt_token(generate_session_id(), expiration=600)}"
    status, said = guarded.upgraded(f"/{page}/ws", f"http://localhost:{guarded.port}", protocol)
    assert (status, said) == (403, b"")
    assert guarded.pages == 0


def test_a_token_opens_its_own_page_and_none_without_the_line(guarded, inside):
    (cookies, token), pages = inside, guarded.pages
    here = f"http://localhost:{guarded.port}"
    made_up = generate_jwt_token(generate_session_id(), expiration=600)
    signed = generate_jwt_token(generate_session_id(b"k", True), b"k", True, expiration=600)
    forged = f"{made_up}.{token.partition('.')[2]}"
    for each in (made_up, signed, forged):
        status, said = guarded.upgraded("/explorer/ws", here, f"bokeh, {each}", cookies)
        assert (status, said[:1]) in ((101, b"\x88"), (101, b""))  # closed
    # The same token where it has no page: one that asks to be admitted.
    status, said = guarded.upgraded("/compare/ws", here, f"bokeh, {token}", cookies)
    assert (status, said) == (101, b"\x81")
    assert guarded.pages == pages


def test_the_login_is_no_part_of_what_a_page_holds(guarded, inside):
    cookies, token = inside
    assert "user=" in cookies
    held = get_token_payload(token)
    assert held["cookies"] == {}
    assert set(held["headers"]) <= {"User-Agent"}
    assert guarded.answer("/explorer/autoload.js?bokeh-autoload-element=1")[0] == 404
    assert guarded.answer("/explorer/autoload.js?bokeh-autoload-element=1&bokeh-absolute-url=http://[")[0] == 404


@pytest.mark.parametrize("path", [*(f"/{page}/ws" for page in PAGES), "/stage?ticket=x"])
@pytest.mark.parametrize(
    "origin", ["http://elsewhere.example", "http://localhost:1", "null", "http://localhost.elsewhere.example"]
)
def test_no_socket_opens_to_a_page_of_another_site(guarded, path, origin):
    protocol = "" if "stage" in path else f"bokeh, {generate_jwt_token(generate_session_id(), expiration=600)}"
    assert guarded.upgraded(path, origin, protocol)[0] == 403

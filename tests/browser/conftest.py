"""A real server, a real browser.  Every test fails on any error in the page's console or in the server's log."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import sync_playwright

from tests.browser.app import HELPERS, TIMEOUT, App

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page lives for seconds: compilers that optimise would take longer than they save.
    "--js-flags=--no-maglev --no-opt --always-sparkplug",
]

HARMLESS_IN_LOG = re.compile(
    # A tab that closes while a frame is on its way, or before its session is there.
    r"WebSocketClosedError|StreamClosedError|Failed sending message as connection was closed"
    r"|assert self._session is not None"
)
SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.max_iter=5000&method.tol=0"
SHEET = (
    "?data=curved_sheet&data.n_samples=120&data.n_features=10&method=SNF&method.preprocessing=none"
    "&test=0&labels=0.1&seed=2&view.colour=truth"
)
DESK = {"width": 1440, "height": 900}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130 Mobile Safari",
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where a browser waited in vain, say what the server did meanwhile."""
    report = yield
    if report.failed and isinstance(getattr(call.excinfo, "value", None), PlaywrightTimeoutError):
        server = item.funcargs.get("server")
        if type(server) is Server:
            report.sections.append(("the server, as the browser waited in vain", server.described()))
    return report


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)


class Server:
    """The app in a process of its own."""

    def __init__(self, folder, *arguments, environment=None):
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.log_file = folder / f"server-{self.port}.log"
        self._out = self.log_file.open("w")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            self.command(arguments),
            stdout=self._out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def command(self, arguments):
        return [sys.executable, "-m", "tests.browser.serve", "--port", str(self.port), "--no-browser", *arguments]

    def _wait(self):
        # The first start compiles the kernels, which takes minutes on a slow machine.
        end = time.monotonic() + 280
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with status {self.process.returncode}:\n{self.log}")
            try:
                with urllib.request.urlopen(f"{self.url}/explorer", timeout=30):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not answer:\n{self.log}")

    @property
    def log(self):
        return self.log_file.read_text()

    @property
    def errors(self):
        """Parts of the log that tell of an error or of a warning of Bokeh, each with some lines around it."""
        lines = self.log.splitlines()
        bad = [i for i, line in enumerate(lines) if re.search(r"\bERROR\b|Traceback|Error:|BokehUserWarning", line)]
        return [
            "\n".join(lines[max(0, i - 3) : i + 25])
            for i in bad
            if not HARMLESS_IN_LOG.search("\n".join(lines[i : i + 25]))
        ]

    def described(self):
        """What its pages wait for, and what its threads do."""
        try:
            with urllib.request.urlopen(f"{self.url}/waits", timeout=5) as answer:
                waits = answer.read().decode()
        except OSError as trouble:
            waits = f"no answer: {trouble}"
        before = len(self.log)
        self.process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        return f"{waits}\n{self.log[before:]}"

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)
        self._out.close()


class PanelServer(Server):
    """``panel serve apps/explorer.py``, as somebody would who knows Panel."""

    def command(self, arguments):
        app = Path(__file__).parents[2] / "apps" / "explorer.py"
        return [sys.executable, "-m", "panel", "serve", str(app), "--port", str(self.port), *arguments]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"), "--most-workers", "1")  # each imports the library
    yield running
    running.stop()


@pytest.fixture(scope="package")
def chromium():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        raise pytest.UsageError("no Chromium: use `make test`, which provides one, or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


class Device:
    """A browser that is kept from test to test: opening the next address is cheaper than starting anew."""

    def __init__(self, chromium, server, **options):
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(TIMEOUT)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
        self.context.add_init_script(HELPERS)
        self.first = self.context.new_page()

    def take(self, opened):
        """Return the page that is kept, or a new one if this test has it already."""
        return self.context.new_page() if any(app.page is self.first for app in opened) else self.first

    def put_back(self, app):
        """Leave the page as a visitor finds it who was never there."""
        if app.page.is_closed():
            return
        app.forget()
        if app.page is not self.first:
            app.page.close()


@pytest.fixture(scope="package")
def desk(server, chromium):
    return Device(chromium, server, viewport=DESK)


@pytest.fixture(scope="package")
def phones(server, chromium):
    return Device(chromium, server, **PHONE)


@pytest.fixture
def open_app(request, server, desk):
    """Open a page: ``open_app(query, page="explorer", phone=False, size=(1440, 900), scheme="light", motion=...)``.

    Of other servers no page may ask anything.
    """
    opened, known = [], len(server.errors)

    def open_(query="", *, page="explorer", phone=False, size=None, scheme="light", motion="reduce", settle=True):
        device = request.getfixturevalue("phones") if phone else desk
        app = App(device.take([each for each, _ in opened]), server.url)
        opened.append((app, device))
        if not phone:
            app.resize(*(size or DESK.values()))
        app.page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        app.open(f"{server.url}/{page}{query}")
        return app.settle() if settle else app

    yield open_
    for app, device in opened:
        device.put_back(app)
    problems = [problem for app, _ in opened for problem in app.problems]
    assert not problems, "errors in the browser:\n" + "\n".join(problems)
    elsewhere = {address for app, _ in opened for address in app.requests if not at_home(address, server)}
    assert not elsewhere, "asked of other servers"
    assert not server.errors[known:], "errors in the server's log:\n" + "\n\n".join(server.errors[known:])


def at_home(address, server):
    """Whether a request went to the server under test, or to none."""
    scheme = urlparse(address).scheme
    return scheme in ("data", "blob", "file") or urlparse(address).netloc == urlparse(server.url).netloc


@pytest.fixture
def app(open_app):
    """The explorer on small two spirals with LSDR, which runs until it is told not to."""
    return open_app(SMALL)

"""``supdr-viz --desktop``: the server lives as long as the window.  Stand-in for the toolkit, real server."""

import socket
import subprocess
import sys
import types
import urllib.request

import psutil
import pytest

from supdr_viz.serving import desktop


class NoWindowError(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def toolkit():
    """A toolkit whose window loads the page and is closed at once."""
    opened = []
    made = types.SimpleNamespace()
    made.errors = types.SimpleNamespace(WebViewException=NoWindowError)
    made.create_window = lambda title, url, **options: opened.append(url)

    def start():
        with urllib.request.urlopen(opened[0], timeout=60) as answer:
            opened.append(answer.read().decode())

    made.start = start
    return made, opened


def test_the_server_ends_with_the_window(toolkit):
    port, (made, opened) = free_port(), toolkit
    assert desktop.open_window(port, "explorer", made) == 0
    url, page = opened
    assert url == f"http://localhost:{port}/explorer"
    assert "<title>supdr · Explore</title>" in page
    assert not listens(port)


def test_the_server_ends_with_a_window_that_is_killed():
    port = free_port()
    code = f"""
import sys, time, types
toolkit = types.ModuleType("webview")
toolkit.errors = types.SimpleNamespace(WebViewException=OSError)
toolkit.create_window = lambda *arguments, **options: None
toolkit.start = lambda: (print("shown", flush=True), time.sleep(600))
sys.modules["webview"] = toolkit
from supdr_viz.serving.desktop import open_window
open_window({port}, "explorer")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as window:
        while window.stdout.readline() != "shown\n":  # the server says where it is
            assert window.poll() is None
        server = psutil.Process(window.pid).children()[0]
        assert listens(port)
        window.kill()
        server.wait(60)
    assert not listens(port)


@pytest.mark.slow
def test_without_a_display_it_says_so_and_leaves_nothing(toolkit, capfd):
    made, _ = toolkit

    def start():
        raise NoWindowError("no toolkit")

    made.start = start
    port = free_port()
    assert desktop.open_window(port, "explorer", made) == 1
    assert "no window can be opened here (no toolkit)" in capfd.readouterr().err
    assert not listens(port)


def test_without_the_extra_it_says_what_to_install(missing, capsys):
    missing("webview")
    assert desktop.open_window(free_port(), "explorer") == 1
    assert 'pip install "supdr-viz[desktop]"' in capsys.readouterr().err

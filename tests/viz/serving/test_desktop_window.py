"""``supdr-viz --desktop`` with a real toolkit, Qt, on a screen without a monitor: it shows the explorer."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageGrab

from supdr_viz.ui.theme import palette

ROOT = Path(__file__).parents[3]
SIZE = (1500, 960)
DRIVER = """
import json, sys, threading
import webview
from supdr_viz.serving import desktop

LOOK = '''(() => {
    const and = (each) => [each, ...(each.shadowRoot ? within(each.shadowRoot) : [])]
    const within = (root) => [...root.querySelectorAll("*")].flatMap(and)
    const drawn = within(document).filter((each) => each.tagName === "CANVAS" && each.width > 200)
    return JSON.stringify({title: document.title, canvases: drawn.length})
})()'''

def look():
    window, waits = webview.windows[0], threading.Event()
    said = {"canvases": 0}
    while said["canvases"] < 4 and not waits.wait(0.2):
        said = json.loads(window.evaluate_js(LOOK) or '{"canvases": 0}')
    print(json.dumps(said), flush=True)
    sys.stdin.readline()  # a picture is taken
    window.destroy()

start = webview.start
webview.start = lambda: start(look, gui="qt")
sys.exit(desktop.open_window(int(sys.argv[1]), "explorer"))
"""
"""Opens the window as the command does, says what stands in its page, and closes it when it is told to."""


@contextmanager
def screen():
    """A display of its own; its name."""
    read, write = os.pipe()
    size = f"{SIZE[0]}x{SIZE[1]}x24"
    with open(read) as number:
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"]
        server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
        os.close(write)
        try:
            yield f":{number.readline().strip()}"
        finally:
            server.terminate()
            server.wait()


def grabbed(display):
    """What is on the screen."""
    return np.asarray(ImageGrab.grab(xdisplay=display).convert("RGB"))


def rows_seen(display):
    """Pixels in the colour of the rows of the first class, in a dark window or a light one."""
    seen = grabbed(display)
    shades = (palette(dark).classes[0] for dark in (False, True))
    return max((seen == [int(shade[k : k + 2], 16) for k in (1, 3, 5)]).all(axis=2).sum() for shade in shades)


@pytest.mark.slow
def test_a_native_window_shows_the_explorer():
    found = subprocess.run(["sh", str(ROOT / "scripts" / "display.sh")], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with screen() as display:
        # Software draws: there is no graphics card; and Chromium's sandbox does not start for root.
        drawing = {"QT_QPA_PLATFORM": "xcb", "QT_QUICK_BACKEND": "software", "LIBGL_ALWAYS_SOFTWARE": "1"}
        sandbox = {"QTWEBENGINE_DISABLE_SANDBOX": "1"} if os.getuid() == 0 else {}
        path = os.pathsep.join(each for each in sys.path if each)
        window = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(port)],
            env={**os.environ, **drawing, **sandbox, "DISPLAY": display, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            said = json.loads(next(line for line in window.stdout if line.startswith("{")))
            while window.poll() is None and rows_seen(display) < 100:  # the last frame is still being painted
                time.sleep(0.2)
            rows, colours = rows_seen(display), len(np.unique(grabbed(display).reshape(-1, 3), axis=0))
            window.stdin.write("\n")
            window.stdin.flush()
            assert window.wait(timeout=60) == 0
        finally:
            window.kill()
            window.communicate()
    assert said["title"] == "supdr · Explore"
    assert colours > 100  # not blank
    assert rows >= 100
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0  # the server ended with the window

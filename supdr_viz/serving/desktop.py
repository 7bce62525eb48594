"""The explorer in a window of its own: a server of this machine that ends with the window."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
import urllib.request
from typing import Any

from supdr.engine.optional import install
from supdr_viz.serving.security_headers import HEALTH

# Seconds to wait for the server; its first start compiles.
OPEN_TIMEOUT = 600.0

MISSING = f"supdr-viz: {install('--desktop', 'pywebview', 'desktop')}"


def open_window(port: int, page: str, toolkit: Any = None) -> int:
    """Serve on this machine, show a page in a native window, and stop the server when the window closes.

    `port`: a free one; `page`: the page's name; `toolkit`: what opens windows as pywebview does, by default that.
    Returns the exit status: 0 after the window was closed, 1 if there is no way to show one.
    """
    try:
        toolkit = toolkit or importlib.import_module("webview")
    except ImportError:
        print(MISSING, file=sys.stderr)
        return 1
    here = f"http://localhost:{port}"
    url = f"{here}/{page}"
    # A process of its own: window toolkits want the main thread, and so does the server.
    # It ends when its input does: also if this process is killed.
    command = [sys.executable, "-m", "supdr_viz.cli", "--port", str(port), "--no-browser", "--until-closed"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        if not _answers(here + HEALTH, server):
            print("supdr-viz: the server did not start; the reason stands above.", file=sys.stderr)
            return 1
        toolkit.create_window("supdr", url, width=1440, height=900, min_size=(390, 600))
        toolkit.start()
    except toolkit.errors.WebViewException as error:
        print(f"supdr-viz: no window can be opened here ({error}). Without --desktop a browser does.", file=sys.stderr)
        return 1
    finally:
        server.communicate()
    return 0


def _answers(url: str, server: subprocess.Popen) -> bool:
    end = time.monotonic() + OPEN_TIMEOUT
    while server.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=60).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False

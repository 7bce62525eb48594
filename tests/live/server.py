"""The app's server in a process of its own, and what it says of itself."""

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

START_SECONDS = 280
"""The first start compiles the kernels."""

HARMLESS = re.compile(
    # A visitor who leaves while something is on its way to him.
    r"WebSocketClosedError|StreamClosedError|Failed sending message as connection was closed"
    r"|assert self._session is not None"
    # One who chooses what has just gone from a list.
    r"|ValueError: .* not in list"
)


def free_port():
    """Find a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Serves until it is stopped, or killed; use it in a ``with`` statement.

    Parameters
    ----------
    port : int
        0: a free one.
    **environment
        Variables beside those of this process.
    """

    def __init__(self, port=0, **environment):
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}"
        self._log = tempfile.NamedTemporaryFile("w+", suffix=".log")  # noqa: SIM115 - open as long as the server runs
        command = [sys.executable, "-m", "tests.browser.serve", "--port", str(self.port), "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=self._log, stderr=subprocess.STDOUT, env={**os.environ, **environment}
        )
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.kill()
        self._log.close()

    def _wait(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/counts", timeout=60):
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"the server does not answer:\n{self.log}")

    def kill(self):
        """End it at once: it can do nothing more."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def log(self):
        """What it has printed."""
        return Path(self._log.name).read_text()

    @property
    def errors(self):
        """Lines of the log that tell of an error, with what follows them."""
        lines = self.log.splitlines()
        begins = []
        for at, line in enumerate(lines):
            of_the_last = begins and at - begins[-1] <= 3  # an error is followed by its traceback
            if re.search(r"\bERROR\b|Uncaught|on_session_destroyed callback .* failed", line) or (
                "Traceback" in line and not of_the_last
            ):
                begins.append(at)
        parts = ["\n".join(lines[at:to]) for at, to in itertools.pairwise([*begins, len(lines)])]
        return [part for part in parts if not HARMLESS.search(part)]

    def health(self):
        """Return what it says of itself."""
        with urllib.request.urlopen(f"{self.url}/health", timeout=60) as answer:
            return json.load(answer)

    @property
    def counts(self):
        """What it holds: runs, jobs, documents, bytes of files, work beside pages."""
        with urllib.request.urlopen(f"{self.url}/counts", timeout=60) as answer:
            return json.load(answer)

    @property
    def left(self):
        """What refers to each run and document that it holds: sentences."""
        with urllib.request.urlopen(f"{self.url}/left", timeout=300) as answer:
            return json.load(answer)

    @property
    def seconds(self):
        """Seconds of the processor that it has used."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    @property
    def megabytes(self):
        """What it has in memory."""
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

"""The server with gauges: what `benchmarks/live.py` measures in it.

Starts ``supdr-viz`` and, beside it, an HTTP endpoint that answers with what was counted so far.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil

from supdr_viz import cli
from supdr_viz.run.painter import Painter
from supdr_viz.run.player import Player
from supdr_viz.run.recording import Recording
from supdr_viz.views.frame_pusher import FramePusher

PLAYERS: list[Player] = []
MADE: dict[int, float] = {}
GAUGES = {"frames": 0, "surfaces": 0, "acknowledged": 0, "steps": 0, "painting": 0.0}
LAGS: deque[tuple[float, float]] = deque(maxlen=20_000)
CHANGED: list[int] = []
PER_SESSION: dict[int, int] = {}


def install() -> None:
    """Count at the seams: snapshots made, seconds of painting, frames pushed, acknowledgements, changes."""
    extend, push, acknowledged = Recording.extend, FramePusher._push, FramePusher._acknowledged
    paint = Painter.paint
    start, change = Player.__init__, Player.change

    def counted_extend(self, steps):
        GAUGES["steps"] += sum(len(piece.iterations) for piece in steps.pieces)
        self.made = getattr(self, "made", {})
        self.made[steps.newest.iteration] = time.monotonic()  # frames are of the last step of a slice
        extend(self, steps)

    def counted_paint(self, *arguments, **options):
        began = time.thread_time()
        try:
            paint(self, *arguments, **options)
        finally:
            GAUGES["painting"] += time.thread_time() - began

    def counted_push(self):
        draw = self._draw

        def counted(frame, surface, status):
            GAUGES["frames"] += frame is not None
            GAUGES["surfaces"] += surface is not None
            self.shown = frame.iteration if frame is not None else None
            draw(frame, surface, status)

        self._draw = counted
        try:
            before = self._in_flight
            push(self)
            if self._in_flight != before and getattr(self, "changed", False):
                CHANGED.append(self._in_flight)
                self.changed = False
        finally:
            self._draw = draw

    def counted_acknowledged(self, message):
        waiting = self._in_flight is not None and self._in_flight == message.get("number")
        if waiting and self.shown is not None:
            GAUGES["acknowledged"] += 1
            PER_SESSION[id(self)] = PER_SESSION.get(id(self), 0) + 1
            made = getattr(self._player._reel.recording, "made", {}).get(self.shown)
            if made is not None:
                LAGS.append((time.monotonic(), time.monotonic() - made))
        acknowledged(self, message)

    def counted_start(self, *arguments):
        start(self, *arguments)
        PLAYERS.append(self)

    def counted_change(self, estimator):
        change(self, estimator)
        notify = self._notify
        notify.__self__.changed = True

    Painter.paint = counted_paint
    Recording.extend, FramePusher._push, FramePusher._acknowledged = counted_extend, counted_push, counted_acknowledged
    Player.__init__, Player.change = counted_start, counted_change


def used(thread: int) -> float:
    """Seconds for which a thread was on a core."""
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


def gauges(event_loop: int) -> dict:
    """Everything counted so far; times in seconds."""
    now = time.monotonic()
    workers = [thread.ident for thread in threading.enumerate() if thread.name.startswith("supdr-worker")]
    return {
        **GAUGES,
        "now": now,
        "event_loop_cpu": used(event_loop),
        "pool_cpu": sum(used(worker) for worker in workers if worker is not None),
        "lags": [lag for then, lag in LAGS if now - then < 10.0],
        "changed": list(CHANGED),
        "per_session": list(PER_SESSION.values()),
        "memory": psutil.Process().memory_info().rss,
        "running": sum(player.status.phase == "running" for player in PLAYERS),
    }


class Answer(BaseHTTPRequestHandler):
    """``/gauges`` counts, ``/run`` and ``/pause`` act on every session's run."""

    event_loop = threading.main_thread().ident

    def do_GET(self):
        """Answer with the counts."""
        for player in PLAYERS:
            if self.path == "/run":
                player.run()
            elif self.path == "/pause":
                player.pause()
        body = json.dumps(gauges(self.event_loop)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


if __name__ == "__main__":
    install()
    endpoint = HTTPServer(("127.0.0.1", int(sys.argv[2])), Answer)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    sys.exit(cli.main(["--port", sys.argv[1], "--no-browser"]))

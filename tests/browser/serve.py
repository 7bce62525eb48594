"""The command ``supdr-viz`` with more addresses: what it holds, what refers to that, and what pages wait for."""

import faulthandler
import gc
import json
import signal
import sys
import time
from weakref import WeakKeyDictionary

import panel as pn
import tornado.web
from bokeh.document import Document

from supdr_viz import cli
from supdr_viz.pages.frame_pusher import FramePusher
from supdr_viz.pages.service import Service
from supdr_viz.run.player import Player
from supdr_viz.ui.background import Background
from supdr_viz.ui.bridge import Bridge
from tests.live.left import way_to

BORN = WeakKeyDictionary()
"""Document -> when it was made, and for which address."""

MOST_TOLD = 6
"""Objects of a kind, at most."""


class Counts(tornado.web.RequestHandler):
    """Runs, jobs, documents, bytes of visitors' files, and files that are read or made for a page."""

    def get(self):
        gc.collect()
        objects, service = gc.get_objects(), Service.of_process()
        kinds = [type(each) for each in objects]
        self.write(
            {
                "jobs": service.pool.n_jobs,
                "players": kinds.count(Player),
                "documents": kinds.count(Document),
                "held": service.files.size(),
                "work": sum(each.busy for each in objects if type(each) is Background),
            }
        )


class Waits(tornado.web.RequestHandler):
    """What pages that were asked whether they are settled, and have not said so, wait for."""

    def get(self):
        objects = gc.get_objects()
        pages = [each for each in objects if type(each) is Bridge and each.asked != each.settled]
        pushers = [each for each in objects if type(each) is FramePusher and each.attached and not each.settled]
        answer = {
            "pages": [f"asked {page.asked}, said {page.settled}, work: {page.visit.background.busy}" for page in pages],
            "frames": [{name: str(value)[:80] for name, value in vars(each).items()} for each in pushers],
        }
        self.write(answer)


class Left(tornado.web.RequestHandler):
    """What refers to runs and documents that are there: a sentence for each."""

    def get(self):
        gc.collect()
        left = [each for each in gc.get_objects() if type(each) in (Player, Document)]
        kinds = [[each for each in left if type(each) is kind][:MOST_TOLD] for kind in (Player, Document)]
        self.write(json.dumps([f"{_described(each)}: {way_to(each)}" for kind in kinds for each in kind]))


def _described(each):
    if type(each) is Player:
        return f"Player, {each.status.phase.name}"
    born, path = BORN.get(each, (None, "no address"))
    age = "" if born is None else f", {time.monotonic() - born:.0f} s old"
    session = getattr(each.session_context, "session", None)
    if session is None:
        return f"Document of {path}{age}, its session ended or not begun"
    unused = session.milliseconds_since_last_unsubscribe / 1e3
    held = f"{session.connection_count} connections, kept {session.expiration_blocked_count} times"
    return f"Document of {path}{age}, {held}, unused {unused:.0f} s"


def born(context):
    request = getattr(context, "request", None)
    BORN[context._document] = time.monotonic(), request.path if request is not None else "no address"


get_server = pn.io.server.get_server


def with_counts(*arguments, **options):
    more = [("/counts", Counts), ("/left", Left), ("/waits", Waits)]
    return get_server(*arguments, **{**options, "extra_patterns": [*options["extra_patterns"], *more]})


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1)  # writes what every thread does into the log
    pn.io.server.get_server = with_counts
    pn.state.on_session_created(born)
    sys.exit(cli.main())

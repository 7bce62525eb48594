"""The command ``supdr-viz`` with one more address, /counts: how many runs, jobs and documents the server holds."""

import gc
import sys

import panel as pn
import tornado.web
from bokeh.document import Document

from supdr_viz import cli
from supdr_viz.run.player import Player
from supdr_viz.run.pool import shared_pool


class Counts(tornado.web.RequestHandler):
    def get(self):
        gc.collect()
        kinds = [type(each) for each in gc.get_objects()]
        self.write({"jobs": shared_pool().n_jobs, "players": kinds.count(Player), "documents": kinds.count(Document)})


get_server = pn.io.server.get_server


def with_counts(*arguments, **options):
    return get_server(*arguments, **{**options, "extra_patterns": [*options["extra_patterns"], ("/counts", Counts)]})


if __name__ == "__main__":
    pn.io.server.get_server = with_counts
    sys.exit(cli.main())

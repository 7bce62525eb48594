"""The command ``supdr-viz`` with one more address, /counts: what the server holds."""

import gc
import sys

import panel as pn
import tornado.web
from bokeh.document import Document

from supdr_viz import cli
from supdr_viz.kit import background, holding
from supdr_viz.run.player import Player
from supdr_viz.run.pool import shared_pool


class Counts(tornado.web.RequestHandler):
    """Runs, jobs, documents, bytes of visitors' files, and files that are read or made for a page."""

    def get(self):
        gc.collect()
        kinds = [type(each) for each in gc.get_objects()]
        self.write(
            {
                "jobs": shared_pool().n_jobs,
                "players": kinds.count(Player),
                "documents": kinds.count(Document),
                "held": sum(holding._HELD.values()),
                "work": sum(background._AT_WORK.values()),
            }
        )


get_server = pn.io.server.get_server


def with_counts(*arguments, **options):
    return get_server(*arguments, **{**options, "extra_patterns": [*options["extra_patterns"], ("/counts", Counts)]})


if __name__ == "__main__":
    pn.io.server.get_server = with_counts
    sys.exit(cli.main())

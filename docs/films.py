"""Runs one example of each method and writes its film: a page with a scrubber, which works from disk."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from supdr_viz.export.progress import unheard
from supdr_viz.export.work import export_work
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.settings.experiment import Experiment

FILMS = {
    "nsdr": "two-spirals",
    "mac": "three-spirals",
    "sldr": "sldr-zigzag",
    "sdr_glm": "sdr-glm-ascent-fast",
    "snf": "unrolling-sheet",
    "class_atlas": "digits-atlas",
}
"""Page of the method -> the example that is run."""

LONGEST = 300
"""Seconds after which an example that does not end has failed."""


def write_films(folder: Path) -> None:
    """Write a film for each page of `FILMS`.

    Parameters
    ----------
    folder : Path
        Where to; made if need be.
    """
    folder.mkdir(exist_ok=True)
    pool = Pool(1)
    for page, example in FILMS.items():
        (folder / f"{page}.html").write_bytes(_film(pool, example))


def _film(pool: Pool, example: str) -> bytes:
    with closing(Session(pool, lambda: None)) as session:
        session.apply(Experiment(replace(PRESETS[example].settings, speed="fast")))
        session.player.run()
        until = time.monotonic() + LONGEST
        while session.player.status.phase is not Phase.finished:
            if time.monotonic() > until:
                raise RuntimeError(f"the example {example!r} did not end: {session.player.status}")
            time.sleep(0.05)
        work = export_work(session, "report")
        assert work is not None
        return work(unheard)

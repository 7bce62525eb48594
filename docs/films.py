"""Runs an example of each method and every lesson, and writes them down: pages with a scrubber that work from disk."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.export.film import picture
from supdr_viz.export.progress import no_progress
from supdr_viz.export.work import export_work, filming
from supdr_viz.lessons import LESSONS
from supdr_viz.lessons.document import lesson_html
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase

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
    """Write a film, and its last picture, for each page of `FILMS`.

    Parameters
    ----------
    folder : Path
        Where to; made if need be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pool = Pool(1)
    for page, example in FILMS.items():
        _film(pool, example, folder / page)


def write_lessons(folder: Path) -> None:
    """Write every lesson.

    Parameters
    ----------
    folder : Path
        Where to; made if need be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, lesson in LESSONS.items():
        (folder / f"{name}.html").write_text(lesson_html(lesson), encoding="utf-8")


def _film(pool: Pool, example: str, path: Path) -> None:
    with closing(Session(pool, lambda: None)) as session:
        session.apply(Experiment(replace(PRESETS[example].settings, speed="fast")))
        session.player.run()
        until = time.monotonic() + LONGEST
        while session.player.status.phase is not Phase.finished:
            if time.monotonic() > until:
                raise RuntimeError(f"the example {example!r} did not end: {session.player.status}")
            time.sleep(0.05)
        work, film = export_work(session, "report"), filming(session)
        assert work is not None
        assert film is not None
        path.with_suffix(".html").write_bytes(work(no_progress))
        picture(film(), scale=2).quantize(256).save(path.with_suffix(".png"), optimize=True)

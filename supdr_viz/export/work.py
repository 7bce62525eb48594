"""The file that a run is exported to: report or film, made away from the page's thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from numpy.typing import NDArray

from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import to_query
from supdr_viz.export.film import gif, mp4
from supdr_viz.export.progress import Progress, part
from supdr_viz.export.replay import MAX_MOMENTS, Replay, make_replay
from supdr_viz.export.report import report
from supdr_viz.run.history import MAX_DRAWN
from supdr_viz.run.session import Session


class Kind(NamedTuple):
    """A kind of file that can be exported.

    `file`, `mime`: name and type of the file; `label`, `icon`: of the button; `note`: what is said while it is made.
    """

    file: str
    mime: str
    label: str
    icon: str
    note: str = "Drawing the recorded iterations once more …"


# The kinds of exports by name.
KINDS = {
    "report": Kind("supdr-report.html", "text/html", "Report (HTML)", "description"),
    "film": Kind("supdr-run.gif", "image/gif", "Film (GIF)", "movie"),
    "video": Kind("supdr-run.mp4", "video/mp4", "Film (MP4)", "videocam"),
    "lesson": Kind("supdr-lesson.html", "text/html", "Lesson (HTML)", "school", "Running every step …"),
}

# Those of a run.
RUN_KINDS = ("report", "film", "video")


def filming(
    session: Session, moments: int = MAX_MOMENTS, spread: NDArray | None = None
) -> Callable[..., Replay] | None:
    """Gather what a film of the session's run needs and return the work itself, for another thread.

    `moments`: most moments of the film, the first and the last among them. `spread`: see `Replay`. Returns
    ``work(progress=progress)``, of `make_replay`; None: nothing has been recorded yet.
    """
    recorded, settings, scene, parts = session.player.recorded, session.settings, session.scene, session.split
    if not recorded or settings is None or scene is None or parts is None:
        return None
    return partial(
        make_replay,
        recorded,
        scene,
        parts,
        method=MENU[settings.method].label,
        losses=session.player.curves(MAX_DRAWN)[0],
        options=session.options,
        segments=tuple(segment.first_iteration for segment in session.player.segments),
        limit=moments,
        spread=spread,
    )


def export_work(
    session: Session, kind: str, *, dark: bool = False, spread: NDArray | None = None
) -> Callable[[Progress], bytes] | None:
    """Gather what an export needs and return the work itself, for another thread.

    `kind`: one of "report", "film", "video". `dark`: colours of the film; a report follows its reader's. `spread`:
    see `Replay`. Returns ``work(progress)`` returns the content of the file; None: nothing has been recorded yet.
    """
    draw, settings = filming(session, spread=spread), session.settings
    if draw is None or settings is None:
        return None
    filmed = {"film": gif, "video": mp4}.get(kind)
    if filmed is not None:
        return lambda progress: filmed(draw(progress=part(progress, 0, 2)), dark=dark, progress=part(progress, 1, 2))
    pairs = (pair.partition("=") for pair in to_query(settings).split("&"))
    listed, python = [(name, value) for name, _, value in pairs], session.python()
    return lambda progress: report(draw(progress=progress), listed, python).encode()

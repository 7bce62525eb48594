"""Files that take a while to make, reports, films and lessons: how far they have come, and a way out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from supdr_viz.export.progress import Progress
from supdr_viz.export.work import KINDS
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Job, Outcome
from supdr_viz.ui.bridge import Bridge

NOTHING = "There is nothing to save yet: run the method first."

# Returns a function that makes a file, for another thread, or None if there is nothing yet.
GetWork = Callable[[], Callable[[Progress], bytes] | None]


class FileMaking:
    """A button for every kind of file, and a line that says how far the file under way has come.

    `bridge`: gives the file to the user; `works`: kind, of `KINDS` -> what returns its work; `say`: ``say(text, kind)``
    shows what came of it. `progress`: shown while a file is made.
    """

    def __init__(self, bridge: Bridge, works: dict[str, GetWork], say: Callable[[str, str], Any]) -> None:
        self._bridge, self._works, self._say = bridge, works, say
        self._job: Job | None = None
        self.buttons = [
            widgets.button(KINDS[kind].label, partial(self._make, kind), icon=KINDS[kind].icon) for kind in works
        ]
        self._text = widgets.caption("", sizing_mode=None, align="center")
        cancel = widgets.button("Cancel", self.cancel, icon="close")
        self.progress = pn.Row(self._text, cancel, visible=False, margin=(0, 6))

    def cancel(self) -> None:
        """Give up the file that is made."""
        if self._job is not None:
            self._job.cancel()

    def _make(self, kind: str) -> None:
        """Make a file in another thread and save it."""
        work = self._works[kind]()
        if work is None:
            self._say(NOTHING, "warning")
            return
        self._say("", "quiet")
        self._show(KINDS[kind].note)
        self._work(True)
        self._job = Job(widgets.guarded(partial(self._came, kind)))
        done = widgets.guarded(partial(self._made, kind))
        self._bridge.visit.background.run(partial(work, self._job), done)

    def _came(self, kind: str, done: int, total: int) -> None:
        if self._job is not None:
            self._show(f"{KINDS[kind].note} {100 * done // max(1, total)} %")

    def _made(self, kind: str, outcome: Outcome) -> None:
        self._job = None
        self._work(False)
        self._show("")
        if outcome.cancelled:
            self._say("Cancelled; no file was made.", "quiet")
        elif outcome.problem:
            self._say(outcome.problem, "error")
        else:
            name, mime = KINDS[kind].file, KINDS[kind].mime
            self._say(f"{name}: {len(outcome.value) / 1e6:.1f} MB.", "quiet")
            self._bridge.download_bytes(name, outcome.value, mime)

    def _show(self, text: str) -> None:
        self._text.object = f'<p class="quiet small" role="status">{widgets.escape(text)}</p>'

    def _work(self, going: bool) -> None:
        self.progress.visible = going
        for button in self.buttons:
            button.disabled = going

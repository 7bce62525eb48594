"""What the explorer says of its run: numbers, state, notices, and a sentence for those who cannot see the plots."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.data.number_format import figure
from supdr_viz.experiment.methods import MENU
from supdr_viz.pages.explorer.layout import ExplorerLayout
from supdr_viz.pages.explorer.slow_run_notice import SlowRunNotice
from supdr_viz.pages.transport import Transport
from supdr_viz.pictures.types import Frame
from supdr_viz.run.session import Session
from supdr_viz.run.status import WORDS, Phase, Status
from supdr_viz.ui.bridge import Bridge

# Seconds between two updates of the status line: numbers that change more often cannot be read.
STATUS_INTERVAL = 0.25

AT_REST = (Phase.ready, Phase.paused, Phase.finished)

# Seconds between two updates of the scrubber while a run goes on: its thumb stands at the end, whatever that is.
RANGE_INTERVAL = 3.0

# Earlier if the run is longer by this factor: who takes the thumb to a third means about a third of the run.
RANGE_GROWTH = 1.25


class StatusReporter:
    """Says how a run stands, no more often than it is worth.

    `bridge`: speaks to screen readers; `slow_run_notice`: looks after what begins.
    """

    def __init__(
        self,
        session: Session,
        transport: Transport,
        layout: ExplorerLayout,
        bridge: Bridge,
        slow_run_notice: SlowRunNotice,
    ) -> None:
        self._notice = slow_run_notice
        self._session, self._transport, self._layout, self._bridge = session, transport, layout, bridge
        self._status_at = self._range_at = 0.0
        self._phase: Phase | None = None
        self._progress = ""
        self._announced: tuple[Snapshot | None, bool] = (None, False)

    def hasten(self) -> None:
        """Let the next frame's numbers not wait for their turn."""
        self._status_at = self._range_at = 0.0

    def show_numbers(self, frame: Frame, status: Status) -> bool:
        """Show the numbers of a frame, if it is time for that.

        Returns whether it was.
        """
        settings, scene, now = self._session.settings, self._session.scene, time.monotonic()
        running = status.phase is Phase.running
        if settings is None or scene is None or (running and now - self._status_at < STATUS_INTERVAL):
            return False
        self._status_at = now
        names = {name: f"{name}_error" for name in ("train", "unlabelled", "test")} | {"as new": "as_new"}
        numbers = {names.get(key, key): value for key, value in frame.numbers.items() if running or key != "rate"}
        iteration = None if status.at_once else frame.iteration
        self._transport.bar.show_numbers(iteration, numbers, task=scene.task)
        viewing = self._transport.viewing and not frame.live
        outgrown = frame.last_iteration >= RANGE_GROWTH * self._transport.bar.scrubber.end
        if viewing or not running or outgrown or now - self._range_at >= RANGE_INTERVAL:
            self._range_at = now
            self._transport.show_range(frame.first_iteration, frame.last_iteration, frame.iteration)
        if viewing:
            self._transport.show_viewing(frame.iteration)
            self._phase = None
        return True

    def refuse(self, reason: str, *, waiting: bool, offer: tuple[str, Callable[[], Any]] | None = None) -> None:
        """Say why nothing can be shown, where the plots would be, and let nothing run.

        `waiting`: whether something is yet to come; otherwise something is wrong; `offer`: a way out, see `Notice.say`.
        """
        self._phase = Phase.empty
        self._transport.refuse("There are no data yet." if waiting else "These settings cannot run.", waiting=waiting)
        self._layout.notice.say(reason, "info" if waiting else "warning", offer=offer)
        self._layout.dim(True)
        self._layout.forget_data()
        self._bridge.announce(reason)

    def show_status(self, status: Status) -> None:
        """Show and tell what has changed."""
        if status.progress != self._progress:
            self._transport.bar.show_progress(status.progress)
        if status.phase is not self._phase or status.message:
            self._show_phase(status)
        elif status.phase in AT_REST and not self._transport.viewing and self._standing() != self._announced:
            self._tell(status)
        self._progress = status.progress

    def _show_phase(self, status: Status) -> None:
        viewing = self._transport.viewing and status.phase in (Phase.running, Phase.paused, Phase.finished)
        if self._session.settings is None or viewing:
            return
        self._phase = status.phase
        detail = status.message if status.phase is Phase.failed else ""  # what diverged has numbers to show
        if status.phase is Phase.preparing:
            detail = "Preparing the data"
        self._transport.show_state(status.phase, detail, status.message if status.phase is Phase.finished else "")
        if status.phase is Phase.failed:
            self._layout.notice.say(f"The run failed: {status.message}", "error")
        elif status.phase is Phase.diverged:
            self._layout.notice.say(status.message, "warning")
        else:
            self._layout.notice.hide()
        if status.phase in (Phase.preparing, Phase.running):
            self._notice.begin()
        # Until a run has an iterate of its own, the plots are still those of the run before.
        self._layout.dim(status.phase is Phase.preparing or self._session.player.newest is None)
        self._tell(status)

    def _tell(self, status: Status) -> None:
        """Say how the run stands: when its state changes, after single steps, and when errors come after these."""
        self._announced = self._standing()
        self._bridge.announce(summary(self._session, status))

    def _standing(self) -> tuple[Snapshot | None, bool]:
        """Return the newest iterate, and whether its errors are known."""
        player = self._session.player
        last_iteration = player.curves()[1].iteration
        return player.newest, player.newest is not None and len(last_iteration) > 0 and last_iteration[
            -1
        ] == player.newest.iteration


def summary(session: Session, status: Status) -> str:
    """Say in one sentence how a run stands.

    `status`: of its run.
    """
    settings, newest, scene = session.settings, session.player.newest, session.scene
    words = [WORDS[status.phase][0]]
    if newest is not None and scene is not None and settings is not None:
        words.append(f"{MENU[settings.method].label} on {scene.title}")
        if not status.at_once:
            words += [f"iteration {newest.iteration}", f"objective {figure(newest.objective, 4)}"]
        errors = session.player.curves()[1]
        theirs = len(errors.iteration) > 0 and errors.iteration[-1] == newest.iteration
        for name in ("train", "unlabelled", "test"):
            if theirs and name in errors.values:
                value = figure(errors.values[name][-1], 3)
                words.append(f"{name} error {value} %" if scene.task == "classification" else f"{name} MSE {value}")
    if status.message:
        words.append(status.message)
    return ", ".join(words)

"""The state of a run, and the sentences that say so."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from supdr.engine.iterate import Stop

STOP_SENTENCES = {
    Stop.converged: "Converged. Run adds one step.",
    Stop.max_iter: "Stopped at the iteration limit. Run adds more.",
    Stop.no_improvement: "Stopped early: the best iteration is shown. Press Run for more.",
    Stop.diverged: "Diverged: the last finite iteration is shown. Try a smaller learning rate.",
    Stop.interrupted: "",
}

# Where there is but one iterate.
FITTED_AT_ONCE = "Fitted in one step."


class Phase(enum.StrEnum):
    """The state of a run."""

    empty = "empty"
    preparing = "preparing"
    ready = "ready"
    running = "running"
    paused = "paused"
    finished = "finished"
    diverged = "diverged"
    failed = "failed"


# What a page calls a phase, and the colour in which it does.
WORDS = {
    Phase.empty: ("waiting", "quiet"),
    Phase.preparing: ("waiting", "quiet"),
    Phase.ready: ("ready", "quiet"),
    Phase.running: ("running", "running"),
    Phase.paused: ("paused", "paused"),
    Phase.finished: ("finished", "running"),
    Phase.diverged: ("diverged", "failed"),
    Phase.failed: ("failed", "failed"),
}

# Why a run is finished.
ENDINGS = {Stop.converged: "converged", Stop.no_improvement: "stopped early", Stop.max_iter: "iteration limit"}


@dataclass(frozen=True)
class Status:
    """Phase of the run, and how far a long step is where that is known.

    `message`: what went wrong, or why the run has ended and what Run would do.
    """

    phase: Phase
    message: str = ""
    stop: Stop | None = None
    progress: str = ""

    @property
    def at_once(self) -> bool:
        """Whether the method was fitted in one step: then it has no iterations, and no objective that fell."""
        return self.message == FITTED_AT_ONCE

    @property
    def said(self) -> str:
        """The state of one run among several, and why it has ended, in a word or two."""
        if self.phase is Phase.empty:
            return "cannot run"
        if self.at_once:
            return "fitted"
        ending = ENDINGS.get(self.stop) if self.phase is Phase.finished and self.stop is not None else None
        return ending or self.phase.value

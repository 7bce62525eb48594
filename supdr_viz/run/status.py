"""What a run is doing, and the sentences that say so."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from supdr.engine.iterate import Stop

STOP_SENTENCES = {
    Stop.converged: "Converged.",
    Stop.max_iter: "All iterations done; run again for more.",
    Stop.no_improvement: "Stopped: the held-out error no longer improves. The best iterate is shown.",
    Stop.diverged: "Diverged: the objective is no longer finite. Try a smaller learning rate. "
    "The last finite iterate is shown.",
    Stop.interrupted: "",
}


class Phase(enum.StrEnum):
    """What a player is doing."""

    empty = "empty"
    preparing = "preparing"
    ready = "ready"
    running = "running"
    paused = "paused"
    finished = "finished"
    diverged = "diverged"
    failed = "failed"


@dataclass(frozen=True)
class Status:
    """Phase of the run and, where something went wrong, a plain sentence."""

    phase: Phase
    message: str = ""
    stop: Stop | None = None

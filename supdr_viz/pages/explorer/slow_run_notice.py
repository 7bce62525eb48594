"""What is said when a run takes long: how long, and how it can be quicker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.data.number_format import duration
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import MOST_TEST
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.ui.notice import Notice

# Seconds without a new iterate after which something is said, and between two looks.
LOOK_AFTER = 4.0

# Training rows that any method is quick with.
FEW = 2000


class SlowRunNotice:
    """Looks after a run that has begun until its steps come quickly; says how long they take where they do not.

    `notice`: where it is said; `on_fewer`: ``on_fewer(share)`` keeps more rows for testing, so that fewer are left to
    train on; `clock`: seconds that never go back.
    """

    def __init__(
        self,
        session: Session,
        notice: Notice,
        on_fewer: Callable[[float], Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session, self._notice, self._on_fewer, self._clock = session, notice, on_fewer, clock
        self._document: Any = None
        self._looking = self._is_shown = False
        self._seen: Snapshot | None = None
        self._since = 0.0

    def attach(self, document: Any) -> None:
        """Take the page's document, whose clock it is that ticks."""
        self._document = document
        if self._session.player.status.phase in (Phase.preparing, Phase.running):
            self.begin()

    def begin(self) -> None:
        """Look after what begins now: a preparation, or steps."""
        self._is_shown = False
        self._wait()

    def _wait(self) -> None:
        """Wait from now on for what comes after what is there."""
        self._seen, self._since = self._session.player.newest, self._clock()
        self._look_later(LOOK_AFTER)

    def _look_later(self, seconds: float) -> None:
        if self._document is not None and not self._looking:
            self._looking = True
            self._document.add_timeout_callback(self._look, round(1000 * seconds))

    def _look(self) -> None:
        self._looking = False
        player = self._session.player
        if player.status.phase not in (Phase.preparing, Phase.running):
            return
        waited = self._clock() - self._since
        if waited < LOOK_AFTER - 0.1:  # what was looked after has begun anew meanwhile
            self._look_later(LOOK_AFTER - waited)
            return
        came = player.newest is not self._seen
        slow = not came or self._seconds_a_step() > LOOK_AFTER / 2
        if slow:
            self._say(waited)
        elif self._is_shown:
            self._notice.hide()
        self._is_shown = slow
        if came and (slow or player.iteration == 0):  # a first picture says nothing of the steps
            self._wait()
        elif slow:
            self._look_later(LOOK_AFTER)

    def _seconds_a_step(self) -> float:
        player = self._session.player
        return player.seconds / max(player.iteration, 1)

    def _say(self, waited: float) -> None:
        session, player = self._session, self._session.player
        if session.settings is None or session.split is None:
            return
        rows, tests = session.split.n_train, session.split.n_test
        who = f"{MENU[session.settings.method].label} on {rows:,} training rows"
        if player.newest is None:
            words = f"{who} has been preparing its first picture for {waited:.0f} s."
        elif player.iteration == 0:
            words = f"{who}: the first step has taken {waited:.0f} s so far."
        else:
            step, left = self._seconds_a_step(), session.estimator.max_iter - player.iteration
            words = f"{who}: a step takes {step:.2g} s"
            words += f", the {left:,} that are left at most {duration(step * left)}." if left > 0 else "."
        share = fewer(rows, tests)
        if share is None:
            self._notice.say(words, "info")
        else:
            able = round((1.0 - share) * (rows + tests))
            more = "Fewer rows are quicker; the others are then for testing."
            offer = f"Train on {able:,} rows", lambda: self._on_fewer(share)
            self._notice.say(f"{words} {more}", "info", offer=offer)


def fewer(n_train: int, n_test: int) -> float | None:
    """Return the share of rows to keep for testing with which `FEW` are left to train on, or as few as can be.

    `n_train`, `n_test`: rows as they are divided now. Returns None where that would change little.
    """
    n = n_train + n_test
    share = min(MOST_TEST, round(1.0 - FEW / n, 2)) if n > FEW else 0.0
    return share if n_train > 1.5 * (1.0 - share) * n else None

"""Run, pause, step, reset, speed and scrubbing: the bar and the keys of a page, and what they do to its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakSet

from supdr_viz.data.quotas import most
from supdr_viz.pages.training_bar import TrainingBar
from supdr_viz.pages.warming import KernelWait
from supdr_viz.run.status import Phase
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.feedback import toast
from supdr_viz.views.stage.components import Hub


class Target(Protocol):
    """What can be played: a single run, or several in step."""

    @property
    def going(self) -> bool:
        """Whether it runs, or will as soon as it is prepared."""

    @property
    def iteration(self) -> int:
        """The newest iteration."""

    def run(self) -> bool:
        """Run until told otherwise; False if there is nothing left to run."""

    def pause(self) -> None:
        """Stop."""

    def step(self) -> bool:
        """Take one step; False if there is nothing left to run."""

    def reset(self) -> None:
        """Go back to the start."""

    def show(self, iteration: int | None) -> None:
        """Show a recorded iteration, or None for the newest."""


Act = Callable[[], Any]


def _nothing() -> None:
    """Do nothing."""


class Transport:
    """The bar above the plots and the keys of a page.

    `viewing`: whether an earlier iteration is looked at; `kernels`: holds the page back while its methods are compiled.

    bridge: where keys come from.
    hub: tells the status line.
    targets: those of all pages, among which this one's joins.
    speed: one of "slow", "normal", "fast".
    on_speed: ``on_speed(speed)``.
    on_toggled: called after the run was started or paused.
    on_reset: instead of the target's reset.
    on_nothing_left: called when there was nothing left to run.
    on_escape: the key that takes everything away.
    on_key: ``on_key(name)`` for keys of the bridge that have nothing to do with the run.
    take_key: ``take_key(name)`` is asked first, and tells whether the key was its own.
    """

    def __init__(
        self,
        target: Target,
        bridge: Bridge,
        hub: Hub,
        speed: str,
        targets: WeakSet[Any],
        *,
        on_speed: Callable[[str], Any],
        on_toggled: Act = _nothing,
        on_reset: Act | None = None,
        on_nothing_left: Act = _nothing,
        on_escape: Act = _nothing,
        on_key: Callable[[str], Any] | None = None,
        take_key: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        self._target, self._on_command, self._on_toggled = target, _nothing, on_toggled
        self._on_reset, self._on_nothing_left = on_reset or target.reset, on_nothing_left
        self._on_escape, self._on_key, self._take_key = on_escape, on_key, take_key
        self.viewing = False
        self.kernels = KernelWait(self._wait_for_kernels)
        self.bar = TrainingBar(
            hub,
            speed,
            on_run=self.toggle,
            on_step=self.step,
            on_reset=self.reset,
            on_live=self.go_live,
            on_speed=on_speed,
            on_scrub=self.scrub,
        )
        bridge.on_key(self.key)
        self._targets = targets
        targets.add(target)

    def on_command(self, callback: Act) -> None:
        """Call ``callback()`` when what is said of the run is out of date: the user has asked for something else."""
        self._on_command = callback

    # --- commands -----------------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Run, or pause."""
        if self._target.going:
            self._on_command()
            self._target.pause()
        else:
            self.follow()
            if self.may_train():
                self._left(self._target.run())
        self._on_toggled()

    def may_train(self) -> bool:
        """Whether another run may train; if not, that is said."""
        going = sum(target.going for target in self._targets)
        if most("training") and going >= most("training"):
            runs = "one run trains" if going == 1 else f"{going:,} runs train"
            text = f"On this server {runs}, as many as may at a time. Steps are free; please try later."
            toast(text, "warning", seconds=8)
            return False
        return True

    def step(self) -> None:
        """Take one step."""
        self.follow()
        self._left(self._target.step())

    def reset(self) -> None:
        """Go back to the start."""
        self.follow()
        self._on_reset()

    def scrub(self, iteration: int) -> None:
        """Look at a recorded iteration."""
        self._view(iteration < self._target.iteration)
        self._target.show(iteration if self.viewing else None)

    def go_live(self) -> None:
        """Look at the newest iteration again."""
        self.follow()
        self._target.show(None)

    def follow(self) -> None:
        """Take note that the newest iteration is looked at, whatever was before."""
        self._view(False)

    def key(self, name: str) -> None:
        """Act on a key, named as in `supdr_viz.ui.bridge.KEYS`."""
        if self._take_key(name):
            return
        actions = {"space": self.toggle, "right": self.step, "r": self.reset}
        if name in actions:
            if self.bar.enabled:
                actions[name]()
        elif name == "escape":
            self._on_escape()
        elif self._on_key is not None:
            self._on_key(name)

    def _left(self, something: bool) -> None:
        if not something:
            self._on_nothing_left()

    def _view(self, viewing: bool) -> None:
        self.viewing = viewing
        self.bar.set_following(not viewing)
        self._on_command()

    # --- what the bar shows -------------------------------------------------------------------------------------------

    def show_state(self, phase: Phase, detail: str = "", ending: str = "") -> None:
        """Show what the run is doing; see `TrainingBar.set_state`."""
        self.bar.set_state(phase, detail, ending, running=self._target.going)

    def show_viewing(self, iteration: int) -> None:
        """Show which earlier iteration is looked at."""
        self.bar.set_viewing(iteration, running=self._target.going)

    def show_range(self, first: int, last: int, shown: int) -> None:
        """Show which iterations can be looked at; the thumb stays where the user put it.

        `first`, `last`: iterations that are recorded; `shown`: the one on display.
        """
        self.bar.set_range(first, last, self.bar.scrubber.value if self.viewing else shown)

    def refuse(self, reason: str, *, waiting: bool) -> None:
        """Let nothing run, and say why.

        `waiting`: whether something is yet to come; otherwise something is wrong.
        """
        self.bar.set_enabled(False)
        self.bar.set_state(Phase.empty if waiting else Phase.failed, reason)

    def _wait_for_kernels(self, progress: str) -> None:
        self.bar.set_enabled(False)
        self.bar.set_state(Phase.preparing, progress)

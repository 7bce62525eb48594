"""The next action of one run, and its time: a state machine without threads, data or a clock of its own.

A `RunMachine` never changes; commands and events give the next one.  Times are seconds of the caller's clock.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from supdr.engine.iterate import Stop
from supdr_viz.run.status import FITTED_AT_ONCE, STOP_SENTENCES, Phase, Status

STEPS_PER_SECOND = {"slow": 3.0, "normal": 15.0, "fast": None}
# Steps per second at the slow start of an example.
SLOW_START = 4.0

# A command interrupts a step that has taken longer than this (seconds); shorter steps are left to finish.
LONG_STEP = 0.05


EMPTY = Status(Phase.empty)


class Iterates(enum.Enum):
    """Whether the method's next iterate can be asked for."""

    closed = "not requested"
    wanted = "to be opened at the newest iterate"
    opening = "being opened"
    open = "the next one is a step away"


@dataclass(frozen=True)
class RunMachine:
    """The state of a run, but for its data.

    version: rises whenever the work under way is no longer wanted.
    running: whether it runs, or will as soon as it is prepared.
    single_steps: asked for and yet to be taken.
    until: the iteration at which it pauses.
    hurry_to: steps up to this iteration are taken as fast as they go.
    next_step: when the next step may be taken.
    shown: the iteration on display, None for the newest.
    speed: one of "slow", "normal", "fast".
    slow_start: so many first steps are taken at no more than `SLOW_START` a second.
    suspended: whether the page is hidden.
    """

    status: Status = EMPTY
    iterates: Iterates = Iterates.closed
    version: int = 0
    running: bool = False
    single_steps: int = 0
    until: int | None = None
    hurry_to: int = 0
    next_step: float = 0.0
    shown: int | None = None
    speed: str = "normal"
    slow_start: int = 0
    suspended: bool = False

    # --- commands -------------------------------------------------------------------------------------------------

    def load(self) -> RunMachine:
        """Begin anew, at the starting point."""
        return replace(self.unload(), status=Status(Phase.preparing), iterates=Iterates.wanted)

    def unload(self) -> RunMachine:
        """Forget everything but the user's pace."""
        return RunMachine(
            version=self.version + 1, speed=self.speed, slow_start=self.slow_start, suspended=self.suspended
        )

    def change(self) -> RunMachine:
        """Open the iterates again, under other hyper-parameters; what has ended can go on."""
        ended = self.status.phase in (Phase.failed, Phase.diverged, Phase.finished)
        status = Status(Phase.paused) if ended else self.status
        return replace(self, version=self.version + 1, iterates=Iterates.wanted, status=status, shown=None)

    def branch(self) -> RunMachine:
        """Go on from the iteration on display, which has become the newest."""
        return replace(self, version=self.version + 1, iterates=Iterates.wanted, shown=None)

    def run(self, until: int | None = None, hurry_to: int = 0) -> RunMachine:
        """Go on by itself from the newest iterate."""
        return replace(
            self._with_phase(Phase.running), running=True, until=until, hurry_to=hurry_to, next_step=0.0, shown=None
        )

    def step(self) -> RunMachine:
        """Take one step more, and no others."""
        steps = self.single_steps + 1
        return replace(
            self._with_phase(Phase.paused), running=False, single_steps=steps, until=None, hurry_to=0, shown=None
        )

    def pause(self) -> RunMachine:
        """Take no step more."""
        status = Status(Phase.paused) if self.status.phase is Phase.running else self.status
        return replace(self, running=False, single_steps=0, until=None, hurry_to=0, status=status)

    def show(self, iteration: int | None) -> RunMachine:
        """Show this iteration, or the newest; the run goes on meanwhile."""
        return replace(self, shown=iteration)

    def at_speed(self, speed: str) -> RunMachine:
        """Take steps at another speed from now on."""
        return replace(self, speed=speed, next_step=0.0)

    def start_slowly(self, steps: int) -> RunMachine:
        """Take so many first steps slowly, whatever the speed."""
        return replace(self, slow_start=steps)

    def suspend(self, suspended: bool) -> RunMachine:
        """Wait while the page is hidden."""
        return replace(self, suspended=suspended)

    def _with_phase(self, phase: Phase) -> RunMachine:
        iterates = Iterates.wanted if self.iterates is Iterates.closed else self.iterates
        status = self.status if self.status.phase is Phase.preparing else Status(phase)
        return replace(self, iterates=iterates, status=status)

    # --- what has happened ----------------------------------------------------------------------------------------

    def opening(self) -> RunMachine:
        """Note that a worker opens the iterates."""
        return replace(self, iterates=Iterates.opening)

    def opened(self, stop: Stop | None = None) -> RunMachine:
        """Note that the first iterate is there; it may be the only one."""
        status = self.status
        if status.phase is Phase.preparing:
            status = Status(Phase.running if self.running else Phase.ready)
        machine = replace(self, iterates=Iterates.open, status=status)
        if stop is None:
            return machine
        ended = machine.ended(stop)
        return replace(ended, status=replace(ended.status, message=FITTED_AT_ONCE)) if stop is Stop.converged else ended

    def without_iterates(self) -> RunMachine:
        """Note that there is not even a first iterate."""
        return replace(self.pause(), iterates=Iterates.closed)

    def stepped(self, iteration: int, began: float, stop: Stop | None = None) -> RunMachine:
        """Note that a step, begun at `began`, has led to `iteration`."""
        pace = self._pace_after(iteration)
        # A run that is late may take one step at once, and no more than that.
        next_step = 0.0 if pace is None else max(self.next_step, began - 1 / pace) + 1 / pace
        machine = self
        if self.single_steps or next_step != self.next_step:
            machine = replace(self, single_steps=max(0, self.single_steps - 1), next_step=next_step)
        if stop is not None:
            return machine.ended(stop)
        return machine.pause() if self.until is not None and iteration >= self.until else machine

    def at_once_until(self, iteration: int) -> float:
        """Return the iteration up to which each step after this one follows the one before at once."""
        if self.single_steps or not self.steps_wanted or self._pace_after(iteration) is not None:
            return iteration
        hurries = iteration < self.hurry_to
        return min(self.hurry_to if hurries else math.inf, math.inf if self.until is None else self.until)

    def _pace_after(self, iteration: int) -> float | None:
        """Return how many steps a second may follow an iteration; None: as many as there are."""
        if iteration < self.hurry_to:
            return None
        pace = STEPS_PER_SECOND[self.speed]
        return min(SLOW_START, pace or SLOW_START) if iteration <= self.slow_start else pace

    def interrupted(self) -> RunMachine:
        """Note that the step under way was broken off; it is taken anew if it is still wanted."""
        again = self.running or self.single_steps > 0
        return replace(self, iterates=Iterates.wanted if again else Iterates.closed)

    def ended(self, stop: Stop) -> RunMachine:
        """Note that there are no more iterates, and why."""
        phase = Phase.diverged if stop is Stop.diverged else Phase.finished
        return replace(self.pause(), iterates=Iterates.closed, status=Status(phase, STOP_SENTENCES[stop], stop))

    def failed(self, message: str) -> RunMachine:
        """Note that something went wrong."""
        return replace(self.pause(), iterates=Iterates.closed, status=Status(Phase.failed, message))

    # --- what is due ----------------------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether there is something to run."""
        return self.status.phase not in (Phase.empty, Phase.failed)

    @property
    def steps_wanted(self) -> bool:
        """Whether any step is to be taken, now or in due time."""
        return self.single_steps > 0 or (self.running and not self.suspended)

    def step_due(self, now: float) -> float:
        """Seconds until the next of the steps that are wanted."""
        return 0.0 if self.single_steps else self.next_step - now

    def breaks_off(self, seconds: float) -> bool:
        """Whether a step that has taken so long already is to be broken off."""
        return seconds > LONG_STEP and self.iterates is not Iterates.opening and not self.steps_wanted

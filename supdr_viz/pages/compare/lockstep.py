"""Several runs side by side: the one that is behind steps next.

The clock of a run counts its iterations or its seconds of computing.  A run may step only while no other run that is
going is behind it, so that all stand at the same iteration, or have had the same time, at any moment.  A method
without iterations has no clock: other runs do not wait for its one fit, which may take half a minute.
"""

from __future__ import annotations

import threading

from supdr.engine.iterate import Stop
from supdr.engine.parameters import Parameter, choices
from supdr_viz.run.player import Player
from supdr_viz.run.run_machine import STEPS_PER_SECOND
from supdr_viz.run.status import Phase

# What the clock of a comparison counts.
MEASURE = Parameter(
    "lockstep",
    "In step by",
    "choice",
    choices=choices("iteration", "time"),
    default="iteration",
    help="Whether the columns stand at the same iteration or have computed for the same time.",
)

# By how much clocks may advance per tick of the speed: one iteration, or ten milliseconds of computing.
QUANTUM = {"iteration": 1.0, "time": 0.01}

# By how much a run may be ahead of the last one and yet step: turns of less than ten milliseconds are not worth it.
SLACK = {"iteration": 0.0, "time": 0.01}

WAITING = (Phase.preparing, Phase.ready, Phase.paused, Phase.running)

# Phases of a run that does not go, the liveliest first.
STANDING = (Phase.preparing, Phase.ready, Phase.paused, Phase.finished, Phase.diverged)


class LockStep:
    """Lets several players run in step; it is the gate of each, see `supdr_viz.run.player.Gate`.

    `measure` (one of "iteration", "time"): what must not differ; `speed` (one of "slow", "normal", "fast"): ticks per
    second, as for a single run.
    """

    def __init__(self, measure: str = "iteration", speed: str = "normal") -> None:
        self.measure, self._speed = measure, speed
        self._members: list[Player] = []
        self._lock = threading.RLock()
        self._running = False
        self._called: list[Player] = []
        self._goal, self._next_tick = 0.0, 0.0

    # --- members ----------------------------------------------------------------------------------------------------

    def join(self, player: Player) -> None:
        """Let `player` take part; while the others run it catches up with them."""
        with self._lock:
            self._members.append(player)

    def leave(self, player: Player) -> None:
        """Forget `player`."""
        with self._lock:
            self._members.remove(player)

    def clock(self, player: Player) -> float:
        """Return how far a run is: its iteration, or its seconds of computing."""
        newest = player.newest
        if newest is None:
            return 0.0
        return float(newest.iteration) if self.measure == "iteration" else player.seconds

    @property
    def phase(self) -> Phase:
        """What the runs are doing, all together: the liveliest phase of any."""
        phases = {player.status.phase for player in self._members}
        if self.going:
            return Phase.running
        return next((phase for phase in STANDING if phase in phases), Phase.failed)

    @property
    def going(self) -> bool:
        """Whether any run is going."""
        return any(player.going for player in self._members)

    @property
    def iteration(self) -> int:
        """The furthest iteration."""
        return max((player.iteration for player in self._members), default=0)

    # --- commands ---------------------------------------------------------------------------------------------------

    def run(self) -> bool:
        """Let all runs go that are not finished; if all are, those that only had used up their iterations.

        Returns False if there is nothing left to run.
        """
        going = self._unfinished() or self._exhausted()
        with self._lock:
            self._goal = max((self.clock(player) for player in going), default=0.0)
            self._next_tick = 0.0
            self._running = bool(going)
            self._called = going  # one after the other; the first waits for those that are not going yet
        try:
            for player in going:
                player.run()
        finally:
            with self._lock:
                self._called = []
        return bool(going)

    def pause(self) -> None:
        """Stop; by iteration, runs that are a step behind take it first."""
        self._running = False
        for player in self._members:
            player.pause()
        self._level()

    def step(self) -> bool:
        """Take one step with those that are behind all others: with all, if they stand level.

        Returns False if there is nothing left to run.
        """
        self._running = False
        candidates = self._unfinished() or self._exhausted()
        last = min((self.clock(player) for player in candidates if player.iterates), default=0.0)
        for player in candidates:
            if player.iterates and self.clock(player) <= last:
                player.step()
            elif player.going:
                player.pause()
        return bool(candidates)

    def reset(self) -> None:
        """Take all runs back to their start."""
        self._running, self._goal = False, 0.0
        for player in self._members:
            player.reset()

    def show(self, iteration: int | None) -> None:
        """Show a recorded iteration of every run, or None for the newest."""
        for player in self._members:
            player.show(iteration)

    def set_measure(self, measure: str) -> None:
        """Keep level by ``"iteration"`` or by ``"time"`` from now on."""
        with self._lock:
            if measure == self.measure:
                return
            self.measure = measure
            self._goal = max((self.clock(player) for player in self._members if player.going), default=0.0)

    def set_speed(self, speed: str) -> None:
        """Set ``"slow"``, ``"normal"`` or ``"fast"``."""
        with self._lock:
            self._speed, self._next_tick = speed, 0.0

    # --- the gate (worker threads) ------------------------------------------------------------------------------------

    def wait(self, player: Player, now: float) -> float | None:
        """See `supdr_viz.run.player.Gate`."""
        with self._lock:
            if not self._running:  # they are paused one after the other, and none may gain on those paused before it
                return None
            mine = self.clock(player)
            behind = mine - SLACK[self.measure]
            others = [other for other in self._members if other.iterates and (other.going or other in self._called)]
            if any(self.clock(other) < behind for other in others if other is not player):
                return None
            pace = STEPS_PER_SECOND[self._speed]
            # Runs that all began anew must not hurry to where the old ones were.
            furthest = max((self.clock(other) for other in self._members if other.going), default=mine)
            self._goal = min(self._goal, furthest + QUANTUM[self.measure])
            if pace is None or mine < self._goal:
                return 0.0
            if now < self._next_tick:
                return self._next_tick - now
            self._goal = mine + QUANTUM[self.measure]
            self._next_tick = max(self._next_tick, now - 1 / pace) + 1 / pace
            return 0.0

    def stepped(self, player: Player) -> None:
        """See `supdr_viz.run.player.Gate`."""
        if not self._running:
            self._level()

    def _level(self) -> None:
        """Let runs that were paused one step behind the others take that step."""
        if self.measure != "iteration" or self._running:
            return
        paused = [player for player in self._members if player.status.phase is Phase.paused]
        last = max((self.clock(player) for player in paused), default=0.0)
        for player in paused:
            if self.clock(player) == last - 1 and not player.pending:
                player.step()

    def _unfinished(self) -> list[Player]:
        return [player for player in self._members if player.status.phase in WAITING]

    def _exhausted(self) -> list[Player]:
        return [player for player in self._members if player.status.stop is Stop.max_iter]

"""The core protocol: a method is a problem that can be started, stepped and measured.

A *state* is a NamedTuple of arrays that is never written to once it has been returned.  `iterate` turns a problem into
a stream of `Snapshot`; `run` exhausts the stream.  Everything that watches an optimisation (histories, progress bars,
the explorer) is an observer of that stream; no solver prints, counts or draws.
"""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import RunContext, run_context
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.interruption import Interrupted

# Maps a state to a score that is to be made small, its most important number first.
Monitor = Callable[[Any], tuple[float, ...]]

# An objective this many times the size of the first one counts as divergence.
EXPLOSION = 1e8


class Stop(enum.StrEnum):
    """Why a run ended."""

    converged = "converged"
    max_iter = "max_iter"
    no_improvement = "no_improvement"
    diverged = "diverged"
    interrupted = "interrupted"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Snapshot:
    """What can be known of a run at one iteration.

    Attributes
    ----------
    iteration : int
        Number of steps taken since the start of the run, earlier legs of a resumed run included.
    stage : int
        The objective is the same function, and is expected to fall, as long as the stage does not change.
    losses : mapping of str to float
        Additive named terms and ``"objective"``, their sum, which is minimised.
    diagnostics : Diagnostics
        A mapping of names to quantities that are not part of the sum: bounds, gaps, step sizes, ...  Those that take
        time are computed when they are looked at, once.
    state : NamedTuple
        The arrays of the method.  Shared, never written to.
    elapsed : float
        Seconds spent inside the steps of this leg of the run.
    stop : Stop or None
        Set on the last snapshot of a run, None before.
    fixed : mapping of str to object
        The hyper-parameters that cannot change within a run, as this one was started with them.
    parts : mapping of str to float
        Seconds that the parts of the last step took, where the method names them.
    run : object
        What all snapshots of a run share: its rows, classes, preprocessing and hyper-parameters.  ``at`` reads it.
    """

    iteration: int
    stage: int
    losses: Mapping[str, float]
    diagnostics: Diagnostics
    state: Any
    elapsed: float
    stop: Stop | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    run: Any = None

    def __repr__(self) -> str:
        of = "" if self.run is None else f" of {type(self.run).__name__}"
        stop = "" if self.stop is None else f", stop={self.stop.value!r}"
        stage = f", stage={self.stage}" if self.stage else ""
        return f"<Snapshot{of}: iteration={self.iteration}, objective={self.objective:.6g}{stage}{stop}>"

    @property
    def objective(self) -> float:
        """The minimised quantity, ``losses["objective"]``."""
        return self.losses["objective"]


class Problem:
    """Base of every method's problem: data and hyper-parameters, without any iterate.

    Subclasses define `start`, `step` and `terms`; the rest has sensible defaults.
    States are NamedTuples with at least the fields ``seed`` and ``iteration``; step t draws its random numbers from
    ``default_rng([seed, t])``, so that resuming and branching are exact.
    """

    # What to do when the run diverges; shown to the user.
    advice: str = "Try smaller step sizes or stronger regularisation."

    def start(self, seed: int) -> Any:
        """Return the initial state."""
        raise NotImplementedError

    def step(self, state: Any) -> Any:
        """Return the state one visible step later.  Never writes to `state`."""
        raise NotImplementedError

    def terms(self, state: Any) -> dict[str, float]:
        """Return the additive terms of the objective, named in words."""
        raise NotImplementedError

    def losses(self, state: Any) -> dict[str, float]:
        """Return the terms and their sum, ``"objective"``."""
        terms = self.terms(state)
        return {"objective": math.fsum(terms.values()), **terms} if _finite(terms) else {"objective": math.nan, **terms}

    def readings(self, state: Any) -> dict[str, float]:
        """Return scalars worth watching that cost nothing: they are read at every step, and kept by `fit`."""
        return {}

    def diagnostics(self, state: Any) -> dict[str, float]:
        """Return scalars worth watching that take time to compute.

        Only called for a snapshot whose diagnostics are looked at, once, possibly long after the step and from another
        thread than the run's.
        """
        return {}

    def refined_diagnostics(self, state: Any) -> Mapping[str, float] | None:
        """Return what some ten milliseconds more make better of the diagnostics, or None: they stand as they are.

        Only called for a snapshot that somebody stays with, again and again until it returns None.
        """
        return None

    @cached_property
    def workspace(self) -> dict[str, Any]:
        """Results that steps share, see `workspace_property`: freed with the run, and computed again when needed."""
        return {}

    def release(self) -> None:
        """Free what only steps need; called when a run ends, while snapshots may still be looked at."""
        self.workspace.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the workspace."""
        return {name: value for name, value in vars(self).items() if name != "workspace"}

    def stage(self, state: Any) -> int:
        """Return the number of the stage; the objective falls within one."""
        return 0

    def adopt(self, state: Any) -> Any:
        """Return `state`, which may stem from other hyper-parameters, made ready for this problem.

        Raises
        ------
        ValueError
            If the shapes do not fit.
        """
        return state

    def tolerance_scale(self, objective: float) -> float:
        """Return what a change of the objective is compared with: `tol` is a share of it."""
        return abs(objective)

    def may_converge(self, previous: Any, state: Any) -> bool:
        """Whether an unchanged objective after this step means convergence (a rejected step may not)."""
        return True


def workspace_property(compute: Callable[[Any], Any]) -> property:
    """Make a method of a problem a property that is computed once and kept in the workspace of the problem."""
    name = compute.__name__

    @wraps(compute)
    def value(problem: Problem) -> Any:
        """Return the value from the workspace."""
        if name not in problem.workspace:
            problem.workspace[name] = compute(problem)
        return problem.workspace[name]

    return property(value)


def generator(seed: int, iteration: int) -> np.random.Generator:
    """Return the random generator of one step; the same for the same seed and iteration."""
    return np.random.default_rng([seed, iteration])


def iterate(
    problem: Problem,
    *,
    max_iter: int,
    tol: float = 0.0,
    seed: int = 0,
    start: Snapshot | None = None,
    monitor: Monitor | None = None,
    n_iter_no_change: int = 10,
    context: RunContext | None = None,
    fixed: Mapping[str, Any] | None = None,
    of: Any = None,
) -> Generator[Snapshot, None, None]:
    """Yield the starting point and then one snapshot per step; the last one carries the reason for stopping.

    Parameters
    ----------
    problem : Problem
        What to optimise.
    max_iter : int
        Number of steps of this call, >= 1.
    tol : float
        Stop as converged when the objective changes by no more than ``tol * |objective|`` within a stage, or by that
        share of what the problem compares with instead (`Problem.tolerance_scale`).  A value of 0 stops only when the
        objective does not change at all.  Negative: never.
    seed : int
        Seed of a fresh start.  A resumed run keeps the seed of its state.
    start : Snapshot, optional
        Continue from here, possibly under other hyper-parameters.
    monitor : callable, optional
        Maps a state to a tuple to be made small: the held-out error, which becomes the diagnostic
        ``"validation_error"``, then what decides between equals.  When it has not improved for `n_iter_no_change`
        steps the run ends.  With a monitor the last snapshot is the best one seen.
    n_iter_no_change : int
        See `monitor`.
    context : RunContext, optional
        Stop flag, observers and cache of the run; fields that are None are those of the surrounding context.
        ``stop_requested`` is polled between and, through `checkpoint`, within steps; True ends the run at the last
        complete step.  A run that is stopped before its starting point is ready yields nothing.
    fixed : mapping, optional
        Noted in every snapshot: the hyper-parameters that a resumed run must not change.
    of : object, optional
        Noted in every snapshot as its run.

    Yields
    ------
    Snapshot
    """
    try:
        steps = _Steps(problem, context or RunContext(), dict(fixed or {}), of)
        yield from _run(steps, max_iter, tol, seed, start, monitor, n_iter_no_change)
    finally:
        problem.release()


def run(problem: Problem, **settings: Any) -> tuple[Snapshot, Stop]:
    """Exhaust `iterate` and return its last snapshot with the reason for stopping.

    Parameters
    ----------
    problem : Problem
        What to optimise.
    **settings
        As for `iterate`.

    Returns
    -------
    snapshot : Snapshot
    stop : Stop

    Raises
    ------
    Interrupted
        If the run is stopped before its starting point is ready: there is no snapshot then.
    """
    last = None
    for snapshot in iterate(problem, **settings):
        last = snapshot
    if last is None:
        raise Interrupted("the run was stopped before its starting point was ready")
    if last.stop is None:
        raise ValueError(f"max_iter must be at least 1, got {settings.get('max_iter')!r}")
    return last, last.stop


class _Steps(NamedTuple):
    """Makes the snapshots of a run: the starting point and what follows a snapshot.

    problem: what is optimised; context: of the run; fixed, run: noted in every snapshot.
    """

    problem: Problem
    context: RunContext
    fixed: Mapping[str, Any]
    run: Any

    def first(self, seed: int, start: Snapshot | None) -> Snapshot:
        """Return the starting point; raise `Interrupted` if a stop is requested before it is ready."""
        problem = self.problem
        with run_context(**self.context.given(), snapshot_of=self._of_partial_state):
            state = problem.start(seed) if start is None else problem.adopt(start.state)
            with np.errstate(over="ignore", invalid="ignore"):
                losses = problem.losses(state)
            if not _finite(losses):
                raise ValueError(f"the starting point has a non-finite objective: {losses}. {problem.advice}")
            return self._snapshot(state, losses, self._observed(state))

    def following(self, current: Snapshot) -> Snapshot | None:
        """Return the snapshot one step after `current`, or None if a stop is requested before it is complete."""
        problem, stop_requested = self.problem, self.context.stop_requested
        if stop_requested is not None and stop_requested():
            return None
        began, parts = time.perf_counter(), dict[str, float]()
        changes = {**self.context.given(), "snapshot_of": self._of_partial_state, "part_seconds": parts}
        try:
            # A diverging run overflows; it is reported as such, not by warnings from inside NumPy.
            with run_context(**changes), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                state = problem.step(current.state)
                elapsed = current.elapsed + time.perf_counter() - began
                losses, diagnostics = problem.losses(state), self._observed(state)
        except Interrupted:
            return None
        return self._snapshot(state, losses, diagnostics, elapsed, parts=parts)

    def _snapshot(
        self, state: Any, losses: Mapping[str, float], diagnostics: Diagnostics, elapsed: float = 0.0, **parts: Any
    ) -> Snapshot:
        stage, run = self.problem.stage(state), {"fixed": self.fixed, "run": self.run}
        return Snapshot(state.iteration, stage, losses, diagnostics, state, elapsed, **run, **parts)

    def _of_partial_state(self, state: Any) -> Snapshot:
        return self._snapshot(state, {}, Diagnostics({}))

    def _observed(self, state: Any) -> Diagnostics:
        """Return the readings, and the diagnostics once they are looked at."""
        problem = self.problem
        return Diagnostics(
            problem.readings(state), partial(problem.diagnostics, state), partial(problem.refined_diagnostics, state)
        )


def _run(
    steps: _Steps,
    max_iter: int,
    tol: float,
    seed: int,
    start: Snapshot | None,
    monitor: Monitor | None,
    n_iter_no_change: int,
) -> Iterator[Snapshot]:
    """Yield the snapshots of `iterate`."""
    try:
        current = steps.first(seed, start)
    except Interrupted:
        return
    current, best_score = _scored(current, monitor)
    yield current
    limit = EXPLOSION * (1.0 + abs(current.objective))
    best, waited = current, 0
    for count in range(1, max_iter + 1):
        following = steps.following(current)
        if following is None:
            yield replace(best if monitor else current, stop=Stop.interrupted)
            return
        if not _finite(following.losses) or abs(following.objective) > limit:
            yield replace(current, stop=Stop.diverged)
            return
        stop = _judge(steps.problem, current, following, tol, last=count == max_iter)
        current, score = _scored(following, monitor)
        if monitor:
            waited = 0 if score < best_score else waited + 1
            if waited == 0:
                best, best_score = current, score
            if waited >= n_iter_no_change:
                stop = Stop.no_improvement
            if stop:
                if best is not current:
                    yield current
                yield replace(best, stop=stop)
                return
        if stop:
            yield replace(current, stop=stop)
            return
        yield current


def history_of(steps: Sequence[Snapshot], last: Snapshot) -> dict[str, NDArray]:
    """Return losses and readings of every step; of diagnostics that take time only what the last step says.

    `last`: tells the names where there are no steps. Returns a value for each step, NaN where it has none.
    """
    rows: list[dict[str, float]] = [{**step.losses, **step.diagnostics.at_hand} for step in steps]
    rows[-1:] = [{**step.losses, **step.diagnostics} for step in steps[-1:]]
    names = {name: None for row in rows or [{**last.losses, **last.diagnostics}] for name in row}
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def _scored(snapshot: Snapshot, monitor: Monitor | None) -> tuple[Snapshot, tuple[float, ...]]:
    """Return the snapshot with its held-out error, and all of its score."""
    if monitor is None:
        return snapshot, ()
    score = monitor(snapshot.state)
    return replace(snapshot, diagnostics=snapshot.diagnostics.also(validation_error=score[0])), score


def _judge(problem: Problem, previous: Snapshot, current: Snapshot, tol: float, last: bool) -> Stop | None:
    change = abs(previous.objective - current.objective)
    if (
        previous.stage == current.stage
        and change <= tol * max(problem.tolerance_scale(previous.objective), np.finfo(float).tiny)
        and problem.may_converge(previous.state, current.state)
    ):
        return Stop.converged
    return Stop.max_iter if last else None


def _finite(losses: Mapping[str, float]) -> bool:
    return all(math.isfinite(value) for value in losses.values())

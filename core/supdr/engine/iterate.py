"""The core protocol: a method is a problem with a start, a step and an objective.

A *state* is a NamedTuple of arrays that are never written to after it has been returned.  `iterate` turns a problem
into a stream of `Snapshot`; `run` exhausts the stream.  Histories, progress bars and the explorer are observers of that
stream; no solver prints, counts or draws.
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

# Maps a state to a score, which is compared as a tuple; smaller is better.
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
    """The state of a run at one iteration, and its measures.

    Attributes
    ----------
    iteration : int
        Number of steps since the start of the run, those before a resumption included.
    stage : int
        Number of the objective function: within a stage the objective is one function, which should fall.
    losses : mapping of str to float
        Additive named terms and ``"objective"``, their sum, which is minimised.
    diagnostics : Diagnostics
        A mapping of names to quantities that are not part of the sum: bounds, gaps, step sizes, ...  Those that take
        time are computed once, at their first use.
    state : NamedTuple
        The arrays of the method.  Shared, never written to.
    elapsed : float
        Seconds spent in the steps since the start or the last resumption.
    stop : Stop or None
        Set on the last snapshot of a run, None before.
    fixed : mapping of str to object
        Values of the hyper-parameters that cannot change within the run.
    parts : mapping of str to float
        Seconds of the named parts of the last step, if the method names any.
    run : object
        The estimator that all snapshots of a run share: rows, classes, preprocessing and hyper-parameters, for ``at``.
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
    """Base of every method's problem: data and hyper-parameters, no iterate.

    Subclasses define `start`, `step` and `terms`; the other methods have defaults.  States are NamedTuples with at
    least the fields ``seed`` and ``iteration``; step t draws its random numbers from ``default_rng([seed, t])``, so
    that a resumed run repeats the original one exactly.
    """

    # Advice in the warning of a diverged run.
    advice: str = "Try smaller step sizes or stronger regularisation."

    def start(self, seed: int) -> Any:
        """Return the initial state."""
        raise NotImplementedError

    def step(self, state: Any) -> Any:
        """Return the state after one step, without writing to `state`."""
        raise NotImplementedError

    def terms(self, state: Any) -> dict[str, float]:
        """Return the additive terms of the objective, named in words."""
        raise NotImplementedError

    def losses(self, state: Any) -> dict[str, float]:
        """Return the terms and their sum, ``"objective"``."""
        terms = self.terms(state)
        return {"objective": math.fsum(terms.values()), **terms} if _finite(terms) else {"objective": math.nan, **terms}

    def readings(self, state: Any) -> dict[str, float]:
        """Return diagnostics that need no computation: they are read at every step, and `fit` keeps them."""
        return {}

    def diagnostics(self, state: Any) -> dict[str, float]:
        """Return diagnostics that take time to compute.

        Called at the first use of a snapshot's diagnostics, possibly long after the step and from another thread.
        """
        return {}

    def refined_diagnostics(self, state: Any) -> Mapping[str, float] | None:
        """Return diagnostics that some ten milliseconds of work have improved, or None if there is nothing to improve.

        Called repeatedly, until it returns None, for a snapshot that an observer keeps showing.
        """
        return None

    @cached_property
    def workspace(self) -> dict[str, Any]:
        """Results that steps share, see `workspace_property`: freed with the run, and computed again when needed."""
        return {}

    def release(self) -> None:
        """Free what only steps need; called when a run ends, while its snapshots may still be in use."""
        self.workspace.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: all but the workspace."""
        return {name: value for name, value in vars(self).items() if name != "workspace"}

    def stage(self, state: Any) -> int:
        """Return the number of the stage; within a stage the objective should fall."""
        return 0

    def adopt(self, state: Any) -> Any:
        """Return `state`, which may come from other hyper-parameters, adapted to this problem.

        Raises
        ------
        ValueError
            If the shapes do not fit.
        """
        return state

    def tolerance_scale(self, objective: float) -> float:
        """Return the number of which `tol` is a share: changes of the objective up to their product are convergence."""
        return abs(objective)

    def may_converge(self, previous: Any, state: Any) -> bool:
        """Whether an unchanged objective after this step is convergence; after a rejected step it may not be."""
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
    owner: Any = None,
) -> Generator[Snapshot, None, None]:
    """Yield the starting point and then one snapshot per step; the last one has the reason for stopping.

    Parameters
    ----------
    problem : Problem
        Objective and steps.
    max_iter : int
        Number of steps of this call, >= 1.
    tol : float
        Stop as converged when the objective changes within a stage by no more than ``tol * |objective|``, or ``tol``
        times `Problem.tolerance_scale`.  0: only when the objective does not change at all.  Negative: never.
    seed : int
        Seed of a fresh start.  A resumed run keeps the seed of its state.
    start : Snapshot, optional
        Continue from this snapshot, possibly under other hyper-parameters.
    monitor : callable, optional
        Maps a state to a tuple, smaller is better: the held-out error, which becomes the diagnostic
        ``"validation_error"``, and numbers that break ties.  When it has not improved for `n_iter_no_change` steps the
        run ends.  With a monitor the last snapshot is the best one.
    n_iter_no_change : int
        See `monitor`.
    context : RunContext, optional
        Stop flag, observers and cache of the run; fields that are None are those of the surrounding context.
        ``stop_requested`` is polled between and, through `checkpoint`, within steps; True ends the run at the last
        complete step.  A run that is stopped before its starting point is ready yields nothing.
    fixed : mapping, optional
        The hyper-parameters that a resumed run must not change; `Snapshot.fixed`.
    owner : object, optional
        The estimator of the run; `Snapshot.run`.

    Yields
    ------
    Snapshot
    """
    try:
        steps = _Steps(problem, context or RunContext(), dict(fixed or {}), owner)
        yield from _run(steps, max_iter, tol, seed, start, monitor, n_iter_no_change)
    finally:
        problem.release()


def run(problem: Problem, **settings: Any) -> tuple[Snapshot, Stop]:
    """Exhaust `iterate` and return its last snapshot with the reason for stopping.

    Parameters
    ----------
    problem : Problem
        Objective and steps.
    **settings
        Keyword arguments of `iterate`.

    Returns
    -------
    snapshot : Snapshot
    stop : Stop

    Raises
    ------
    Interrupted
        If the run is stopped before its starting point is ready, and so has no snapshot.
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
    """The steps of a run as snapshots; `fixed` and `run` are fields of every snapshot."""

    problem: Problem
    context: RunContext
    fixed: Mapping[str, Any]
    run: Any

    def first(self, seed: int, start: Snapshot | None) -> Snapshot:
        """Return the starting point; raise `Interrupted` if a stop is requested before it is ready."""
        problem = self.problem
        with run_context(**self.context.set_fields(), snapshot_of=self._partial_snapshot):
            state = problem.start(seed) if start is None else problem.adopt(start.state)
            with np.errstate(over="ignore", invalid="ignore"):
                losses = problem.losses(state)
            if not _finite(losses):
                raise ValueError(f"the starting point has a non-finite objective: {losses}. {problem.advice}")
            return self._snapshot(state, losses, self._diagnostics(state))

    def after(self, current: Snapshot) -> Snapshot | None:
        """Return the snapshot one step after `current`, or None if a stop is requested before it is complete."""
        problem, stop_requested = self.problem, self.context.stop_requested
        if stop_requested is not None and stop_requested():
            return None
        start_time, parts = time.perf_counter(), dict[str, float]()
        changes = {**self.context.set_fields(), "snapshot_of": self._partial_snapshot, "part_seconds": parts}
        try:
            # A diverging run overflows; `Stop.diverged` reports it, not warnings of NumPy.
            with run_context(**changes), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                state = problem.step(current.state)
                elapsed = current.elapsed + time.perf_counter() - start_time
                losses, diagnostics = problem.losses(state), self._diagnostics(state)
        except Interrupted:
            return None
        return self._snapshot(state, losses, diagnostics, elapsed, parts=parts)

    def _snapshot(
        self, state: Any, losses: Mapping[str, float], diagnostics: Diagnostics, elapsed: float = 0.0, **parts: Any
    ) -> Snapshot:
        stage, run = self.problem.stage(state), {"fixed": self.fixed, "run": self.run}
        return Snapshot(state.iteration, stage, losses, diagnostics, state, elapsed, **run, **parts)

    def _partial_snapshot(self, state: Any) -> Snapshot:
        return self._snapshot(state, {}, Diagnostics({}))

    def _diagnostics(self, state: Any) -> Diagnostics:
        """Return readings, and diagnostics that are computed at their first use."""
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
    current, best_score = _with_score(current, monitor)
    yield current
    limit = EXPLOSION * (1.0 + abs(current.objective))
    best, steps_since_best = current, 0
    for count in range(1, max_iter + 1):
        proposal = steps.after(current)
        if proposal is None:
            yield replace(best if monitor else current, stop=Stop.interrupted)
            return
        if not _finite(proposal.losses) or abs(proposal.objective) > limit:
            yield replace(current, stop=Stop.diverged)
            return
        stop = _stop_reason(steps.problem, current, proposal, tol, last=count == max_iter)
        current, score = _with_score(proposal, monitor)
        if monitor:
            steps_since_best = 0 if score < best_score else steps_since_best + 1
            if steps_since_best == 0:
                best, best_score = current, score
            if steps_since_best >= n_iter_no_change:
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
    """Return arrays of losses and readings, one entry per step, and of the other diagnostics of the last step.

    NaN stands for a value that a step does not have. `last`: a snapshot with all names, for a run without steps.
    """
    rows: list[dict[str, float]] = [{**step.losses, **step.diagnostics.at_hand} for step in steps]
    rows[-1:] = [{**step.losses, **step.diagnostics} for step in steps[-1:]]
    names = {name: None for row in rows or [{**last.losses, **last.diagnostics}] for name in row}
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def _with_score(snapshot: Snapshot, monitor: Monitor | None) -> tuple[Snapshot, tuple[float, ...]]:
    """Return the snapshot with its held-out error as a diagnostic, and its score."""
    if monitor is None:
        return snapshot, ()
    score = monitor(snapshot.state)
    return replace(snapshot, diagnostics=snapshot.diagnostics.with_values(validation_error=score[0])), score


def _stop_reason(problem: Problem, previous: Snapshot, current: Snapshot, tol: float, last: bool) -> Stop | None:
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

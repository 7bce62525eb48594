"""Parameter sweeps: every cell of a grid is fitted and scored on every fold and seed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor

from supdr.engine.reuse import fingerprint
from supdr.engine.sparse_rows import canonical, is_sparse
from supdr.sensitivity.axes import cell_of, check_grid, chosen_cells
from supdr.sensitivity.executors import Crew, crew_of, explain_unsendable, is_death
from supdr.sensitivity.fitting import Fit, Job, fit_keys
from supdr.sensitivity.outcome import Cell, Outcome, Result
from supdr.sensitivity.rows import Rows
from supdr.sensitivity.scoring import Scoring, check_scoring
from supdr.sensitivity.splits import splits_of
from supdr.sensitivity.store import Store

# Fits are sent in batches of about this duration in seconds, so that the overhead per batch is a small share.
JOB_SECONDS = 0.15

# A fit is recorded as failed after this many worker deaths while it was the only running one.
MOST_ATTEMPTS = 3


class SweepError(RuntimeError):
    """The sweep cannot continue; finished fits are in the store."""


@dataclass
class Progress:
    """The progress of a run.

    Attributes
    ----------
    total, done : int
        Number of all fits and of the finished ones.
    stored : int
        Number of finished fits that came from the store.
    began : float
        Start time, of `time.monotonic`.
    """

    total: int
    done: int = 0
    stored: int = 0
    began: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds at the present rate; None before the first fit."""
        computed = self.done - self.stored
        if computed < 1:
            return None if self.done < self.total else 0.0
        return (time.monotonic() - self.began) * (self.total - self.done) / computed


class Sweep:
    """The sensitivity of an estimator to some of its parameters.

    Parameters
    ----------
    estimator : estimator
        An estimator of this library or of scikit-learn; it is cloned, not fitted.
    grid : mapping of str to iterable
        One to six parameters and their values, see `logarithmic` and `linear`; names as for ``set_params``.
    design : {"grid", "sobol", "random"}, default="grid"
        Every cell of the grid, or `n_cells` distinct ones: at the points of a Sobol sequence, or drawn at random.
    n_cells : int, default=64
        Number of cells of a Sobol or random design, >= 1; its seed is the first one of `seeds`.
    cv : int, float, cross-validator or iterable of (train, test), default=5
        Folds, or the share that is held out.  Rows without a label train in every fold.
    scoring : str, sequence, mapping or callable, default="error"
        See `supdr.sensitivity.scoring`; the first of several metrics is the default of `Result`.
    seeds : iterable of int, default=(0,)
        Seeds of the shuffle and of the estimator's ``random_state``; one repetition per seed.
    transductive : bool, default=False
        Fit on all rows, with hidden labels of the test rows, and score ``transduction_``; False: fit on the training
        rows only.
    warm_along : str or None, default=None
        Name of a parameter: along its values every fit starts from the last state of the previous one.  It may reach
        other local optima than fresh starts; the results have ``warm=True``.
    shortcuts : bool, default=True
        Compute results that cells have in common once; the scores are the same, up to rounding.
    prepare : transformer or None, default=None
        Fitted to the training rows before every fit, such as an imputer; its parameters are not part of the grid.
    maps : bool, default=False
        Whether every cell keeps the latent positions of up to 1,000 rows from its first fit, see `aligned_maps`.
    store : str, Path, Store or None, default=None
        SQLite file to which every finished fit is written at once, and from which an interrupted sweep resumes.
    retry_failed : bool, default=False
        Whether fits that failed in an earlier run are computed again.
    finished : iterable of Cell, default=()
        Cells of an earlier run of the same sweep on the same rows, which are written to the store and not computed.

    Attributes
    ----------
    cells : dict of int to dict
        Parameters of every cell that is visited, by its number in the grid, whose last parameter runs fastest.
    progress : Progress
        Of the latest run.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supdr import LSDR
    >>> from supdr.sensitivity import Sweep, logarithmic
    >>> X, y = load_iris(return_X_y=True)
    >>> sweep = Sweep(LSDR(max_iter=5), {"reg_u": logarithmic(0.01, 1, 3)}, cv=2)
    >>> result = sweep.result(sweep.run(X, y, "in-process"))
    >>> result.means().shape
    (3,)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        grid: Mapping[str, Iterable[Any]],
        *,
        design: str = "grid",
        n_cells: int = 64,
        cv: Any = 5,
        scoring: Scoring = "error",
        seeds: Iterable[int] = (0,),
        transductive: bool = False,
        warm_along: str | None = None,
        shortcuts: bool = True,
        prepare: Any = None,
        maps: bool = False,
        store: str | Path | Store | None = None,
        retry_failed: bool = False,
        finished: Iterable[Cell] = (),
    ) -> None:
        name = type(estimator).__name__
        self.estimator = estimator
        self.grid = check_grid(grid, estimator.get_params(), name)
        self.cv, self.scoring = cv, check_scoring(scoring)
        self.seeds = [int(seed) for seed in seeds]
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds must be distinct whole numbers, at least one; got {self.seeds}")
        if transductive and not hasattr(type(estimator), "transduction_"):
            raise ValueError(f"transductive=True needs an estimator with transduction_; {name} has none")
        if warm_along is not None:
            _check_path(estimator, self.grid, warm_along)
            if design != "grid":
                raise ValueError(f"warm_along needs design='grid': a path visits all of its cells; got {design!r}")
        self.transductive, self.warm_along, self.shortcuts = transductive, warm_along, shortcuts
        self.prepare, self.maps, self.store, self.retry_failed = prepare, maps, store, retry_failed
        self.finished = tuple(finished)
        chosen = chosen_cells(self.grid, design, n_cells, self.seeds[0])
        self.cells = {number: cell_of(self.grid, number) for number in chosen}
        self.progress = Progress(0)

    def result(self, cells: Iterable[Cell] = ()) -> Result:
        """Return cells as a table.

        Parameters
        ----------
        cells : iterable of Cell
            The cells of a run, for example.

        Returns
        -------
        Result
        """
        return Result(self.grid, list(self.scoring), cells)

    def run(
        self, X: ArrayLike, y: ArrayLike, executor: Any = None, *, workers: int | None = None
    ) -> Generator[Cell, None, None]:
        """Yield every cell when all its fits are finished, stored cells first.

        The sweep pauses while the caller does not advance the iterator, and ends when the iterator is closed.  Finished
        fits stay in the store.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data; sparse where the estimator takes sparse rows.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        executor : Executor, distributed.Client or str, optional
            See `supdr.sensitivity.crew_of`; default: loky's processes.
        workers : int, optional
            Number of workers, see `supdr.sensitivity.crew_of`.

        Yields
        ------
        Cell

        Raises
        ------
        ValueError
            If the data or the folds do not fit.
        StoreError, SweepError
            If the store or the executor fails.
        """
        run = _Run(self, *_checked_rows(X, y))
        with run.opened() as store:
            yield from run.recall(store)
            if run.pending:
                with crew_of(executor, workers) as crew:
                    crew.take(run.rows)
                    yield from run.work(crew, store)


class _Run:
    """One run of a sweep: its pending fits, running jobs and outcomes."""

    def __init__(self, sweep: Sweep, X: NDArray, y: NDArray) -> None:
        self.sweep = sweep
        classification = not is_regressor(sweep.estimator)
        splits = {seed: splits_of(sweep.cv, X, y, seed, classification=classification) for seed in sweep.seeds}
        how = () if sweep.prepare is None else (type(sweep.prepare).__qualname__, sweep.prepare.get_params())
        self.rows = Rows(X, y, splits, fingerprint((X, y, *how)), sweep.prepare)
        self.places = [(seed, fold) for seed in sweep.seeds for fold in range(len(splits[seed]))]
        self._mapped = self.places[0] if sweep.maps else None
        self.outcomes: dict[int, dict[tuple[int, int], Outcome]] = {number: {} for number in sweep.cells}
        self.pending: deque[tuple[Fit, ...]] = deque()
        self.suspects: deque[tuple[Fit, ...]] = deque()
        self.deaths: dict[tuple[Fit, ...], int] = {}
        self._paths = _paths(sweep)
        self._seconds = 0.0
        self._losses, self._earlier = 0, set[Future]()
        self._keys = fit_keys(
            sweep.estimator,
            sweep.cells,
            self._paths,
            self.rows,
            scoring=sweep.scoring,
            transductive=sweep.transductive,
            warm=sweep.warm_along is not None,
        )
        sweep.progress = Progress(len(self._keys), began=time.monotonic())

    def opened(self) -> Store:
        """Open the store; in memory without one."""
        store = self.sweep.store
        if isinstance(store, Store):
            return Store(store.path, busy_seconds=store.busy_seconds)
        return Store(":memory:" if store is None else store)

    def recall(self, store: Store) -> Iterator[Cell]:
        """Yield the cells that are complete in the store, and queue the other fits."""
        fits = store.find(self._keys.values())
        if self.sweep.retry_failed:
            failed = {key for key, fields in fits.items() if fields["error"]}
            store.forget(failed)
            fits = {key: fields for key, fields in fits.items() if key not in failed}
        maps = self._recall_maps(store, fits)
        stored = [
            Outcome(*place, **{**fits[key], "warm": bool(fits[key]["warm"])}, map=maps.get(key))
            for place, key in self._keys.items()
            if key in fits
        ]
        brought = self._brought(fits)
        self._write(store, brought)
        stored += brought
        complete = list(self._note(stored))
        self.sweep.progress.stored = len(stored)
        for path in self._paths:
            for seed, fold in self.places:
                if any((seed, fold) not in self.outcomes[number] for number in path):
                    self.pending.append(tuple(Fit(number, seed, fold, self.sweep.cells[number]) for number in path))
        yield from (replace(cell, stored=True) for cell in complete)

    def _brought(self, fits: Collection[str]) -> list[Outcome]:
        """Return the outcomes of the sweep's finished cells that are not among the stored fits."""
        outcomes = [outcome for cell in self.sweep.finished for outcome in cell.outcomes]
        return [each for each in outcomes if self._keys.get((each.cell, each.seed, each.fold), "") not in {*fits, ""}]

    def _recall_maps(self, store: Store, fits: dict[str, dict[str, Any]]) -> dict[str, NDArray]:
        """Return the stored maps by key; fits that succeeded and lack theirs are removed from `fits`."""
        if self._mapped is None:
            return {}
        keys = [key for (_, *place), key in self._keys.items() if tuple(place) == self._mapped and key in fits]
        maps = store.find_maps(keys)
        for key in keys:
            if key not in maps and not fits[key]["error"]:
                del fits[key]
        return maps

    def _note(self, outcomes: Iterable[Outcome]) -> Iterator[Cell]:
        """Record outcomes, and yield the cells that they complete."""
        for outcome in outcomes:
            of_cell = self.outcomes[outcome.cell]
            if (outcome.seed, outcome.fold) in of_cell:
                continue
            of_cell[outcome.seed, outcome.fold] = outcome
            self.sweep.progress.done += 1
            if len(of_cell) == len(self.places):
                ordered = tuple(of_cell[place] for place in self.places)
                yield Cell(outcome.cell, dict(self.sweep.cells[outcome.cell]), ordered)

    # --- computing ----------------------------------------------------------------------------------------------------

    def work(self, crew: Crew, store: Store) -> Iterator[Cell]:
        """Yield cells when they are finished; the outcomes of a cell are stored before it is yielded."""
        running: dict[Future, tuple[Fit, ...]] = {}
        self.sweep.progress.began = time.monotonic()
        try:
            while self.pending or self.suspects or running:
                self._submit_jobs(crew, running)
                outcomes = self._collect(crew, running)
                self._write(store, outcomes)
                yield from self._note(outcomes)
        finally:
            for future in running:
                future.cancel()
            done = [future for future in running if future.done() and not future.cancelled()]
            self._write(
                store, [outcome for future in done if future.exception() is None for outcome in future.result()]
            )

    def _submit_jobs(self, crew: Crew, running: dict[Future, tuple[Fit, ...]]) -> None:
        """Submit enough jobs for all workers; a fit that may have killed a worker is submitted alone."""
        if self.suspects:
            if not running:
                fits = self.suspects.popleft()
                running[crew.submit(self._job(fits))] = fits
            return
        while self.pending and len(running) < crew.waiting:
            fits = self._next_fits(crew)
            running[crew.submit(self._job(fits))] = fits

    def _next_fits(self, crew: Crew) -> tuple[Fit, ...]:
        """Return a batch of about `JOB_SECONDS` of work, less near the end so that all workers finish together."""
        fits = self.pending.popleft()
        if self.sweep.warm_along is not None or not self._seconds:
            return fits
        count = min(int(JOB_SECONDS / self._seconds), len(self.pending) // (2 * crew.workers))
        for _ in range(count - 1):
            fits += self.pending.popleft()
        return fits

    def _job(self, fits: tuple[Fit, ...]) -> Job:
        sweep, warm = self.sweep, self.sweep.warm_along is not None
        return Job(sweep.estimator, fits, sweep.scoring, sweep.transductive, warm, sweep.shortcuts, self._mapped)

    def _collect(self, crew: Crew, running: dict[Future, tuple[Fit, ...]]) -> list[Outcome]:
        """Wait for jobs, remove them from `running` and return their outcomes; queue lost fits again."""
        alone = len(running) == 1
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        broken = _breakdown(finished)
        if broken is not None:  # the other jobs fail as well
            finished, _ = wait(running)
        outcomes: list[Outcome] = []
        lost = False
        for future in list(finished):
            fits = running.pop(future)
            if future.cancelled():  # the cluster has lost the rows with its last worker
                self.pending.appendleft(fits)
                lost = lost or future not in self._earlier
                continue
            error = future.exception()
            if error is None:
                outcomes += future.result()
                self._losses = 0
                self._measure(future.result())
            elif is_death(error):
                outcomes += self._requeue(fits, alone)
            else:
                raise SweepError(explain_unsendable(error)) from error
        if lost:
            self._send_rows_again(crew, running)
        if broken is not None and not crew.renew():
            raise SweepError(
                f"the executor lost its workers ({broken}); finished cells are in the store: run again to resume"
            ) from broken
        return outcomes

    def _send_rows_again(self, crew: Crew, running: Iterable[Future]) -> None:
        self._losses += 1
        if self._losses > MOST_ATTEMPTS:
            raise SweepError(
                f"the cluster has lost its rows {self._losses} times in a row; finished cells are in the store"
            )
        crew.take(self.rows)
        self._earlier = set(running)  # these were submitted with the lost rows

    def _requeue(self, fits: tuple[Fit, ...], alone: bool) -> list[Outcome]:
        """Queue the fits of a job whose worker died one by one; return failures after `MOST_ATTEMPTS` deaths alone."""
        if self.sweep.warm_along is None and len(fits) > 1:
            self.suspects.extend((fit,) for fit in fits)
            return []
        self.deaths[fits] = self.deaths.get(fits, 0) + alone
        if self.deaths[fits] < MOST_ATTEMPTS:
            self.suspects.append(fits)
            return []
        message = f"the worker process died {MOST_ATTEMPTS} times on this fit; it may have run out of memory"
        return [Outcome(fit.cell, fit.seed, fit.fold, error=message) for fit in fits]

    def _measure(self, outcomes: list[Outcome]) -> None:
        """Update the moving average of the seconds of a fit."""
        mean = sum(outcome.seconds for outcome in outcomes) / max(len(outcomes), 1)
        self._seconds = mean if not self._seconds else 0.7 * self._seconds + 0.3 * mean

    def _write(self, store: Store, outcomes: list[Outcome]) -> None:
        if outcomes:
            store.add(
                type(self.sweep.estimator).__name__,
                [
                    (self._keys[outcome.cell, outcome.seed, outcome.fold], self.sweep.cells[outcome.cell], outcome)
                    for outcome in outcomes
                ],
            )


def _breakdown(finished: Iterable[Future]) -> BaseException | None:
    """Return the error of an executor that lost its workers, if one of these jobs failed with it."""
    errors = (future.exception() for future in finished if not future.cancelled())
    return next((error for error in errors if isinstance(error, BrokenExecutor)), None)


def _checked_rows(X: ArrayLike, y: ArrayLike) -> tuple[NDArray, NDArray]:
    X, y = canonical(X) if is_sparse(X) else np.ascontiguousarray(X), np.asarray(y)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions; got shape {X.shape}")
    if X.shape[0] != len(y):
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(y)}")
    return X, y


def _check_path(estimator: Any, grid: Mapping[str, Any], name: str) -> None:
    if name not in grid:
        raise ValueError(f"warm_along must be a parameter of the grid ({', '.join(grid)}); got {name!r}")
    if not hasattr(estimator, "restart_parameters"):
        raise ValueError(f"warm_along: {type(estimator).__name__} cannot resume an earlier run")
    if name in estimator.restart_parameters:
        raise ValueError(f"warm_along: {name} of {type(estimator).__name__} cannot change within a run")


def _paths(sweep: Sweep) -> list[list[int]]:
    """Return the cells in the order of visits, each as a path of its own or, with `warm_along`, in whole paths."""
    if sweep.warm_along is None:
        return [[number] for number in sweep.cells]
    numbers = np.array(sorted(sweep.cells)).reshape([len(values) for values in sweep.grid.values()])
    along = list(sweep.grid).index(sweep.warm_along)
    return [list(map(int, path)) for path in np.moveaxis(numbers, along, -1).reshape(-1, numbers.shape[along])]

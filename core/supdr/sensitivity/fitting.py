"""What a worker does: fit the cells of a job, one after the other, and judge them."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

from supdr.engine.context import run_context
from supdr.engine.iterate import Snapshot
from supdr.engine.reuse import ResultCache
from supdr.sensitivity.outcome import Outcome
from supdr.sensitivity.rows import Part, Rows
from supdr.sensitivity.scoring import Judged, scores_of

LONGEST_MESSAGE = 500

KEPT = "features and decompositions kept"


@dataclass(frozen=True)
class Fit:
    """One fit to be made: which cell, on which part of the rows."""

    cell: int
    seed: int
    fold: int
    params: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True)
class Job:
    """What is sent to a worker at once.

    estimator: not fitted; cells change its parameters.
    fits: if `warm`, a path: each but the first starts from the end of the one before.
    scoring: see `checked_scoring`.
    transductive, warm, shortcuts: see `Sweep`.
    """

    estimator: Any
    fits: tuple[Fit, ...]
    scoring: dict[str, Any]
    transductive: bool
    warm: bool
    shortcuts: bool


# Results that the cells of all jobs of this process share.
CACHE = ResultCache()


def evaluate(job: Job, rows: Any) -> list[Outcome]:
    """Fit and judge all cells of a job with one BLAS thread; a fit that fails is an outcome with a message.

    `rows`: or what loads them.
    """
    here = rows.load()
    with _worker_state(job.shortcuts):
        outcomes, previous = [], None
        for fit in job.fits:
            outcome, fitted = _attempt(job, fit, here, previous)
            outcomes.append(outcome)
            previous = fitted if job.warm else None
        return outcomes


@contextmanager
def _worker_state(shortcuts: bool) -> Iterator[None]:
    cache = CACHE if shortcuts else None
    with _blas_threads().limit(limits=1), run_context(cache=cache), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def _blas_threads() -> ThreadpoolController:
    return ThreadpoolController()


def _attempt(job: Job, fit: Fit, rows: Rows, previous: Any) -> tuple[Outcome, Any]:
    began, reused_names = time.perf_counter(), set[str]()
    try:
        with run_context(reused_names=reused_names):
            judged, shared, warm = _fitted(job, fit, rows, previous)
        scores = scores_of(judged, job.scoring)
    except Exception as error:  # one cell must not end the sweep
        words = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
        return Outcome(fit.cell, fit.seed, fit.fold, error=words, seconds=time.perf_counter() - began), None
    stop, iterations = getattr(judged.fitted, "stop_", None), getattr(judged.fitted, "n_iter_", None)
    shared = shared or (KEPT if reused_names else "")
    outcome = Outcome(
        fit.cell,
        fit.seed,
        fit.fold,
        scores,
        stop=str(stop or ""),
        iterations=None if iterations is None else int(np.max(iterations)),
        seconds=time.perf_counter() - began,
        shared=shared,
        warm=warm,
    )
    return outcome, judged.fitted


def _fitted(job: Job, fit: Fit, rows: Rows, previous: Any) -> tuple[Judged, str, bool]:
    train, test = rows.splits[fit.seed][fit.fold]
    estimator = prepared(job.estimator, fit.params, fit.seed)
    shared, warm = "", False
    began = time.perf_counter()
    part = Part(rows, train, test, job.transductive)
    X_test = None
    sharing = _shared_fit(job, estimator, part)
    if sharing is not None:
        estimator, X_test, shared = sharing
    elif previous is not None:
        estimator.fit(part.X, part.y, start=_end_of(previous, estimator))
        warm = True
    else:
        estimator.fit(part.X, part.y)
    seconds = time.perf_counter() - began
    predicted = estimator.transduction_[test] if job.transductive else None
    X_test = part.X_test if X_test is None else X_test
    return Judged(estimator, X_test, rows.y[test], predicted, seconds), shared, warm


def _shared_fit(job: Job, estimator: Any, part: Part) -> Any:
    """Return a fit with what the cells share, or None: other libraries' estimators know of none."""
    share = getattr(estimator, "_fit_shared", None)
    return None if share is None or not job.shortcuts or job.warm else share(part, job.scoring.values())


def prepared(estimator: Any, params: dict[str, Any], seed: int) -> Any:
    """Return a copy with the cell's parameters and, where it takes one, the repetition's seed."""
    estimator = clone(estimator).set_params(**params)
    return estimator.set_params(random_state=seed) if "random_state" in estimator.get_params(deep=False) else estimator


def _end_of(fitted: Any, following: Any) -> Snapshot:
    """Return where a fitted estimator stands, as a start for `following`."""
    fixed = {name: getattr(following, name) for name in sorted(following.restart_parameters)}
    return replace(fitted.snapshot_, fixed=fixed)

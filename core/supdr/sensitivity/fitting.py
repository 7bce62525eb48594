"""The work of a job: the fits of its cells, one after another, and their scores; keys of fits in the store."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from threadpoolctl import ThreadpoolController

from supdr.engine.context import run_context
from supdr.engine.iterate import Snapshot
from supdr.engine.reuse import ResultCache, fingerprint
from supdr.sensitivity.maps import map_of
from supdr.sensitivity.outcome import Outcome
from supdr.sensitivity.rows import Part, Rows
from supdr.sensitivity.scoring import HeldOutFit, scores_of

LONGEST_MESSAGE = 500

KEPT = "features and decompositions kept"


@dataclass(frozen=True)
class Fit:
    """One fit of a sweep: its cell, its part of the rows and its parameters."""

    cell: int
    seed: int
    fold: int
    params: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True)
class Job:
    """The message to a worker: an estimator and several fits.

    estimator: not fitted; the fits change its parameters.
    fits: if `warm`, a path: each but the first starts from the last snapshot of the previous one.
    scoring: see `check_scoring`.
    transductive, warm, shortcuts: see `Sweep`.
    mapped: seed and fold of the fits whose map is kept; None: no maps.
    """

    estimator: Any
    fits: tuple[Fit, ...]
    scoring: dict[str, Any]
    transductive: bool
    warm: bool
    shortcuts: bool
    mapped: tuple[int, int] | None = None


# The results that the cells of all jobs of this process share.
CACHE = ResultCache()


def evaluate(job: Job, rows: Any) -> list[Outcome]:
    """Make and score all fits of a job with one BLAS thread; a failed fit is an outcome with a message."""
    loaded = rows.load()
    with _worker_state(job.shortcuts):
        outcomes, previous = [], None
        for fit in job.fits:
            outcome, fitted = _attempt(job, fit, loaded, previous)
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
    start_time, reused_names = time.perf_counter(), set[str]()
    try:
        with run_context(reused_names=reused_names):
            part = Part(rows, *rows.splits[fit.seed][fit.fold], job.transductive)
            scored, shared, warm = _fit(job, fit, part, previous)
        scores = scores_of(scored, job.scoring)
        latent = _stored_map(scored, part) if job.mapped == (fit.seed, fit.fold) else None
    except Exception as error:  # one cell must not end the sweep
        message = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
        return Outcome(fit.cell, fit.seed, fit.fold, error=message, seconds=time.perf_counter() - start_time), None
    stop, iterations = getattr(scored.fitted, "stop_", None), getattr(scored.fitted, "n_iter_", None)
    shared = shared or (KEPT if reused_names else "")
    outcome = Outcome(
        fit.cell,
        fit.seed,
        fit.fold,
        scores,
        stop=str(stop or ""),
        iterations=None if iterations is None else int(np.max(iterations)),
        seconds=time.perf_counter() - start_time,
        shared=shared,
        warm=warm,
        map=latent,
    )
    return outcome, scored.fitted


def _stored_map(scored: HeldOutFit, part: Part) -> NDArray:
    """Return the map of a fit as the store keeps it; without rows if there is none."""
    latent = map_of(scored.fitted, part, scored.X)
    return np.empty((0, 2), np.int16) if latent is None else latent


def _fit(job: Job, fit: Fit, part: Part, previous: Any) -> tuple[HeldOutFit, str, bool]:
    """Return the fitted estimator with its test rows, the name of shared results, and whether the start was warm."""
    unfitted = cell_estimator(job.estimator, fit.params, fit.seed)
    estimator, shared, warm = clone(unfitted), "", False
    start_time = time.perf_counter()
    X_test = None
    sharing = _shared_fit(job, estimator, part)
    if sharing is not None:
        estimator, X_test, shared = sharing
    elif previous is not None:
        estimator.fit(part.X, part.y, start=_end_of(previous, estimator))
        warm = True
    else:
        estimator.fit(part.X, part.y)
    seconds = time.perf_counter() - start_time
    predicted = estimator.transduction_[part.test] if job.transductive else None
    X_test = part.X_test if X_test is None else X_test
    return HeldOutFit(estimator, X_test, part.rows.y[part.test], predicted, seconds, unfitted, part), shared, warm


def _shared_fit(job: Job, estimator: Any, part: Part) -> Any:
    """Return a fit with results that the cells share, or None: other libraries' estimators have none."""
    share = getattr(estimator, "_fit_shared", None)
    return None if share is None or not job.shortcuts or job.warm else share(part, job.scoring.values())


def cell_estimator(estimator: Any, params: dict[str, Any], seed: int) -> Any:
    """Return a copy with the cell's parameters and, if it has ``random_state``, the repetition's seed."""
    estimator = clone(estimator).set_params(**params)
    return estimator.set_params(random_state=seed) if "random_state" in estimator.get_params(deep=False) else estimator


def _end_of(fitted: Any, following: Any) -> Snapshot:
    """Return the last snapshot of a fitted estimator as a start of the estimator `following`."""
    fixed = {name: getattr(following, name) for name in sorted(following.restart_parameters)}
    return replace(fitted.snapshot_, fixed=fixed)


def fit_keys(
    estimator: BaseEstimator,
    cells: Mapping[int, dict[str, Any]],
    paths: Sequence[Sequence[int]],
    rows: Rows,
    *,
    scoring: Mapping[str, Any],
    transductive: bool,
    warm: bool,
) -> dict[tuple[int, int, int], str]:
    """Return the key of every fit of a sweep, by cell, seed and fold; `paths` are the orders of visits."""
    try:
        release = version("supdr-viz")
    except PackageNotFoundError:
        release = ""
    metrics = {name: _named(metric) for name, metric in scoring.items()}
    common = fingerprint((release, _address(type(estimator)), rows.digest, metrics, transductive))
    parts = {seed: [fingerprint(list(split)) for split in splits] for seed, splits in rows.splits.items()}
    keys = {}
    for path in paths:
        for length, number in enumerate(path, start=1):
            visited = path[:length] if warm else [number]
            for seed, folds in parts.items():
                params = [
                    {name: _named(value) for name, value in each.get_params().items()}
                    for each in (cell_estimator(estimator, cells[cell], seed) for cell in visited)
                ]
                digest = fingerprint(params)
                for fold, part in enumerate(folds):
                    keys[number, seed, fold] = fingerprint((common, part, digest))
    return keys


def _address(kind: type) -> str:
    """Return the public address of a class: for a method its package, so that keys do not depend on its files."""
    return f"{kind.__module__.removesuffix('.estimator')}.{kind.__qualname__}"


def _named(value: Any) -> Any:
    """Return the representation of a parameter in a key; of an estimator its class: its parameters are listed, too."""
    if isinstance(value, BaseEstimator):
        return type(value).__qualname__
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    return value

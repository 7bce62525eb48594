"""Regression with few labels: the protocol of SNF's comparison, and a study that measures its errors on any data.

Columns and targets are scaled to [-1, 1] over all rows.  Labelled rows are drawn at random, a method sees the columns
of all rows, and its mean squared error is over all rows without a label.  SNF and LLR have the library's default
parameters.  The settings of the others are chosen by cross-validation over the labelled rows; folds are runs of
labelled rows in the order of the table.  With few labels this choice depends on chance: the spread over the draws
matters as much as the mean.

The explorer, ``supdr-viz reproduce`` and ``benchmarks/snf.py`` all take it from here; ``supdr-viz reproduce`` chooses
settings of SNF and LLR besides, see `supdr_viz.papers.few_labels_estimator`.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from supdr import SNF
from supdr.baselines import LLR, LSSVM, PFR, Constant, GraphLaplacian, HessianEnergy, LapRLS
from supdr.methods.snf.estimator import BaseSNF
from supdr_viz.papers.data import scaled

# Hundreds of fits in cross-validation would repeat this warning.
warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ rows are in parts of the graph", UserWarning, __name__)

FIRST_DRAW, N_DRAWS = 100, 5
# Fewest labelled rows.
LEAST = 4

# Folds, at most; one row each if there are fewer rows.
FOLDS = 8

# Of more rows, a study draws so many.
MAX_ROWS = 600

DECADES = (1e-2, 1e-1, 1.0, 10.0, 100.0)
PLAIN: dict[str, Any] = {"preprocessing": "none"}

CORE = ("Constant", "SNF", "LLR", "LS-SVM")
GRAPHS = ("LapRLS", "Laplacian", "Hessian", "PFR")
# Taken as the library has them.
FACTORISATIONS: dict[str, Callable[..., BaseSNF]] = {"SNF": SNF, "LLR": LLR}

Result = TypeVar("Result")
# Yields between pieces of work of some milliseconds; returns its result.
Work = Generator[None, None, Result]


def result_of(work: Work[Result]) -> Result:
    """Do all the work and return its result."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


# --- draws and folds --------------------------------------------------------------------------------------------------


def n_labelled(n_rows: int, share: float) -> int:
    """Return the number of labelled rows at a share."""
    return min(max(LEAST, round(share * n_rows)), n_rows - 1)


def labelled_rows(n_rows: int, share: float, seed: int) -> NDArray:
    """Return the labelled rows of a draw."""
    return np.random.default_rng(seed).permutation(n_rows)[: n_labelled(n_rows, share)]


def labels_at(y: NDArray, rows: NDArray) -> NDArray:
    """Return y with NaN outside of `rows`."""
    hidden = np.full(len(y), np.nan)
    hidden[rows] = y[rows]
    return hidden


def folds(y: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield (kept, held out) rows of those that have a label, in ascending order."""
    rows = np.flatnonzero(~np.isnan(y))
    for part in np.array_split(rows, min(FOLDS, len(rows))):
        yield np.setdiff1d(rows, part), part


# --- the choice of settings -------------------------------------------------------------------------------------------


def models_of(method: str, columns: int) -> list[Any]:
    """Return the settings to choose from, for all methods but the factorisations.

    `columns`: of X.
    """
    if method == "Constant":
        return [Constant()]
    if method == "LS-SVM":
        gammas = [gamma / columns for gamma in (0.03, 0.1, 0.3, 1.0, 3.0)]
        gaussian = [LSSVM(C, gamma=gamma, **PLAIN) for C in DECADES for gamma in gammas]
        return gaussian + [LSSVM(C, kernel="poly", degree=degree, **PLAIN) for C in DECADES for degree in (1, 2, 3)]
    if method == "Laplacian":
        return [GraphLaplacian(reg, n_neighbors=k, **PLAIN) for reg in (0.01, 0.1, 1.0) for k in (6, 12, 25)]
    if method == "LapRLS":
        grid = itertools.product((1e-4, 1e-2), (0.1, 10.0), (0.1, 0.5, 2.0))
        return [LapRLS(a, reg_intrinsic=i, gamma=gamma / columns, **PLAIN) for a, i, gamma in grid]
    if method == "Hessian":
        grid_ = itertools.product((0.01, 1.0), (1, 2, 3), (12, 25))
        return [HessianEnergy(reg, dimension=m, n_neighbors=k, **PLAIN) for reg, m, k in grid_]
    return [PFR(a, reg_parallel=b, dimension=2, **PLAIN) for a in (0.1, 1.0) for b in (1e-3, 1e-2)]


def best_model(models: Sequence[Any], X: NDArray, y: NDArray) -> Work[Any]:
    """Return the model with the lowest cross-validated error."""
    best, lowest = models[0], np.inf
    for model in models if len(models) > 1 else ():
        error = 0.0
        for train, test in folds(y):
            error += float(((model.fit(X, labels_at(y, train)).transduction_[test] - y[test]) ** 2).sum())
            yield
        if error < lowest:
            best, lowest = model, error
    return best


def predictions(method: str, X: NDArray, y: NDArray) -> Work[NDArray]:
    """Fit a method with all labels and predict all rows; all but the factorisations choose their settings first.

    `method`: of `CORE` and `GRAPHS`; `X` (n, m); `y` (n,): NaN where unlabelled. Returns (n,). Yields between pieces of
    work.
    """
    if method not in FACTORISATIONS:
        best = yield from best_model(models_of(method, X.shape[1]), X, y)
        return best.fit(X, y).transduction_
    model = FACTORISATIONS[method](random_state=0, **PLAIN)
    *_, last = yield from _each(model.iterate(X, y))
    return model.at(last).transduction_


def _each(steps: Iterator[Result]) -> Work[list[Result]]:
    """Return all items; each is a piece of work."""
    done = []
    for step in steps:
        done.append(step)
        yield
    return done


# --- all methods, all draws -------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """Errors of one method at one share of labels."""

    method: str
    share: float


class Study:
    """Errors of several methods over several draws of labelled rows, measured step by step.

    `errors`: one mean squared error per draw, of those measured so far. `done`, `total`: number of errors that are
    measured, and of all. `current`: the method that is being fitted; empty where nothing is left to do.

    X (n, m).
    y (n,): rows with missing cells or an unknown target are left out.
    shares: shares of labelled rows.
    methods: of `CORE` and `GRAPHS`.
    seed: draws are ``default_rng(100 + seed)`` and the next ones.
    n_draws: draws for each share of labels.
    """

    def __init__(
        self,
        X: NDArray,
        y: NDArray,
        shares: Sequence[float],
        methods: Sequence[str],
        seed: int = 0,
        n_draws: int = N_DRAWS,
    ) -> None:
        whole = np.isfinite(y) & np.isfinite(X).all(axis=1)
        X, y = X[whole], y[whole]
        if len(X) > MAX_ROWS:
            rows = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
            X, y = X[rows], y[rows]
        self.X, self.y = scaled(X), scaled(y[:, None])[:, 0] if len(y) and np.ptp(y) > 0 else np.zeros(len(y))
        self.shares, self.methods, self.seed, self.n_draws = tuple(shares), tuple(methods), seed, n_draws
        self.errors: dict[Cell, list[float]] = {}
        usable = len(self.X) >= 2 * LEAST and self.X.shape[1] > 0
        self.total = n_draws * len(self.shares) * len(self.methods) if usable else 0
        self.done, self.current = 0, ""
        self._work = self._run()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.done >= self.total

    def work(self, seconds: float) -> bool:
        """Go on for about `seconds`.

        Returns whether an error came in, or the turn of another method.
        """
        before, end = (self.done, self.current), time.monotonic() + seconds
        while not self.finished:
            next(self._work)
            if time.monotonic() >= end:
                break
        if self.finished:
            self.current = ""
        return (self.done, self.current) != before

    def n_labelled(self, share: float) -> int:
        """Return the number of labelled rows at a share."""
        return n_labelled(len(self.y), share)

    def labelled_rows(self, share: float, draw: int) -> NDArray:
        """Return the labelled rows of a draw."""
        return labelled_rows(len(self.y), share, FIRST_DRAW + self.seed + draw)

    def _run(self) -> Iterator[None]:
        # One draw after the other, so that every method soon has a bar; methods on graphs last.
        first, last = ([method for method in self.methods if (method in CORE) is core] for core in (True, False))
        rounds = [itertools.product(range(self.n_draws), methods, self.shares) for methods in (first, last)]
        for draw, method, share in itertools.chain(*rounds):
            rows, self.current = self.labelled_rows(share, draw), method
            try:
                predicted = yield from predictions(method, self.X, labels_at(self.y, rows))
            except (ValueError, np.linalg.LinAlgError):
                pass  # a method that these rows do not determine has no error here
            else:
                error = float(np.mean(np.delete(predicted - self.y, rows) ** 2))
                self.errors.setdefault(Cell(method, share), []).append(error)
            self.done += 1
            yield

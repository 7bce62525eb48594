"""The comparison of SNF's paper, on any regression data: errors with few labels, method by method, as they come in.

The protocol is fixed: columns and targets scaled to [-1, 1] over all rows, draws of labelled rows, mean squared error
over all rows without a label, settings by cross-validation over the labelled rows alone, the features of all rows
known.  SNF and LLR are chosen at target weight 0, where one factorisation serves every draw, and fitted at 1.  With few
labels this choice is a lottery: the spread over the draws matters as much as the mean.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr import SNF
from supdr.baselines import LSSVM, PFR, Constant, GraphLaplacian, HessianEnergy, LapRLS

# Hundreds of fits in cross-validation would say so hundreds of times.
warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ rows are in parts of the graph", UserWarning, __name__)

FIRST_DRAW, N_DRAWS = 100, 5
LEAST = 4
"""Fewest labelled rows."""

FOLDS = 8
MAX_ROWS = 600
"""Of more rows, so many are drawn."""

MAX_ITER = 60
REGS, REG_WS = (0.1, 1.0, 10.0), (0.01, 0.1, 1.0, 10.0)
DECADES = (1e-2, 1e-1, 1.0, 10.0, 100.0)
PLAIN: dict[str, Any] = {"preprocessing": "none"}

CORE = ("Constant", "SNF", "LLR", "LS-SVM")
GRAPHS = ("LapRLS", "Laplacian", "Hessian", "PFR")

Work = Iterator[None]
"""Yields between pieces of work of some milliseconds."""


class Cell(NamedTuple):
    """Errors of one method at one share of labels.

    Attributes
    ----------
    method : str
    share : float
    """

    method: str
    share: float


class Study:
    """Errors of several methods over several draws of labelled rows, worked out bit by bit.

    Parameters
    ----------
    X : array of shape (n, m)
    y : array of shape (n,)
        Rows with missing cells or an unknown target are left out.
    shares : sequence of float
        Shares of labelled rows.
    methods : sequence of str
        Of `CORE` and `GRAPHS`.
    seed : int
        Draws are ``default_rng(100 + seed)`` and the next four.

    Attributes
    ----------
    errors : dict of Cell to list of float
        What is known so far: one mean squared error per draw.
    done, total : int
        Errors known, and errors to come in all.
    """

    def __init__(self, X: NDArray, y: NDArray, shares: Sequence[float], methods: Sequence[str], seed: int = 0) -> None:
        whole = np.isfinite(y) & np.isfinite(X).all(axis=1)
        X, y = X[whole], y[whole]
        if len(X) > MAX_ROWS:
            kept = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
            X, y = X[kept], y[kept]
        self.X, self.y = scaled(X), scaled(y[:, None])[:, 0] if len(y) and np.ptp(y) > 0 else np.zeros(len(y))
        self.shares, self.methods, self.seed = tuple(shares), tuple(methods), seed
        self.errors: dict[Cell, list[float]] = {}
        usable = len(self.X) >= 2 * LEAST and self.X.shape[1] > 0
        self.total = N_DRAWS * len(self.shares) * len(self.methods) if usable else 0
        self.done = 0
        self._latent: dict[tuple[int, ...], list[tuple[dict[str, Any], NDArray]]] = {}
        self._work = self._run()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.done >= self.total

    def work(self, seconds: float) -> bool:
        """Go on for about `seconds`.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        bool
            Whether an error came in.
        """
        before, end = self.done, time.monotonic() + seconds
        while not self.finished:
            next(self._work)
            if time.monotonic() >= end:
                break
        return self.done > before

    def n_labelled(self, share: float) -> int:
        """Return the number of labelled rows at a share."""
        return min(max(LEAST, round(share * len(self.y))), len(self.y) - 1)

    def drawn(self, share: float, draw: int) -> NDArray:
        """Return the labelled rows of a draw."""
        rng = np.random.default_rng(FIRST_DRAW + self.seed + draw)
        return rng.permutation(len(self.y))[: self.n_labelled(share)]

    def _run(self) -> Work:
        makers = {"Constant": _constant, "LS-SVM": _ls_svm, "SNF": _snf, "LLR": _llr}
        # One draw after the other, so that every method soon has a bar; the dear ones last.
        first, last = ([method for method in self.methods if (method in CORE) is core] for core in (True, False))
        rounds = [itertools.product(range(N_DRAWS), methods, self.shares) for methods in (first, last)]
        for draw, method, share in itertools.chain(*rounds):
            rows = self.drawn(share, draw)
            make: Callable[..., Iterator[NDArray | None]] = makers.get(method, _graph_method)
            predicted = None
            try:
                for piece in make(self, rows) if method in makers else make(self, rows, method):
                    predicted = piece
                    yield
            except (ValueError, np.linalg.LinAlgError):
                predicted = None  # a method that these rows do not determine has no error here
            if predicted is not None:
                unlabelled = np.delete(np.arange(len(self.y)), rows)
                error = float(np.mean((predicted - self.y)[unlabelled] ** 2))
                self.errors.setdefault(Cell(method, share), []).append(error)
            self.done += 1
            yield

    def factorisations(self, degrees: tuple[int, ...]) -> Iterator[None]:
        """Fit latent rows without labels, which serve every draw: see `latent`."""
        if degrees in self._latent:
            return
        found = []
        sizes = sorted({min(max(1, round(part * self.X.shape[1])), len(self.X) - 1) for part in (0.5, 0.75)})
        one_label = known(self.y, np.arange(1))
        for degree, size, reg in itertools.product(degrees, sizes, REGS):
            settings = {"n_components": size, "degree": degree, "reg_v": reg, "reg_z": reg}
            model = SNF(**settings, target_weight=0.0, calibrate=False, max_iter=MAX_ITER, random_state=0, **PLAIN)
            newest = None
            for snapshot in model.iterate(self.X, one_label):
                newest = snapshot
                yield
            assert newest is not None
            found.append((settings, model.at(newest).embedding_))
        self._latent[degrees] = found

    def latent(self, degrees: tuple[int, ...]) -> list[tuple[dict[str, Any], NDArray]]:
        """Return settings and latent rows of `factorisations`."""
        return self._latent[degrees]


def scaled(values: NDArray) -> NDArray:
    """Return the columns scaled to [-1, 1], without the constant ones."""
    low, high = values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)
    varies = high > low
    return 2.0 * (values[:, varies] - low[varies]) / (high - low)[varies] - 1.0


def known(y: NDArray, rows: NDArray) -> NDArray:
    """Return y with NaN outside of `rows`."""
    hidden = np.full(len(y), np.nan)
    hidden[rows] = y[rows]
    return hidden


def folds(rows: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield (kept, held out) labelled rows."""
    for part in np.array_split(np.arange(len(rows)), min(FOLDS, len(rows))):
        yield np.delete(rows, part), rows[part]


# --- methods: iterators that yield None between pieces of work and the predictions of all rows at last ---------------


def _constant(study: Study, rows: NDArray) -> Iterator[NDArray | None]:
    yield Constant().fit(study.X, known(study.y, rows)).transduction_


def _ls_svm(study: Study, rows: NDArray) -> Iterator[NDArray | None]:
    gammas = [gamma / study.X.shape[1] for gamma in (0.03, 0.1, 0.3, 1.0, 3.0)]
    models = [LSSVM(C, gamma=gamma, **PLAIN) for C in DECADES for gamma in gammas]
    models += [LSSVM(C, kernel="poly", degree=degree, **PLAIN) for C in DECADES for degree in (1, 2, 3)]
    yield from _best(models, study.X, study.y, rows)


def _graph_method(study: Study, rows: NDArray, name: str) -> Iterator[NDArray | None]:
    columns = study.X.shape[1]
    models: list[Any]
    if name == "Laplacian":
        models = [GraphLaplacian(reg, n_neighbors=k, **PLAIN) for reg in (0.01, 0.1, 1.0) for k in (6, 12, 25)]
    elif name == "LapRLS":
        grid = itertools.product((1e-4, 1e-2), (0.1, 10.0), (0.1, 0.5, 2.0))
        models = [LapRLS(a, reg_intrinsic=i, gamma=gamma / columns, **PLAIN) for a, i, gamma in grid]
    elif name == "Hessian":
        grid_ = itertools.product((0.01, 1.0), (1, 2, 3), (12, 25))
        models = [HessianEnergy(reg, dimension=m, n_neighbors=k, **PLAIN) for reg, m, k in grid_]
    else:
        models = [PFR(a, reg_parallel=b, dimension=2, **PLAIN) for a in (0.1, 1.0) for b in (1e-3, 1e-2)]
    yield from _best(models, study.X, study.y, rows)


def _best(models: list[Any], X: NDArray, y: NDArray, rows: NDArray) -> Iterator[NDArray | None]:
    """Yield None after every fit, then the predictions of the model with the lowest cross-validated error."""
    best, lowest = models[0], np.inf
    for model in models:
        error = 0.0
        for kept, held in folds(rows):
            error += float(((model.fit(X, known(y, kept)).transduction_[held] - y[held]) ** 2).sum())
            yield None
        if error < lowest:
            best, lowest = model, error
    yield best.fit(X, known(y, rows)).transduction_


def _llr(study: Study, rows: NDArray) -> Iterator[NDArray | None]:
    yield from _factorised(study, rows, (1,))


def _snf(study: Study, rows: NDArray) -> Iterator[NDArray | None]:
    yield from _factorised(study, rows, (1, 2, 3))


def _factorised(study: Study, rows: NDArray, degrees: tuple[int, ...]) -> Iterator[NDArray | None]:
    yield from study.factorisations(degrees)
    best: dict[str, Any] = {}
    lowest = np.inf
    for (settings, latent), reg_w in itertools.product(study.latent(degrees), REG_WS):
        # The target's regression on latent rows is an LS-SVM there.
        head = LSSVM(1.0 / reg_w, kernel="poly", degree=settings["degree"], **PLAIN)
        error = 0.0
        for kept, held in folds(rows):
            head.fit(latent[kept], study.y[kept])
            error += float(((head.predict(latent[held]) - study.y[held]) ** 2).sum())
        yield None
        if error < lowest:
            best, lowest = {**settings, "reg_w": reg_w}, error
    model, newest = SNF(**best, max_iter=MAX_ITER, random_state=0, **PLAIN), None
    for snapshot in model.iterate(study.X, known(study.y, rows)):
        newest = snapshot
        yield None
    assert newest is not None
    fitted = model.at(newest)
    yield fitted.latent_decision_function(fitted.embedding_, head="calibrated")

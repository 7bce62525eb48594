"""What the papers' protocols have in common: measuring through the resumable store, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.sensitivity import Result, Sweep

# Standard errors of the difference within which two means agree.
ERRORS = 2.0

# Share of the paper's figure within which a measured mean always agrees.
FLOOR = 0.05

# Share of the paper's figure that two standard errors may be, for a measurement to tell anything.
MOST_NOISE = 0.5

# How a verdict comes about; printed with every table.
RULE = (
    "A printed figure is reproduced if the measured mean differs from it by at most two standard errors of the "
    f"difference, or by at most {FLOOR:.0%} of the figure (of an accuracy: of the error), or by half of its last "
    "printed digit. The standard error takes the paper's deviation and number of folds where they are at hand, and "
    "ours in their place otherwise. Where two standard errors are more than half of the figure the measurement is too "
    "noisy to tell: undecided. Beyond that a figure of the paper's own method is better or not reproduced; a "
    "figure of a rival differs. A claim (at most, at least) is reproduced if the measured mean satisfies its bound, "
    "not reproduced if it does not, and undecided if it is less than two standard errors from the bound. "
    "Bounds that the paper does not print are our reading of its text and pictures. Our own questions are answered, "
    "yes or no, and counted apart."
)

BOUNDS = ("at most", "at least")
ANSWERS = (("not reproduced", "reproduced"), ("no", "yes"))


@dataclass(frozen=True)
class Row:
    """One figure or claim of a paper, or a question of our own, and what was measured.

    measured: one value per fold, draw or start.
    paper: the paper's figure, or the bound that its claim amounts to.
    paper_sd: standard deviation that the paper prints; 0: none is at hand.
    kind (one of "less", "greater", "at most", "at least"): a figure of which less (greater) is better, or a claim.
    about (one of "method", "rival", "question"): a figure or claim of the paper about its own method, a figure of a
        method that it compares with, or a question that the paper does not ask.
    paper_n: number of folds or draws behind the paper's figure; 0: as many as here.
    best: the best value possible of a figure of kind "greater".
    digit: value of the last printed digit of the paper's figure.
    note: what to know about this row.
    """

    what: str
    measured: tuple[float, ...]
    paper: float
    paper_sd: float = 0.0
    kind: str = "less"
    about: str = "method"
    paper_n: int = 0
    best: float = 1.0
    digit: float = 0.001
    note: str = ""

    @property
    def mean(self) -> float:
        """Mean of what was measured; NaN if nothing was."""
        return float(np.mean(self.measured)) if self.measured else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation of what was measured."""
        return float(np.std(self.measured)) if self.measured else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of the difference from the paper's figure, or from a bound, which has none of its own."""
        n = max(len(self.measured), 1)
        own = self.deviation**2 / max(n - 1, 1)
        if self.kind in BOUNDS:
            return float(np.sqrt(own))
        return float(np.sqrt(own + (self.paper_sd or self.deviation) ** 2 / (self.paper_n or n)))

    @property
    def size(self) -> float:
        """What the distance from the paper's figure is compared with: the figure, or the error behind an accuracy."""
        return abs(self.best - self.paper) if self.kind == "greater" else abs(self.paper)

    @property
    def verdict(self) -> str:
        """What `RULE` says."""
        if not self.measured or not np.isfinite(self.mean):
            return "not measured"
        if self.kind in BOUNDS:
            return self._against_bound()
        distance, noise = abs(self.mean - self.paper), ERRORS * self.standard_error
        if distance <= max(FLOOR * self.size, 0.5 * self.digit):
            return "reproduced"
        if distance <= noise:
            return "reproduced" if noise <= MOST_NOISE * self.size else "undecided"
        if self.about == "rival":
            return "differs"
        return "better" if (self.mean < self.paper) == (self.kind == "less") else "not reproduced"

    def _against_bound(self) -> str:
        if abs(self.mean - self.paper) < ERRORS * self.standard_error:
            return "undecided"
        holds = self.mean <= self.paper if self.kind == "at most" else self.mean >= self.paper
        return ANSWERS[self.about == "question"][holds]


def at_most(what: str, measured: ArrayLike, bound: float, **more: Any) -> Row:
    """Return the claim that what is measured is at most `bound`.

    `measured`: numbers, one per fold, draw or start; `more`: of `Row`.
    """
    return Row(what, tuple(map(float, np.ravel(measured))), bound, kind="at most", **more)


def at_least(what: str, measured: ArrayLike, bound: float, **more: Any) -> Row:
    """Return the claim that what is measured is at least `bound`; for the parameters see `at_most`."""
    return Row(what, tuple(map(float, np.ravel(measured))), bound, kind="at least", **more)


@dataclass
class Bench:
    """Where and how thoroughly to measure.

    quick: fewer folds, draws and steps: to see that everything works, not to judge.
    store: SQLite file; what is finished there is not computed again.
    executor, workers: as for `Sweep.run`.
    seconds: of all fits so far, those stored by earlier runs included.
    follow: ``follow(sweep, cells)`` yields the cells, showing progress.
    """

    data_dir: Path | None = None
    quick: bool = False
    store: str = ":memory:"
    executor: Any = None
    workers: int | None = None
    seconds: float = 0.0
    follow: Callable[[Sweep, Iterable[Any]], Iterable[Any]] = lambda _sweep, cells: cells

    def either(self, quick: Any, full: Any) -> Any:
        """Return what the chosen protocol asks for."""
        return quick if self.quick else full

    def sweep(
        self, estimator: Any, X: NDArray, y: NDArray, grid: Mapping[str, Any] | None = None, **settings: Any
    ) -> Result:
        """Run a sweep; without a grid it has one cell.

        `**settings`: of `supdr.sensitivity.Sweep`. Raises RuntimeError if every fit of a cell failed; the message is
        that of the first one.
        """
        if grid is None:
            name, value = next(iter(estimator.get_params(deep=False).items()))
            grid = {name: [value]}
        sweep = Sweep(estimator, grid, store=self.store, **settings)
        result = sweep.result(self.follow(sweep, sweep.run(X, y, self.executor, workers=self.workers)))
        for cell in result.cells.values():
            self.seconds += cell.seconds
            if cell.errors and all(outcome.error for outcome in cell.outcomes):
                raise RuntimeError(f"{type(estimator).__name__}, {cell.params}: {cell.errors[0]}")
        return result

    def values(self, estimator: Any, X: NDArray, y: NDArray, **settings: Any) -> tuple[float, ...]:
        """Return the (main) metric of every fold and seed."""
        result = self.sweep(estimator, X, y, **settings)
        return tuple(map(float, result.cells[0].values(result.metrics[0])))


# Name of an item -> how it is measured.
Measurements = Mapping[str, Callable[[Bench], list[Row]]]


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper.

    `measure`: returns its rows; `note`: what the protocol leaves open, or is a stand-in for; `reason`: why what is not
    reproduced is not, in one line.
    """

    name: str
    paper: str
    title: str
    measure: Callable[[Bench], list[Row]]
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class NotCovered:
    """A table, figure or protocol of a paper that is not measured.

    `what`: "Table 4: YEAST", say; `reason`: why not.
    """

    paper: str
    what: str
    reason: str


def everything(X: NDArray) -> list[tuple[NDArray, NDArray]]:
    """Return the split that fits and judges on all rows."""
    rows = np.arange(len(X))
    return [(rows, rows)]


def lowest_in(means: Mapping[str, Mapping[str, float]], method: str) -> float:
    """Return the number of data sets on which a method has the lowest mean error.

    `means`: data set → method → mean error.
    """
    return float(sum(method == min(errors, key=errors.__getitem__) for errors in means.values()))

"""What the papers' protocols have in common: measuring through the resumable store, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.sensitivity import Result, Sweep

LEAST_MARGIN = 0.005

RULE = (
    "A figure of the paper is reproduced if the measured mean differs from it by no more than the larger of the two "
    f"standard deviations (over folds, draws or starts; at least {LEAST_MARGIN}); beyond that it is better or not "
    "reproduced. A claim (at most, at least) is reproduced if the measured mean satisfies it; its bound is our reading "
    "of the paper's text and pictures."
)
"""How a verdict comes about; printed with every table."""


@dataclass(frozen=True)
class Row:
    """One figure or claim of a paper, and what was measured.

    Attributes
    ----------
    what : str
    measured : tuple of float
        One value per fold, draw or start.
    paper : float
        The paper's figure, or the bound that its claim amounts to.
    paper_sd : float
    kind : {"less", "greater", "at most", "at least"}
        A figure of which less (greater) is better, or a claim.
    note : str
        Why it failed, or what to know.
    """

    what: str
    measured: tuple[float, ...]
    paper: float
    paper_sd: float = 0.0
    kind: str = "less"
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
    def verdict(self) -> str:
        """What `RULE` says."""
        if not self.measured or not np.isfinite(self.mean):
            return "not measured"
        if self.kind in ("at most", "at least"):
            holds = self.mean <= self.paper if self.kind == "at most" else self.mean >= self.paper
            return "reproduced" if holds else "not reproduced"
        if abs(self.mean - self.paper) <= max(self.paper_sd, self.deviation, LEAST_MARGIN):
            return "reproduced"
        return "better" if (self.mean < self.paper) == (self.kind == "less") else "not reproduced"


@dataclass
class Bench:
    """Where and how thoroughly to measure.

    Attributes
    ----------
    data_dir : Path or None
    quick : bool
        Fewer folds, draws and steps: to see that everything works, not to judge.
    store : str
        SQLite file; what is finished there is not computed again.
    executor, workers
        As for `Sweep.run`.
    seconds : float
        Of all fits so far, those known from earlier runs included.
    follow : callable
        ``follow(sweep, cells)`` yields the cells, showing progress.
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

        Parameters
        ----------
        estimator : estimator
        X, y : arrays
        grid : mapping, optional
        **settings
            Of `supdr.sensitivity.Sweep`.

        Returns
        -------
        Result

        Raises
        ------
        RuntimeError
            If every fit of a cell failed; the message is that of the first one.
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


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper.

    Attributes
    ----------
    name, paper, title : str
    rows : callable
        ``rows(bench)`` measures.
    note : str
        What the protocol leaves open, or is a stand-in for.
    reason : str
        Why what is not reproduced is not, in one line.
    """

    name: str
    paper: str
    title: str
    rows: Callable[[Bench], list[Row]]
    note: str = ""
    reason: str = ""


def everything(X: NDArray) -> list[tuple[NDArray, NDArray]]:
    """Return the split that fits and judges on all rows."""
    rows = np.arange(len(X))
    return [(rows, rows)]

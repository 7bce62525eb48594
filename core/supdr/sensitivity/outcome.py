"""Results of a sweep: of one fit, of one cell, of the whole grid."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.optional import require
from supdr.sensitivity.scoring import GREATER_IS_BETTER


@dataclass(frozen=True)
class Outcome:
    """One fit.

    Attributes
    ----------
    cell, seed, fold : int
        Number of the cell, seed of the repetition and number of the fold.
    scores : dict of str to float
        Empty if the fit failed.
    stop : str
        Why its run ended; empty for estimators without `stop_`.
    iterations : int or None
    seconds : float
        Fit and scoring.
    shared : str
        Name of the exact results that came from another cell; empty: none.
    warm : bool
        Whether it started from the last state of its neighbour: it may reach another local optimum than a fresh start.
    error : str
        Message of a failed fit; else empty.
    map : array of shape (n_rows, 2) or None
        Latent positions as int16, see `supdr.sensitivity.aligned_maps`; None: not kept.
    """

    cell: int
    seed: int
    fold: int
    scores: dict[str, float] = field(default_factory=dict)
    stop: str = ""
    iterations: int | None = None
    seconds: float = 0.0
    shared: str = ""
    warm: bool = False
    error: str = ""
    map: NDArray | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Cell:
    """One point of the grid with all its fits.

    Attributes
    ----------
    number : int
        Place in the grid; the last parameter runs fastest.
    params : dict
        Its parameters.
    outcomes : tuple of Outcome
        In the order of seeds and folds.
    stored : bool
        Whether every fit came from the store.
    """

    number: int
    params: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    stored: bool = False

    def values(self, metric: str) -> NDArray:
        """Return the metric of every fit that succeeded.

        Parameters
        ----------
        metric : str
            One of the sweep's.

        Returns
        -------
        array
        """
        return np.array([outcome.scores[metric] for outcome in self.outcomes if metric in outcome.scores])

    def mean(self, metric: str) -> float:
        """Return the mean over folds and seeds; NaN if no fit succeeded.

        Parameters
        ----------
        metric : str
            One of the sweep's.

        Returns
        -------
        float
        """
        values = self.values(metric)
        return float(values.mean()) if values.size else math.nan

    def deviation(self, metric: str) -> float:
        """Return the standard deviation over folds and seeds (ddof 0); NaN if no fit succeeded.

        Parameters
        ----------
        metric : str
            One of the sweep's.

        Returns
        -------
        float
        """
        values = self.values(metric)
        return float(values.std()) if values.size else math.nan

    @property
    def seconds(self) -> float:
        """Seconds of all fits."""
        return math.fsum(outcome.seconds for outcome in self.outcomes)

    @property
    def errors(self) -> tuple[str, ...]:
        """Distinct messages of fits that failed."""
        return tuple(dict.fromkeys(outcome.error for outcome in self.outcomes if outcome.error))

    @property
    def stops(self) -> dict[str, int]:
        """Number of fits by the reason why they ended, the most frequent first."""
        return dict(Counter(outcome.stop for outcome in self.outcomes if outcome.stop).most_common())

    @property
    def warm(self) -> bool:
        """Whether any fit started from the last state of a neighbour."""
        return any(outcome.warm for outcome in self.outcomes)

    @property
    def map(self) -> NDArray | None:
        """Latent positions of the fit whose map is kept, int16 (n_rows, 2); None: there is no map."""
        return next((outcome.map for outcome in self.outcomes if outcome.map is not None and len(outcome.map)), None)

    @property
    def shared(self) -> str:
        """Names of the exact results that came from other cells."""
        return ", ".join(dict.fromkeys(outcome.shared for outcome in self.outcomes if outcome.shared))


class Result:
    """The cells of a sweep as a table.

    Parameters
    ----------
    grid : mapping of str to sequence
        Parameter -> values.
    metrics : sequence of str
        Names of the metrics; the first one is the default of the methods.
    cells : iterable of Cell
        Finished cells.
    """

    def __init__(self, grid: Mapping[str, Sequence[Any]], metrics: Sequence[str], cells: Iterable[Cell] = ()) -> None:
        self.grid = {name: list(values) for name, values in grid.items()}
        self.metrics = list(metrics)
        self.cells = {cell.number: cell for cell in cells}

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of every parameter."""
        return tuple(len(values) for values in self.grid.values())

    def means(self, metric: str = "") -> NDArray:
        """Return the means over folds and seeds in the shape of the grid; NaN where no fit has succeeded.

        Parameters
        ----------
        metric : str
            One of the sweep's; empty: the first one.

        Returns
        -------
        array
        """
        return self._filled(lambda cell: cell.mean(metric or self.metrics[0]))

    def deviations(self, metric: str = "") -> NDArray:
        """Return the standard deviations in the shape of the grid; NaN where no fit has succeeded.

        Parameters
        ----------
        metric : str
            One of the sweep's; empty: the first one.

        Returns
        -------
        array
        """
        return self._filled(lambda cell: cell.deviation(metric or self.metrics[0]))

    def _filled(self, value: Any) -> NDArray:
        flat = np.full(int(np.prod(self.shape)), np.nan)
        for number, cell in self.cells.items():
            flat[number] = value(cell)
        return flat.reshape(self.shape)

    def best(self, metric: str = "", *, greater: bool | None = None) -> Cell | None:
        """Return the cell with the best mean, or None.

        Parameters
        ----------
        metric : str
            One of the sweep's; empty: the first one.
        greater : bool, optional
            Whether greater is better; default: for accuracy, R² and correlation.

        Returns
        -------
        Cell or None
        """
        metric = metric or self.metrics[0]
        greater = metric in GREATER_IS_BETTER if greater is None else greater
        scored = [cell for cell in self.cells.values() if not math.isnan(cell.mean(metric))]
        if not scored:
            return None
        return (max if greater else min)(scored, key=lambda cell: cell.mean(metric))

    def table(self) -> Any:
        """Return a pandas.DataFrame: a row per cell with parameters, means, deviations, reasons to stop, messages."""
        require("A table of cells", "pandas", extra="files")
        import pandas as pd

        rows = []
        for number in sorted(self.cells):
            cell = self.cells[number]
            row = dict(cell.params)
            for metric in self.metrics:
                row[metric], row[f"{metric} sd"] = cell.mean(metric), cell.deviation(metric)
            row["fits"] = len(cell.outcomes)
            row["failed"] = sum(bool(outcome.error) for outcome in cell.outcomes)
            row["stop"] = ", ".join(f"{stop} {count}" for stop, count in cell.stops.items())
            row["seconds"] = cell.seconds
            row["shared"], row["warm"] = cell.shared, cell.warm
            row["message"] = "; ".join(cell.errors)
            rows.append(row)
        return pd.DataFrame(rows)

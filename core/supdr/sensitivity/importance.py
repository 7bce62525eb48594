"""The importance of parameters: functional analysis of variance of the cells of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import ExtraTreesRegressor

from supdr.sensitivity.axes import visiting_levels
from supdr.sensitivity.outcome import Result

# Trees of the estimate from a part of the grid, and the most points of the grid at which they are evaluated.
TREES = 50
MOST_POINTS = 4096

# Deviations below this share of the largest value are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Importance:
    """Shares of the variance of all fits of a sweep.

    Attributes
    ----------
    effects : dict of tuple of str to float
        Main effect of each parameter, ``("C",)``, and interaction of each set of parameters, ``("C", "degree")``.
    folds : float
        Share of the variance between the folds and seeds of a cell; with all effects it adds up to 1.
    spread : dict of tuple of str to float
        Standard deviation (ddof 0) of each effect over folds and seeds, each of which has its own decomposition.
    exact : bool
        Whether every cell of the grid has its number; False: estimated by a forest from the cells that have one.
    """

    effects: dict[tuple[str, ...], float]
    folds: float
    spread: dict[tuple[str, ...], float]
    exact: bool

    def sentence(self, titles: Mapping[str, str] | None = None) -> str:
        """Return the shares in words.

        Parameters
        ----------
        titles : mapping of str to str, optional
            Name of a parameter -> its title in the sentence.

        Returns
        -------
        str
            Such as "C explains 71 %, degree 6 %, their interaction 12 %, folds 11 %".
        """
        if not self.folds and not any(self.effects.values()):
            return "All fits have the same score."
        titles = {names[0]: (titles or {}).get(names[0], names[0]) for names in self.effects if len(names) == 1}
        shares = [(title, self.effects[name,]) for name, title in titles.items()]
        if len(titles) > 1:
            shares.append(("their interaction" if len(titles) == 2 else "their interactions", self.together))
        (first, share), *others = [*shares, ("folds", self.folds)]
        words = [f"{first} explains {_percent(share)}", *(f"{name} {_percent(share)}" for name, share in others)]
        return ("" if self.exact else "Estimated from a part of the cells: ") + ", ".join(words)

    @property
    def together(self) -> float:
        """Share of all interactions."""
        return sum(share for names, share in self.effects.items() if len(names) > 1)


def functional_anova(values: ArrayLike) -> dict[tuple[int, ...], float]:
    """Decompose the variance of a function on a full grid into main effects and interactions.

    Parameters
    ----------
    values : array-like of shape (n_1, ..., n_k)
        Value at every point of the grid, one axis per parameter; finite.

    Returns
    -------
    dict of tuple of int to float
        Variance of the effect of every set of axes; they add up to the variance of the values.

    Raises
    ------
    ValueError
        If there is no axis, or a value is missing.

    Notes
    -----
    The effect of the axes U is f_U = mean of f over all other axes - sum of f_W over all W strictly within U, and its
    variance the mean of f_U squared.

    References
    ----------
    Hutter, Hoos and Leyton-Brown: An efficient approach for assessing hyperparameter importance. ICML 2014, eq. 1-6.
    """
    values = np.asarray(values, dtype=float)
    if not values.ndim or not values.size:
        raise ValueError(f"values must have at least one axis and one value; got an array of shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"values must be finite; {np.sum(~np.isfinite(values))} of {values.size} are not")
    every = range(values.ndim)
    effects: dict[tuple[int, ...], NDArray] = {(): values.mean(keepdims=True)}
    for axes in (axes for size in range(1, values.ndim + 1) for axes in combinations(every, size)):
        mean = values.mean(axis=tuple(set(every) - set(axes)), keepdims=True)
        effects[axes] = mean - sum(effect for within, effect in effects.items() if set(within) < set(axes))
    return {axes: float(np.mean(effect**2)) for axes, effect in effects.items() if axes}


def coarse_part(result: Result) -> Result | None:
    """Return the finest grid within a sweep's grid whose cells are all finished, as the cells are visited.

    Its grid has the ends and the middle of each parameter's values at least; None: not even these are finished.
    """
    levels = [visiting_levels(size) for size in result.shape]
    for finest in range(max(1, *(max(each) for each in levels)), 0, -1):
        kept = [[place for place, level in enumerate(each) if level <= finest] for each in levels]
        numbers = [int(np.ravel_multi_index(places, result.shape)) for places in product(*kept)]
        if result.cells.keys() >= set(numbers):
            grid = {name: [values[k] for k in places] for (name, values), places in zip(result.grid.items(), kept)}
            cells = [replace(result.cells[number], number=place) for place, number in enumerate(numbers)]
            return Result(grid, result.metrics, cells)
    return None


def importance(result: Result, metric: str = "") -> Importance:
    """Return how much of the variance of a metric each parameter of a sweep explains.

    Parameters
    ----------
    result : Result
        Cells of a sweep.
    metric : str
        One of the sweep's; empty: the first one.

    Returns
    -------
    Importance
        Exact if every fit of the full grid has succeeded.

    Raises
    ------
    ValueError
        If fewer than two cells have a number.
    """
    fits = _fits(result, metric or result.metrics[0])
    means = fits.mean(axis=0)
    scored = np.isfinite(means)
    if scored.sum() < 2:
        raise ValueError(f"importance needs at least two cells with a number of {metric or result.metrics[0]!r}")
    exact = bool(scored.all())
    within = float(fits[:, scored].var(axis=0).mean())
    between = _variances(means)
    total = within + sum(between.values())
    if total <= (ROUNDING * np.abs(means[scored]).max()) ** 2:
        within, between, total = 0.0, dict.fromkeys(between, 0.0), 0.0
    per_fold = [_variances(values) for values in fits] if len(fits) > 1 else []
    shares = [{axes: _share(part, sum(each.values())) for axes, part in each.items()} for each in per_fold]
    names = list(result.grid)
    return Importance(
        {_named(axes, names): _share(part, total) for axes, part in between.items()},
        _share(within, total),
        {_named(axes, names): float(np.std([each[axes] for each in shares])) for axes in between if shares},
        exact,
    )


def _fits(result: Result, metric: str) -> NDArray:
    """Return the metric of every fit, (folds and seeds, *grid); NaN in cells without all of their fits."""
    fits = max((len(cell.outcomes) for cell in result.cells.values()), default=1)
    values = np.full((fits, int(np.prod(result.shape))), np.nan)
    for number, cell in result.cells.items():
        scores = cell.values(metric)
        if len(scores) == fits:
            values[:, number] = scores
    return values.reshape(fits, *result.shape)


def _variances(values: NDArray) -> dict[tuple[int, ...], float]:
    """Return the variance of every effect; where values are missing, those of a forest that is fitted to the others."""
    return functional_anova(values if np.isfinite(values).all() else _estimate(values))


def _estimate(values: NDArray) -> NDArray:
    """Return a forest's values on the grid, or on evenly spread levels of it if it has more than `MOST_POINTS`."""
    places = np.argwhere(np.isfinite(values))
    forest = ExtraTreesRegressor(TREES, random_state=0).fit(places, values[tuple(places.T)])
    most = max(2, int(MOST_POINTS ** (1 / values.ndim)))
    levels = [np.unique(np.linspace(0, size - 1, min(size, most)).round()) for size in values.shape]
    if np.prod(values.shape) <= MOST_POINTS:
        levels = [np.arange(size, dtype=float) for size in values.shape]
    grid = np.stack(np.meshgrid(*levels, indexing="ij"), axis=-1)
    return forest.predict(grid.reshape(-1, values.ndim)).reshape(grid.shape[:-1])


def _share(part: float, total: float) -> float:
    return part / total if total > 0.0 else 0.0


def _named(axes: tuple[int, ...], names: list[str]) -> tuple[str, ...]:
    return tuple(names[axis] for axis in axes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

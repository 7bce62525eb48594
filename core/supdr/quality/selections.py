"""What is special about some rows: columns by their effect size against the rest, and a rule of intervals.

    effect_j = (mean_j of the selection - mean_j of the rest) / s_j,   s_j^2 = (v_j + w_j) / 2

v, w: variances of the two groups (J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988: d).
A rule is made of intervals of few columns: they are added one by one, as long as each raises the share of the
selection that fulfils the rule minus the share of the rest that does (Youden's J) by more than chance gives: sides are
closed where J is beyond the bound of N. Smirnov, "Table for estimating the goodness of fit of empirical distributions",
1948.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_integer
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import checkpoint
from supdr.quality.checking import check_rows, labelled_classes
from supdr.quality.explanations import column_names

# Columns, those of the largest effects, among which intervals are sought.
CANDIDATES = 50

# Chance of an interval where the groups do not differ: a side of any column is beyond Smirnov's bound so often.
CHANCE = 0.05

# What closing the other side of an interval, or another interval, must add to J, and what both sides must reach at
# least, in units of this bound.
ADDED, BOTH_SIDES = 0.5, 1.3

# Effect of a column that differs between two groups and varies in neither.
LARGEST_EFFECT = 1e6


@dataclass(frozen=True)
class Interval:
    """A condition on a column: low < value <= high.

    Attributes
    ----------
    column : int
    name : str
    low, high : float
        -inf and inf where a side is open.
    """

    column: int
    name: str
    low: float
    high: float

    def holds(self, X: NDArray) -> NDArray:
        """Tell which rows fulfil it; a missing cell does not.

        Parameters
        ----------
        X : array of shape (n, D)
            Rows.

        Returns
        -------
        bool array of shape (n,)
        """
        return (X[:, self.column] > self.low) & (X[:, self.column] <= self.high)

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{self.name} <= {self.high:.3g}"
        return (
            f"{self.name} > {self.low:.3g}"
            if math.isinf(self.high)
            else f"{self.low:.3g} < {self.name} <= {self.high:.3g}"
        )


@dataclass(frozen=True)
class SelectionExplanation:
    """What sets some rows apart from others.

    Attributes
    ----------
    n_selected, n_rest : int
        Numbers of rows.
    columns : int array of shape (m,)
        The columns that differ most, by the size of their effects.
    names : tuple of str
        Their names.
    effects : array of shape (m,)
        Effect sizes, positive where the selection has more.
    means, rest_means : arrays of shape (m,)
        Means of the selection and of the rest, in the units of the columns.
    all_effects : array of shape (D,)
        Effect sizes of all columns; NaN where a group has no observed cell.
    rule : tuple of Interval
        All of them hold for most of the selection, for few of the rest; empty where no interval says more than chance.
    holds, rest_holds : float
        Shares of the selection and of the rest for which the rule holds.
    """

    n_selected: int
    n_rest: int
    columns: NDArray
    names: tuple[str, ...]
    effects: NDArray
    means: NDArray
    rest_means: NDArray
    all_effects: NDArray = field(repr=False)
    rule: tuple[Interval, ...]
    holds: float
    rest_holds: float

    def __str__(self) -> str:
        if not self.rule:
            return "no interval of few columns sets these rows apart"
        condition = " and ".join(map(str, self.rule))
        return f"{condition} holds for {self.holds:.0%} of these and {self.rest_holds:.0%} of the others"


def explain_selection(
    X: Any,
    selected: Any,
    *,
    rest: Any = None,
    n_columns: int = 5,
    n_intervals: int = 3,
    names: Sequence[str] | None = None,
) -> SelectionExplanation:
    """Return what sets selected rows apart: columns ranked by effect size, and a rule of intervals.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows; missing cells are NaN and count in no mean.
    selected : bool array of shape (n,) or int array of shape (m,)
        Which rows, as a mask or by their numbers.
    rest : array as `selected`, optional
        The rows to compare with.  None: all others.
    n_columns : int, default=5
        How many columns to rank, >= 1; all where there are fewer.
    n_intervals : int, default=3
        Most intervals of the rule, >= 1.
    names : sequence of str, optional
        Names of the columns, (D,).  None: "x1", "x2", ...

    Returns
    -------
    SelectionExplanation

    Raises
    ------
    ValueError
        If a group has no row, the groups share a row, or numbers of rows or names do not fit.
    """
    check_integer("n_columns", n_columns)
    check_integer("n_intervals", n_intervals)
    X = check_rows(X, ensure_all_finite="allow-nan")
    chosen = row_mask("selected", selected, len(X))
    others = ~chosen if rest is None else row_mask("rest", rest, len(X))
    if not others.any():
        raise ValueError("rest must hold a row; all rows are selected")
    if (chosen & others).any():
        raise ValueError(f"selected and rest must not share rows; both hold row {int(np.argmax(chosen & others))}")
    named = column_names(names, X.shape[1])
    effects, means, rest_means = _effects(X[chosen], X[others])
    order = np.argsort(-np.abs(np.nan_to_num(effects)), kind="stable")
    rule = _rule(X[chosen], X[others], order[:CANDIDATES], n_intervals, named)
    columns = order[:n_columns]
    return SelectionExplanation(
        int(chosen.sum()),
        int(others.sum()),
        columns,
        tuple(named[column] for column in columns),
        effects[columns],
        means[columns],
        rest_means[columns],
        effects,
        rule,
        float(_all_hold(rule, X[chosen]).mean()),
        float(_all_hold(rule, X[others]).mean()),
    )


@with_entries_of(explain_selection)
def explain_pair(
    X: Any,
    y: Any,
    first: Any,
    second: Any,
    *,
    rows: Any = None,
    n_columns: int = 5,
    n_intervals: int = 3,
    names: Sequence[str] | None = None,
) -> SelectionExplanation:
    """Return what separates two classes, everywhere or among some rows: the first one is the selection.

    Parameters
    ----------
    X
        As in `explain_selection`.
    y : array-like of shape (n,)
        Classes; NaN and None mark unlabelled rows.
    first, second : object
        Two classes.
    rows : bool array of shape (n,) or int array of shape (m,), optional
        Where to look: those of a region of the map, say.  None: all rows.
    n_columns, n_intervals, names
        As in `explain_selection`.

    Returns
    -------
    SelectionExplanation

    Raises
    ------
    ValueError
        As `explain_selection`; or if a class has no row there, or both are the same.
    """
    X = check_rows(X, ensure_all_finite="allow-nan")
    labelled, classes = labelled_classes(y, len(X))
    among = labelled if rows is None else row_mask("rows", rows, len(X))
    members = []
    for name, value in (("first", first), ("second", second)):
        member = np.zeros(len(X), dtype=bool)
        member[labelled] = classes == value
        member &= among
        if not member.any():
            raise ValueError(f"{name} must be a class that has a row here; got {value!r}")
        members.append(member)
    options: dict[str, Any] = {"n_columns": n_columns, "n_intervals": n_intervals, "names": names}
    return explain_selection(X, members[0], rest=members[1], **options)


def row_mask(name: str, rows: Any, n_rows: int) -> NDArray:
    """Return a mask (n,) of rows given as a mask or by their numbers; raise ValueError if there is none."""
    chosen = np.atleast_1d(np.asarray(rows))
    mask = np.zeros(n_rows, dtype=bool)
    if chosen.dtype == bool and chosen.shape == (n_rows,):
        mask = chosen
    elif chosen.dtype.kind in "iu" and chosen.ndim == 1 and ((chosen >= 0) & (chosen < n_rows)).all():
        mask[chosen] = True
    else:
        raise ValueError(f"{name} must be a mask of {n_rows} rows or row numbers from 0 to {n_rows - 1}; got {rows!r}")
    if not mask.any():
        raise ValueError(f"{name} must hold a row; got none")
    return mask


def _effects(chosen: NDArray, others: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return effect sizes and the means of both groups, (D,) each."""
    (means, variances), (rest_means, rest_variances) = _moments(chosen), _moments(others)
    gap, spread = means - rest_means, np.sqrt(0.5 * (variances + rest_variances))
    level = 1e-12 * np.maximum(np.abs(means), np.abs(rest_means))
    gap = np.where(np.abs(gap) > level, gap, np.where(np.isnan(gap), np.nan, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = np.where(spread > level, gap / spread, np.sign(gap) * LARGEST_EFFECT)
    return np.clip(effects, -LARGEST_EFFECT, LARGEST_EFFECT), means, rest_means


def _moments(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return mean and variance of the observed cells of each column; NaN where there is none."""
    observed = ~np.isnan(X)
    count = np.where(observed.any(axis=0), observed.sum(axis=0), np.nan)
    mean = np.where(observed, X, 0.0).sum(axis=0) / count
    return mean, (np.where(observed, X - mean, 0.0) ** 2).sum(axis=0) / count


def _rule(
    chosen: NDArray, others: NDArray, columns: NDArray, n_intervals: int, names: Sequence[str]
) -> tuple[Interval, ...]:
    """Return the intervals that are added one by one."""
    bound = math.sqrt(0.5 * math.log(2.0 * len(columns) / CHANCE) * (1.0 / len(chosen) + 1.0 / len(others)))
    rule: list[Interval] = []
    inside, outside = np.ones(len(chosen), dtype=bool), np.ones(len(others), dtype=bool)
    reached, unused = bound * (1.0 - ADDED), [int(column) for column in columns]
    while unused and len(rule) < n_intervals:
        checkpoint()
        intervals = [_best_interval(chosen[:, k], others[:, k], inside, outside, bound) for k in unused]
        best = max(range(len(intervals)), key=lambda number: intervals[number][0])
        gain, low, high = intervals[best]
        if gain <= reached + ADDED * bound:
            break
        column = unused.pop(best)
        interval = Interval(column, names[column], low, high)
        rule.append(interval)
        inside, outside, reached = inside & interval.holds(chosen), outside & interval.holds(others), gain
    return tuple(rule)


def _best_interval(
    own: NDArray, other: NDArray, inside: NDArray, outside: NDArray, bound: float
) -> tuple[float, float, float]:
    """Return the largest J that an interval of a column leads to, and its ends; one is open unless both are worth it.

    J is the largest sum of a run of values, each of which weighs 1 / n where selected and -1 / m where not.
    """
    here, there = inside & ~np.isnan(own), outside & ~np.isnan(other)
    values = np.concatenate([own[here], other[there]])
    if not len(values):
        return -1.0, -math.inf, math.inf
    weights = np.concatenate([np.full(here.sum(), 1.0 / len(own)), np.full(there.sum(), -1.0 / len(other))])
    levels, place = np.unique(values, return_inverse=True)
    total = np.concatenate([[0.0], np.cumsum(np.bincount(place, weights))])
    last = len(levels) - 1
    sides = [(0, int(np.argmax(total[1:]))), (int(np.argmin(total[:-1])), last)]
    first, end = max(sides, key=lambda ends: total[ends[1] + 1] - total[ends[0]])
    one_side = total[end + 1] - total[first]
    stop = int(np.argmax(total[1:] - np.minimum.accumulate(total[:-1])))
    begin = int(np.argmin(total[: stop + 1]))
    if total[stop + 1] - total[begin] >= max(one_side + ADDED * bound, BOTH_SIDES * bound):
        first, end = begin, stop
    low = -math.inf if first == 0 else float(0.5 * (levels[first - 1] + levels[first]))
    high = math.inf if end == last else float(0.5 * (levels[end] + levels[end + 1]))
    return float(total[end + 1] - total[first]), low, high


def _all_hold(rule: Sequence[Interval], X: NDArray) -> NDArray:
    """Tell for which rows every interval holds, (n,)."""
    return np.logical_and.reduce([np.ones(len(X), dtype=bool), *(each.holds(X) for each in rule)])

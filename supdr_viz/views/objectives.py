"""The objectives of several runs over their iterations, with the best lower bound that is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.types import Curves
from supdr_viz.views.curves import CurveView, Style

BOUND = "lower bound"


class Objectives(CurveView):
    """One line per run, named by the letter of its column.

    Values of different objectives share an axis: what compares are runs that minimise the same thing.
    """

    title = "Objective"
    _bounded = ""  # letters of the columns whose bounds are drawn

    def show_runs(self, runs: Mapping[str, Curves], iteration: int) -> None:
        """Draw the objective of every run that has taken steps.

        `runs`: letter of the column -> its losses; `iteration`: the one on display.
        """
        drawable = {letter: curves for letter, curves in runs.items() if len(curves.iteration) > 1}
        if not drawable:
            return
        steps = np.unique(np.concatenate([curves.iteration for curves in drawable.values()]))
        values = {letter: _at(curves, "objective", steps) for letter, curves in drawable.items()}
        bounds = {letter: _at(each, "bound", steps) for letter, each in drawable.items() if "bound" in each.values}
        bounds = {letter: bound for letter, bound in bounds.items() if np.isfinite(bound).any()}
        if bounds:
            best = np.fmax.reduce([*bounds.values()])
            least = min(float(np.nanmin(objective)) for objective in values.values())
            if not np.nanmax(best) > least:  # else they do not minimise the same thing, and none bounds them all
                values[BOUND] = best
                self._bounded = ", ".join(bounds)
        self.show_curves(Curves(steps, values), iteration, (int(steps[0]), int(steps[-1])))

    def styles_of(self, names: list[str]) -> dict[str, Style]:
        """Give the columns the colours of curves in their order, and dash the bound."""
        letters = [name for name in names if name != BOUND]
        styles = {letter: Style(letter, f"curve {'ABCD'.index(letter)}", width=2.0) for letter in letters}
        return styles | ({BOUND: Style(f"{BOUND} of {self._bounded}", "text", "dashed")} if BOUND in names else {})

    def wants_log(self, curves: dict[str, NDArray]) -> bool:
        """Whether all objectives are positive."""
        return all(bool(np.nanmin(values) > 0) for name, values in curves.items() if name != BOUND)

    def limits(self, curves: dict[str, NDArray]) -> tuple[float, float]:
        """Hold the objectives, and the bound where it is near them."""
        objectives = {name: values for name, values in curves.items() if name != BOUND}
        low, high = super().limits(objectives)
        bound = curves.get(BOUND)
        near = bound[bound > 0.01 * low] if bound is not None and low > 0 else np.empty(0)
        return (min(low, float(near.min())) if near.size else low), high


def _at(curves: Curves, name: str, steps: NDArray) -> NDArray:
    """Spread a run's values over the iterations of all; NaN where it has none."""
    spread = np.full(len(steps), np.nan)
    spread[np.searchsorted(steps, curves.iteration)] = curves.values[name]
    return spread

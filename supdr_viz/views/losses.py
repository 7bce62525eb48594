"""The losses: every term, the objective, what the solver descends instead, and the bound that certifies it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.types import Curves, Frame
from supdr_viz.views.curves import CurveView, Style
from supdr_viz.views.figures import LegendEntry

# What curves are, in a sentence.
WORDS = {
    "objective": "what the method makes small: the sum of the terms",
    "goal of a step": "what a step of the solver makes small instead: close to the objective, and easier",
    "lower bound": "proved: no solution has an objective below it; the gap is the share of the objective above it",
    "reconstruction": "how far the map is from giving the features of the data back",
    "neighbours": "how far neighbours on the map are from those in the data",
    "divergence": "how far the map is from the distances of the data",
    "label": "how far predictions are from the labels",
    "margin": "the narrower the gap between classes, the larger",
    "regularisation": "penalty on large parameters",
    "crowding": "penalty on classes that overlap on the map",
}

# Plain words for terms.
NAMES = {"room": "crowding"}

# Curves that are not part of the sum.
NOT_TERMS = ("objective", "surrogate", "bound")

# Term -> its colour and dash: the same idea looks the same in every method. What keeps the data's shape is 1.
LOOKS = {
    **dict.fromkeys(("reconstruction", "neighbours", "divergence"), ("curve 1", "solid")),
    "label": ("curve 2", "dashed"),
    "regularisation": ("curve 3", "solid"),
    "margin": ("curve 1", "dotdash"),
}

# Those of terms of other names, in turn. Curves 4 and 5 are errors.
OTHERS = tuple((f"curve {number}", dash) for dash in ("dashed", "dotted", "dotdash") for number in (3, 1, 2))

# Values below this share of the least objective do not stretch the logarithmic axis.
FLOOR = 1e-3

# Curves nearer than this share of the axis are one line to the eye.
COVERED = 0.015


class Losses(CurveView):
    """Every term of the objective (bold) over iterations, the surrogate (dotted) and the lower bound (dashed).

    The axis is logarithmic as long as the objective is positive and no term is negative.
    """

    title = "Losses"
    _gap: float | None = None

    def curves_of(self, frame: Frame) -> Curves:
        """Return the frame's losses."""
        return frame.losses

    def styles_of(self, names: list[str]) -> dict[str, Style]:
        """Terms first, then the bound and the surrogate, the objective on top."""
        terms = [name for name in names if name not in NOT_TERMS]
        taken = [LOOKS[name] for name in terms if name in LOOKS]
        free = [look for look in OTHERS if look not in taken]
        others = [name for name in terms if name not in LOOKS]
        looks = {**LOOKS, **{name: free[number % len(free)] for number, name in enumerate(others)}}
        styles = {name: Style(NAMES.get(name, name.replace("_", " ")), *looks[name]) for name in terms}
        if "bound" in names:
            styles["bound"] = Style("lower bound", "secondary", "dashed", width=1.2)
        if "surrogate" in names:
            styles["surrogate"] = Style("goal of a step", "text", "dotted", width=2.0)
        if "objective" in names:
            styles["objective"] = Style("objective", "curve 0", width=2.6)
        return styles

    def worth_drawing(self, curves: dict[str, NDArray]) -> dict[str, NDArray]:
        """Leave out terms that are next to nothing all along: they would only touch the end of a logarithmic axis."""
        objective = curves.get("objective")
        if not self.log or objective is None:
            return curves
        least = FLOOR * float(np.fmin.reduce(objective))
        return {
            name: values if name in NOT_TERMS or np.fmax.reduce(values) >= least else np.full_like(values, np.nan)
            for name, values in curves.items()
        }

    def wants_log(self, curves: dict[str, NDArray]) -> bool:
        """Whether the objective is positive and no term negative; the bound may start below zero."""
        objective = curves.get("objective")
        if objective is None or not bool(np.fmin.reduce(objective) > 0):
            return False
        return all(bool(np.fmin.reduce(v) >= 0) for name, v in curves.items() if name not in ("surrogate", "bound"))

    def limits(self, curves: dict[str, NDArray]) -> tuple[float, float]:
        """Hold terms and objective; a bound far below them enters the picture when it has risen."""
        terms = {name: v for name, v in curves.items() if name != "bound"}
        low, high = super().limits(terms or curves)
        bound, objective = curves.get("bound"), curves.get("objective")
        if self.log and objective is not None:
            least = float(np.fmin.reduce(objective))
            low = max(low, FLOOR * least)
            near = bound[bound > 0.01 * least] if bound is not None else np.empty(0)
            low = min(low, float(near.min())) if near.size else low
        elif bound is not None:
            low = min(low, max(float(np.fmin.reduce(bound)), low - (high - low)))
        return low, high

    @property
    def legend(self) -> list[LegendEntry]:
        """Entries of the curves to be seen: the objective, its terms, the surrogate, the bound with its gap."""
        order = {"objective": 0, "goal of a step": 2, "lower bound": 3}
        entries = [replace(entry, help=WORDS.get(entry.name, "")) for entry in super().legend]
        entries.sort(key=lambda entry: order.get(entry.name, 1))
        if self._is_covered:
            entries = [each for each in entries if each.name != "goal of a step"]
        if self._gap is None:
            return entries
        name = f"lower bound (gap {self._gap:.1f} %)"
        return [replace(entry, name=name) if entry.name.startswith("lower bound") else entry for entry in entries]

    @property
    def _is_covered(self) -> bool:
        """Whether the surrogate lies under the objective nearly all along."""
        values = {} if self._shown is None else self._shown.values
        if "surrogate" not in values or "objective" not in values:
            return False
        with np.errstate(invalid="ignore", divide="ignore"):
            both = [np.log10(values[name]) if self.log else values[name] for name in ("surrogate", "objective")]
            apart = np.abs(both[0] - both[1])
        apart = apart[np.isfinite(apart)]
        return bool(apart.size and np.quantile(apart, 0.9) < COVERED * (self.extent[3] - self.extent[2]))

    def show_frame(self, frame: Frame) -> None:
        """Send what the curves gained; note the gap of the viewed iteration."""
        self._gap = frame.numbers.get("gap")
        super().show_frame(frame)

    def caption(self, frame: Frame | None = None) -> str:
        """Name the axis when it is not the usual one."""
        return "" if self.log or not self.styles else "linear axis: not all terms are positive"

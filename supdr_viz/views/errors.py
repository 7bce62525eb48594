"""The errors: training (labelled and unlabelled) and test, the constant predictor's, the share of support vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.types import Curves, Frame, Scene
from supdr_viz.views.curves import CurveView, Style
from supdr_viz.views.figures import LegendEntry, css
from supdr_viz.views.stage.stage import Stage

# No colour of a loss: the charts stand side by side.
STYLES = {
    "train": Style("train", "curve 5", width=4.0),
    "labelled": Style("labelled", "curve 5", "dashed", width=1.8),
    "unlabelled": Style("unlabelled", "curve 5", "dotdash", width=2.2),
    "constant": Style("constant predictor", "muted", "dashed"),
    "validation": Style("validation", "curve 4", "dotdash", width=1.8),
    "test": Style("test", "curve 4", width=1.6),
    "support vectors": Style("support vectors", "muted", "dotted", width=2.0),
}
# Errors that are said and not drawn.
NOT_DRAWN = ("as new",)

SHUFFLED = "shuffled labels"
MEANINGS = {
    False: "training rows placed using their labels; the status line has their error as new rows",
    True: "training rows placed without their labels, as new ones are",
}
SUPPORT = "share of the labelled training rows that hold the boundary; no error"
# Squared errors that span more than this are drawn on a logarithmic axis.
MANY_FOLD = 30.0
# Per cents that the axis shows at least.
LEAST_SHOWN = 2.0


class Errors(CurveView):
    """Errors of training and test rows and the share of support vectors, in per cent; regression: squared errors.

    `note`: said beside the legend.
    """

    title = "Error"

    def __init__(self, stage: Stage, name: str) -> None:
        self.is_regression = False
        self.band: tuple[float, float] | None = None
        self.note, self._as_new = "", False
        super().__init__(stage, name)

    def show_scene(self, scene: Scene) -> None:
        """Forget all curves; take the task."""
        self.is_regression = scene.task == "regression"
        self.title, self.unit = ("Mean squared error", "") if self.is_regression else ("Error", "%")
        super().show_scene(scene)
        self.show_band(None)

    def show_frame(self, frame: Frame) -> None:
        """Send what the curves gained; note which training error they show."""
        self._as_new = frame.as_new
        super().show_frame(frame)

    def show_curves(self, curves: Curves, iteration: int, span: tuple[int, int]) -> None:
        """Send what curves gained; name support vectors in the title where they have a curve."""
        super().show_curves(curves, iteration, span)
        if not self.is_regression:
            self.title = "Error and support vectors" if "support vectors" in self.styles else "Error"
            self.put(title=self.title)

    def show_band(self, band: tuple[float, float] | None) -> None:
        """Draw the range of errors by shuffled labels, in the unit of the chart; None: no longer."""
        self.band = band
        self.put(band=None if band is None else list(band))
        self.fit_axes()

    def curves_of(self, frame: Frame) -> Curves:
        """Return the frame's errors."""
        return frame.errors

    def styles_of(self, names: list[str]) -> dict[str, Style]:
        """Known curves have their own look; others take the next colours."""
        names = [name for name in names if name not in NOT_DRAWN]
        if "unlabelled" in names:  # both parts of the training rows say more than their mixture
            names = [name for name in names if name != "train"]
        others = [name for name in names if name not in STYLES]
        look = {
            name: Style(name.replace("_", " "), f"curve {4 + number % 2}", "dotted")
            for number, name in enumerate(others)
        }
        # Test last: it lies on top, and is narrow, so that both are seen where they are equal.
        last = ("constant", "support vectors", "train", "labelled", "validation", "test", "unlabelled")
        order = [*others, *(name for name in last if name in names)]
        return {name: STYLES.get(name) or look[name] for name in order}

    def wants_log(self, curves: dict[str, NDArray]) -> bool:
        """Whether squared errors span orders of magnitude."""
        if not self.is_regression or not curves:
            return False
        values = np.concatenate(list(curves.values()))
        values = values[np.isfinite(values)]
        return bool(values.min() > 0 and values.max() > MANY_FOLD * values.min())

    def limits(self, curves: dict[str, NDArray]) -> tuple[float, float]:
        """Start per cents at zero, and show at least two."""
        low, high = super().limits(curves)
        if self.band is not None:
            low, high = min(low, self.band[0]) if self.band[0] > 0 else low, max(high, self.band[1])
        return (low, high) if self.is_regression else (0.0, max(high, LEAST_SHOWN))

    @property
    def legend(self) -> list[LegendEntry]:
        """Entries of the curves shown: train, test, then the rest."""
        order = ("train", "labelled", "unlabelled", "validation", "test")
        helps = {"train": MEANINGS[self._as_new], "support vectors": SUPPORT}
        entries = [replace(each, help=helps.get(each.name, each.help)) for each in super().legend]
        if self.band is not None:
            entries.append(LegendEntry(SHUFFLED, css("muted"), help="errors of fits to shuffled labels, 19 of 20"))
        return sorted(entries, key=lambda entry: order.index(entry.name) if entry.name in order else len(order))

    def caption(self, frame: Frame | None = None) -> str:
        """Return what is said beside the legend, plain text."""
        return self.note

    def cursor(self, curves: Curves, iteration: int) -> int:
        """Return the viewed iteration or, where the curves do not reach it yet, the last at which errors are known."""
        has_value = np.any([np.isfinite(v) for v in curves.values.values()], axis=0) if curves.values else np.array([])
        known = curves.iteration[has_value] if has_value.size else has_value
        return min(int(iteration), int(known.max())) if known.size else int(iteration)

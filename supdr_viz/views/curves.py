"""Curves over iterations: the machinery behind the losses and the errors.

A curve that only grew sends its new points; a curve that was thinned anew is sent whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.scene import Extent
from supdr_viz.pictures.types import Curves, Frame, Scene, Surface
from supdr_viz.views.figures import LegendEntry, colour_of, css
from supdr_viz.views.stage.stage import Stage
from supdr_viz.views.stage.wire import plain_extent

ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
EMPTY_EXTENT = (0.0, 10.0, 0.0, 1.0)


@dataclass(frozen=True)
class Style:
    """How a curve looks.

    `role`: see `figures.css`; `dash`: one of "solid", "dashed", "dotted", "dotdash".
    """

    label: str
    role: str
    dash: str = "solid"
    width: float = 1.6

    @property
    def entry(self) -> LegendEntry:
        """Entry of the legend."""
        return LegendEntry(self.label, css(self.role), self.dash, "line", self.width)

    @property
    def told(self) -> dict[str, Any]:
        """The curve as the stage's tree has it."""
        colours = [colour_of(self.role, dark) for dark in (False, True)]
        return {"name": self.label, "colours": colours, "dash": self.dash, "width": self.width}


class CurveView:
    """Curves over iterations, with a line at the iteration that is viewed.

    `name`: of the chart. `log`: whether the axis is logarithmic; `extent`: (first, last, low, high), the latter as
    log10 on a logarithmic axis; `styles`: of the curves shown.
    """

    title = ""
    unit = ""  # behind the values at the axis

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.name = stage, name
        self.log = False
        self.extent: Extent = EMPTY_EXTENT
        self.styles: dict[str, Style] = {}
        self._shown: Curves | None = None
        self._span = (0, 0)
        self._below: set[str] = set()
        self._unseen: set[str] = set()
        self._forget()

    def styles_of(self, names: list[str]) -> dict[str, Style]:
        """Choose the look of curves by their names, in drawing order."""
        raise NotImplementedError

    def curves_of(self, frame: Frame) -> Curves:
        """Return the curves of the frame that this view shows."""
        raise NotImplementedError

    def wants_log(self, curves: dict[str, NDArray]) -> bool:
        """Whether the curves belong on a logarithmic axis."""
        return False

    def worth_drawing(self, curves: dict[str, NDArray]) -> dict[str, NDArray]:
        """Return the curves, of which those that are not worth a line have no values."""
        return curves

    def limits(self, curves: dict[str, NDArray]) -> tuple[float, float]:
        """Return the lowest and highest value that the axis must show (of positive values on a logarithmic axis)."""
        values = np.concatenate(list(curves.values())) if curves else np.empty(0)
        values = values[np.isfinite(values) & ((values > 0) | (not self.log))]
        return (float(values.min()), float(values.max())) if values.size else ((1.0, 10.0) if self.log else (0.0, 1.0))

    def show_scene(self, scene: Scene) -> None:
        """Forget all curves."""
        self._forget()

    def show_frame(self, frame: Frame) -> None:
        """Send what the curves gained; move the line of the viewed iteration."""
        self.show_curves(self.curves_of(frame), frame.iteration, (frame.first_iteration, frame.last_iteration))

    def show_curves(self, curves: Curves, iteration: int, span: tuple[int, int]) -> None:
        """Send what curves gained; move the line of the viewed iteration.

        `iteration`: the one on display; `span`: first and last iteration that can be viewed.
        """
        self.put(viewed=self.cursor(curves, iteration))
        if curves is self._shown:
            self._stretch(span)
            return
        if not len(curves.iteration):
            return
        self._shown, self._span = curves, span
        values = {name: v for name, v in curves.values.items() if np.isfinite(v).any()}
        styles = self.styles_of(list(values))
        if styles != self.styles:
            self.styles = styles
            self.put(lines=[style.told for style in styles.values()])
        self.log = self.wants_log(values)
        shown = self.worth_drawing({name: values[name] for name in self.styles})
        self._set_axes(span, curves.iteration, shown)
        self._below = {name for name, v in shown.items() if self.log and not _last(v) >= 10.0 ** self.extent[2]}
        self._unseen = {name for name in self._below if not np.any(shown[name] >= 10.0 ** self.extent[2])}
        with np.errstate(over="ignore"):
            points = np.column_stack([curves.iteration, *shown.values()])
        self.stage.grow("charts", self.name, points=points)

    def fit_axes(self) -> None:
        """Lay the axes around the curves on display again: what else they must show has changed."""
        if self._shown is not None:
            shown = self.worth_drawing({name: self._shown.values[name] for name in self.styles})
            self._set_axes(self._span, self._shown.iteration, shown)

    def cursor(self, curves: Curves, iteration: int) -> int:
        """Return the iteration at which the line of the viewed one is drawn."""
        return int(iteration)

    def show_surface(self, surface: Surface) -> None:
        """Nothing here depends on the decision surface."""

    @property
    def legend(self) -> list[LegendEntry]:
        """Entries of the curves shown; of those below the axis the value, and no line if they were always there."""
        entries = {name: style.entry for name, style in self.styles.items()}
        for name in self._below:
            kind = "none" if name in self._unseen else "line"
            entries[name] = replace(entries[name], name=f"{entries[name].name} ≈ 0", kind=kind)
        return list(entries.values())

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        return ""

    def put(self, **values: Any) -> bool:
        """Tell the stage what has changed in this chart."""
        return self.stage.put("charts", self.name, **values)

    def _forget(self) -> None:
        self.log, self.extent, self.styles, self._shown = False, EMPTY_EXTENT, {}, None
        self._below = self._unseen = set()
        self.put(
            title=self.title,
            unit=self.unit,
            log=False,
            extent=list(EMPTY_EXTENT),
            ticks=[0.0, 0.5, 1.0],
            viewed=None,
            lines=[],
        )
        self.put(points=np.zeros((0, 1)))

    def _stretch(self, span: tuple[int, int]) -> None:
        """Reach as far as the charts beside it, though no value has come."""
        last = round_up(float(span[1]))
        if last > self.extent[1]:
            first, _, low, high = self.extent
            self.extent = (first, last, low, high)
            self.put(extent=plain_extent(self.extent))

    def _set_axes(self, span: tuple[int, int], iteration: NDArray, values: dict[str, NDArray]) -> None:
        low, high, ticks = (log_axis if self.log else linear_axis)(*self.limits(values))
        last = round_up(float(span[1]))
        self.extent = (min(float(iteration[0]), float(span[0]), last), last, low, high)
        self.put(log=self.log, extent=plain_extent(self.extent), ticks=ticks)


def _last(values: NDArray) -> float:
    known = values[np.isfinite(values)]
    return float(known[-1]) if len(known) else float("nan")


def round_up(value: float) -> float:
    """Return the next round number, at least 3: the axis grows in jumps, not with every frame."""
    if value <= 10.0:
        return next(end for end in (3.0, 5.0, 8.0, 10.0) if end >= value)
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(step for step in ROUND if step >= value / power - 1e-9)


def linear_axis(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return ends and about four ticks of a linear axis that holds two values; zero is an end if it is near."""
    if 0 <= low < 0.5 * high:
        low = 0.0
    if -0.5 * abs(low) < high <= 0 and low < 0:
        high = 0.0
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 4.0))
    step = float(power * min((s for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= span / 5.0), default=10.0))
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if stop == start:
        stop += 1
    ticks = [round(step * k, 12) for k in range(start, stop + 1)]
    room = 0.04 * (ticks[-1] - ticks[0])
    return ticks[0] - room, ticks[-1] + room, ticks


def log_axis(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return ends and ticks, in powers of ten, of a logarithmic axis that holds two positive values."""
    bottom, top = math.log10(low), math.log10(high)
    if top - bottom < 0.3:
        middle = (top + bottom) / 2
        bottom, top = middle - 0.15, middle + 0.15
    if top - bottom > 1.6:
        stride = math.ceil((top - bottom) / 6.5)
        decades = range(math.floor(bottom / stride) * stride, math.ceil(top / stride) * stride + 1, stride)
        ticks = [float(decade) for decade in decades]
        if stride == 1:
            bottom, top = _round_log(bottom, up=False), _round_log(top, up=True)
            ticks = sorted({bottom, top, *ticks})
        else:
            bottom, top = ticks[0], ticks[-1]
        room = 0.03 * (top - bottom)
        bottom, top = bottom - room, top + room
    else:
        mantissas = (1, 2, 5) if top - bottom > 0.6 else (1, 1.5, 2, 3, 4, 5, 7)
        powers = range(math.floor(bottom), math.ceil(top) + 1)
        ticks = [math.log10(m) + power for power in powers for m in mantissas]
        # Ends lie on a coarse grid, so that they jump rather than creep.
        bottom, top = math.floor(bottom * 5 - 0.2) / 5, math.ceil(top * 5 + 0.2) / 5
    return bottom, top, [tick for tick in ticks if bottom <= tick <= top]


def _round_log(value: float, *, up: bool) -> float:
    """Return log10 of the next 1 or 5 of a decade, or below of the next 2 or 1: ticks in between are not near it."""
    steps = [math.floor(value) + shift + math.log10(m) for shift in (-1, 0, 1) for m in (1, 5 if up else 2)]
    return min(s for s in steps if s >= value - 1e-9) if up else max(s for s in steps if s <= value + 1e-9)

"""Curves over iterations: the machinery behind the losses and the errors.

A curve that only grew sends its new points; a curve that was thinned anew is sent whole.  Values on a logarithmic axis
are sent as log10 on a plain axis whose ticks are chosen here, so one figure can fall back to a linear axis and an empty
one has nothing to complain about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    FixedTicker,
    Line,
    NumeralTickFormatter,
)
from bokeh.models.annotations import Span
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from numpy.typing import NDArray

from supdr_viz.frames.types import Curves, Frame, Scene, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import LegendEntry, SteadyRanges, add_plain, colour_of, css

HEIGHT = 150
LEFT_BORDER = 46
"""Room for tick labels, so that the plot keeps still when they get longer."""

DASH = 0.02
"""A single point is drawn as a dash of this share of the axis."""

MAX_PATCHED = 4
"""Most trailing points that are corrected in place; else the curves are sent whole."""

_TICK_CODE = """
const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹"
const power = (e) => "10" + (e < 0 ? "⁻" : "") + [...`${Math.abs(e)}`].map((d) => digits[d]).join("")
const tidy = (v) => {
  const size = Math.abs(v)
  if (size == 0) return "0"
  if (size >= 1e6) return `${+(v / 1e6).toPrecision(3)} M`
  if (size >= 1e4) return `${+(v / 1e3).toPrecision(3)} k`
  return size < 1e-3 ? v.toExponential(0) : `${+v.toPrecision(4)}`
}
if (!log) return tidy(tick)
const whole = Math.round(tick)
return Math.abs(tick - whole) < 1e-9 && (whole > 3 || whole < -2) ? power(whole) : tidy(10 ** tick)
"""

USUAL = 6
"""Number of lines that a figure has from the start; most methods need no more."""


@dataclass(frozen=True)
class Style:
    """How a curve looks.

    Attributes
    ----------
    label : str
    role : str
        See `figures.css`.
    dash : {"solid", "dashed", "dotted", "dotdash"}
    width : float
    """

    label: str
    role: str
    dash: str = "solid"
    width: float = 1.6

    def colour(self, dark: bool) -> str:
        """Return the colour in a theme."""
        return colour_of(self.role, dark)

    @property
    def entry(self) -> LegendEntry:
        """Entry of the legend."""
        return LegendEntry(self.label, css(self.role), self.dash, "line", self.width)


class CurveView:
    """Curves over iterations, with a line at the iteration that is viewed.

    Parameters
    ----------
    dark : bool
    height : int
        In pixels; the width follows the card.

    Attributes
    ----------
    figure : figure
    source : ColumnDataSource
        ``iteration`` and one column per curve: ``c0``, ``c1``, …
    log : bool
        Whether the axis is logarithmic.
    """

    title = ""

    def __init__(self, dark: bool = False, *, height: int = HEIGHT) -> None:
        self.dark = dark
        self.log = False
        self.styles: dict[str, Style] = {}
        self.ranges = SteadyRanges((0.0, 10.0, 0.0, 1.0))
        self.source = ColumnDataSource({"iteration": np.zeros(1, dtype=np.float32)})
        self._sent: dict[str, NDArray] = {}
        self._shown: Curves | None = None
        self._lines: list[GlyphRenderer] = []
        self._ticker = FixedTicker(ticks=[0.0, 0.5, 1.0])
        self._formatter = CustomJSTickFormatter(code=_TICK_CODE, args={"log": False})
        self._viewed = Span(location=0, dimension="height", line_width=1.2, visible=False)
        self.figure = self._make_figure(height)
        # Lines that are there from the start need not be made while the page is busy with its first frames.
        for _ in range(USUAL):
            self._add_line()
        self.set_theme(dark)

    def styles_of(self, names: list[str]) -> dict[str, Style]:
        """Choose the look of curves by their names, in drawing order."""
        raise NotImplementedError

    def curves_of(self, frame: Frame) -> Curves:
        """Return the curves of the frame that this view shows."""
        raise NotImplementedError

    def wants_log(self, curves: dict[str, NDArray]) -> bool:
        """Whether the curves belong on a logarithmic axis."""
        return False

    def limits(self, curves: dict[str, NDArray]) -> tuple[float, float]:
        """Return the lowest and highest value that the axis must show (of positive values on a logarithmic axis)."""
        values = np.concatenate(list(curves.values())) if curves else np.empty(0)
        values = values[np.isfinite(values) & ((values > 0) | (not self.log))]
        return (float(values.min()), float(values.max())) if values.size else ((1.0, 10.0) if self.log else (0.0, 1.0))

    def show_scene(self, scene: Scene) -> None:
        """Forget all curves."""
        self._shown, self.styles, self._sent = None, {}, {}
        for line in self._lines:
            line.visible = False
        self._viewed.visible = False
        self.ranges.hold((0.0, 10.0, 0.0, 1.0), force=True)

    def show_frame(self, frame: Frame) -> None:
        """Send what the curves gained; move the line of the viewed iteration."""
        self.show_curves(self.curves_of(frame), frame.iteration, (frame.first_iteration, frame.last_iteration))

    def show_curves(self, curves: Curves, iteration: int, span: tuple[int, int]) -> None:
        """Send what curves gained; move the line of the viewed iteration.

        Parameters
        ----------
        curves : Curves
        iteration : int
            The one on display.
        span : tuple of int
            First and last iteration that can be viewed.
        """
        if self._viewed.location != iteration:
            self._viewed.location = iteration
        if not self._viewed.visible:
            self._viewed.visible = True
        if curves is self._shown or not len(curves.iteration):
            return
        self._shown = curves
        values = {name: bridge(v) for name, v in curves.values.items() if np.isfinite(v).any()}
        styles = self.styles_of(list(values))
        self.log = self.wants_log(values)
        self._set_axes(span, curves.iteration, {name: values[name] for name in styles})
        columns = {"iteration": np.asarray(curves.iteration, dtype=np.float32)}
        with np.errstate(divide="ignore", invalid="ignore"):
            for number, name in enumerate(styles):
                shown = np.log10(values[name]) if self.log else values[name]
                columns[f"c{number}"] = np.where(np.isfinite(shown), shown, np.nan).astype(np.float32)
        if len(curves.iteration) == 1:  # a line of one point would not be seen
            columns = {name: np.repeat(column, 2) for name, column in columns.items()}
            columns["iteration"][1] += DASH * (self.ranges.extent[1] - self.ranges.extent[0])
        self._set_styles(styles, columns)
        self._send(columns)

    def show_surface(self, surface: Surface) -> None:
        """Nothing here depends on the decision surface."""

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme; no data is sent again."""
        self.dark = dark
        self._viewed.line_color = palette(dark).muted
        for line, style in zip(self._lines, self.styles.values()):
            line.glyph.line_color = style.colour(dark)

    @property
    def legend(self) -> list[LegendEntry]:
        """Entries of the curves shown."""
        return [style.entry for style in self.styles.values()]

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        return ""

    def _make_figure(self, height: int) -> figure:
        made = figure(
            height=height,
            sizing_mode="stretch_width",
            x_range=self.ranges.x,
            y_range=self.ranges.y,
            toolbar_location=None,
            tools=[],
            outline_line_color=None,
            min_border_left=LEFT_BORDER,
            min_border_right=12,
            min_border_top=6,
            min_border_bottom=24,
        )
        made.xgrid.visible = False
        made.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=5)
        made.xaxis.formatter = NumeralTickFormatter(format="0,0")
        made.yaxis.ticker = self._ticker
        made.yaxis.formatter = self._formatter
        for axis in made.axis:
            axis.update(major_tick_line_color=None, minor_tick_line_color=None, axis_line_color=None)
        made.add_layout(self._viewed)
        return made

    def _set_axes(self, span: tuple[int, int], iteration: NDArray, values: dict[str, NDArray]) -> None:
        low, high = self.limits(values)
        first, last = float(min(iteration[0], span[0])), round_up(float(span[1]))
        if self.log:
            low, high, ticks = log_axis(low, high)
        else:
            low, high, ticks = linear_axis(low, high)
        self.ranges.hold((min(first, last), last, low, high))
        if self._ticker.ticks != ticks:
            self._ticker.ticks = ticks
        if self._formatter.args["log"] != self.log:
            self._formatter.args = {"log": self.log}

    def _set_styles(self, styles: dict[str, Style], columns: dict[str, NDArray]) -> None:
        if styles == self.styles:
            return
        self.styles = styles
        # In this order: a line must never name a column that its source does not have.
        for line in self._lines[len(styles) :]:
            line.visible = False
            line.glyph.y = "iteration"
        self._sent = dict(columns)
        self.source.data = dict(columns)
        for number, style in enumerate(styles.values()):
            if number == len(self._lines):
                self._add_line()
            self._lines[number].glyph.update(
                y=f"c{number}", line_color=style.colour(self.dark), line_dash=style.dash, line_width=style.width
            )
            self._lines[number].visible = True

    def _add_line(self) -> None:
        glyph = Line(x="iteration", y="iteration", line_join="round")
        self._lines.append(add_plain(self.figure, self.source, glyph, visible=False))

    def _send(self, columns: dict[str, NDArray]) -> None:
        """Send new points only, if the old ones are still right."""
        old = self._sent
        self._sent = columns
        if old.keys() != columns.keys():
            self.source.data = dict(columns)
            return
        n_old, n_new = len(old["iteration"]), len(columns["iteration"])
        n_same = min(n_old, n_new)
        for name, values in columns.items():
            new, was = values[:n_same], old[name][:n_same]
            differ = (new != was) & ~(np.isnan(new) & np.isnan(was))
            if differ.any():
                n_same = int(differ.argmax())
        if n_same == n_old == n_new:
            return
        if n_new < n_old or n_old - n_same > MAX_PATCHED:
            self.source.data = dict(columns)
            return
        if n_same < n_old:
            slot = slice(n_same, n_old)
            self.source.patch({name: [(slot, values[slot].tolist())] for name, values in columns.items()})
        if n_new > n_old:
            self.source.stream({name: values[n_old:].tolist() for name, values in columns.items()})


def bridge(values: NDArray) -> NDArray:
    """Fill gaps between known values by straight lines: a value that was not measured is not a break in the curve."""
    values = np.asarray(values, dtype=float)
    known = np.flatnonzero(np.isfinite(values))
    if len(known) in (0, len(values)):
        return values
    filled = values.copy()
    inner = slice(known[0], known[-1] + 1)
    index = np.arange(len(values))[inner]
    filled[inner] = np.interp(index, known, values[known])
    return filled


def round_up(value: float) -> float:
    """Return the next round number, at least 10: the axis grows in jumps, not with every frame."""
    if value <= 10.0:
        return 10.0
    power = 10.0 ** np.floor(np.log10(value))
    steps = np.array([1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0])
    return float(power * steps[np.searchsorted(steps, value / power - 1e-9)])


def linear_axis(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return ends and about four ticks of a linear axis that holds two values; zero is an end if it is near."""
    if 0 <= low < 0.5 * high:
        low = 0.0
    if -0.5 * abs(low) < high <= 0 and low < 0:
        high = 0.0
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** np.floor(np.log10(span / 4.0))
    step = float(power * min((s for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= span / 5.0), default=10.0))
    start, stop = float(np.floor(low / step + 1e-9)), float(np.ceil(high / step - 1e-9))
    if stop == start:
        stop += 1.0
    ticks = [round(step * k, 12) for k in np.arange(start, stop + 1).tolist()]
    room = 0.04 * (ticks[-1] - ticks[0])
    return ticks[0] - room, ticks[-1] + room, ticks


def log_axis(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return ends and ticks, in powers of ten, of a logarithmic axis that holds two positive values."""
    bottom, top = float(np.log10(low)), float(np.log10(high))
    if top - bottom < 0.3:
        middle = (top + bottom) / 2
        bottom, top = middle - 0.15, middle + 0.15
    if top - bottom > 1.6:
        stride = int(np.ceil((top - bottom) / 6.5))
        decades = range(int(np.floor(bottom / stride)) * stride, int(np.ceil(top)) + 1, stride)
        ticks = [float(decade) for decade in decades]
    else:
        mantissas = (1, 2, 5) if top - bottom > 0.6 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
        powers = range(int(np.floor(bottom)), int(np.ceil(top)) + 1)
        ticks = [float(np.log10(m) + power) for power in powers for m in mantissas]
    # Ends lie on a coarse grid, so that they jump rather than creep.
    bottom, top = float(np.floor(bottom * 5 - 0.2) / 5), float(np.ceil(top * 5 + 0.2) / 5)
    return bottom, top, [tick for tick in ticks if bottom <= tick <= top]

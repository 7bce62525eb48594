"""Charts as figures of matplotlib: for print, as vectors."""

from __future__ import annotations

import io
from functools import singledispatch
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from supdr_viz.export.charts import UNLABELLED, CurveChart, PlaneChart, PlaneFunction, SweepChart
from supdr_viz.ui.theme import Palette, palette

# Inches: a column of most journals.
SIZES = {PlaneChart: (3.6, 3.0), CurveChart: (3.6, 2.6), SweepChart: (3.6, 2.9)}

# Per inch, where there are any.
DOTS = 300

STYLE: dict[Any, Any] = {
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9,
    "font.size": 8,
    "legend.fontsize": 7,
    "lines.linewidth": 1.3,
}
TICKS: dict[str, Any] = {"labelsize": 7, "width": 0.6}
# Letters stay letters, and the same figure is the same file.
WRITTEN: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "supdr"}

UNDATED = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
REGION_SHARE = 0.25
POINT = 12
DASHES = {"bound": "dashed", "surrogate": "dotted"}


class PrintedFigure(Figure):
    """A figure that shows itself in a notebook, also without pyplot."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=DOTS / 2, bbox_inches="tight")
        return out.getvalue()


def draw(chart: PlaneChart | CurveChart | SweepChart, dark: bool, ax: Any) -> Figure:
    """Return a chart as a figure of its own, or draw it into axes and return their figure."""
    colours = palette(dark)
    if ax is not None:
        _filled(chart, ax, colours)
        return ax.get_figure(root=True)
    with matplotlib.rc_context(STYLE):
        figure = PrintedFigure(figsize=SIZES[type(chart)], layout="constrained", facecolor=colours.card)
        axes = figure.add_subplot()
        axes.tick_params(which="both", **TICKS)
        _filled(chart, axes, colours)
        # Laid out once: every further time would move it by a hair, and no two files would be alike.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def write(figure: Figure, path: Path) -> None:
    """Write a figure into a file, in the format that its ending names."""
    with matplotlib.rc_context(WRITTEN):
        metadata = UNDATED.get(path.suffix.lower())
        figure.savefig(path, dpi=DOTS, bbox_inches="tight", pad_inches=0.03, metadata=metadata)


def _filled(chart: Any, ax: Any, colours: Palette) -> None:
    _draw(chart, ax, colours)
    ax.set_facecolor(colours.card)
    ax.set_title(chart.title, color=colours.text)
    ax.tick_params(which="both", color=colours.secondary, labelcolor=colours.text)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(colours.text)
    for spine in ax.spines.values():
        spine.set_edgecolor(colours.secondary)


@singledispatch
def _draw(chart: Any, ax: Any, colours: Palette) -> None:
    raise TypeError(f"no chart: {type(chart).__name__}")


@_draw.register
def _plane(chart: PlaneChart, ax: Any, colours: Palette) -> None:
    ax.set_xlabel(chart.axis_names[0])
    ax.set_ylabel(chart.axis_names[1])
    if chart.surface is None:
        ax.set_aspect("equal", adjustable="datalim")
    else:
        _surface(chart.surface, ax, colours)
    x, y = chart.points.T
    look: dict[str, Any] = {"s": POINT, "linewidths": 0, "zorder": 3}
    if chart.values is None:
        ax.scatter(x, y, color=colours.classes[0], **look)
    elif chart.scale.names:
        _classes(chart, ax, colours, look)
    else:
        low, high = chart.scale.limits
        shades = ListedColormap(chart.scale.colours(colours)).with_extremes(bad=colours.muted)
        look |= {"c": chart.values, "cmap": shades, "vmin": low, "vmax": high, "plotnonfinite": True}
        _bar(ax, ax.scatter(x, y, **look), "y", colours)


def _classes(chart: PlaneChart, ax: Any, colours: Palette, look: dict[str, Any]) -> None:
    assert chart.values is not None
    shades = [*chart.scale.colours(colours), colours.muted]
    names = [*chart.scale.names, UNLABELLED]
    codes = np.where(np.isnan(chart.values), len(names) - 1, chart.values).astype(int)
    order = np.argsort(codes == len(names) - 1, kind="stable")[::-1]  # rows with a label lie above those without
    ax.scatter(*chart.points[order].T, color=[shades[code] for code in codes[order]], **look)
    keys = [
        Line2D(
            [], [], linestyle="none", marker="o", markersize=4, markeredgewidth=0, color=shades[code], label=names[code]
        )
        for code in np.unique(codes)
    ]
    _legend(ax, colours, handles=keys)


def _surface(surface: PlaneFunction, ax: Any, colours: Palette) -> None:
    x_low, x_high, y_low, y_high = surface.extent
    shades = [_mixed(shade, colours.card) for shade in surface.scale.colours(colours)]
    if surface.scale.names:
        # The centres of the outer cells lie half a cell inside.
        values = np.pad(surface.values, 1, mode="edge")
        x, y = _centres(x_low, x_high, surface.values.shape[1]), _centres(y_low, y_high, surface.values.shape[0])
        for code in np.unique(surface.values).astype(int):
            mask = (values == code).astype(float)
            ax.contourf(x, y, mask, levels=[0.5, 1.5], colors=[shades[code]], zorder=1)
            if not mask.all():
                ax.contour(x, y, mask, levels=[0.5], colors=[colours.boundary], linewidths=0.5, zorder=2)
    else:
        low, high = surface.scale.limits
        ax.imshow(
            surface.values,
            origin="lower",
            extent=surface.extent,
            cmap=ListedColormap(shades),
            vmin=low,
            vmax=high,
            interpolation="bilinear",
            zorder=1,
        )
    ax.set_xlim(x_low, x_high)
    ax.set_ylim(y_low, y_high)
    ax.set_aspect("equal")


@_draw.register
def _curves(chart: CurveChart, ax: Any, colours: Palette) -> None:
    for number, (name, values) in enumerate(chart.curves.items()):
        ax.plot(
            np.arange(1, len(values) + 1),
            values,
            color=colours.curves[number % len(colours.curves)],
            linestyle=DASHES.get(name, "solid"),
            label=name,
        )
    if chart.log:
        ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel("loss")
    ax.grid(color=colours.grid, linewidth=0.5)
    ax.set_axisbelow(True)
    _legend(ax, colours)


@_draw.register
def _sweep(chart: SweepChart, ax: Any, colours: Palette) -> None:
    places = [np.arange(len(labels)) for labels in chart.labels]
    ax.set_xticks(places[0], chart.labels[0], rotation=45, ha="right")
    ax.set_xlabel(chart.names[0])
    if len(chart.names) == 1:
        ax.errorbar(
            places[0],
            chart.mean,
            yerr=chart.spread,
            color=colours.curves[0],
            ecolor=colours.text,
            elinewidth=0.8,
            capsize=2,
        )
        ax.set_ylabel(chart.metric)
        return
    cells = ax.imshow(chart.mean.T, origin="lower", aspect="auto", cmap=ListedColormap(colours.regions))
    ax.set_yticks(places[1], chart.labels[1])
    ax.set_ylabel(chart.names[1])
    _bar(ax, cells, chart.metric, colours)


def _bar(ax: Any, drawn: Any, name: str, colours: Palette) -> None:
    bar = ax.get_figure().colorbar(drawn, ax=ax, label=name)
    bar.ax.tick_params(which="both", color=colours.secondary, labelcolor=colours.text, **TICKS)
    bar.ax.yaxis.label.set_color(colours.text)
    bar.outline.set_edgecolor(colours.secondary)


def _legend(ax: Any, colours: Palette, **options: Any) -> None:
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, labelcolor=colours.text, handlelength=1.6, **options
    )


def _centres(low: float, high: float, number: int) -> NDArray:
    half = (high - low) / number / 2
    return np.concatenate([[low], np.linspace(low + half, high - half, number), [high]])


def _mixed(colour: str, ground: str) -> str:
    share, upper, lower = REGION_SHARE, np.array(to_rgb(colour)), np.array(to_rgb(ground))
    mixed: Any = share * upper + (1 - share) * lower
    return to_hex(mixed)

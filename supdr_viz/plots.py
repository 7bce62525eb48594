"""Plots of fitted estimators as HoloViews elements, for notebooks and papers.

Every function takes what is fitted and returns an element that can be shown, combined (``+``, ``*``), restyled
(``.opts``) and saved (``holoviews.save``).

>>> import supdr
>>> from supdr_viz import plots
>>> data = supdr.datasets.make_spirals(3, 60, random_state=0)
>>> model = supdr.MAC(random_state=0).fit(data.X, data.y)
>>> picture = plots.boundary(model, data.X, data.y) + plots.latent(model, data.y) + plots.losses(model)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import holoviews as hv
import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr_viz.frames.scene import input_plane
from supdr_viz.frames.surface import LatentPlane, grid, latent_axes
from supdr_viz.frames.types import Plane
from supdr_viz.kit.theme import palette

__all__ = ["boundary", "gating", "latent", "losses", "sensitivity"]

SIZE = 340
RESOLUTION = 150
MANY_VALUES = 12
"""More different labels than these, or labels that are not whole, are values and not classes."""

hv.extension("bokeh", logo=False)


def latent(estimator: Any, y: ArrayLike | None = None, *, X: ArrayLike | None = None) -> hv.Points:
    """Show where rows stand in the latent space: a strip, a plane, or the two main directions of more dimensions.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    y : array-like of shape (n,), optional
        Labels or values for the colours; NaN: unlabelled.
    X : array-like of shape (n, m), optional
        Rows to place by `transform`, without their labels; by default the training rows as they were learnt
        (``embedding_``).

    Returns
    -------
    holoviews.Points

    Raises
    ------
    ValueError
        If the estimator is not fitted, cannot embed, or `y` does not have a label for every row.
    """
    rows, names = _latent_plane(_embedded(estimator, X))
    title = "Latent space, transform" if X is not None else "Latent space, embedding"
    return _points(rows, y, names).opts(title=title)


def boundary(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    axes: tuple[int, int] | None = None,
    resolution: int = RESOLUTION,
) -> hv.Overlay:
    """Show what an estimator predicts over a plane of the input space, and the rows on it.

    Any scikit-learn classifier or regressor will do.

    Parameters
    ----------
    estimator : estimator
        Fitted; its `predict` is asked.
    X : array-like of shape (n, m)
        Rows to show.
    y : array-like of shape (n,), optional
        Labels or values for the colours.
    axes : tuple of int, optional
        Two features that span the plane, the others at their means; by default the two there are, or the first two
        principal components.
    resolution : int
        Points of the grid per axis.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    ValueError
        If `axes` or `resolution` are not usable, or `y` does not have a label for every row.
    """
    rows, plane = _plane(X, axes, resolution)
    points, _, _ = grid(plane.extent, resolution)
    predicted = np.asarray(estimator.predict(plane.lift(points)))
    codes, n_classes = _codes(predicted, getattr(estimator, "classes_", None))
    surface = _image(codes.reshape(resolution, resolution), plane, n_classes, "prediction")
    suffix = "" if plane.exact else ", slice through the mean"
    overlay = surface * _points(plane.project(rows), y, plane.axis_names)
    return overlay.opts(hv.opts.Overlay(title=f"Prediction{suffix}"))


def gating(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    axes: tuple[int, int] | None = None,
    resolution: int = RESOLUTION,
) -> hv.Overlay:
    """Show which local model wins over a plane of the input space, and the rows on it.

    Parameters
    ----------
    estimator : estimator
        Fitted, with a method ``gate``.
    X : array-like of shape (n, m)
        Rows to show.
    y : array-like of shape (n,), optional
        Labels for the colours.
    axes : tuple of int, optional
        See `boundary`.
    resolution : int
        Points of the grid per axis.

    Returns
    -------
    holoviews.Overlay

    Raises
    ------
    ValueError
        If the estimator has no gate, or the other arguments are not usable.
    """
    if not hasattr(estimator, "gate"):
        raise ValueError(f"gating needs an estimator with a gate, such as SLDR; got {type(estimator).__name__}")
    rows, plane = _plane(X, axes, resolution)
    points, _, _ = grid(plane.extent, resolution)
    shares = np.asarray(estimator.gate(plane.lift(points)))
    winner = shares.argmax(axis=1).reshape(resolution, resolution)
    surface = _image(winner, plane, shares.shape[1], "model", shift=3)
    overlay = surface * _points(plane.project(rows), y, plane.axis_names)
    return overlay.opts(hv.opts.Overlay(title="Gate: the local model that wins"))


def losses(estimator: Any, names: Sequence[str] | None = None) -> hv.NdOverlay:
    """Show the recorded losses, the objective and its bound, if there is one.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``history_``.
    names : sequence of str, optional
        Entries of ``history_``; by default all additive terms, ``"objective"``, ``"surrogate"`` and ``"bound"``.

    Returns
    -------
    holoviews.NdOverlay

    Raises
    ------
    ValueError
        If there is no history, or a name is not in it.
    """
    history = getattr(estimator, "history_", None)
    if not history:
        raise ValueError(f"{type(estimator).__name__} has no history_: fit it first")
    wanted = list(names) if names is not None else _shown_losses(estimator, history)
    unknown = [name for name in wanted if name not in history]
    if unknown:
        raise ValueError(f"history_ holds {', '.join(history)}; got {', '.join(map(repr, unknown))}")
    curves = {name: np.asarray(history[name], dtype=float) for name in wanted}
    finite = np.concatenate([values[np.isfinite(values)] for values in curves.values()])
    log = bool(finite.size and finite.min() > 0)
    dashes = {"bound": "dashed", "surrogate": "dotted"}
    made = {
        name: hv.Curve((np.arange(1, len(values) + 1), values), "iteration", "loss").opts(
            color=_curve_colour(number), line_dash=dashes.get(name, "solid"), line_width=2
        )
        for number, (name, values) in enumerate(curves.items())
    }
    return hv.NdOverlay(made, "term").opts(
        hv.opts.NdOverlay(logy=log, width=460, height=SIZE, legend_position="right", title="Losses")
    )


def sensitivity(result: Any, metric: str = "") -> hv.Element:
    """Show a sweep: a heat map over two parameters, a curve with its spread over one.

    Parameters
    ----------
    result : supdr.sensitivity.Result
        Or anything with ``grid``, ``means`` and ``deviations``; unfinished cells stay empty.
    metric : str
        One of the sweep's; empty: the main one.

    Returns
    -------
    holoviews.HeatMap or holoviews.Overlay

    Raises
    ------
    ValueError
        If the sweep has more than two parameters with more than one value, or the metric is not one of its own.
    """
    metric = metric or result.metrics[0]
    if metric not in result.metrics:
        raise ValueError(f"metric must be one of {', '.join(result.metrics)}; got {metric!r}")
    varied = [name for name, values in result.grid.items() if len(values) > 1] or list(result.grid)[:1]
    if len(varied) > 2:
        raise ValueError(f"a picture has two parameters; this sweep varies {', '.join(varied)}")
    shape = [len(result.grid[name]) for name in varied]
    mean, spread = result.means(metric).reshape(shape), result.deviations(metric).reshape(shape)
    labels = [[_label(value) for value in result.grid[name]] for name in varied]
    if len(varied) == 1:
        return _sensitivity_curve(varied[0], labels[0], mean, spread, metric)
    cells = [
        (first, second, mean[i, j], spread[i, j])
        for i, first in enumerate(labels[0])
        for j, second in enumerate(labels[1])
    ]
    return hv.HeatMap(cells, varied, [metric, "sd"]).opts(
        cmap="Viridis", colorbar=True, tools=["hover"], width=460, height=SIZE, xrotation=45, title=f"Mean {metric}"
    )


# --- parts ----------------------------------------------------------------------------------------------------------


def _embedded(estimator: Any, X: ArrayLike | None) -> NDArray:
    if X is not None:
        return np.asarray(estimator.transform(X), dtype=float)
    if not hasattr(estimator, "embedding_"):
        raise ValueError(f"{type(estimator).__name__} has no embedding_: fit it first, or give rows X to transform")
    return np.asarray(estimator.embedding_, dtype=float)


def _latent_plane(embedded: NDArray) -> tuple[NDArray, tuple[str, str]]:
    names = {1: ("z1", "jitter"), 2: ("z1", "z2")}.get(embedded.shape[1], ("component 1", "component 2"))
    return LatentPlane(*latent_axes(embedded)).place(embedded), names


def _plane(X: ArrayLike, axes: tuple[int, int] | None, resolution: int) -> tuple[NDArray, Plane]:
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2:
        raise ValueError(f"X must have rows and columns; got an array of shape {rows.shape}")
    if not 2 <= resolution <= 1000:
        raise ValueError(f"resolution must lie between 2 and 1000; got {resolution!r}")
    if axes is not None and (len(axes) != 2 or not all(0 <= axis < rows.shape[1] for axis in axes)):
        raise ValueError(f"axes must be two columns from 0 to {rows.shape[1] - 1}; got {axes!r}")
    names = getattr(X, "columns", [f"x{number + 1}" for number in range(rows.shape[1])])
    return rows, input_plane(rows, rows, [str(name) for name in names], axes)


def _codes(values: NDArray, classes: Any) -> tuple[NDArray, int]:
    """Return class codes and their number; values themselves and 0 for regression."""
    if classes is not None:
        classes = np.asarray(classes)
        return np.searchsorted(classes, values).astype(float), len(classes)
    return values.astype(float), 0


def _points(rows: NDArray, y: ArrayLike | None, names: Sequence[str]) -> hv.Points:
    look: dict[str, Any] = {
        "size": 6,
        "width": SIZE,
        "height": SIZE + 30,
        "tools": ["hover"],
        "line_color": None,
    }
    if y is None:
        return hv.Points(rows, list(names)).opts(color=palette(False).classes[0], **look)
    labels = np.asarray(y)
    if len(labels) != len(rows):
        raise ValueError(f"y must have a label for each of the {len(rows)} rows; got {len(labels)}")
    known = ~np.array([value is None or value != value for value in labels.tolist()], dtype=bool)
    classes = np.unique(labels[known])
    numeric = labels.dtype.kind in "fiu"
    if numeric and (len(classes) > MANY_VALUES or bool((classes != np.round(classes)).any())):
        return hv.Points((*rows.T, labels), list(names), "y").opts(color="y", cmap="Viridis", colorbar=True, **look)
    shown = np.array([_label(value) if ok else "unlabelled" for value, ok in zip(labels.tolist(), known)])
    colours = {_label(value): _class_colour(number) for number, value in enumerate(classes.tolist())}
    colours["unlabelled"] = palette(False).muted
    present = {name: colour for name, colour in colours.items() if (shown == name).any()}
    return hv.Points((*rows.T, shown), list(names), "y").opts(
        color="y", cmap=present, show_legend=True, legend_position="top", **look
    )


def _image(values: NDArray, plane: Plane, n_classes: int, name: str, shift: int = 0) -> hv.Image:
    x_low, x_high, y_low, y_high = plane.extent
    bounds = (x_low, y_low, x_high, y_high)
    image = hv.Image(values[::-1], list(plane.axis_names), name, bounds=bounds)
    look: dict[str, Any] = {"width": SIZE, "height": SIZE + 30, "alpha": 0.25}
    if n_classes:
        colours = [_class_colour(number + shift) for number in range(n_classes)]
        return image.opts(cmap=colours, clim=(-0.5, n_classes - 0.5), **look)
    return image.opts(cmap="Viridis", **look)


def _shown_losses(estimator: Any, history: dict[str, Any]) -> list[str]:
    terms = getattr(estimator, "loss_names_", None) or [
        name for name in history if name in ("reconstruction", "label", "regularisation", "penalty", "targets")
    ]
    return [name for name in ("objective", *terms, "surrogate", "bound") if name in history]


def _sensitivity_curve(name: str, labels: list[str], mean: NDArray, spread: NDArray, metric: str) -> hv.Overlay:
    places = list(enumerate(labels))
    curve = hv.Curve((np.arange(len(labels)), mean), name, metric).opts(color=_curve_colour(0), line_width=2)
    bars = hv.ErrorBars((np.arange(len(labels)), mean, spread), name, [metric, "sd"])
    return (curve * bars).opts(hv.opts.Curve(xticks=places, width=460, height=SIZE), hv.opts.Overlay(title=metric))


def _label(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _class_colour(number: int) -> str:
    colours = palette(False).classes
    return colours[number % len(colours)]


def _curve_colour(number: int) -> str:
    colours = palette(False).curves
    return colours[number % len(colours)]

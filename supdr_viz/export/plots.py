"""The plots: what is shown is computed here, whichever backend draws it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.engine.docstrings import with_entries_of
from supdr.engine.optional import require
from supdr_viz.export.charts import CurveChart, PlaneChart, PlaneFunction, Scale, SweepChart, label, read_labels, spread
from supdr_viz.pictures.scene import filled, input_plane
from supdr_viz.pictures.surface import LatentPlane, grid, latent_axes
from supdr_viz.pictures.table import OnInput, Table, last_step
from supdr_viz.pictures.types import Plane

RESOLUTION = 150
# Local models have other colours than the first classes.
GATE_COLOURS = 3


def latent(
    estimator: Any,
    y: ArrayLike | None = None,
    *,
    X: ArrayLike | None = None,
    backend: str = "bokeh",
    dark: bool = False,
    ax: Any = None,
) -> Any:
    """Show where rows stand in the latent space: a strip, a plane, or the two main directions of more dimensions.

    Parameters
    ----------
    estimator : estimator
        Fitted, or a fitted pipeline that ends in one.
    y : array-like of shape (n,), optional
        Labels or values for the colours; NaN: unlabelled.
    X : array-like or DataFrame of shape (n, m), optional
        Rows to place by `transform`, without their labels; by default the training rows as they were learnt
        (``embedding_``).
    backend : {"bokeh", "matplotlib"}
        To zoom into, or for print.
    dark : bool
        On a dark ground.
    ax : matplotlib.axes.Axes, optional
        Draw into these; the backend is matplotlib then.

    Returns
    -------
    holoviews.Points or matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the estimator is not fitted, cannot embed, or `y` does not have a label for every row.
    """
    embedded = _embedded(estimator, X)
    points = LatentPlane(*latent_axes(embedded)).place(embedded)
    names = {1: ("z1", "jitter"), 2: ("z1", "z2")}.get(embedded.shape[1], ("component 1", "component 2"))
    title = "Latent space, transform" if X is not None else "Latent space, embedding"
    values, scale, _ = _labels(y, len(points), estimator)
    return _drawn(PlaneChart(title, names, points, values, scale), backend, dark, ax)


@with_entries_of(latent)
def boundary(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    axes: tuple[int, int] | None = None,
    resolution: int = RESOLUTION,
    backend: str = "bokeh",
    dark: bool = False,
    ax: Any = None,
) -> Any:
    """Show what an estimator predicts over a plane of the input space, and the rows on it.

    Any scikit-learn classifier, regressor or pipeline will do.  Columns of a DataFrame that hold no numbers lie on the
    plane by the number of their category.

    Parameters
    ----------
    estimator : estimator
        Fitted; its `predict` is asked, by the names of the columns if it knows them.
    X : array-like or DataFrame of shape (n, m)
        Rows to show.
    y : array-like of shape (n,), optional
        Labels or values for the colours, the same that the predictions have.
    axes : tuple of int, optional
        Two features that span the plane, the others at their means; by default the two there are, or the first two
        principal components.
    resolution : int
        Points of the grid per axis.
    backend, dark, ax
        As in `latent`.

    Returns
    -------
    holoviews.Overlay or matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If `axes` or `resolution` are not usable, or `y` does not have a label for every row.
    """
    table = Table.known_to(estimator, X)
    points, plane = _plane(table, X, axes, resolution)
    places, _, _ = grid(plane.extent, resolution)
    predicted = np.asarray(estimator.predict(table.rows(plane.lift(places)))).reshape(resolution, resolution)
    values, scale, numbers = _labels(y, len(points), estimator)
    surface_scale = scale
    if hasattr(last_step(estimator), "classes_"):
        _, surface_scale, own = _labels(None, 0, estimator)
        predicted = np.vectorize((numbers or own).__getitem__, otypes=[float])(predicted)
    else:
        shown = predicted if values is None or scale.names else np.append(predicted, values)
        surface_scale = Scale(limits=spread(shown))
        scale = scale if scale.names else surface_scale
    surface = PlaneFunction("prediction", predicted, plane.extent, surface_scale)
    title = "Prediction" if plane.exact else "Prediction, slice through the mean"
    return _drawn(PlaneChart(title, plane.axis_names, points, values, scale, surface), backend, dark, ax)


@with_entries_of(latent, boundary)
def gating(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    axes: tuple[int, int] | None = None,
    resolution: int = RESOLUTION,
    backend: str = "bokeh",
    dark: bool = False,
    ax: Any = None,
) -> Any:
    """Show which local model wins over a plane of the input space, and the rows on it.

    Parameters
    ----------
    estimator : estimator
        Fitted, with a method ``gate``; or a pipeline that ends in one.
    X
        As in `boundary`.
    y : array-like of shape (n,), optional
        Labels for the colours.
    axes, resolution
        As in `boundary`.
    backend, dark, ax
        As in `latent`.

    Returns
    -------
    holoviews.Overlay or matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the estimator has no gate, or the other arguments are not usable.
    """
    last = last_step(estimator)
    if not hasattr(last, "gate"):
        raise ValueError(f"gating needs an estimator with a gate, such as SLDR; got {type(last).__name__}")
    table = Table.known_to(estimator, X)
    points, plane = _plane(table, X, axes, resolution)
    places, _, _ = grid(plane.extent, resolution)
    shares = np.asarray(OnInput(estimator, table).gate(plane.lift(places)))
    winner = shares.argmax(axis=1).reshape(resolution, resolution).astype(float)
    models = Scale(tuple(f"model {number + 1}" for number in range(shares.shape[1])), first=GATE_COLOURS)
    values, scale, _ = _labels(y, len(points), estimator)
    surface = PlaneFunction("model", winner, plane.extent, models)
    title = "Gate: the local model that wins"
    return _drawn(PlaneChart(title, plane.axis_names, points, values, scale, surface), backend, dark, ax)


@with_entries_of(latent)
def losses(
    estimator: Any,
    names: Sequence[str] | None = None,
    *,
    backend: str = "bokeh",
    dark: bool = False,
    ax: Any = None,
) -> Any:
    """Show the recorded losses, the objective and its bound, if there is one.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``history_``; or a pipeline that ends in one.
    names : sequence of str, optional
        Entries of ``history_``; by default all additive terms, ``"objective"``, ``"surrogate"`` and ``"bound"``.
    backend, dark, ax
        As in `latent`.

    Returns
    -------
    holoviews.NdOverlay or matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If there is no history, or a name is not in it.
    """
    last = last_step(estimator)
    history = getattr(last, "history_", None)
    if not history:
        raise ValueError(f"{type(last).__name__} has no history_: fit it first")
    chosen = list(names) if names is not None else _shown_losses(last, history)
    unknown = [name for name in chosen if name not in history]
    if unknown:
        raise ValueError(f"history_ holds {', '.join(history)}; got {', '.join(map(repr, unknown))}")
    curves = {name: np.asarray(history[name], dtype=float) for name in chosen}
    finite = np.concatenate([values[np.isfinite(values)] for values in curves.values()])
    log = bool(finite.size and finite.min() > 0)
    return _drawn(CurveChart("Losses", curves, log), backend, dark, ax)


@with_entries_of(latent)
def sensitivity(result: Any, metric: str = "", *, backend: str = "bokeh", dark: bool = False, ax: Any = None) -> Any:
    """Show a sweep: a heat map over two parameters, a curve with its spread over one.

    Parameters
    ----------
    result : supdr.sensitivity.Result
        Or anything with ``grid``, ``means`` and ``deviations``; unfinished cells stay empty.
    metric : str
        One of the sweep's; empty: the main one.
    backend, dark, ax
        As in `latent`.

    Returns
    -------
    holoviews.HeatMap, holoviews.Overlay or matplotlib.figure.Figure

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
    chart = SweepChart(
        title=f"Mean {metric}",
        metric=metric,
        names=tuple(varied),
        labels=tuple([label(value) for value in result.grid[name]] for name in varied),
        mean=np.asarray(result.means(metric)).reshape(shape),
        spread=np.asarray(result.deviations(metric)).reshape(shape),
    )
    return _drawn(chart, backend, dark, ax)


# --- parts ----------------------------------------------------------------------------------------------------------


def _drawn(chart: Any, backend: str, dark: bool, ax: Any) -> Any:
    """Draw by a backend that is imported when it is first asked for."""
    if ax is not None or backend == "matplotlib":
        require("A plot for print", "matplotlib", extra="notebook")
        return importlib.import_module("supdr_viz.export.plots_matplotlib").draw(chart, dark, ax)
    if backend != "bokeh":
        raise ValueError(f'backend must be "bokeh" or "matplotlib"; got {backend!r}')
    return importlib.import_module("supdr_viz.export.plots_holoviews").draw(chart, dark)


def _embedded(estimator: Any, X: ArrayLike | None) -> NDArray:
    if X is not None:
        return np.asarray(estimator.transform(Table.as_learnt(estimator, X)), dtype=float)
    last = last_step(estimator)
    if not hasattr(last, "embedding_"):
        raise ValueError(f"{type(last).__name__} has no embedding_: fit it first, or give rows X to transform")
    return np.asarray(last.embedding_, dtype=float)


def _labels(y: ArrayLike | None, n_rows: int, estimator: Any) -> tuple[NDArray | None, Scale, dict[Any, int]]:
    classes = getattr(last_step(estimator), "classes_", None)
    if y is not None:
        return read_labels(y, n_rows, classes)
    _, scale, numbers = read_labels(np.empty(0), 0, classes)
    return None, scale, numbers


def _plane(table: Table, X: ArrayLike, axes: tuple[int, int] | None, resolution: int) -> tuple[NDArray, Plane]:
    """Return where rows stand in the plane of the input that is shown, and this plane."""
    rows = table.numbers(X)
    if not 2 <= resolution <= 1000:
        raise ValueError(f"resolution must lie between 2 and 1000; got {resolution!r}")
    if axes is not None and (len(axes) != 2 or not all(0 <= axis < rows.shape[1] for axis in axes)):
        raise ValueError(f"axes must be two columns from 0 to {rows.shape[1] - 1}; got {axes!r}")
    plane = input_plane(rows, rows, table.axis_names, axes)
    return plane.project(filled(rows, rows)), plane


def _shown_losses(estimator: Any, history: dict[str, Any]) -> list[str]:
    terms = getattr(estimator, "loss_names_", None) or [
        name for name in history if name in ("reconstruction", "label", "regularisation", "penalty", "targets")
    ]
    return [name for name in ("objective", *terms, "surrogate", "bound") if name in history]

"""Polygons, edges, ellipses and lines as plain points."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.scene import Extent

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 49)

# Points farther from the median than this many times the median distance have no part in the shape of an ellipse.
FAR = 3.0


def joined(lines: Iterable[NDArray]) -> NDArray:
    """Join lines (k, 2) to one array with a row of NaN after each."""
    gap = np.full((1, 2), np.nan)
    pieces = [piece for line in lines for piece in (np.asarray(line, dtype=float), gap)]
    return np.concatenate(pieces) if pieces else gap


def closed(points: NDArray) -> NDArray:
    """Return the corners (k, 2) with the first one repeated at the end."""
    return np.concatenate([points, points[:1]])


def segment(start: NDArray, end: NDArray) -> NDArray:
    """Return the line (2, 2) from one point to another."""
    return np.stack([start, end])


def all_edges(points: NDArray) -> NDArray:
    """Return the lines between all pairs of points (k, 2), joined."""
    return joined(points[list(pair)] for pair in itertools.combinations(range(len(points)), 2))


def around(points: NDArray) -> NDArray:
    """Return the order (k,) of points (k, 2) by their angle around their mean."""
    x, y = (points - points.mean(axis=0)).T
    return np.argsort(np.arctan2(y, x), kind="stable")


def circle(centre: NDArray, radius: float) -> NDArray:
    """Return a circle as a closed line."""
    return centre + radius * np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])


def ellipse(points: NDArray, deviations: float = 2.0) -> NDArray:
    """Return the ellipse that many standard deviations around the mean of points (k, 2), as a closed line."""
    return _ellipse_of(*_moments(points), deviations)


def half_ellipse(points: NDArray) -> tuple[NDArray, NDArray]:
    """Return middle (2,) and closed line of an ellipse that holds half of points (k, 2).

    It has the shape of those that are not far from their median.
    """
    apart = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    mean, covariance = _moments(points[apart <= FAR * np.median(apart)])
    least = 1e-6 * np.trace(covariance) + np.finfo(float).tiny
    covariance += least * np.eye(2)  # points may lie on a line, or in one place
    distances = np.einsum("ij,jk,ik->i", points - mean, np.linalg.inv(covariance), points - mean)
    return mean, _ellipse_of(mean, covariance, float(np.sqrt(np.median(distances))))


def _moments(points: NDArray) -> tuple[NDArray, NDArray]:
    """Return the mean (2,) and the covariance (2, 2) of points (k, 2)."""
    mean = points.mean(axis=0)
    return mean, (points - mean).T @ (points - mean) / max(len(points), 1)


def _ellipse_of(mean: NDArray, covariance: NDArray, deviations: float) -> NDArray:
    """Return an ellipse as a closed line."""
    values, vectors = np.linalg.eigh(covariance)
    radii = deviations * np.sqrt(np.maximum(values, 0.0))
    return mean + (np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)]) * radii) @ vectors.T


def line_across(normal: NDArray, offset: float, extent: Extent) -> NDArray | None:
    """Return the part (2, 2) of the line ``normal @ p + offset = 0`` inside an extent, or None."""
    x_low, x_high, y_low, y_high = extent
    size = float(np.hypot(*normal))
    if size < 1e-12:
        return None
    direction = np.array([-normal[1], normal[0]]) / size
    foot = -offset * normal / size**2
    low, high = -np.inf, np.inf
    for at, step, start, end in zip(foot, direction, (x_low, y_low), (x_high, y_high)):
        if abs(step) < 1e-12:
            if not start <= at <= end:
                return None
            continue
        first, second = sorted([(start - at) / step, (end - at) / step])
        low, high = max(low, first), min(high, second)
    return np.stack([foot + low * direction, foot + high * direction]) if low < high else None


def regular_corners(means: NDArray) -> NDArray | None:
    """Return the regular figure that lies closest to the class means: a simplex if there is room, else a polygon.

    `means` (K, L). Returns (K, L): placed, turned and scaled by least squares.  L = 1: equidistant points; L = 2: a
    regular polygon in the order of the means; None for more than L + 1 classes in L > 2 dimensions, where no figure has
    equal edges.
    """
    n_classes, n_components = means.shape
    centre = means.mean(axis=0)
    offsets = means - centre
    if n_components >= n_classes - 1:
        ideal = np.eye(n_classes) - 1.0 / n_classes
    elif n_components == 1:
        ideal = np.argsort(np.argsort(means, axis=0), axis=0) - (n_classes - 1) / 2.0
    elif n_components == 2:
        angle = np.empty(n_classes)
        angle[around(means)] = 2.0 * np.pi * np.arange(n_classes) / n_classes
        ideal = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        return None
    left, singular, right = np.linalg.svd(ideal.T @ offsets, full_matrices=False)
    return centre + (singular.sum() / (ideal**2).sum()) * ideal @ left @ right

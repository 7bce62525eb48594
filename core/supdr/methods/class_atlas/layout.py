"""Where the map starts: classes as discs that do not overlap, placed by the distances between their means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from supdr.engine.interruption import checkpoint
from supdr.methods.class_atlas.model import Atlas

Array = NDArray[np.float64]

# Median and least distance of two centres, in radii of a disc.
SPACING, LEAST_SPACING = 3.2, 2.5

SMACOF_STEPS, PUSHES = 300, 200

# The stress is low enough when a step lowers it by less than this share of the squared distances' sum.
SMACOF_TOLERANCE = 1e-9

# Share of the rows of a class inside its disc.
ROUND = 0.95

# Radius of the only class.
ALONE = 5.0


def first_map(atlas: Atlas, own: Array, n_components: int) -> tuple[Array, float]:
    """Return Theta (p, d) of the start, and b, from the coordinates (s, a) of the landmarks in all charts."""
    n_classes, X = atlas.proba.shape[1], atlas.charts.rows
    means = np.stack([X[atlas.members == k].mean(axis=0) for k in range(n_classes)])
    centres = class_layout(means, n_components)
    elsewhere = atlas.charts.coordinates(means)
    classes, pcs = atlas.charts.classes, len(atlas.charts.owners)
    theta = np.zeros((n_classes + len(classes), n_components))
    theta[:n_classes] = centres
    for k in range(n_classes):
        chart = np.flatnonzero(classes == k)
        # Principal axes where there are some; the only class starts at its embedding.
        flat = chart[chart >= pcs] if n_classes == 1 or not (chart < pcs).any() else chart[chart < pcs]
        flat = flat[:n_components]
        if len(flat):
            radius = np.quantile(np.linalg.norm(own[np.ix_(atlas.members == k, flat)], axis=1), ROUND)
            turn = towards(elsewhere[:, flat] - elsewhere[k, flat], centres - centres[k])
            theta[n_classes + flat] = turn / radius if radius > 0.0 else turn
    if n_classes == 1:
        return ALONE * theta, 1.0
    median = float(np.median(pdist(centres)))
    spread = 10.0 * (1.0 + n_classes / 10.0)
    return theta * (spread / median), 4.0 / spread**2


def towards(directions: Array, targets: Array) -> Array:
    """Return the turn or reflection (a, d) of directions (K, a), all alike, that is nearest to targets (K, d)."""
    unit = [each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (directions, targets)]
    U, _, V = np.linalg.svd(unit[0].T @ unit[1] + 1e-9 * np.eye(directions.shape[1], targets.shape[1]))
    count = min(directions.shape[1], targets.shape[1])
    return U[:, :count] @ V[:count]


def class_layout(means: Array, n_components: int) -> Array:
    """Return places (K, d) of the classes, by their means (K, D), `LEAST_SPACING` apart or more."""
    n_classes = len(means)
    if n_classes == 1:
        return np.zeros((1, n_components))
    distances = squareform(pdist(means))
    middle = np.eye(n_classes) - 1.0 / n_classes
    values, vectors = np.linalg.eigh(-0.5 * middle @ distances**2 @ middle)
    count = min(n_components, n_classes)
    vectors, values = vectors[:, ::-1][:, :count], np.maximum(values[::-1][:count], 0.0)
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] + 1e-300)
    places = np.zeros((n_classes, n_components))
    places[:, :count] = vectors * np.sqrt(values)
    # Classes in one place have no direction to be pushed in.
    unit = distances.max() if distances.max() > 0.0 else 1.0
    places += 1e-6 * unit * np.cos(np.arange(places.size)).reshape(places.shape)
    if distances.max() > 0.0:
        places = less_stressed(places, distances)
    places = places * (SPACING / np.median(pdist(places)))
    for _ in range(PUSHES):
        difference = places[:, None] - places
        length = np.sqrt((difference**2).sum(axis=2)) + np.eye(n_classes) * LEAST_SPACING
        gap = np.maximum(LEAST_SPACING - length, 0.0)
        if gap.max() < 1e-9:
            break
        places = places + 0.5 * ((gap / np.maximum(length, 1e-12))[:, :, None] * difference).sum(axis=1)
    return places - places.mean(axis=0)


def less_stressed(places: Array, distances: Array) -> Array:
    """Return places (K, d) whose distances are nearer to `distances` (K, K): steps of SMACOF, which never raise stress.

    Source: J. de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977.  The checks of
    `sklearn.manifold.smacof` would take most of the time.
    """
    before, enough = np.inf, SMACOF_TOLERANCE * float((distances**2).sum())
    for _ in range(SMACOF_STEPS):
        checkpoint()
        apart = squareform(pdist(places))
        stress = 0.5 * float(((apart - distances) ** 2).sum())
        if before - stress <= enough:
            break
        before = stress
        ratio = distances / np.maximum(apart, np.finfo(float).tiny)
        places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / len(places)
    return places

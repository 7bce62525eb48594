"""MAC's classes: their codes in the latent space, the classifiers' signs, how near class means are to a simplex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.sparse_rows import SparseRows
from supdr.solvers.low_rank import leading_triplets

Array = NDArray[np.float64]

REPULSION_STEPS = 300


def simplex_codes(n_classes: int) -> Array:
    """Return K >= 2 unit vectors (K, K - 1) with equal distances: the corners of a regular simplex."""
    corners = np.eye(n_classes) - 1.0 / n_classes
    # Corner k has zeros behind coordinate k: the layout does not depend on a decomposition's arbitrary signs.
    basis = np.linalg.qr(corners[:, : n_classes - 1])[0]
    basis *= np.where(np.einsum("ij,ij->j", basis, corners[:, : n_classes - 1]) < 0.0, -1.0, 1.0)
    codes = corners @ basis
    return codes / np.linalg.norm(codes, axis=1, keepdims=True)


def class_codes(n_classes: int, n_components: int) -> Array:
    """Return one code per class, (K, L): a simplex if there is room, else points spread over the unit sphere."""
    codes = np.zeros((n_classes, n_components))
    if n_components >= n_classes - 1:
        codes[:, : n_classes - 1] = simplex_codes(n_classes)
    elif n_components == 1:
        codes[:, 0] = np.linspace(-1.0, 1.0, n_classes)
    elif n_components == 2:
        angle = 2.0 * np.pi * np.arange(n_classes) / n_classes
        codes[:] = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        codes[:] = _spread(simplex_codes(n_classes)[:, :n_components])
    return codes


def _spread(points: Array) -> Array:
    """Push points (K, L) apart on the unit sphere, by gradient steps on the sum of 1 / distance^2."""
    points = points + 1e-3 * np.cos(np.arange(points.size)).reshape(points.shape)  # equal points would stay equal
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for number in range(REPULSION_STEPS):
        difference = points[:, None] - points
        squared = (difference**2).sum(axis=2) + np.eye(len(points))
        push = (difference / squared[:, :, None] ** 2).sum(axis=1)
        push -= (push * points).sum(axis=1, keepdims=True) * points
        length = 0.2 / (1.0 + 0.1 * number) / max(float(np.abs(push).max()), 1.0)
        points = points + length * push
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points


def initial_targets(
    codes: NDArray, n_classes: int, how: str, noise: float, normal: Array, means: Array | None = None
) -> Array:
    """Return the targets (n, L) that a run starts from: `class_codes`, blobs around `means` (K, L), or `normal` (n, L).

    `noise` moves coordinates beyond K - 1 of the simplex, which would stay 0 for ever.
    """
    if how == "random":
        return normal
    if how == "blobs":
        assert means is not None
        return means[codes] + normal / 3.0
    return class_codes(n_classes, normal.shape[1])[codes] + noise * normal


def principal_targets(X: Array, n_components: int, noise: float, rng: np.random.Generator) -> Array:
    """Return targets (n, L) that are the rows along principal axes, then noise: labels have no part in them."""
    targets = noise * rng.standard_normal((len(X), n_components))
    centred = X - X.mean(axis=0)
    count = min(n_components, *X.shape)
    leading = _principal_axes(centred, count)
    # The sign of an axis is arbitrary: its largest entry is positive.
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(count)])
    scores = centred @ leading
    width = float(np.sqrt((scores[:, 0] ** 2).mean()))
    if width > 0.0:
        targets[:, :count] = scores / width
    return targets


def _principal_axes(centred: Any, count: int) -> Array:
    """Return the leading principal axes (D, count) of centred rows."""
    if isinstance(centred, SparseRows):
        return leading_triplets(centred, count)[2].T
    tall = len(centred) >= centred.shape[1]
    leading = np.linalg.eigh(centred.T @ centred if tall else centred @ centred.T)[1][:, ::-1][:, :count]
    if tall:
        return leading
    leading = centred.T @ leading
    return leading / np.maximum(np.linalg.norm(leading, axis=0), np.finfo(float).tiny)


def class_signs(codes: NDArray, n_classes: int, scheme: str) -> Array:
    """Return Y (n, P), the sign of every row in every classifier's problem; 0 where it takes no part.

    "ova": one classifier per class against the rest; "ovo": one per pair i < j in lexical order, +1 for i; one for two
    classes.
    """
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    one = codes[:, None] == np.arange(n_classes)
    if scheme == "ova":
        return np.where(one, 1.0, -1.0)
    first, second = np.triu_indices(n_classes, 1)
    return np.ascontiguousarray(one[:, first].astype(float) - one[:, second])


def class_scores(scores: Array, n_classes: int, scheme: str) -> Array:
    """Return class scores (n, K), or (n, 1), of scores (n, P); "ovo": votes, ties decided by the summed scores."""
    if n_classes == 2 or scheme == "ova":
        return scores
    first, second = np.triu_indices(n_classes, 1)
    sums = np.zeros((len(scores), n_classes))
    votes = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(zip(first, second)):
        sums[:, i] += scores[:, k]
        sums[:, j] -= scores[:, k]
        votes[:, i] += scores[:, k] > 0.0
        votes[:, j] += scores[:, k] <= 0.0
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def simplex_numbers(latent: Array, codes: NDArray, n_classes: int) -> dict[str, float]:
    """Return how close the classes of latent rows (n, L) are to the corners of a regular simplex.

    "edge_ratio" and "sv_ratio" are 1 for one: of the distances between class means, and of their singular values;
    "spread", the distance to the own mean beside them, is 0 when classes have collapsed.
    """
    means = class_means(latent, codes, n_classes)
    return simplex_shape(means, float(np.sqrt(np.mean(((latent - means[codes]) ** 2).sum(axis=1)))))


def simplex_shape(means: Array, spread: float) -> dict[str, float]:
    """Return `simplex_numbers` from the class means (K, L) and the rms distance of the rows to their own."""
    n_classes = len(means)
    first, second = np.triu_indices(n_classes, 1)
    edges = np.sqrt(((means[first] - means[second]) ** 2).sum(axis=1))
    singular = np.linalg.svd(means - means.mean(axis=0), compute_uv=False)
    last = singular[n_classes - 2] if len(singular) >= n_classes - 1 else 0.0
    tiny = np.finfo(float).tiny
    return {
        "edge_ratio": float(edges.min() / max(edges.max(), tiny)),
        "spread": spread / max(float(edges.mean()), tiny),
        "sv_ratio": float(last / max(singular[0], tiny)),
    }


def class_means(latent: Array, codes: NDArray, n_classes: int) -> Array:
    """Return the mean latent row (K, L) of every class."""
    sizes = np.bincount(codes, minlength=n_classes)
    sums = np.column_stack([np.bincount(codes, weights=column, minlength=n_classes) for column in latent.T])
    return sums / np.maximum(sizes, 1)[:, None]

"""Several views of one set of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr.datasets.bundled import load_digits
from supdr.datasets.dataset import Dataset

FREQUENCIES = 4
N_PRINCIPAL = 12


def make_multiview_digits(
    n_samples: int | None = None, *, classes: str = "digits", random_state: Any = None
) -> Dataset:
    """Handwritten digits (scikit-learn's, 8 × 8) in four views.

    Pixels (64); row and column sums (16); absolute two-dimensional Fourier coefficients of the 4 × 4 lowest frequencies
    (16); the first 12 principal components of the pixels.

    Parameters
    ----------
    n_samples : int or None, default=None
        Rows drawn at random from the 1,797, ≥ 20; None: all, in their order.
    classes : {"digits", "halves"}, default="digits"
        Ten classes, or two: 0 to 4 against 5 to 9.
    random_state : int, Generator or None
        The seed of the draw.

    Returns
    -------
    Dataset
        108 columns, views (64, 16, 16, 12), 10 or 2 classes.

    Raises
    ------
    ValueError
        If `n_samples` is out of its range, or `classes` is unknown.
    """
    if classes not in ("digits", "halves"):
        raise ValueError(f"classes must be 'digits' or 'halves'; got {classes!r}")
    digits = load_digits()
    X, y = digits.X, digits.y
    if n_samples is not None:
        whole = isinstance(n_samples, (int, np.integer)) and not isinstance(n_samples, bool)
        if not whole or not 20 <= n_samples <= len(X):
            raise ValueError(f"n_samples must be a whole number from 20 to {len(X)}, or None; got {n_samples!r}")
        rows = np.sort(np.random.default_rng(random_state).permutation(len(X))[:n_samples])
        X, y = X[rows], y[rows]
    target_names = digits.target_names
    if classes == "halves":
        y, target_names = (y >= 5).astype(float), ("0 to 4", "5 to 9")
    pictures = X.reshape(-1, 8, 8)
    profiles = np.hstack([pictures.sum(axis=2), pictures.sum(axis=1)])
    spectrum = np.abs(np.fft.fft2(pictures))[:, :FREQUENCIES, :FREQUENCIES].reshape(len(X), -1)
    centred = X - X.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:N_PRINCIPAL]
    peak = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
    components = centred @ (directions * np.sign(peak)).T
    names = [f"pixels:{k + 1}" for k in range(64)]
    names += [f"profiles:row {k + 1}" for k in range(8)] + [f"profiles:column {k + 1}" for k in range(8)]
    names += [f"fourier:{i},{j}" for i in range(FREQUENCIES) for j in range(FREQUENCIES)]
    names += [f"components:{k + 1}" for k in range(N_PRINCIPAL)]
    return Dataset(
        np.hstack([X, profiles, spectrum, components]),
        y,
        feature_names=names,
        target_names=target_names,
        views=(64, 16, FREQUENCIES**2, N_PRINCIPAL),
        image_shape=(8, 8),
        name="digits in four views",
        description=f"{len(X):,} handwritten digits as pixels, row and column sums, Fourier coefficients and principal"
        " components.",
    )

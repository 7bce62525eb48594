"""Real data that come with scikit-learn, their digits as bits and in four views: no download."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supdr.datasets.dataset import Dataset

FREQUENCIES = 4
N_PRINCIPAL = 12
DECIMALS = 9  # of coefficients and components


def _from_sklearn(loader: str, **options: Any) -> Any:
    # scikit-learn's data sets import pandas: import them with the first that is loaded
    from sklearn import datasets

    return getattr(datasets, loader)(**options)


def _classification(loader: str, name: str, description: str, **fields: Any) -> Dataset:
    bunch = _from_sklearn(loader)
    return Dataset(
        bunch.data,
        bunch.target,
        feature_names=bunch.feature_names,
        target_names=bunch.target_names,
        name=name,
        description=description,
        **fields,
    )


def load_breast_cancer() -> Dataset:
    """Wisconsin diagnostic breast cancer: 569 tumours, 30 measures of cell nuclei, malignant or benign."""
    return _classification(
        "load_breast_cancer",
        "breast cancer",
        "569 breast tumours described by 30 measures of cell nuclei, malignant or benign (UCI, 1995).",
    )


def load_wine() -> Dataset:
    """Wine: 178 wines, 13 chemical measures, 3 growers."""
    description = "178 Italian wines of 3 growers described by 13 chemical measures (UCI, 1991)."
    return _classification("load_wine", "wine", description)


def load_iris() -> Dataset:
    """Iris: 150 flowers, 4 lengths, 3 species."""
    return _classification("load_iris", "iris", "150 irises of 3 species described by 4 lengths in cm (Fisher, 1936).")


def load_digits() -> Dataset:
    """Handwritten digits: 1,797 pictures of 8 × 8 pixels, 10 classes."""
    return _classification(
        "load_digits",
        "digits",
        "1,797 handwritten digits as 8 × 8 pixels of 0 to 16 (test part of the UCI set, 1998).",
        image_shape=(8, 8),
    )


def load_digits_odd_even() -> Dataset:
    """Handwritten digits, even against odd: 2 classes, each of five shapes."""
    digits = load_digits()
    return replace(
        digits,
        y=digits.y % 2,
        target_names=("even", "odd"),
        name="digits, odd or even",
        description=f"{digits.description} The class says whether the digit is even or odd.",
    )


def load_diabetes() -> Dataset:
    """Diabetes: 442 patients, 10 measures, progression of the disease after a year (regression)."""
    bunch = _from_sklearn("load_diabetes", scaled=False)
    return Dataset(
        bunch.data,
        bunch.target,
        feature_names=bunch.feature_names,
        target_names=("progression",),
        task="regression",
        name="diabetes",
        description="442 diabetes patients, 10 measures in their own units, progression a year later"
        " (Efron et al., 2004).",
    )


def load_digits_bits(first: int = 3, second: int = 8, threshold: float = 7.0) -> Dataset:
    """Two handwritten digits as bits: pixels darker than a threshold.

    Parameters
    ----------
    first, second : int from 0 to 9
        The two digits, distinct.
    threshold : float in [0, 16)
        Pixels above it are 1.

    Returns
    -------
    Dataset
        64 columns of 0 and 1, 2 classes.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    if first == second or not {first, second} <= set(range(10)):
        raise ValueError(f"first and second must be distinct digits from 0 to 9, got {first!r} and {second!r}")
    if not 0 <= threshold < 16:
        raise ValueError(f"threshold must lie in [0, 16), got {threshold!r}")
    digits = load_digits()
    rows = np.isin(digits.y, (first, second))
    return replace(
        digits,
        X=(digits.X[rows] > threshold).astype(float),
        y=(digits.y[rows] == second).astype(float),
        target_names=(str(first), str(second)),
        name=f"digits as bits, {first} or {second}",
        description=f"Handwritten {first} and {second}, 8 × 8 pixels, each 1 if darker than {threshold:g} of 16.",
    )


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
    # As many decimals as libraries of linear algebra agree on: the rows are the same on every machine.
    computed = np.round(np.hstack([spectrum, components]), DECIMALS) + 0.0
    names = [f"pixels:{k + 1}" for k in range(64)]
    names += [f"profiles:row {k + 1}" for k in range(8)] + [f"profiles:column {k + 1}" for k in range(8)]
    names += [f"fourier:{i},{j}" for i in range(FREQUENCIES) for j in range(FREQUENCIES)]
    names += [f"components:{k + 1}" for k in range(N_PRINCIPAL)]
    return Dataset(
        np.hstack([X, profiles, computed]),
        y,
        feature_names=names,
        target_names=target_names,
        views=(64, 16, FREQUENCIES**2, N_PRINCIPAL),
        image_shape=(8, 8),
        name="digits in four views",
        description=f"{len(X):,} handwritten digits as pixels, row and column sums, Fourier coefficients and principal"
        " components.",
    )

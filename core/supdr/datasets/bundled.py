"""Real data that come with scikit-learn: no download."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from supdr.datasets.dataset import Dataset


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

"""Tables to try the way from a file to a run: with words for classes, and cells that are missing."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supdr.datasets import Dataset, load_diabetes, load_iris, load_wine

# Share of the cells that are missing in a table with gaps.
GAPS = 0.04


@dataclass(frozen=True)
class Sample:
    """One of the tables.

    label: text of its button.
    load: returns its rows.
    gaps: share of the cells that are missing.
    """

    label: str
    load: Callable[[], Dataset]
    gaps: float = 0.0

    def csv(self) -> str:
        """Write the table as CSV: features by their names, then the target, a class by its name."""
        import pandas as pd

        dataset = self.load()
        missing = np.random.default_rng(0).random(dataset.X.shape) < self.gaps
        table = pd.DataFrame(np.where(missing, np.nan, dataset.X), columns=list(dataset.feature_names))
        table["target"] = dataset.y
        if dataset.task == "classification":
            table["target"] = np.array(dataset.target_names, dtype=object)[dataset.y.astype(int)]
        text = io.StringIO()
        table.to_csv(text, index=False)
        return text.getvalue()


# Name of the file -> table.
SAMPLES = {
    "iris.csv": Sample("Iris: three species", load_iris),
    "wine.csv": Sample("Wine: with missing values", load_wine, GAPS),
    "diabetes.csv": Sample("Diabetes: a number to predict", load_diabetes),
}

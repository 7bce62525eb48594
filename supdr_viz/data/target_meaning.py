"""The meaning of the target of rows on disk, by the values that it takes: classes, or numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.datasets import FileProblem

MOST_CLASSES = 100


def classes_of(values: NDArray, task: str, target: str) -> NDArray | None:
    """Return the classes that a target names, or None where it holds numbers.

    `values` (k,): those that it takes, rising; of very many some, the lowest and the highest among them. `task` (one of
    "auto", "classification", "regression"): what it is to mean; "auto": classes if it can, else numbers. `target`: its
    name. Returns (k,). Raises FileProblem if it cannot mean that.
    """
    numeric, fractions, n = values.dtype.kind in "iuf", False, len(values)
    if numeric:
        if not np.isfinite(values).all():
            raise FileProblem(f"The target {target} of rows on disk holds infinity.")
        fractions = bool((values % 1).any())
    if n < 2:
        raise FileProblem(f"The target of rows on disk must take at least two values; {target} takes {n}.")
    able = n <= MOST_CLASSES and not fractions
    if task == "classification" or (task == "auto" and (able or not numeric)):
        if able:
            return values
        content = "fractions" if fractions else f"more than {MOST_CLASSES} values"
        advice = ": choose regression for it." if numeric else "."
        raise FileProblem(f"Classes of rows on disk must be 2 to {MOST_CLASSES}; {target} has {content}{advice}")
    if not numeric:
        raise FileProblem(f"Regression needs numbers; the target {target} of rows on disk holds none.")
    return None

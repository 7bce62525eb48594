"""Cross-validation with partly labelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold
from sklearn.utils.multiclass import type_of_target

from supdr.engine.checks import check_integer
from supdr.engine.parameters import of_run
from supdr.engine.targets import as_labels, missing_values, uniform_labels


@dataclass(eq=False, repr=False)
class PartlyLabelledKFold(BaseCrossValidator):
    """K folds of the labelled rows; the unlabelled ones are in every training part.

    Each labelled row is in exactly one test part, and no unlabelled row is in any, since it cannot be scored.  If `y`
    holds classes, every part has about the same share of each; if it holds real numbers, rows are dealt at random.
    scikit-learn's splitters raise an error for missing labels, or put such rows into test parts.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, >= 2.
    shuffle : bool, default=True
        Whether rows are shuffled before they are divided.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle.
    stratify : bool or None, default=None
        Whether parts have equal shares of the classes.  None: if the labels are discrete.
    missing_label : object, default=nan
        A further value of `y` that marks unlabelled rows, such as -1; NaN, None and pandas.NA always do.

    See Also
    --------
    sklearn.model_selection.StratifiedKFold : The same where all rows are labelled.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from supdr import LSDR, PartlyLabelledKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(150) % 3 == 0, y, np.nan)
    >>> scores = cross_val_score(LSDR(), X, few, cv=PartlyLabelledKFold(5, random_state=0))
    >>> len(scores)
    5
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: Any = None
    stratify: bool | None = None
    missing_label: Any = np.nan

    def __post_init__(self) -> None:
        check_integer("n_splits", self.n_splits, 2)
        of_run("shuffle", True, False).check(self.shuffle)
        of_run("stratify", None, True, False).check(self.stratify)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[NDArray]:
        labels = as_labels(y)
        missing = missing_values(labels, self.missing_label)
        rows = np.flatnonzero(~(missing.any(axis=1) if missing.ndim == 2 else missing))
        if len(rows) < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} needs as many labelled rows; y has {len(rows)}")
        labels = uniform_labels(labels[rows])
        stratify = type_of_target(labels) in ("binary", "multiclass") if self.stratify is None else self.stratify
        kind = StratifiedKFold if stratify else KFold
        folds = kind(self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None)
        for _, test in folds.split(np.zeros(len(rows)), labels):
            yield rows[test]

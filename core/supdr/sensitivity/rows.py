"""The rows of a sweep, and the part of them that one fit takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from supdr.sensitivity.splits import hide_labels


@dataclass(frozen=True)
class Rows:
    """The data of a sweep, sent to each worker once; `X` may be a csr array.

    `splits`: of every seed; `digest`: fingerprint of the rows and of `prepare`; `prepare`: transformer that is fitted
    to the training rows of a fit and applied to all rows that it is fitted to or predicts.
    """

    X: NDArray
    y: NDArray
    splits: dict[int, list[tuple[NDArray, NDArray]]]
    digest: str = ""
    prepare: Any = None

    def load(self) -> Rows:
        """Return the rows themselves."""
        return self


class Part:
    """The rows of one fit, copied at their first use.

    `rows`: of the sweep; `train`, `test`: numbers of the training and the test rows; `transductive`: whether the fit
    takes all rows, with hidden labels of the test rows.
    """

    def __init__(self, rows: Rows, train: NDArray, test: NDArray, transductive: bool) -> None:
        self.rows, self.train, self.test, self.transductive = rows, train, test, transductive

    @property
    def features_key(self) -> tuple[Any, ...]:
        """Key of the features of the fit and of `X_new`."""
        if self.transductive and self.rows.prepare is None:
            return (self.rows.digest, True)
        return (self.rows.digest, self.transductive, self.train, self.test)

    @cached_property
    def X(self) -> NDArray:
        """Features of the fit."""
        return self._transformed(self.rows.X if self.transductive else self.rows.X[self.train])

    @cached_property
    def y(self) -> NDArray:
        """Targets of the fit."""
        return hide_labels(self.rows.y, self.test) if self.transductive else self.rows.y[self.train]

    @cached_property
    def X_test(self) -> NDArray:
        """Features of the test rows."""
        return self._transformed(self.rows.X[self.test])

    @property
    def X_new(self) -> NDArray:
        """Features of the test rows; no rows if the fit is transductive."""
        return self.X_test[:0] if self.transductive else self.X_test

    @cached_property
    def _prepare(self) -> Any:
        return clone(self.rows.prepare).fit(self.rows.X[self.train], self.rows.y[self.train])

    def _transformed(self, X: NDArray) -> NDArray:
        if self.rows.prepare is None:
            return X
        if not X.shape[0]:
            return X
        prepared = self._prepare.transform(X)
        return prepared if issparse(prepared) else np.ascontiguousarray(prepared)

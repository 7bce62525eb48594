"""Tables and pipelines: pictures know numbers in the space of the input, estimators know named columns, or steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline


class Table:
    """The columns of some rows, as numbers that can be drawn, and numbers as rows that an estimator knows.

    A column that holds no numbers counts as the number of its category, the most frequent one first.

    `X` (n, m). `names`: what the estimator calls the columns; None: it knows arrays. `axis_names`: captions of the
    columns. Raises ValueError if X has not two dimensions.
    """

    def __init__(self, X: ArrayLike | pd.DataFrame, names: Sequence[str] | None) -> None:
        self._categories: dict[int, pd.Index] = {}
        if isinstance(X, pd.DataFrame):
            columns = (X.iloc[:, number] for number in range(X.shape[1]))
            self._categories = {
                number: column.value_counts().index
                for number, column in enumerate(columns)
                if not pd.api.types.is_numeric_dtype(column)
            }
        shape = np.shape(X)
        if len(shape) != 2:
            raise ValueError(f"X must have rows and columns; got an array of shape {shape}")
        self._names = None if names is None else list(names)
        captions = getattr(X, "columns", self._names)
        self.axis_names = [f"x{n + 1}" for n in range(shape[1])] if captions is None else [str(c) for c in captions]

    @classmethod
    def known_to(cls, estimator: Any, X: ArrayLike | pd.DataFrame) -> Table:
        """Return the table of rows in the form in which a fitted estimator learnt them.

        `estimator`: or a pipeline; `X` (n, m).
        """
        learnt = getattr(estimator, "feature_names_in_", None)
        if learnt is None and isinstance(X, pd.DataFrame) and not hasattr(estimator, "n_features_in_"):
            learnt = X.columns  # it does not say what it learnt, such as a pipeline whose first step does nothing
        return cls(X, learnt)

    @classmethod
    def as_learnt(cls, estimator: Any, X: Any) -> Any:
        """Return rows with names of columns if a fitted estimator learnt such, without them if it did not.

        `estimator`: or a pipeline; `X` (n, m): or whatever else a pipeline takes, which stays as it is.
        """
        if np.ndim(X) != 2 or hasattr(estimator, "feature_names_in_") == isinstance(X, pd.DataFrame):
            return X
        table = cls.known_to(estimator, X)
        return table.rows(table.numbers(X))

    def numbers(self, X: ArrayLike | pd.DataFrame) -> NDArray:
        """Return rows (n, m) as numbers; NaN: missing, or a category that this table does not have."""
        if not isinstance(X, pd.DataFrame):
            return np.asarray(X, dtype=float)
        columns = [self._column(X.iloc[:, number], number) for number in range(X.shape[1])]
        return np.column_stack(columns) if columns else np.empty(X.shape)

    def rows(self, numbers: NDArray) -> NDArray | pd.DataFrame:
        """Return rows of numbers (n, m) as the estimator knows them; between two categories the nearer one counts."""
        if self._names is None:
            return numbers
        columns = [
            self._category(values, self._categories[number]) if number in self._categories else values
            for number, values in enumerate(numbers.T)
        ]
        table = pd.DataFrame(dict(enumerate(columns)))
        table.columns = pd.Index(self._names)
        return table

    def _column(self, column: pd.Series, number: int) -> NDArray:
        if number not in self._categories:
            return column.to_numpy(dtype=float, na_value=np.nan)
        codes = self._categories[number].get_indexer(column).astype(float)
        return np.where(codes < 0, np.nan, codes)

    @staticmethod
    def _category(values: NDArray, categories: pd.Index) -> pd.Series:
        codes = np.clip(np.nan_to_num(values).round(), 0, len(categories) - 1).astype(int)
        return pd.Series(categories.take(codes)).where(~np.isnan(values))


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, of nested ones too; anything else as it is."""
    return last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


# What pictures ask of some estimators only.
MAY_HAVE = ("calibrate", "family_x_", "refits_head", "row_bias", "support_")


class OnInput:
    """A fitted estimator that is asked about rows of numbers in the space of the input.

    They get the columns' names and go through the steps before it.

    embedding_, embedding_note, latent_decision_function, and `MAY_HAVE`: what the estimator answers itself.

    `whole`: the estimator, or the pipeline that ends in it. `table`: how `whole` knows rows. `fitted`: an iterate of
    the last step; by default the last step itself.
    """

    def __init__(self, whole: Any, table: Table, fitted: Any = None) -> None:
        self._whole, self._table = whole, table
        self._fitted = last_step(whole) if fitted is None else fitted
        for name in MAY_HAVE:
            if hasattr(self._fitted, name):
                setattr(self, name, getattr(self._fitted, name))

    @property
    def embedding_(self) -> NDArray:
        """Latent training rows (n, d)."""
        return self._fitted.embedding_

    @property
    def embedding_note(self) -> str:
        """What the latent rows are."""
        return self._fitted.embedding_note

    @property
    def classes_(self) -> NDArray:
        """The classes (K,), in the order of the scores."""
        return self._fitted.classes_

    @property
    def transduction_(self) -> NDArray:
        """Predictions of the training rows (n,)."""
        return self._fitted.transduction_

    def at(self, snapshot: Any) -> OnInput:
        """Return it as of a snapshot."""
        return OnInput(self._whole, self._table, self._fitted.at(snapshot))

    def predict(self, X: NDArray) -> NDArray:
        """Predict rows (n, m) of the input."""
        return self._fitted.predict(self._prepared(X))

    def decision_function(self, X: NDArray) -> NDArray:
        """Score rows (n, m) of the input."""
        return self._fitted.decision_function(self._prepared(X))

    def latent_decision_function(self, latent: NDArray, **options: Any) -> NDArray:
        """Score latent rows (n, d)."""
        return self._fitted.latent_decision_function(latent, **options)

    def transform(self, X: NDArray) -> NDArray:
        """Embed rows (n, m) of the input."""
        return np.asarray(self._fitted.transform(self._prepared(X)))

    def gate(self, X: NDArray) -> NDArray:
        """Return the share of each local model at rows (n, m) of the input."""
        return self._fitted.gate(self._prepared(X))

    def _prepared(self, X: NDArray) -> Any:
        rows, step = self._table.rows(X), self._whole
        while isinstance(step, Pipeline):
            rows = step[:-1].transform(rows) if len(step.steps) > 1 else rows
            step = step.steps[-1][1]
        return rows

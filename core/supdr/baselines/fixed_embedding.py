"""Embeddings of the training rows by other packages; a new row gets a weighted mean of its nearest training rows.

Such packages hold the interpreter's lock, so outside of the main thread (in the explorer) they run in another process,
which is kept for a while for the next run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from supdr.baselines.tsne import between_neighbours
from supdr.engine.interruption import result_of
from supdr.engine.processes import shared_executor


@dataclass(eq=False, repr=False)
class FixedEmbedding(BaseEstimator):
    """An embedding of the training rows by a picklable `package`; new rows get their neighbours' weighted mean."""

    package: Callable[..., NDArray]
    supervised: bool
    settings: dict[str, Any]

    def fit(self, X: NDArray, y: NDArray) -> FixedEmbedding:
        """Embed rows (n, m) with class codes (n,)."""
        arguments = (X, y if self.supervised else None, self.settings)
        if threading.current_thread() is threading.main_thread():
            latent = self.package(*arguments)
        else:
            latent = result_of(shared_executor(1).submit(self.package, *arguments))
        self.guides_ = between_neighbours(X, latent)
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return the latent rows (n, d) of rows (n, m); training rows keep their own."""
        return self.guides_.predict(X)

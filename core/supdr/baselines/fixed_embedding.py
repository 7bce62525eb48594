"""Maps by other packages: they place the training rows, and we put new rows between these.

Such packages hold the interpreter while they work, so outside of the main thread (in the explorer) they run in a
process of their own, which stays for a while for the next run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from supdr.baselines.tsne import between_neighbours
from supdr.engine.interruption import result_of
from supdr.engine.processes import shared_executor


class FixedEmbedding(BaseEstimator):
    """FixedEmbedding of the training rows; others between their nearest training rows.

    `package`: (X (n, m), class codes (n,) or None, settings) -> places (n, d); a function of a module, for it goes to
    another process. `supervised`: whether it sees the class codes. `settings`: handed on to it.
    """

    def __init__(self, package: Callable[..., NDArray], supervised: bool, settings: dict[str, Any]) -> None:
        self.package = package
        self.supervised = supervised
        self.settings = settings

    def fit(self, X: NDArray, y: NDArray) -> FixedEmbedding:
        """Place the rows.

        `X` (n, m): rows; `y` (n,): class codes.
        """
        arguments = (X, y if self.supervised else None, self.settings)
        if threading.current_thread() is threading.main_thread():
            latent = self.package(*arguments)
        else:
            latent = result_of(shared_executor(1).submit(self.package, *arguments))
        self.guides_ = between_neighbours(X, latent)
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return the places (n, d) of rows (n, m); training rows have their own."""
        return self.guides_.predict(X)

"""What LSDR says to the shell of rows in partitions, see `supdr.rows.in_partitions`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray

from supdr.engine.checks import check_cells
from supdr.engine.reconstruction import Factorisation
from supdr.rows.in_partitions import InPartitions
from supdr.solvers.reconstruction import fold_in, split_missing


class LSDRInPartitions(InPartitions, Factorisation):
    """The part of `LSDR` that takes Dask arrays and data frames."""

    accepted_in_partitions: ClassVar[dict[str, tuple]] = {
        "solver": ("bcd",),
        "init": ("pca", "random"),
        "early_stopping": (False,),
        "class_weight": (None,),
    }
    several_targets: ClassVar[bool] = True

    beta: float
    _reg_u: float

    def _hold(self, rows: Any) -> Any:
        from supdr.methods.lsdr.partitioned import held_rows  # Dask is an extra

        return held_rows(rows, self._training[1])

    def _latent(self, X: NDArray) -> NDArray:
        return self._folded()(X)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        return partial(_visible, len(self.components_), self._folded())

    def _folded(self) -> Callable[[NDArray], NDArray]:
        """Return the map from preprocessed rows to internal latent rows, with their biases."""
        loadings = self.components_, self.intercept_x_
        return partial(_folded, *loadings, self._reg_u, float(self.beta), bool(self.row_bias))


def _folded(
    components: NDArray, intercept_x: NDArray, reg_u: float, beta: float, row_bias: bool, X: NDArray
) -> NDArray:
    check_cells(X)
    filled, observed = split_missing(X)
    return fold_in(filled, components, intercept_x, reg_u, beta, row_bias=row_bias, observed=observed)


def _visible(n_components: int, folded: Callable[[NDArray], NDArray], X: NDArray) -> NDArray:
    return folded(X)[:, :n_components]

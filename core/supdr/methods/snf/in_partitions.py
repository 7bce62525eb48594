"""What SNF says to the shell of rows in partitions, see `supdr.rows.in_partitions`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray

from supdr.methods.snf.fold_in import N_STARTS, fold_in, nearest_rows
from supdr.rows.in_partitions import InPartitions
from supdr.solvers.kernel_ridge import Dual, Fit, Primal
from supdr.solvers.reconstruction import split_missing


class SNFInPartitions(InPartitions):
    """The part of `SNF` that takes Dask arrays and data frames: what needs no pairs of rows."""

    stands_on_any_rows: ClassVar[bool] = False

    accepted_in_partitions: ClassVar[dict[str, tuple]] = {
        "kernel": ("poly", "linear"),
        "solver": ("lbfgs",),
        "init": ("pca", "random"),
        "n_init": (1,),
        "early_stopping": (False,),
        "class_weight": (None,),
    }
    several_targets: ClassVar[bool] = True

    reg_z: float
    _on_all: Any

    def _training_rows(self) -> NDArray:
        raise NotImplementedError

    def _hold(self, rows: Any) -> Any:
        from supdr.methods.snf.partitioned import held_rows  # Dask is an extra

        return held_rows(rows, self)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        state = self._state
        return partial(embedded, self._on_all, state.predictors, state.latent, self._training_rows(), float(self.reg_z))


def embedded(form: Primal | Dual, fit: Fit, anchors: NDArray, training: NDArray, reg_z: float, X: NDArray) -> NDArray:
    """Return the latent rows (p, D) of new rows, from the starts that the nearest training rows give.

    `form`, `fit`: the regression of the columns. `anchors` (n, D): latent training rows. `training` (n, M): complete
    training rows. `reg_z`: ridge weight, > 0. `X` (p, M): new rows; NaN marks a missing cell.
    """
    filled, observed = split_missing(X)
    nearest = nearest_rows(filled, training, N_STARTS, observed)
    return fold_in(form, fit, anchors, filled, anchors[nearest], reg_z, observed)

"""What MAC says to the shell of rows in partitions, see `supdr.rows.in_partitions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr.methods.mac.state import MACState
from supdr.methods.mac.two_layer import TwoLayerState
from supdr.rows.in_partitions import InPartitions
from supdr.solvers.softmax_head import loo_softmax


class MACInPartitions(InPartitions):
    """The part of `MAC` that takes Dask arrays and data frames."""

    keeps_its_preparation: ClassVar[bool] = True
    accepted_in_partitions: ClassVar[dict[str, tuple]] = {
        "solver": ("mac",),
        "mapping": ("rbf", "linear"),
        "centers": ("kmeans", "random"),
        "init": ("simplex", "random"),
        "early_stopping": ("loo", False),
        "class_weight": (None,),
    }

    def latent_partitions(self) -> tuple[Any, Any] | None:
        """Return where the labelled rows of a run on partitions stand, and their classes; None for two layers."""
        state = self.snapshot_.state
        return (state.latent, self.partitions_.codes) if isinstance(state, MACState) else None

    def _completed(self, state: MACState | TwoLayerState) -> MACState | TwoLayerState:
        """Return a state with the images of its rows, where it has none."""
        if not isinstance(state, MACState) or state.latent is not None:
            return state
        X, targets = self._training
        return state._replace(latent=state.image(np.ascontiguousarray(X[targets.labelled])))

    def _calibration(self, snapshot: Snapshot) -> dict[str, Any]:
        if not isinstance(snapshot.state, MACState):
            return super()._calibration(snapshot)
        run = snapshot.run
        if run._asked is None:
            run._asked = run._problem(*run._training)
        problem: Any = run._asked
        left_out = problem.left_out_images(snapshot.state)
        return {"calibrated": loo_softmax(left_out, problem.judged_codes, problem.judged_weights)}

    def _hold(self, rows: Any) -> Any:
        from supdr.methods.mac.on_dask import labelled_rows  # Dask is an extra

        return labelled_rows(rows, self._training[1])

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        state: MACState | TwoLayerState = self._state
        return state.without_rows().image

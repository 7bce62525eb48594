"""Where a run of MAC stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.methods.mac.certificate import BoundSearch
from supdr.solvers.gaussians import Mapping
from supdr.solvers.lbfgs import LBFGSState
from supdr.solvers.linear_svm import Heads

Array = NDArray[np.float64]


class RowSums(NamedTuple):
    """Sums over rows that make the objective: C times the hinges of images and of targets, and |Z - F|^2."""

    image_hinge: float
    target_hinge: float
    distance: float


class PulledTargets(NamedTuple):
    """Phi' targets (M, L) of all rows, with what else a visit of the targets brings.

    total: of no features where the mapping is a regressor.
    moments: of the targets of rows in partitions, see `supdr.solvers.margin_working_set`; None: not computed.
    parts: Phi' targets of each partition by its number, where partial states were observed.
    """

    total: Array
    moments: tuple[int, Array, Array] | None = None
    parts: dict[int, Array] | None = None


class Settings(NamedTuple):
    """What a state belongs to: solver, features, checksums of rows and labels, C, reg_w and mu as given."""

    solver: str
    features: tuple
    rows: tuple
    C: float
    reg_w: Any
    mu: float


class MACState(NamedTuple):
    """Where a run stands.  Nothing in it is ever written to.

    targets (n, L): Z.
    latent (n, L): F of the labelled rows.
    weights (M, L): W'; no rows where the mapping is a regressor.
    heads: U, b and the multipliers alpha.
    multiplier (n, P): lambda of the last Z step.
    residual (n, L): "admm": the scaled multiplier of Z = F.
    passes: passes made at this mu.
    decrease: relative decrease of the surrogate in the last step.
    surrogate: what the solver descends.
    reg_w: given or chosen.
    scaling: of the columns, given or chosen.
    search: memory of "lbfgs".
    settings: what the rest belongs to.
    sums: of latent, targets and heads; None: not computed.
    gram (M, M): rows in partitions: Phi'Phi, summed once a mapping.
    pulls: rows in partitions: what the targets of each partition add to Phi'Z, where partial states were observed.
    bound_search: of the lower bound for this mapping, these rows, C and reg_w; None in states of earlier versions.
    """

    targets: Array
    latent: Array
    weights: Array
    heads: Heads
    multiplier: Array
    residual: Array | None
    mu: float
    passes: int
    stage: int
    decrease: float
    surrogate: float
    mapping: Any
    reg_w: float
    scaling: str
    search: LBFGSState | None
    settings: Settings
    seed: int
    iteration: int
    bound_search: BoundSearch | None = None
    sums: RowSums | None = None
    gram: Array | None = None
    pulls: dict[int, Array] | None = None

    @property
    def n_components(self) -> int:
        """Return L."""
        return self.weights.shape[1]

    def without_rows(self) -> MACState:
        """Return the map alone: what belongs to the rows that it was fitted to is empty."""
        none = np.empty((0, 0))
        heads = self.heads._replace(alpha=none)
        bare = self._replace(targets=none, latent=none, multiplier=none, residual=None, search=None, heads=heads)
        return bare._replace(sums=None, gram=None, pulls=None, bound_search=None)

    def image(self, X: Array) -> Array:
        """Return F (n, L) of preprocessed rows (n, D)."""
        return self.mapping.apply(X, self.weights)

    def derivative(self, X: Array) -> Array | None:
        """Return dF / dx (n, L, D) at preprocessed rows (n, D); None where the mapping is a regressor."""
        return self.mapping.derivative(X, self.weights) if isinstance(self.mapping, Mapping) else None

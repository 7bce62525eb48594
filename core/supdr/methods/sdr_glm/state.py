"""The iterate of SDR-GLM."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray


class SDRGLMState(NamedTuple):
    """Iterate of SDR-GLM.  Nothing in it is ever written to.

    latent (N, L): U.
    components (L, D), or (L, N): V, or its coordinates in the rows of X: V = components X.
    intercept_x (D,), or (N,): b_x, or its coordinates in the rows of X.
    coef (L, K): W.
    intercept (K,): b_y.
    change: |U - previous U| / |U|.
    in_rows: whether the loadings are kept as coordinates in the rows of X.
    """

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    coef: NDArray
    intercept: NDArray
    seed: int
    iteration: int
    change: float = 0.0
    in_rows: bool = False


class Point(NamedTuple):
    """U (N, L), [V; b_x] in the form of the features, [W; b_y] (L + 1, K)."""

    latent: NDArray
    loadings: NDArray
    head: NDArray


class Values(NamedTuple):
    """Sums over all rows at a point: L_X, L_Y, |U|^2, and after a sweep |U - previous U|^2."""

    fit: float
    label: float
    size: float
    moved: float = 0.0

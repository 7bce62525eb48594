"""The target side of SDR-GLM: its likelihood, its part of the latent rows' systems, and the step of the predictor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.functions.families import (
    BERNOULLI,
    POISSON,
    expand,
    log_likelihood,
    log_likelihoods,
    means,
    null_loss,
    null_parameters,
    residuals,
    softmax,
)
from supdr.solvers.low_rank import augmented, pack, packed_products, solve_systems
from supdr.solvers.positive_definite import solve_positive


@dataclass(frozen=True)
class TargetSide:
    """Targets and their families.

    Attributes
    ----------
    Y : array of shape (N, K)
        NaN where not observed; one-hot rows for the softmax.  K may be 0.
    codes : int array of shape (K,) or None
        Family of every column; None for the softmax of all of them.
    c : float
        Weight of Gaussian columns.
    bound : {"jj", "bohning"}
        Curvature of Bernoulli columns.
    one_hot : bool
        Whether Bernoulli columns are the classes of one label, of which the largest score wins.
    weights : array of shape (N,) or None
        What the likelihood of each row is multiplied by, > 0; None: 1.
    """

    Y: NDArray
    codes: NDArray | None
    c: float
    bound: str
    one_hot: bool = False
    weights: NDArray | None = None

    @cached_property
    def observed(self) -> NDArray:
        """Rows with any observed target, bool (N,)."""
        return ~np.isnan(self.Y).all(axis=1)

    @cached_property
    def share(self) -> float:
        """Share of the cells that are observed."""
        return float((~np.isnan(self.Y)).mean()) if self.Y.size else 1.0

    @cached_property
    def poisson(self) -> NDArray:
        """Indices of the Poisson columns."""
        return np.flatnonzero(self.codes == POISSON) if self.codes is not None else np.empty(0, dtype=int)

    def value(self, theta: NDArray) -> float:
        """Return L_Y at the natural parameters (N, K)."""
        if self.codes is not None:
            if self.weights is None:
                return log_likelihood(self.codes, self.Y, theta, self.c)
            return float(self.weights @ log_likelihoods(self.codes, self.Y, theta, self.c).sum(axis=1))
        rows = self.observed
        return float(self._weighted((self.Y[rows] * theta[rows]).sum(axis=1) - softmax(theta[rows])[1], rows).sum())

    def pull(self, theta: NDArray) -> NDArray:
        """Return dL_Y / dtheta, (N, K); 0 where not observed."""
        return self._weighted(self.residuals(theta))

    def residuals(self, theta: NDArray) -> NDArray:
        """Return dl / dtheta of every cell without the weights, (N, K); 0 where not observed."""
        if self.codes is not None:
            return residuals(self.codes, self.Y, theta, self.c)
        return np.where(self.observed[:, None], self.Y - softmax(theta)[0], 0.0)

    def null_loss(self) -> float:
        """Return H_Y: what the column means, or class shares, leave unexplained."""
        if self.codes is not None:
            return null_loss(self.codes, self.Y, self.c, self.weights)[0]
        total = self._weighted(self.Y[self.observed], self.observed).sum(axis=0)
        share = total[total > 0.0] / total.sum()
        return float(-total.sum() * (share * np.log(share)).sum())

    def null_head(self, n_components: int) -> NDArray:
        """Return the [W; b_y] (L + 1, K) to begin with, see `null_parameters`."""
        if self.codes is None:
            return np.zeros((n_components + 1, self.Y.shape[1]))
        return null_parameters(self.codes, self.Y, n_components, self.weights)

    def _weighted(self, values: NDArray, rows: slice | NDArray = slice(None)) -> NDArray:
        """Return values of these rows, (n,) or (n, K), times the rows' weights."""
        if self.weights is None:
            return values
        return values * self.weights[rows].reshape(-1, *(1,) * (values.ndim - 1))

    def expected(self, theta: NDArray) -> NDArray:
        """Return the mean of Y, (n, K)."""
        return softmax(theta)[0] if self.codes is None else means(self.codes, theta)

    def error(self, theta: NDArray) -> float:
        """Return the share of wrong labels, or the mean squared error of the mean of Y, over observed cells."""
        rows = self.observed
        Y, theta = self.Y[rows], theta[rows]
        if Y.shape[1] == 0:
            return 0.0
        if self.codes is None or self.one_hot:
            return float(np.mean(Y.argmax(axis=1) != theta.argmax(axis=1)))
        labels = (self.codes == BERNOULLI).all()
        return float(np.nanmean((Y - (theta > 0.0 if labels else self.expected(theta))) ** 2))

    # --- U-step -------------------------------------------------------------------------------------------------------

    def solve_latent(
        self, system: NDArray, reg_u: float, right: NDArray, latent: NDArray, head: NDArray, rows: slice
    ) -> NDArray:
        """Return the latent rows that maximise the minorant.

        Parameters
        ----------
        system : array of shape (L, L) or (n, P)
            What the features and nothing else contribute: one matrix for all rows, or a packed one per row.
        reg_u : float
            Ridge.
        right : array of shape (n, L)
            The features' right-hand side.
        latent : array of shape (n, L)
            Rows at which the minorant touches.
        head : array of shape (L + 1, K)
            [W; b_y].
        rows : slice
            Which of the N rows these are.

        Returns
        -------
        array of shape (n, L)
        """
        theta = latent @ head[:-1] + head[-1]
        if self.codes is None:
            return self._solve_softmax(system, reg_u, right, theta, head, rows)
        curvature, linear = self._expand(theta, rows)
        right = right + (linear - curvature * head[-1]) @ head[:-1].T
        if system.shape == (latent.shape[1],) * 2 and head.shape[1] <= 1:
            return _rank_one(system, reg_u, right, curvature, head[:-1])
        own = curvature @ packed_products(head[:-1].T)
        own += pack(system) if system.shape == (latent.shape[1],) * 2 else system
        return solve_systems(own, reg_u, right)

    def _solve_softmax(
        self, system: NDArray, reg_u: float, right: NDArray, theta: NDArray, head: NDArray, rows: slice
    ) -> NDArray:
        labelled = self.observed[rows]
        W = head[:-1]
        spread = W - W.mean(axis=1, keepdims=True)
        free = theta - head[-1]
        linear = self.Y[rows] - softmax(theta)[0] + 0.5 * (free - free.mean(axis=1, keepdims=True))
        right = right + self._weighted(np.where(labelled[:, None], linear, 0.0), rows) @ W.T
        own = 0.5 * (spread @ spread.T)
        if system.shape != own.shape or self.weights is not None:
            shared = pack(system) if system.shape == own.shape else system
            strength = self._weighted(labelled[:, None].astype(float), rows)
            return solve_systems(shared + strength * pack(own), reg_u, right)
        ridge = reg_u * np.eye(len(own))
        solution = np.empty_like(right)
        for mask, matrix in ((labelled, system + own + ridge), (~labelled, system + ridge)):
            solution[mask] = solve_positive(matrix, right[mask].T).T
        return solution

    def _expand(self, theta: NDArray, rows: slice) -> tuple[NDArray, NDArray]:
        """Return a and g of these rows, weighted, (n, K) each."""
        assert self.codes is not None
        curvature, linear = expand(self.codes, self.Y[rows], theta, self.c, self.bound)
        return self._weighted(curvature, rows), self._weighted(linear, rows)

    # --- W-step -------------------------------------------------------------------------------------------------------

    def solve_head(self, latent: NDArray, head: NDArray, reg_w: float) -> NDArray:
        """Return the [W; b_y] (L + 1, K) that maximises the minorant touching at `head`."""
        wide = augmented(latent)
        theta = wide @ head
        ridge = reg_w * np.eye(len(head))
        if self.codes is None:
            # Exact: every row of the gradient sums to 0, and on sums of 0 Böhning's matrix is I / 2.
            labelled = wide[self.observed]
            system = 0.5 * (self._weighted(labelled, self.observed).T @ labelled) + ridge
            return head + solve_positive(system, wide.T @ self.pull(theta) - reg_w * head)
        curvature, linear = self._expand(theta, slice(None))
        found = np.empty_like(head)
        for k in range(head.shape[1]):
            checkpoint()
            system = (wide * curvature[:, k : k + 1]).T @ wide + ridge
            found[:, k] = solve_positive(system, wide.T @ linear[:, k : k + 1])[:, 0]
        for k in self.poisson:
            rise = np.where(np.isnan(self.Y[:, k]), 0.0, wide @ (found[:, k] - head[:, k])).max()
            found[:, k] = head[:, k] + (found[:, k] - head[:, k]) / max(1.0, rise)
        return found


def _rank_one(system: NDArray, reg_u: float, right: NDArray, curvature: NDArray, W: NDArray) -> NDArray:
    """Solve (S + reg_u I + a_n w w') u_n = right_n with one factorisation (Sherman-Morrison); W is (L, 0 or 1)."""
    identity = np.eye(len(system))
    inverse = solve_positive(system + reg_u * identity, identity)
    solution = right @ inverse
    if W.shape[1] == 0:
        return solution
    w, a = W[:, 0], curvature[:, 0]
    q = inverse @ w
    share = a * (solution @ w) / (1.0 + a * (w @ q))
    solution -= share[:, None] * q
    return solution

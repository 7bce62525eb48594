"""The target side of SDR-GLM: its likelihood, its part of the latent rows' systems, and the step of the predictor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.functions import families
from supdr.functions.family_kernels import softmax_pulls, softmax_values
from supdr.solvers.low_rank import augmented, pack, packed_products, row_blocks, solve_systems
from supdr.solvers.nonnegative import solve_nonnegative
from supdr.solvers.positive_definite import solve_positive

# Cells of one block of targets.
FEW_CELLS = 2**13


@dataclass(frozen=True)
class TargetSide:
    """Targets and their families.

    Y (N, K): NaN where not observed; one-hot rows for the softmax.  K may be 0.
    codes (K,): family of every column; None for the softmax of all of them.
    c: weight of Gaussian columns.
    bound (one of "jj", "bohning"): curvature of Bernoulli columns.
    one_hot: whether Bernoulli columns are the classes of one label, of which the largest score wins.
    weights (N,): what the likelihood of each row is multiplied by, > 0; None: 1.
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
    def poisson(self) -> NDArray:
        """Indices of the Poisson columns."""
        return np.flatnonzero(self.codes == families.POISSON) if self.codes is not None else np.empty(0, dtype=int)

    def blocks(self, n_components: int) -> Iterator[tuple[slice, TargetSide]]:
        """Yield slices of few rows and their targets.

        What is computed for a block stays in the cache, and takes few pages from the system: Dask's workers give back
        at once what they are done with, and taking it again costs more than the sums.
        """
        for rows in row_blocks((len(self.Y), max(self.Y.shape[1], n_components + 1)), FEW_CELLS):
            yield rows, replace(self, Y=self.Y[rows], weights=None if self.weights is None else self.weights[rows])

    def value(self, theta: NDArray) -> float:
        """Return L_Y at the natural parameters (N, K)."""
        if self.codes is not None:
            if self.weights is None:
                return families.log_likelihood(self.codes, self.Y, theta, self.c)
            return float(self.weights @ families.log_likelihoods(self.codes, self.Y, theta, self.c).sum(axis=1))
        values = np.empty(len(theta))
        softmax_values(self.Y, np.ascontiguousarray(theta), self.observed, values)
        return float(self._weighted(values).sum())

    def pull(self, theta: NDArray) -> NDArray:
        """Return dL_Y / dtheta, (N, K); 0 where not observed."""
        return self._weighted(self.residuals(theta))

    def residuals(self, theta: NDArray) -> NDArray:
        """Return dl / dtheta of every cell without the weights, (N, K); 0 where not observed."""
        if self.codes is not None:
            return families.residuals(self.codes, self.Y, theta, self.c)
        pulls = np.array(theta, order="C")
        softmax_pulls(self.Y, pulls, self.observed, np.zeros(theta.shape[1]), 0.0)
        return pulls

    # --- sums over rows -----------------------------------------------------------------------------------------------

    def class_totals(self) -> NDArray:
        """Return the weight of every class of the softmax, (K,)."""
        return self._weighted(self.Y[self.observed], self.observed).sum(axis=0)

    def cell_sums(self) -> tuple[NDArray, NDArray]:
        """Return the weighted number of observed cells of every column and their sum, (K,) each."""
        return families.cell_sums(self.Y, self.weights)

    def number_losses(self, centre: NDArray) -> NDArray:
        """Return what these rows contribute to H_Y beyond bits, given the means (K,)."""
        assert self.codes is not None
        return families.number_losses(self.codes, self.Y, centre, self.c, self.weights)

    def n_observed(self) -> int:
        """Return the number of observed cells."""
        return int((~np.isnan(self.Y)).sum())

    def errors(self, latent: NDArray, head: NDArray) -> tuple[float, int]:
        """Return the number of wrong labels (or the sum of squared errors of the mean of Y) and that of cells."""
        rows = self.observed
        Y, theta = self.Y[rows], latent[rows] @ head[:-1] + head[-1]
        if Y.shape[1] == 0:
            return 0.0, 1
        if self.codes is None or self.one_hot:
            return float((Y.argmax(axis=1) != theta.argmax(axis=1)).sum()), len(Y)
        labels = (self.codes == families.BERNOULLI).all()
        return float(np.nansum((Y - (theta > 0.0 if labels else self.expected(theta))) ** 2)), self.n_observed()

    def _weighted(self, values: NDArray, rows: slice | NDArray = slice(None)) -> NDArray:
        """Return values of these rows, (n,) or (n, K), times the rows' weights."""
        if self.weights is None:
            return values
        return values * self.weights[rows].reshape(-1, *(1,) * (values.ndim - 1))

    def expected(self, theta: NDArray) -> NDArray:
        """Return the mean of Y, (n, K)."""
        return families.softmax(theta)[0] if self.codes is None else families.means(self.codes, theta)

    # --- U-step -------------------------------------------------------------------------------------------------------

    def solve_latent(
        self,
        system: NDArray,
        reg_u: float,
        right: NDArray,
        latent: NDArray,
        head: NDArray,
        rows: slice,
        nonnegative: bool = False,
    ) -> NDArray:
        """Return the latent rows (n, L) that maximise the minorant which touches at `latent`.

        `system` (L, L) or packed (n, P) and `right` (n, L) are what the features contribute, `head` (L + 1, K) is [W;
        b_y]; rows >= 0 need packed systems.
        """
        theta = latent @ head[:-1]
        theta += head[-1]
        if self.codes is None:
            return self._solve_softmax(system, reg_u, right, theta, head, rows, latent if nonnegative else None)
        curvature, linear = self._expand(theta, rows)
        right = right + (linear - curvature * head[-1]) @ head[:-1].T
        if system.shape == (latent.shape[1],) * 2 and head.shape[1] <= 1:
            return _rank_one(system, reg_u, right, curvature, head[:-1])
        own = curvature @ packed_products(head[:-1].T)
        own += pack(system) if system.shape == (latent.shape[1],) * 2 else system
        return _solved(own, reg_u, right, latent if nonnegative else None)

    def _solve_softmax(
        self,
        system: NDArray,
        reg_u: float,
        right: NDArray,
        theta: NDArray,
        head: NDArray,
        rows: slice,
        within: NDArray | None,
    ) -> NDArray:
        labelled = self.observed[rows]
        W = head[:-1]
        spread = W - W.mean(axis=1, keepdims=True)
        own = 0.5 * (spread @ spread.T)
        softmax_pulls(self.Y[rows], theta, labelled, head[-1], 0.5)
        right = self._weighted(theta, rows) @ W.T + right
        if system.shape != own.shape or self.weights is not None:
            shared = pack(system) if system.shape == own.shape else system
            strength = self._weighted(labelled[:, None].astype(float), rows)
            return _solved(shared + strength * pack(own), reg_u, right, within)
        ridge = reg_u * np.eye(len(own))
        solution = right @ solve_positive(system + own + ridge, np.eye(len(own)))
        if not labelled.all():
            solution[~labelled] = right[~labelled] @ solve_positive(system + ridge, np.eye(len(own)))
        return solution

    def _expand(self, theta: NDArray, rows: slice) -> tuple[NDArray, NDArray]:
        """Return a and g of these rows, weighted, (n, K) each."""
        assert self.codes is not None
        curvature, linear = families.expand(self.codes, self.Y[rows], theta, self.c, self.bound)
        return self._weighted(curvature, rows), self._weighted(linear, rows)

    # --- W-step -------------------------------------------------------------------------------------------------------

    def head_sums(self, latent: NDArray, head: NDArray) -> tuple[NDArray, NDArray]:
        """Return the systems (K, L + 1, L + 1), one of a softmax, and right-hand sides (L + 1, K) of the minorant."""
        count = 1 if self.codes is None else head.shape[1]
        systems, rights = np.zeros((count, len(head), len(head))), np.zeros_like(head)
        for rows, part in self.blocks(latent.shape[1]):
            more = part._block_head_sums(latent[rows], head)
            systems += more[0]
            rights += more[1]
        return systems, rights

    def _block_head_sums(self, latent: NDArray, head: NDArray) -> tuple[NDArray, NDArray]:
        wide = augmented(latent)
        theta = wide @ head
        if self.codes is None:
            # Exact: every row of the gradient sums to 0, and on sums of 0 Böhning's matrix is I / 2.
            labelled = wide if self.observed.all() else wide[self.observed]
            system = 0.5 * (self._weighted(labelled, self.observed).T @ labelled)
            return system[None], wide.T @ self.pull(theta)
        curvature, linear = self._expand(theta, slice(None))
        systems, rights = np.empty((head.shape[1], len(head), len(head))), np.empty_like(head)
        for k in range(head.shape[1]):
            systems[k] = (wide * curvature[:, k : k + 1]).T @ wide
            rights[:, k] = (wide.T @ linear[:, k : k + 1])[:, 0]
        return systems, rights

    def solve_head(self, sums: tuple[NDArray, NDArray], head: NDArray, reg_w: float) -> NDArray:
        """Return the [W; b_y] (L + 1, K) that maximises the minorant touching at `head`, whose sums are given."""
        systems, rights = sums
        ridge = reg_w * np.eye(len(head))
        if self.codes is None:
            return head + solve_positive(systems[0] + ridge, rights - reg_w * head)
        solution = np.empty_like(head)
        for k in range(head.shape[1]):
            solution[:, k] = solve_positive(systems[k] + ridge, rights[:, k : k + 1])[:, 0]
        return solution

    def head_rise(self, latent: NDArray, change: NDArray) -> NDArray:
        """Return by how much the largest parameter of each Poisson target would rise if the head changed so."""
        wide = augmented(latent)
        rises = [
            np.where(np.isnan(self.Y[:, k]), 0.0, wide @ np.ascontiguousarray(change[:, k])).max() for k in self.poisson
        ]
        return np.array(rises)


class NullFacts(NamedTuple):
    """The fit of a model without latent rows: H_Y, the means (K,), None of a softmax, and the share of cells."""

    loss: float
    centre: NDArray | None
    share: float


def null_facts(rows: Any, part: Any, codes: NDArray | None, n_columns: int) -> NullFacts:
    """Return what a model without latent rows says of targets, or of their partitions, of families `codes` (K,)."""
    size = rows.n_rows * n_columns
    share = rows.total(TargetSide.n_observed, part) / size if size else 1.0
    if codes is None:
        total = rows.total(TargetSide.class_totals, part)
        present = total[total > 0.0] / total.sum()
        return NullFacts(float(-total.sum() * (present * np.log(present)).sum()), None, share)
    count, total = rows.total(TargetSide.cell_sums, part)
    centre = total / np.where(count > 0.0, count, 1.0)
    loss = families.null_loss_about(codes, count, centre, rows.total(TargetSide.number_losses, part, centre))
    return NullFacts(loss, centre, share)


def null_head(centre: NDArray | None, codes: NDArray | None, n_components: int, n_columns: int) -> NDArray:
    """Return the [W; b_y] (L + 1, K) to begin with, see `null_parameters`; 0 for the softmax."""
    if codes is None or centre is None:
        return np.zeros((n_components + 1, n_columns))
    return families.null_parameters(codes, centre, n_components)


def _solved(packed: NDArray, ridge: float, right: NDArray, within: NDArray | None) -> NDArray:
    """Solve one system per row, (n, L); with rows >= 0 to begin with, under that bound."""
    if within is None:
        return solve_systems(packed, ridge, right)
    return solve_nonnegative(packed, ridge, right, within, right.shape[1])


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

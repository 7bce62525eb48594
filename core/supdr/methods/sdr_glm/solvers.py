"""SDR-GLM's solvers: one sweep over U, W and V, in the paper's form and in a faster one."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from supdr.methods.sdr_glm.features import ColumnSums, WeightedFeatures
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.state import Point
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers.low_rank import gauge_shift, gauge_turn, row_blocks


class Fast(SDRGLMProblem):
    """solver="fast": U and W (several times if asked for), V, then the gauge with the smallest ridges."""

    expands_once: ClassVar[bool] = True

    def sweep(self, point: Point) -> Point:
        """Return the point after one sweep."""
        following = self._swept(point)
        return self._turned(following) if self.gauge else following

    def _swept(self, point: Point) -> Point:
        return self._weighted_sweep(point) if self.weighted else self._gaussian_sweep(point)

    def _gaussian_sweep(self, point: Point) -> Point:
        """X V' and V V' stay what they are while V does: inner alternations of U and W cost O(N L^2)."""
        head, strength = point.head, 2.0 * self.c * self.weight
        cross, gram = self.features.inner(point.loadings)
        right = self.rows.each(_rights, cross, gram, strength)
        latent = point.latent
        for _ in range(self.inner or 3):
            work = self.target_part, strength * gram[:-1, :-1], self.reg_u, right, latent, head
            latent, sums = self.rows.both(_gaussian_rows, *work)
            head = self.moved_head(sums, latent, head)
        return Point(latent, self.gaussian_loadings(latent), head)

    def _weighted_sweep(self, point: Point) -> Point:
        """One expansion serves U-, W- and V-step: all maximise the same minorant.

        With Poisson columns, whose minorant holds near its point of contact only, V has an expansion of its own.
        """
        latent, loadings, head = point
        once = self.expands_once and not len(self.features.poisson)
        last = (self.inner or 1) - 1
        for number in range(last + 1):
            work = self.feature_part, self.target_part, latent, loadings, head, self.weight, self.reg_u
            latent, (sums, columns) = self.rows.both(_weighted_rows, *work, once and number == last)
            head = self.moved_head(sums, latent, head)
        return Point(latent, self.weighted_loadings(columns, latent, loadings), head)

    def _turned(self, point: Point) -> Point:
        """Replace the factors by the equivalent ones with the smallest ridges; theta, and so both likelihoods, stay."""
        latent, loadings, head = point
        gram = self.features.gram(loadings)
        total = self.rows.total(_column_sums, latent)
        shift = gauge_shift(self.rows.n_rows, total, (gram, head @ head.T), self.ridges)
        latent, square = self.rows.both(_shifted, latent, shift)
        loadings, head = loadings.copy(), head.copy()
        loadings[-1] -= shift @ loadings[:-1]
        head[-1] -= shift @ head[:-1]
        turn = gauge_turn(square, (gram, head @ head.T), self.ridges)
        if turn is not None:
            latent = self.rows.each(np.matmul, latent, turn[0])
            loadings[:-1] = turn[1] @ loadings[:-1]
            head[:-1] = turn[1] @ head[:-1]
        return Point(latent, loadings, head)


class Literal(Fast):
    """solver="literal": the paper's sweep, a system for every row and column, expanded anew for V, gauge left alone."""

    expands_once: ClassVar[bool] = False

    @cached_property
    def features(self) -> WeightedFeatures:
        """The feature side in the form that every kind of data has."""
        return WeightedFeatures(self.X, self.codes, self.c, self.bound)

    def sweep(self, point: Point) -> Point:
        """Return the point after one sweep."""
        return self._swept(point)


SOLVERS: dict[str, type[SDRGLMProblem]] = {"fast": Fast, "literal": Literal}


# --- the work on rows ---------------------------------------------------------------------------------------------


def _rights(cross: NDArray, gram: NDArray, strength: float) -> NDArray:
    return strength * (cross[:, :-1] - gram[-1, :-1])


def _gaussian_rows(
    targets: TargetSide, system: NDArray, reg_u: float, right: NDArray, latent: NDArray, head: NDArray
) -> tuple[NDArray, tuple[NDArray, NDArray]]:
    """Return the new latent rows, and the sums for the head."""
    everything = slice(None)
    found = targets.solve_latent(system, reg_u, right, latent, head, everything)
    moved = _shortened(targets, latent, found, np.zeros(len(found)), head, everything)
    return moved, targets.head_sums(moved, head)


def _weighted_rows(
    features: WeightedFeatures,
    targets: TargetSide,
    latent: NDArray,
    loadings: NDArray,
    head: NDArray,
    weight: float,
    reg_u: float,
    with_columns: bool,
) -> tuple[NDArray, tuple[tuple[NDArray, NDArray], ColumnSums | None]]:
    """Return the new latent rows, and the sums for the head and, added up while blocks are cached, for columns."""
    n_components = latent.shape[1]
    sums = ColumnSums(features.X.shape[1], n_components + 1) if with_columns else None
    factors = features.row_factors(loadings, weight)
    moved = np.empty_like(latent)
    for rows in row_blocks(features.X.shape):
        before = latent[rows]
        curvature, linear = features.expand(rows, before, loadings)
        system, right = features.row_systems(curvature, linear, factors, n_components)
        found = targets.solve_latent(system, reg_u, right, before, head, rows)
        rise = features.row_shares(rows, found - before, loadings)
        moved[rows] = _shortened(targets, before, found, rise, head, rows)
        if sums is not None:
            sums.add(curvature, linear, moved[rows])
    return moved, (targets.head_sums(moved, head), sums)


def _shortened(
    targets: TargetSide, before: NDArray, found: NDArray, rise: NDArray, head: NDArray, rows: slice
) -> NDArray:
    """Shorten the steps of rows in which a Poisson parameter would rise by more than 1: J rises all the way."""
    poisson = targets.poisson
    if not (len(poisson) or rise.any()):
        return found
    if len(poisson):
        own = (found - before) @ head[:-1, poisson]
        own = np.where(np.isnan(targets.Y[rows][:, poisson]), 0.0, own)
        rise = np.maximum(rise, own.max(axis=1))
    share = 1.0 / np.maximum(1.0, rise)
    return np.where((share < 1.0)[:, None], before + share[:, None] * (found - before), found)


def _column_sums(latent: NDArray) -> NDArray:
    return latent.sum(axis=0)


def _shifted(latent: NDArray, shift: NDArray) -> tuple[NDArray, NDArray]:
    """Return the latent rows, shifted, and their square."""
    shifted = latent + shift
    return shifted, shifted.T @ shifted

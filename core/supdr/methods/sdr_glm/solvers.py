"""SDR-GLM's solvers: one sweep over U, W and V, in the paper's form and in a faster one."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from supdr.methods.sdr_glm.features import ColumnSums, WeightedFeatures
from supdr.methods.sdr_glm.problem import Point, SDRGLMProblem
from supdr.solvers.low_rank import gauge_shift, gauge_turn, row_blocks


class Fast(SDRGLMProblem):
    """solver="fast": U and W (several times if asked for), V, then the gauge with the smallest ridges."""

    expands_once: ClassVar[bool] = True

    def sweep(self, point: Point) -> Point:
        """Return the point after one sweep."""
        following = self._swept(point)
        return self._turned(following) if self.gauge else following

    def _swept(self, point: Point) -> Point:
        weighted = isinstance(self.features, WeightedFeatures)
        return self._weighted_sweep(point) if weighted else self._gaussian_sweep(point)

    def _gaussian_sweep(self, point: Point) -> Point:
        """X V' and V V' stay what they are while V does: inner alternations of U and W cost O(N L^2)."""
        features, head = self.features, point.head
        assert not isinstance(features, WeightedFeatures)
        strength = 2.0 * self.c * self.weight
        cross, gram = features.inner(point.loadings)
        system = strength * gram[:-1, :-1]
        right = strength * (cross[:, :-1] - gram[-1, :-1])
        latent, everything = point.latent, slice(None)
        for _ in range(self.inner or 3):
            found = self.targets.solve_latent(system, self.reg_u, right, latent, head, everything)
            latent = self._shortened(latent, found, np.zeros(len(found)), head, everything)
            head = self.targets.solve_head(latent, head, self.reg_w)
        return Point(latent, features.solve_loadings(latent, self.weight, self.reg_v), head)

    def _weighted_sweep(self, point: Point) -> Point:
        """One expansion serves U-, W- and V-step: all maximise the same minorant.

        With Poisson columns, whose minorant holds near its point of contact only, V has an expansion of its own.
        """
        features = self.features
        assert isinstance(features, WeightedFeatures)
        latent, loadings, head = point
        for _ in range((self.inner or 1) - 1):
            latent = self._weighted_latent(latent, loadings, head, None)
            head = self.targets.solve_head(latent, head, self.reg_w)
        once = self.expands_once and not len(features.poisson)
        sums = ColumnSums(self.X.shape[1], self.n_components + 1) if once else None
        latent = self._weighted_latent(latent, loadings, head, sums)
        head = self.targets.solve_head(latent, head, self.reg_w)
        if sums is None:
            sums = features.column_systems(latent, loadings)
        return Point(latent, features.solve_loadings(sums, latent, loadings, self.weight, self.reg_v), head)

    def _weighted_latent(self, latent: NDArray, loadings: NDArray, head: NDArray, sums: ColumnSums | None) -> NDArray:
        """Return the new latent rows, and add their blocks to the columns' sums while they are in the cache."""
        features = self.features
        assert isinstance(features, WeightedFeatures)
        factors = features.row_factors(loadings, self.weight)
        moved = np.empty_like(latent)
        for rows in row_blocks(self.X.shape):
            before = latent[rows]
            curvature, linear = features.expand(rows, before, loadings)
            system, right = features.row_systems(curvature, linear, factors, self.n_components)
            found = self.targets.solve_latent(system, self.reg_u, right, before, head, rows)
            rise = features.row_shares(rows, found - before, loadings)
            moved[rows] = self._shortened(before, found, rise, head, rows)
            if sums is not None:
                sums.add(curvature, linear, moved[rows])
        return moved

    def _shortened(self, before: NDArray, found: NDArray, rise: NDArray, head: NDArray, rows: slice) -> NDArray:
        """Shorten the steps of rows in which a Poisson parameter would rise by more than 1: J rises all the way."""
        poisson = self.targets.poisson
        if not (len(poisson) or rise.any()):
            return found
        if len(poisson):
            own = (found - before) @ head[:-1, poisson]
            own = np.where(np.isnan(self.targets.Y[rows][:, poisson]), 0.0, own)
            rise = np.maximum(rise, own.max(axis=1))
        share = 1.0 / np.maximum(1.0, rise)
        return np.where((share < 1.0)[:, None], before + share[:, None] * (found - before), found)

    def _turned(self, point: Point) -> Point:
        """Replace the factors by the equivalent ones with the smallest ridges; theta, and so both likelihoods, stay."""
        latent, loadings, head = point
        gram = self.features.gram(loadings)
        shift = gauge_shift(latent, (gram, head @ head.T), self.ridges)
        latent = latent + shift
        loadings, head = loadings.copy(), head.copy()
        loadings[-1] -= shift @ loadings[:-1]
        head[-1] -= shift @ head[:-1]
        turn = gauge_turn(latent, (gram, head @ head.T), self.ridges)
        if turn is not None:
            latent = latent @ turn[0]
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

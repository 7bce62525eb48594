"""SDR-GLM's solvers: one sweep over U, W and V, in the paper's form and in a faster one."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import workspace_property
from supdr.methods.sdr_glm.features import ColumnSums, GramFeatures, SharedFeatures, WeightedFeatures
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.state import Point, Values
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers.low_rank import augmented, gauge_shift, gauge_turn, row_blocks


class Turn(NamedTuple):
    """What the gauge makes of the latent rows: (U + shift) matrix, (L,) and (L, L); None: nothing."""

    shift: NDArray | None
    matrix: NDArray | None


NO_TURN = Turn(None, None)


class Fast(SDRGLMProblem):
    """solver="fast": U and W (several times if asked for), V, then the gauge with the smallest ridges."""

    expands_once: ClassVar[bool] = True
    may_turn: ClassVar[bool] = True

    def sweep(self, point: Point) -> tuple[Point, Values]:
        """Return the point after one sweep, and what the rows say of it."""
        swept, sums = self._weighted_sweep(point) if self.weighted else self._gaussian_sweep(point)
        turns = self.gauge and self.may_turn and not self.nonnegative  # turned factors would change sign
        turned, turn = self._turned(swept, sums[0]) if turns else (swept, NO_TURN)
        return self._ended(turned, turn, point.latent, (sums, swept.loadings))

    def values(self, point: Point) -> Values:
        """Return what the rows say of a point that no sweep has just left; in memory what a sweep said, to the bit."""
        return self._ended(point, NO_TURN, point.latent)[1]

    def _ended(self, point: Point, turn: Turn, before: Any, sums: Any = None) -> tuple[Point, Values]:
        """Turn the latent rows and sum over them; `sums`: of `_gaussian_sweep`, with the loadings made of them."""
        latent, loadings, head = point
        if self.weighted:
            parts = self.feature_part, self.target_part
            latent, values = self.all_rows.both(_weighted_end, *parts, latent, before, turn, loadings, head)
            return point._replace(latent=latent), Values(*values.tolist())
        latent, values = self.all_rows.both(_gaussian_end, self.target_part, latent, before, turn, head)
        return point._replace(latent=latent), Values(self.gaussian_fit(latent, loadings, sums), *values.tolist())

    def gaussian_fit(self, latent: Any, loadings: NDArray, _sums: Any) -> float:
        """Return L_X, complete Gaussian data: of X Vt', which the next sweep needs, too."""
        return self.features.value(latent, loadings)

    def _gaussian_sweep(self, point: Point) -> tuple[Point, tuple[NDArray, NDArray]]:
        """X V' and V V' stay what they are while V does: inner alternations of U and W cost O(N L^2).

        Returned beside the point: [U, 1]'[U, 1] and [U, 1]'X.
        """
        strength, last = 2.0 * self.c * self.weight, (self.inner or 3) - 1
        parts = self.feature_part, self.target_part
        start = point.latent, point.loadings, point.head, strength, self.reg_u
        both, (sums, more) = self.all_rows.both(_first_gaussian_rows, *parts, *start, last == 0)
        latent, right = self.all_rows.entries(both, 2)
        head = self.moved_head(sums, latent, point.head)
        system = strength * self.features.gram(point.loadings)[:-1, :-1] if last else None
        for number in range(1, last + 1):
            work = right, latent, head, system, self.reg_u
            latent, (sums, more) = self.all_rows.both(_gaussian_rows, *parts, *work, number == last)
            head = self.moved_head(sums, latent, head)
        return Point(latent, self.features.solve_loadings(more, self.weight, self.reg_v), head), more

    def _weighted_sweep(self, point: Point) -> tuple[Point, tuple[NDArray]]:
        """One expansion serves U-, W- and V-step: all maximise the same minorant.

        With columns whose minorant holds near its point of contact only, V has an expansion of its own.
        Returned beside the point: [U, 1]'[U, 1].
        """
        latent, loadings, head = point
        once = self.expands_once and not len(self.features.limited)
        last = (self.inner or 1) - 1
        for number in range(last + 1):
            work = self.feature_part, self.target_part, latent, loadings, head, self.weight, self.reg_u
            settings = self.nonnegative, once and number == last
            latent, (sums, columns, square) = self.all_rows.both(_weighted_rows, *work, *settings)
            head = self.moved_head(sums, latent, head)
        return Point(latent, self.weighted_loadings(columns, latent, loadings), head), (square,)

    def _turned(self, point: Point, square: NDArray) -> tuple[Point, Turn]:
        """Replace the factors by the equivalent ones with the smallest ridges; theta, and so both likelihoods, stay.

        The latent rows are not yet turned; square is [U, 1]'[U, 1].
        """
        latent, loadings, head = point
        gram, n_rows = self.features.gram(loadings), self.all_rows.n_rows
        total = square[-1, :-1]
        shift = gauge_shift(n_rows, total, (gram, head @ head.T), self.ridges)
        loadings, head = loadings.copy(), head.copy()
        loadings[-1] -= shift @ loadings[:-1]
        head[-1] -= shift @ head[:-1]
        moved = np.outer(total, shift)
        shifted = square[:-1, :-1] + (moved + moved.T) + n_rows * np.outer(shift, shift)
        turn = gauge_turn(shifted, (gram, head @ head.T), self.ridges)
        if turn is None:
            return Point(latent, loadings, head), Turn(shift, None)
        loadings[:-1] = turn[1] @ loadings[:-1]
        head[:-1] = turn[1] @ head[:-1]
        return Point(latent, loadings, head), Turn(shift, turn[0])


class Literal(Fast):
    """solver="literal": the paper's sweep, a system for every row and column, expanded anew for V, gauge left alone."""

    expands_once: ClassVar[bool] = False
    may_turn: ClassVar[bool] = False

    @workspace_property
    def features(self) -> WeightedFeatures:
        """Return the feature side in the form that every kind of data has."""
        return self.weighted_features


SOLVERS: dict[str, type[SDRGLMProblem]] = {"fast": Fast, "literal": Literal}


# --- the work on rows ---------------------------------------------------------------------------------------------


def _first_gaussian_rows(
    features: SharedFeatures | GramFeatures,
    targets: TargetSide,
    latent: NDArray,
    loadings: NDArray,
    head: NDArray,
    strength: float,
    reg_u: float,
    is_last: bool,
) -> tuple[tuple[NDArray, NDArray], tuple]:
    """Return the new latent rows with what the features say of them, and sums as of `_gaussian_rows`."""
    cross, gram = features.inner(loadings)
    right = strength * (cross[:, :-1] - gram[-1, :-1])
    system = strength * gram[:-1, :-1]
    moved, sums = _gaussian_rows(features, targets, right, latent, head, system, reg_u, is_last)
    return (moved, right), sums


def _gaussian_rows(
    features: SharedFeatures | GramFeatures,
    targets: TargetSide,
    right: NDArray,
    latent: NDArray,
    head: NDArray,
    system: NDArray,
    reg_u: float,
    is_last: bool,
) -> tuple[NDArray, tuple[tuple[NDArray, NDArray], tuple[NDArray, NDArray] | None]]:
    """Return the new latent rows, the sums for the head and, where these rows are to stay, those for the loadings."""
    moved, everything = np.empty_like(latent), slice(None)
    for rows, part in targets.blocks(latent.shape[1]):
        before = latent[rows]
        solution = part.solve_latent(system, reg_u, right[rows], before, head, everything)
        moved[rows] = _shortened(part, before, solution, np.zeros(len(solution)), head, everything)
    return moved, (targets.head_sums(moved, head), features.loading_sums(moved) if is_last else None)


def _weighted_rows(
    features: WeightedFeatures,
    targets: TargetSide,
    latent: NDArray,
    loadings: NDArray,
    head: NDArray,
    weight: float,
    reg_u: float,
    nonnegative: bool,
    with_columns: bool,
) -> tuple[NDArray, tuple[tuple[NDArray, NDArray], ColumnSums | None, NDArray]]:
    """Return the new latent rows, the sums for the head and, added up while blocks are cached, for columns.

    Last of the sums: [U, 1]'[U, 1].
    """
    n_components = latent.shape[1]
    sums = ColumnSums(features.X.shape[1], n_components + 1) if with_columns else None
    factors = features.row_factors(loadings, weight)
    moved = np.empty_like(latent)
    for rows in row_blocks(features.X.shape):
        before = latent[rows]
        curvature, linear = features.expand(rows, before, loadings)
        system, right = features.row_systems(curvature, linear, factors, n_components)
        solution = targets.solve_latent(system, reg_u, right, before, head, rows, nonnegative)
        rise = features.row_shares(rows, solution - before, loadings)
        moved[rows] = _shortened(targets, before, solution, rise, head, rows)
        if sums is not None:
            sums.add(curvature, linear, moved[rows])
    wide = augmented(moved)
    return moved, (targets.head_sums(moved, head), sums, wide.T @ wide)


def _shortened(
    targets: TargetSide, before: NDArray, solution: NDArray, rise: NDArray, head: NDArray, rows: slice
) -> NDArray:
    """Shorten the steps of rows in which a limited parameter would move by more than 1: J rises all the way."""
    poisson = targets.poisson
    if not (len(poisson) or rise.any()):
        return solution
    if len(poisson):
        own = (solution - before) @ head[:-1, poisson]
        own = np.where(np.isnan(targets.Y[rows][:, poisson]), 0.0, own)
        rise = np.maximum(rise, own.max(axis=1))
    share = 1.0 / np.maximum(1.0, rise)
    return np.where((share < 1.0)[:, None], before + share[:, None] * (solution - before), solution)


def _gaussian_end(
    targets: TargetSide, latent: NDArray, before: NDArray, turn: Turn, head: NDArray
) -> tuple[NDArray, NDArray]:
    """Return the latent rows, turned; L_Y, |U|^2 and |U - previous U|^2."""
    turned, sums = np.empty_like(latent), np.zeros(3)
    for rows, part in targets.blocks(latent.shape[1]):
        block = latent[rows] if turn.shift is None else latent[rows] + turn.shift
        block = block if turn.matrix is None else block @ turn.matrix
        change = block - before[rows]
        sums += part.value(block @ head[:-1] + head[-1]), np.vdot(block, block), np.vdot(change, change)
        turned[rows] = block
    return turned, sums


def _weighted_end(
    features: WeightedFeatures,
    targets: TargetSide,
    latent: NDArray,
    before: NDArray,
    turn: Turn,
    loadings: NDArray,
    head: NDArray,
) -> tuple[NDArray, NDArray]:
    """Return the latent rows, turned; L_X, L_Y, |U|^2 and |U - previous U|^2."""
    turned, sums = _gaussian_end(targets, latent, before, turn, head)
    return turned, np.array([features.value(turned, loadings), *sums])

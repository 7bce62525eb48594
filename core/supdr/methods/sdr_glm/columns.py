"""From the user's arguments to families, preprocessing and targets of SDR-GLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.engine.preprocessing import Columns, Preprocessing, fit_preprocessing, scaling_of_rows
from supdr.engine.sparse_rows import SparseRows
from supdr.engine.targets import Targets, missing_values
from supdr.functions.families import BERNOULLI, GAUSSIAN, TARGET_FAMILIES, check_values, family_codes
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.rows.in_memory import largest

# A target that varies less than this, relative to its mean, is constant: it is not scaled.
ROUNDING = 1e-12

LABEL_FAMILIES = ("auto", "bernoulli", "softmax")


def feature_codes(family_x: str | Sequence[str], columns: Columns) -> NDArray:
    """Return the families (D,) of the columns of X; raise ValueError where a column cannot be of its family."""
    n_columns = columns.shape[1]
    if not isinstance(family_x, str) or family_x != "auto":
        codes = family_codes(family_x, n_columns, "family_x")
        columns.map_parts(_checked, codes)
        return codes
    return np.full(n_columns, BERNOULLI if all(columns.map_parts(_all_bits)) else GAUSSIAN)


def _checked(X: NDArray, codes: NDArray) -> None:
    check_values(codes, X, "X")


def _all_bits(X: NDArray) -> bool:
    if isinstance(X, SparseRows):
        return bool(np.isin(X.cells.data, (0.0, 1.0)).all())
    try:
        check_values(np.full(X.shape[1], BERNOULLI), X, "X")
    except ValueError:
        return False
    return True


def checked_column_weight(weights: ArrayLike | None, n_columns: int) -> NDArray | None:
    """Return the weights (D,), or None if all are 1; raise ValueError unless they are finite, >= 0, and one is > 0."""
    if weights is None:
        return None
    accepted = f"column_weight must hold one finite number >= 0 per column ({n_columns}), at least one of them > 0"
    try:
        values = np.array(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{accepted}; got {weights!r}") from None
    if values.shape != (n_columns,):
        raise ValueError(f"{accepted}; got shape {values.shape}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if len(wrong):
        raise ValueError(f"{accepted}; got {values[wrong[0]]:g} for column {wrong[0]}")
    if not values.any():
        raise ValueError(f"{accepted}; all are 0")
    return None if (values == 1.0).all() else values


def column_preprocessing(columns: Columns, kind: str, codes: NDArray) -> tuple[Preprocessing, NDArray]:
    """Return the preprocessing of the Gaussian columns and the families (m,) of the preprocessed columns.

    Bits and counts stay as they are.  With no more rows than columns whitening becomes "zscore": whitened rows would
    all be equally far from each other.
    """
    gaussian = codes == GAUSSIAN
    kind = scaling_of_rows(kind, *columns.shape)
    if isinstance(kind, str) and kind == "whiten" and not gaussian.all():
        kind = "zscore"
    if gaussian.all():
        fitted = fit_preprocessing(columns, kind)
        n_columns = columns.shape[1] if fitted.matrix is None else fitted.matrix.shape[1]
        return fitted, np.full(n_columns, GAUSSIAN)
    identity = fit_preprocessing(columns, "none")
    if not gaussian.any() or kind == "none":
        return identity, codes
    part = fit_preprocessing(columns.select(gaussian), kind)
    offset, scale = identity.offset.copy(), identity.scale.copy()
    offset[gaussian], scale[gaussian] = part.offset, part.scale
    return replace(identity, kind=part.kind, offset=offset, scale=scale), codes


def centred(fitted: Preprocessing, columns: Columns, codes: NDArray) -> tuple[Preprocessing, NDArray]:
    """Return the preprocessing with offsets that leave Gaussian columns of mean 0, and the shift (m,) beyond it.

    Beside large offsets sums of squares would cancel, and the ridge of b_x would pull towards an arbitrary zero.
    """
    if fitted.matrix is not None:
        return fitted, np.zeros(len(codes))
    mean = fitted.offset + columns.mean_minus(fitted.offset)
    offset = np.where(codes == GAUSSIAN, mean, fitted.offset)
    return replace(fitted, offset=offset), (offset - fitted.offset) * fitted.scale


def decode_columns(
    y: NDArray, n_rows: int, task: str, missing_label: object, sample_weight: NDArray | None = None
) -> Targets:
    """Decode several targets or labels `y` (N, K), NaN in missing cells; ValueError if they do not fit the task."""
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    values = _column_values(y, missing_label)
    weights = np.ones(n_rows) if sample_weight is None else np.array(sample_weight, dtype=float)
    values[weights == 0.0] = np.nan
    weights[weights == 0.0] = 1.0
    labelled = ~np.isnan(values).all(axis=1)
    if not labelled.any():
        raise ValueError("y has no labelled row: every value is missing")
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise ValueError(f"y has no observed value in column {int(np.flatnonzero(empty)[0])}")
    if task == "classification":
        _check_bits(values)
        single = np.nanmin(values, axis=0) == np.nanmax(values, axis=0)
        if single.any():
            raise ValueError(f"y: label {int(np.flatnonzero(single)[0])} has one class only; two are needed")
    return Targets(labelled, None, np.full(len(y), -1), values, weights)


def decode_column_part(y: NDArray, task: str, missing_label: object) -> Targets:
    """Decode a part (n, K) of several targets or labels as `decode_columns` does; a part may lack values."""
    values = _column_values(y, missing_label)
    if task == "classification":
        _check_bits(values)
    return Targets(~np.isnan(values).all(axis=1), None, np.full(len(y), -1), values, np.ones(len(y)))


def _column_values(y: NDArray, missing_label: object) -> NDArray:
    missing, values = missing_values(y, missing_label), np.full(y.shape, np.nan)
    try:
        values[~missing] = y[~missing].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y with several columns must hold numbers: {error}") from error
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    return values


def _check_bits(values: NDArray) -> None:
    check_values(np.full(values.shape[1], BERNOULLI), values, "y should be a 1d array, or a matrix of labels")


class Scaling(NamedTuple):
    """What targets are scaled by, mean and scale (K,): 0 and 1 for columns that are not Gaussian."""

    mean: NDArray
    scale: NDArray


def target_families(
    family_y: str | Sequence[str], several_labels: bool, n_classes: int, n_columns: int
) -> NDArray | None:
    """Return the families of the columns of Y, None for the softmax of all; ValueError if one does not fit the task."""
    if not (several_labels or n_classes):
        names = "gaussian" if isinstance(family_y, str) and family_y == "auto" else family_y
        return family_codes(names, n_columns, "family_y", TARGET_FAMILIES)
    accepted = LABEL_FAMILIES[:2] if several_labels else LABEL_FAMILIES
    if not isinstance(family_y, str) or family_y not in accepted:
        raise ValueError(f"family_y must be one of {', '.join(accepted)} for classification; got {family_y!r}")
    if n_classes and (family_y == "softmax" or (family_y == "auto" and n_classes > 2)):
        return None
    return np.full(n_columns, BERNOULLI)


def target_cells(targets: Targets, codes: NDArray | None) -> NDArray:
    """Return Y (n, K) of decoded targets, NaN where not observed; one-hot rows for the softmax."""
    Y = targets.values
    if targets.classes is None:
        return Y
    if codes is None:
        return np.where(
            targets.codes[:, None] < 0, np.nan, (targets.codes[:, None] == np.arange(len(targets.classes))) * 1.0
        )
    return np.where(targets.labelled[:, None], (Y > 0.0) * 1.0, np.nan)


def target_scaling(rows: Any, targets: Any, codes: NDArray | None, n_columns: int) -> Scaling:
    """Return what Gaussian targets, in memory or in partitions, are scaled by: to mean 0 and variance 1, weighted."""
    mean, scale = np.zeros(n_columns), np.ones(n_columns)
    gaussian = np.zeros(0, dtype=bool) if codes is None else codes == GAUSSIAN
    if gaussian.any():
        size = rows.total(_largest_targets, targets, gaussian, add=largest)
        unit = np.maximum(size, np.finfo(float).tiny)  # squares stay within range
        total, count = rows.total(_target_sums, targets, gaussian, unit, None)
        centre = total / count
        squares, count = rows.total(_target_sums, targets, gaussian, unit, centre)
        deviation = unit * np.sqrt(squares / count)
        mean[gaussian] = unit * centre
        scale[gaussian] = np.where(deviation > ROUNDING * np.abs(mean[gaussian]), deviation, 1.0)
    return Scaling(mean, scale)


def target_side(
    targets: Targets, codes: NDArray | None, scaling: Scaling, several_labels: bool, c: float, bound: str
) -> TargetSide:
    """Return decoded targets as the problem takes them; raise ValueError if the values do not fit a family."""
    Y, weights = target_cells(targets, codes), None if (targets.weights == 1.0).all() else targets.weights
    if codes is None:
        return TargetSide(Y, None, c, bound, weights=weights)
    if several_labels or targets.classes is not None:
        return TargetSide(Y, codes, c, bound, not several_labels and Y.shape[1] > 1, weights)
    check_values(codes, Y, "y")
    return TargetSide((Y - scaling.mean) / scaling.scale, codes, c, bound, weights=weights)


# --- the work on rows ---------------------------------------------------------------------------------------------


def _largest_targets(targets: Targets, gaussian: NDArray) -> NDArray:
    return abs(np.ma.masked_invalid(targets.values[:, gaussian])).max(axis=0).filled(0.0)


def _target_sums(targets: Targets, gaussian: NDArray, unit: NDArray, centre: NDArray | None) -> tuple[NDArray, NDArray]:
    """Return weighted sums of observed targets, or of their squared deviations from a centre, and of the weights."""
    numbers = np.ma.masked_invalid(targets.values[:, gaussian])
    values = np.ma.asarray(numbers / unit if centre is None else (numbers / unit - centre) ** 2)
    if (targets.weights == 1.0).all():
        return values.sum(axis=0).filled(0.0), np.asarray(numbers.count(axis=0), dtype=float)
    weights = np.where(np.ma.getmaskarray(numbers), 0.0, targets.weights[:, None])
    return (values * targets.weights[:, None]).sum(axis=0).filled(0.0), weights.sum(axis=0)

"""From the user's arguments to families, preprocessing and targets of SDR-GLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supdr.engine.preprocessing import Columns, Preprocessing, fit_preprocessing
from supdr.engine.targets import Targets, missing_values
from supdr.functions.families import BERNOULLI, GAUSSIAN, check_values, family_codes
from supdr.methods.sdr_glm.targets import TargetSide

ROUNDING = 1e-12
"""A target that varies less than this, relative to its mean, is constant: it is not scaled."""

LABEL_FAMILIES = ("auto", "bernoulli", "softmax")


def feature_codes(family_x: str | Sequence[str], X: NDArray) -> NDArray:
    """Return the families of the columns of X, (D,).

    Parameters
    ----------
    family_x : str or sequence of str
        ``"auto"``, a family, or one per column.
    X : array of shape (N, D)
        Before preprocessing; NaN where not observed.

    Returns
    -------
    int array of shape (D,)

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    if not isinstance(family_x, str) or family_x != "auto":
        return family_codes(family_x, X.shape[1], "family_x")
    bits = np.full(X.shape[1], BERNOULLI)
    try:
        check_values(bits, X, "X")
    except ValueError:
        return np.full(X.shape[1], GAUSSIAN)
    return bits


def column_preprocessing(columns: Columns, kind: str, codes: NDArray) -> tuple[Preprocessing, NDArray]:
    """Fit the preprocessing of the Gaussian columns; bits and counts stay as they are.

    Where there are no more rows than columns, whitened rows are all equally far from each other, whatever they have in
    common: they are z-scored instead.

    Parameters
    ----------
    columns : Columns
        Of the data.
    kind : str
        As for `fit_preprocessing`.
    codes : int array of shape (D,)
        Family of every column.

    Returns
    -------
    preprocessing : Preprocessing
    codes : int array of shape (m,)
        Family of every preprocessed column.
    """
    gaussian = codes == GAUSSIAN
    if isinstance(kind, str) and kind == "whiten" and (not gaussian.all() or columns.shape[0] <= columns.shape[1]):
        kind = "zscore"
    if gaussian.all():
        fitted = fit_preprocessing(columns, kind)
        n_columns = columns.shape[1] if fitted.matrix is None else fitted.matrix.shape[1]
        return fitted, np.full(n_columns, GAUSSIAN)
    identity = fit_preprocessing(columns, "none")
    if not gaussian.any() or kind == "none":
        return identity, codes
    part = fit_preprocessing(columns.chosen(gaussian), kind)
    offset, scale = identity.offset.copy(), identity.scale.copy()
    offset[gaussian], scale[gaussian] = part.offset, part.scale
    return replace(identity, kind=part.kind, offset=offset, scale=scale), codes


def centred(fitted: Preprocessing, columns: Columns, codes: NDArray) -> tuple[Preprocessing, NDArray]:
    """Return the same preprocessing with offsets that leave Gaussian columns of mean 0.

    The problem is solved in deviations from the means: with offsets that are large beside the deviations its sums of
    squares would cancel, and the ridge of b_x would pull towards an arbitrary zero.

    Parameters
    ----------
    fitted : Preprocessing
        What the user asked for.
    columns : Columns
        Of the data.
    codes : int array of shape (m,)
        Family of every preprocessed column.

    Returns
    -------
    preprocessing : Preprocessing
    shift : array of shape (m,)
        What it takes off the columns of `fitted` beyond that.
    """
    if fitted.matrix is not None:
        return fitted, np.zeros(len(codes))
    mean = fitted.offset + columns.mean_beyond(fitted.offset)
    offset = np.where(codes == GAUSSIAN, mean, fitted.offset)
    return replace(fitted, offset=offset), (offset - fitted.offset) * fitted.scale


def decode_columns(
    y: NDArray, n_rows: int, task: str, missing_label: object, sample_weight: NDArray | None = None
) -> Targets:
    """Decode several targets or labels; single cells may be missing.

    Parameters
    ----------
    y : array of shape (N, K)
        Numbers; 0 and 1 for classification.
    n_rows : int
        N of the data.
    task : {"classification", "regression"}
        What the columns mean.
    missing_label : object
        A further value that marks a missing cell.
    sample_weight : array of shape (N,), optional
        What the label term of each row is multiplied by, >= 0; a row of weight 0 counts as unlabelled.

    Returns
    -------
    Targets
        With NaN in `values` where a cell is missing.

    Raises
    ------
    ValueError
        If shapes or values do not fit, or a label has one class only.
    """
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    missing = missing_values(y, missing_label)
    weights = np.ones(n_rows) if sample_weight is None else np.array(sample_weight, dtype=float)
    missing[weights == 0.0] = True
    weights[weights == 0.0] = 1.0
    values = np.full(y.shape, np.nan)
    try:
        values[~missing] = y[~missing].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y with several columns must hold numbers: {error}") from error
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    labelled = ~np.isnan(values).all(axis=1)
    if not labelled.any():
        raise ValueError("y has no labelled row: every value is missing")
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise ValueError(f"y has no observed value in column {int(np.flatnonzero(empty)[0])}")
    if task == "classification":
        check_values(np.full(y.shape[1], BERNOULLI), values, "y should be a 1d array, or a matrix of labels")
        single = np.nanmin(values, axis=0) == np.nanmax(values, axis=0)
        if single.any():
            raise ValueError(f"y: label {int(np.flatnonzero(single)[0])} has one class only; two are needed")
    return Targets(labelled, None, np.full(len(y), -1), values, weights)


def target_side(
    family_y: str | Sequence[str], targets: Targets, several_labels: bool, c: float, bound: str
) -> tuple[TargetSide, NDArray, NDArray]:
    """Return the targets as the problem takes them, and what undoes the scaling of Gaussian ones.

    Parameters
    ----------
    family_y : str or sequence of str
        As in `supdr.SDRGLM`.
    targets : Targets
        Decoded targets.
    several_labels : bool
        Whether their values are the 0 and 1 of several labels.
    c, bound
        As in `supdr.SDRGLM`.

    Returns
    -------
    side : TargetSide
    mean, scale : arrays of shape (K,)
        0 and 1 for columns that are not Gaussian.

    Raises
    ------
    ValueError
        If the family does not fit the task or the values.
    """
    labels = several_labels or targets.classes is not None
    accepted = LABEL_FAMILIES[:2] if several_labels else LABEL_FAMILIES
    if labels and (not isinstance(family_y, str) or family_y not in accepted):
        raise ValueError(f"family_y must be one of {', '.join(accepted)} for classification; got {family_y!r}")
    Y, weights = targets.values, None if (targets.weights == 1.0).all() else targets.weights
    n_columns = Y.shape[1]
    if targets.classes is not None:
        n_classes = len(targets.classes)
        if family_y == "softmax" or (family_y == "auto" and n_classes > 2):
            Y = np.where(targets.codes[:, None] < 0, np.nan, (targets.codes[:, None] == np.arange(n_classes)) * 1.0)
            return TargetSide(Y, None, c, bound, weights=weights), np.zeros(n_classes), np.ones(n_classes)
        Y = np.where(targets.labelled[:, None], (Y > 0.0) * 1.0, np.nan)
    if labels:
        one_hot = not several_labels and n_columns > 1
        side = TargetSide(Y, np.full(n_columns, BERNOULLI), c, bound, one_hot, weights)
        return side, np.zeros(n_columns), np.ones(n_columns)
    codes = family_codes("gaussian" if family_y == "auto" else family_y, n_columns, "family_y")
    check_values(codes, Y, "y")
    mean, scale = np.zeros(n_columns), np.ones(n_columns)
    gaussian = codes == GAUSSIAN
    if gaussian.any():
        numbers = np.ma.masked_invalid(Y[:, gaussian])
        unit = np.maximum(abs(numbers).max(axis=0).filled(0.0), np.finfo(float).tiny)  # squares stay within range
        centre = np.ma.average(numbers / unit, axis=0, weights=weights)
        deviation = unit * np.sqrt(np.ma.average((numbers / unit - centre) ** 2, axis=0, weights=weights))
        mean[gaussian] = unit * centre
        scale[gaussian] = np.where(deviation > ROUNDING * np.abs(mean[gaussian]), deviation, 1.0)
    return TargetSide((Y - mean) / scale, codes, c, bound, weights=weights), mean, scale

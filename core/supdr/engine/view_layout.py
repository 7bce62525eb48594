"""The columns of X, and their scales, that each of several local models and their gate use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_integer
from supdr.engine.column_groups import Views, as_list, column_groups, column_indices

# Choices of methods on views; whitening would mix the views' columns.
PREPROCESSING = ("zscore", "minmax", "none")


@dataclass(frozen=True)
class Layout:
    """Column groups of X.

    groups: columns of the distinct views.
    which: view of every local model.
    gating: columns of the gate.
    scales: factor of each view: 1 / sqrt(D_m), so that rows of every view have mean square 1 after z-scoring.
    gating_scale (D_G,): the scale of the first view that holds the column.
    """

    groups: tuple[NDArray, ...]
    which: tuple[int, ...]
    gating: NDArray
    scales: tuple[float, ...]
    gating_scale: NDArray

    def views(self, X: NDArray) -> Views:
        """Return the view of every local model, (n, D_m); models on the same view share the array."""
        arrays = [np.ascontiguousarray(X[:, group]) * scale for group, scale in zip(self.groups, self.scales)]
        return tuple(arrays[number] for number in self.which)

    def gating_columns(self, X: NDArray) -> NDArray:
        """Return the columns of the gate, (n, D_G)."""
        return np.ascontiguousarray(X[:, self.gating]) * self.gating_scale

    @property
    def widths(self) -> tuple[int, ...]:
        """D_m of every local model."""
        return tuple(len(self.groups[number]) for number in self.which)


def make_layout(views: Any, n_models: int, gating_columns: Any, n_features: int, *, scaled: bool) -> Layout:
    """Return the layout of `n_models` on one view, else of one per view; ValueError if columns do not fit X."""
    groups = column_groups(views, n_features)
    which = tuple(range(len(groups))) if views is not None else (0,) * n_models
    scales = tuple(1.0 / np.sqrt(len(group)) if scaled else 1.0 for group in groups)
    column_scale = np.full(n_features, np.nan)
    for group, scale in zip(reversed(groups), reversed(scales)):
        column_scale[group] = scale
    if gating_columns is None:
        gating = np.unique(np.concatenate(groups))
    else:
        gating = column_indices("gating_columns", gating_columns, n_features)
    gating_scale = column_scale[gating]
    gating_scale[np.isnan(gating_scale)] = 1.0 / np.sqrt(len(gating)) if scaled else 1.0
    return Layout(groups, which, gating, scales, gating_scale)


def local_dimensions(n_components: Any, widths: Sequence[int], n_heads: int) -> tuple[int, ...]:
    """Return R_m of each local model, at most its view's columns; None: one a head, at least 2.  Else ValueError."""
    if n_components is None:
        n_components = max(n_heads, 2)
    entries = as_list(n_components)
    if entries is None:
        check_integer("n_components", n_components)
        return tuple(min(int(n_components), width) for width in widths)
    if len(entries) != len(widths):
        raise ValueError(
            f"n_components must be None, an integer or one per local model, {len(widths)}; got {n_components!r}"
        )
    for entry in entries:
        check_integer("n_components", entry)
    return tuple(min(int(entry), width) for entry, width in zip(entries, widths))

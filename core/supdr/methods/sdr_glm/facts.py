"""Sums over all rows before a run of SDR-GLM: families, units, and what means leave unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from supdr.engine.targets import Targets
from supdr.methods.sdr_glm.columns import Scaling, target_families, target_scaling, target_side
from supdr.methods.sdr_glm.problem import column_facts
from supdr.methods.sdr_glm.targets import NullFacts, null_facts


class Facts(NamedTuple):
    """Sums over all rows.

    codes (K,): families of the targets; None for the softmax of all.
    scaling: of Gaussian targets.
    target_null: H_Y, means, and the share of observed cells.
    column_null (D,)): H_X and the means of columns.
    """

    codes: NDArray | None
    scaling: Scaling
    target_null: NullFacts
    column_null: tuple[float, NDArray]


def gather_facts(
    rows: Any,
    cells: Any,
    column_codes: NDArray,
    targets: Targets,
    target_part: Any,
    *,
    family_y: str | Sequence[str],
    several_labels: bool,
    c: float,
    bound: str,
    column_weight: NDArray | None = None,
    size: float = 1.0,
) -> tuple[Facts, Any]:
    """Return the facts of all rows, or of their partitions, and the targets as the problem takes them."""
    n_classes, n_values = 0 if targets.classes is None else len(targets.classes), targets.values.shape[1]
    codes = target_families(family_y, several_labels, n_classes, n_values)
    n_columns = n_classes if codes is None else n_values
    scaling = target_scaling(rows, target_part, codes, n_columns)
    sides = rows.each(target_side, target_part, codes, scaling, several_labels, c, bound)
    null = null_facts(rows, sides, codes, n_columns)
    return Facts(codes, scaling, null, column_facts(rows, cells, column_codes, c, column_weight, size)), sides

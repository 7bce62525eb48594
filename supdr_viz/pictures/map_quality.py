"""How true the latent plane on display is: row by row, and in numbers of the rows that the fit has not seen."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supdr.quality import map_quality, row_batches
from supdr.quality.checking import usable_neighbors
from supdr.quality.near import NO_ROW
from supdr.quality.summary import comparable_rows
from supdr_viz.data.split import Split
from supdr_viz.pictures.scene import filled
from supdr_viz.pictures.types import MapQuality, Scene

# Pairs whose distances a picture shows in every frame.
N_PAIRS = 4000

# Pairs that make the correlation of distances.
MOST_PAIRS = 200_000

# Rows that are looked at before others have their turn.
BATCH = 32

# Rows of a sample while a map changes.
SAMPLE = 150

# Of fewer test rows the numbers would mean nothing: they are of all rows.
FEWEST = 5

Measuring = Generator[None, None, MapQuality]


@dataclass(frozen=True, eq=False)
class InputRows:
    """The rows of a scene in the unit of their distances: grey levels of pictures, else standard deviations."""

    scene: Scene
    split: Split

    @cached_property
    def rows(self) -> NDArray:
        """Rows (n, m), training rows first; a missing cell counts as the mean of the training rows."""
        X = np.concatenate([self.split.X_train, self.split.X_test])
        unit = "zscore" if self.scene.image_shape is None else "none"
        return comparable_rows(filled(X, self.split.X_train), unit)

    @cached_property
    def pairs(self) -> tuple[NDArray, NDArray]:
        """The two rows of `N_PAIRS` pairs, always the same."""
        generator, count = np.random.default_rng(0), len(self.rows)
        first = generator.integers(count, size=N_PAIRS)
        return first, (first + generator.integers(1, count, size=N_PAIRS)) % count

    @cached_property
    def apart(self) -> NDArray:
        """Their distances in the input."""
        first, second = self.pairs
        return np.linalg.norm(self.rows[first] - self.rows[second], axis=1)


def measuring(input_rows: InputRows, places: NDArray, iteration: int) -> Measuring:
    """Find out how true a map is; yields between pieces of work of some milliseconds, returns the result.

    `places` (n, 2): where the rows stand on the map.
    """
    X = input_rows.rows
    drawn = input_rows.scene.looked_at  # of a sample every row that is seen gets its colour
    k, chosen = usable_neighbors(len(X)), np.arange(len(X)) if drawn is None else np.sort(drawn)
    trust, continuity = np.full((2, len(X)), np.nan)
    lost, false = np.full((2, len(X), k), NO_ROW, dtype=np.int32)
    for some, scores, changed in row_batches(X, places, n_neighbors=k, rows=chosen, batch=BATCH):
        rows = chosen[some]
        trust[rows], continuity[rows] = scores[:, 0], scores[:, 1]
        lost[rows], false[rows] = changed
        yield
    numbers, n_new = _numbers(input_rows, places)
    return MapQuality(iteration, k, trust, continuity, lost, false, numbers, n_new)


def sampled(
    input_rows: InputRows,
    places: NDArray,
    iteration: int,
    number: int = 0,
    before: MapQuality | None = None,
    size: int | None = SAMPLE,
) -> MapQuality:
    """Measure some rows of a map that changes; the others keep what was measured before.

    `places` (n, 2): where the rows stand on the map; `number`: of the sample: each has other rows, until all had their
    turn; `size`: most rows of a sample, None: all that are looked at. Returns without numbers of the whole map.
    """
    X, drawn = input_rows.rows, input_rows.scene.looked_at
    k, looked_at = usable_neighbors(len(X)), np.arange(len(X)) if drawn is None else drawn
    turns = 1 if size is None else -(-len(looked_at) // size)
    rows = np.sort(np.random.default_rng(0).permutation(looked_at)[number % turns :: turns])
    if before is None:
        trust, continuity = np.full((2, len(X)), np.nan)
        lost, false = np.full((2, len(X), k), NO_ROW, dtype=np.int32)
    else:
        trust, continuity, lost, false = (
            each.copy() for each in (before.trust, before.kept, before.lost, before.false)
        )
    for some, scores, changed in row_batches(X, places, n_neighbors=k, rows=rows):
        trust[rows[some]], continuity[rows[some]] = scores[:, 0], scores[:, 1]
        lost[rows[some]], false[rows[some]] = changed
    return MapQuality(iteration, k, trust, continuity, lost, false, {}, 0)


def _numbers(input_rows: InputRows, places: NDArray) -> tuple[dict[str, float], int]:
    """Return the measures of the test rows, or of all where there are too few, and the number of test rows or 0."""
    scene, split = input_rows.scene, input_rows.split
    targets = np.concatenate([split.truth_train, split.y_test])
    judged = scene.is_test if scene.is_test.sum() >= FEWEST else np.ones(len(places), dtype=bool)
    k = usable_neighbors(int(judged.sum()))
    voters = None if judged.all() else (places[~judged], targets[~judged])
    n_voting = np.isfinite(targets).sum() - 1 if voters is None else np.isfinite(voters[1]).sum()
    quality = map_quality(
        input_rows.rows[judged],
        places[judged],
        targets[judged] if n_voting >= k else None,
        n_neighbors=k,
        task=scene.task,
        voters=voters if n_voting >= k else None,
        n_pairs=MOST_PAIRS if judged.sum() ** 2 > 2 * MOST_PAIRS else None,
    )
    return quality.numbers, 0 if judged.all() else int(judged.sum())

"""How much the results of a comparison vary: every column fitted anew under several seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.experiment.build import build_dataset, build_estimator, check_columns, has_gaps
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.splitting import filled, split

# Seeds that are taken: that of the comparison and those that follow it.
SEEDS = 5


@dataclass(frozen=True)
class Spread:
    """Test errors of a column over seeds.

    `mean`, `deviation`: in per cent or, for regression, mean squared errors; the deviation is that of a sample.
    """

    mean: float
    deviation: float


def spreads(
    experiments: Sequence[Experiment], told: Callable[[int, int], object], seeds: int = SEEDS
) -> list[Spread | None]:
    """Fit every column to its end under several seeds of data, split, hidden labels and method.

    `experiments`: one for each column, with a test share above 0; labels that were taught do not take part. `told`:
    ``told(done, total)`` before each fit; what it raises ends the work. Returns None for a column that cannot be
    fitted.
    """
    total, errors = seeds * len(experiments), [list[float]() for _ in experiments]
    for number in range(seeds):
        for place, experiment in enumerate(experiments):
            told(number * len(experiments) + place, total)
            seed = experiment.settings.seed + number
            settings = replace(experiment.settings, seed=seed, taught=())
            try:
                errors[place].append(_test_error(replace(experiment, settings=settings)))
            except (ValueError, ArithmeticError):
                errors[place].append(np.nan)
    return [
        Spread(float(np.mean(each)), float(np.std(each, ddof=1))) if np.isfinite(each).all() else None
        for each in errors
    ]


def measurable(experiments: Sequence[Experiment]) -> bool:
    """Whether there are test rows, in memory, by which columns can be measured under other seeds."""
    return all(
        each.settings.test_share > 0 and not isinstance(each.table, RowsOnDisk) and each.settings.data != "rows"
        for each in experiments
    )


def _test_error(experiment: Experiment) -> float:
    settings = experiment.settings
    dataset = build_dataset(settings, experiment.table)
    check_columns(settings, dataset)
    parts = filled(split(dataset, settings), settings, dataset)
    estimator = build_estimator(settings, dataset.task, parts.n_train, dataset.views, has_gaps(dataset))
    predicted = estimator.fit(parts.X_train, parts.y_train).predict(parts.X_test)
    known = np.isfinite(parts.y_test)
    missed = predicted[known] - parts.y_test[known]
    return float((missed**2).mean() if dataset.task == "regression" else 100.0 * (missed != 0).mean())

"""Checks of the columns of a comparison by further fits: errors over seeds, p of shuffled labels, stability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.quality.permutations import iterate_label_permutation
from supdr.quality.resampling import iterate_stability
from supdr_viz.data.number_format import mean_text
from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.data.split import Split
from supdr_viz.experiment.build import build_dataset, build_estimator, check_columns, has_gaps
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.splitting import filled, split

# Seeds that are taken: that of the comparison and those that follow it.
SEEDS = 5

# Fits to shuffled labels, and to bootstrap samples, of each column.
SHUFFLES, BOOTSTRAPS = 19, 10

# What ends the fits of one column and of no other.
FAILURES = (ValueError, TypeError, ArithmeticError, StopIteration, Interrupted)

Tell = Callable[[int, int], object]
Interruption = Callable[[], bool]


@dataclass(frozen=True)
class Answer:
    """What a check says of a column.

    value: mean error over seeds, in per cent or, for regression, a mean squared error; p; share of neighbours that
        stay.
    deviation: of the errors over seeds, that of a sample.
    at_most: whether p would be smaller with more shuffles.
    """

    value: float
    deviation: float = float("nan")
    at_most: bool = False


@dataclass(frozen=True)
class Check:
    """A check that can be asked for, and a column of the table.

    button: its text. titles: of the column, by the task. names: of the answer's numbers in a CSV table. of_column:
    ``of_column(experiment, tell, interrupted)``: the answer for one column; ``tell(done)`` before each fit. n_fits: of
    a column. greater: whether greater answers are better. held_out: whether it needs test rows.
    """

    button: str
    titles: dict[str, str]
    names: tuple[str, ...]
    of_column: Callable[[Experiment, Callable[[int], object], Interruption], Answer]
    n_fits: int
    greater: bool = False
    held_out: bool = False

    def numbers(self, answer: Answer) -> list[float]:
        """Return the numbers of an answer, one for each of `names`."""
        return [answer.value, answer.deviation][: len(self.names)]


def answers(
    check: Check, experiments: Sequence[Experiment], tell: Tell, interrupted: Interruption = lambda: False
) -> list[Answer | None]:
    """Return what a check says of every column; None for one that cannot be fitted, or has no map.

    `experiments`: one for each column; labels that were taught do not take part. `tell`: ``tell(done, total)`` before
    each fit; what it raises ends the work. `interrupted`: asked within fits, too; True ends the fit.
    """
    total, results = check.n_fits * len(experiments), list[Answer | None]()
    for place, experiment in enumerate(experiments):
        untaught = replace(experiment, settings=replace(experiment.settings, taught=()))
        begun = check.n_fits * place

        def count(done: int, begun: int = begun) -> None:
            """Report the fits of all columns that are done."""
            tell(begun + done, total)

        try:
            with threadpool_limits(limits=1, user_api="openmp"):
                answer = check.of_column(untaught, count, interrupted)
        except FAILURES:
            answer = None
        results.append(answer)
    return results


def measurable(check: Check, experiments: Sequence[Experiment]) -> bool:
    """Whether there are rows in memory, and test rows if they are needed, on which columns can be fitted anew."""
    return all(
        (each.settings.test_share > 0 or not check.held_out)
        and not isinstance(each.table, RowsOnDisk)
        and each.settings.data != "rows"
        for each in experiments
    )


def answer_text(name: str, answer: Answer | None, task: str) -> str:
    """Write the answer to a check; a dash where there is none.

    `name`: one of `CHECKS`; `task`: one of "classification", "regression".
    """
    if answer is None:
        return "–"
    if name == "chance":
        return f"≤ {answer.value:.2g}" if answer.at_most else f"{answer.value:.2g}"
    if name == "stability":
        return f"{100.0 * answer.value:.0f} %"
    if task == "regression":
        return mean_text(answer.value, answer.deviation)
    return f"{answer.value:.1f} ± {answer.deviation:.1f} %"


def _over_seeds(experiment: Experiment, tell: Callable[[int], object], interrupted: Interruption) -> Answer:
    errors = []
    for number in range(SEEDS):
        tell(number)
        settings = replace(experiment.settings, seed=experiment.settings.seed + number)
        with run_context(stop_requested=interrupted):
            errors.append(_test_error(replace(experiment, settings=settings)))
    if not np.isfinite(errors).all():
        raise ValueError("a fit has no test error")
    return Answer(float(np.mean(errors)), float(np.std(errors, ddof=1)))


def _by_chance(experiment: Experiment, tell: Callable[[int], object], interrupted: Interruption) -> Answer:
    estimator, parts, _ = _built(experiment)
    test = iterate_label_permutation(
        estimator, parts.X_train, parts.y_train, n_permutations=SHUFFLES, interrupted=interrupted
    )
    tell(0)
    result = None
    for result in test:
        tell(len(result.permuted_scores))
    if result is None:
        raise Interrupted
    return Answer(result.pvalue, at_most=not (result.permuted_scores >= result.score).any())


def _over_bootstraps(experiment: Experiment, tell: Callable[[int], object], interrupted: Interruption) -> Answer:
    estimator, parts, _ = _built(experiment)
    fits = iterate_stability(
        estimator,
        parts.X_train,
        parts.y_train,
        resample="bootstrap",
        n=BOOTSTRAPS,
        random_state=experiment.settings.seed,
        interrupted=interrupted,
    )
    tell(0)
    result = None
    for result in fits:
        tell(len(result.maps))
    if result is None:
        raise Interrupted
    return Answer(float(result.kept.mean()))


def _built(experiment: Experiment) -> tuple[Any, Split, str]:
    """Return the method, not fitted, its rows, and the task."""
    settings = experiment.settings
    dataset = build_dataset(settings, experiment.table)
    check_columns(settings, dataset)
    parts = filled(split(dataset, settings), settings, dataset)
    return (
        build_estimator(settings, dataset.task, parts.n_train, dataset.views, has_gaps(dataset)),
        parts,
        dataset.task,
    )


def _test_error(experiment: Experiment) -> float:
    estimator, parts, task = _built(experiment)
    predicted = estimator.fit(parts.X_train, parts.y_train).predict(parts.X_test)
    labelled = np.isfinite(parts.y_test)
    missed = predicted[labelled] - parts.y_test[labelled]
    return float((missed**2).mean() if task == "regression" else 100.0 * (missed != 0).mean())


def _for_both(title: str) -> dict[str, str]:
    return dict.fromkeys(("classification", "regression"), title)


CHECKS = {
    "seeds": Check(
        f"Repeat with {SEEDS} seeds",
        {"classification": f"Test error, {SEEDS} seeds", "regression": f"Test MSE, {SEEDS} seeds"},
        (f"test mean over {SEEDS} seeds", "test deviation over seeds"),
        _over_seeds,
        SEEDS,
        held_out=True,
    ),
    "chance": Check(
        f"Test by {SHUFFLES} shuffles of the labels",
        _for_both(f"p value, {SHUFFLES} shuffles"),
        (f"p by {SHUFFLES} shuffles of the labels",),
        _by_chance,
        SHUFFLES,
    ),
    "stability": Check(
        f"Repeat with {BOOTSTRAPS} bootstrap samples",
        _for_both(f"Neighbours that stay, {BOOTSTRAPS} bootstrap samples"),
        (f"neighbours that stay over {BOOTSTRAPS} bootstrap samples",),
        _over_bootstraps,
        BOOTSTRAPS,
        greater=True,
    ),
}
"""By their names in links and files."""

"""Progress of long fits: scikit-learn's callbacks where they are set, else a bar when `verbose` asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from supdr.engine.iterate import Snapshot


def reported(estimator: Any, snapshots: Iterator[Snapshot], X: Any, y: Any) -> Iterator[Snapshot]:
    """Pass the snapshots on and tell observers of each.

    Parameters
    ----------
    estimator : estimator with `max_iter`, `verbose`, `at`
        Its callbacks are told of every step, with ``estimator.at(snapshot)`` as the fitted estimator; a callback that
        returns True ends the fit.
    snapshots : iterator of Snapshot
        The run.
    X, y : array-like
        Handed to the callbacks.

    Yields
    ------
    Snapshot
    """
    if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
        yield from _with_callbacks(estimator, snapshots, X, y)
    elif estimator.verbose:
        yield from _with_bar(estimator, snapshots)
    else:
        yield from snapshots


def _with_callbacks(estimator: Any, snapshots: Iterator[Snapshot], X: Any, y: Any) -> Iterator[Snapshot]:
    context = estimator._init_callback_context(max_subtasks=estimator.max_iter)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    first = next(snapshots)
    yield first
    reached, stopped, current = first.iteration, False, first
    for current in snapshots:
        if current.iteration > reached:  # a run may end by returning to its best iterate
            reached = current.iteration
            step = context.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            stopped = step.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=partial(_attributes, estimator, current)
            )
        yield current
        if stopped:
            break
    context.call_on_fit_task_end(
        estimator=estimator, X=X, y=y, reconstruction_attributes=partial(_attributes, estimator, current)
    )


def _attributes(estimator: Any, snapshot: Snapshot) -> dict[str, Any]:
    """Return what makes a copy of `estimator` fitted as of `snapshot`; called only if a callback asks for one."""
    return vars(estimator.at(snapshot))


def _with_bar(estimator: Any, snapshots: Iterator[Snapshot]) -> Iterator[Snapshot]:
    from tqdm.auto import tqdm

    with tqdm(total=estimator.max_iter, desc=type(estimator).__name__, unit="step") as bar:
        yield next(snapshots)
        for snapshot in snapshots:
            bar.update()
            bar.set_postfix(objective=f"{snapshot.objective:.4g}", stop=snapshot.stop or "", refresh=False)
            yield snapshot

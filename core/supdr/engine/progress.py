"""Progress of long fits: scikit-learn's callbacks where they are set, else a progress bar if `verbose` is set.

Without tqdm a line per step is printed in place of the bar.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

from supdr.engine.iterate import Snapshot

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class."""

    def with_callbacks(fit: Any) -> Any:
        """Return the method unchanged."""
        return fit


def reported(estimator: Any, snapshots: Iterator[Snapshot], X: Any, y: Any) -> Iterator[Snapshot]:
    """Yield the snapshots of a run and report each to callbacks, which may end it, a progress bar or the output."""
    if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
        yield from _with_callbacks(estimator, snapshots, X, y)
    elif estimator.verbose:
        yield from _with_bar(estimator, snapshots) if find_spec("tqdm") else _with_lines(estimator, snapshots)
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
    """Return the attributes of `estimator` fitted as of `snapshot`; called only if a callback needs them."""
    return vars(estimator.at(snapshot))


def _with_bar(estimator: Any, snapshots: Iterator[Snapshot]) -> Iterator[Snapshot]:
    from tqdm.auto import tqdm

    with tqdm(total=estimator.max_iter, desc=type(estimator).__name__, unit="step") as bar:
        yield next(snapshots)
        for snapshot in snapshots:
            bar.update()
            bar.set_postfix(objective=f"{snapshot.objective:.4g}", stop=snapshot.stop or "", refresh=False)
            yield snapshot


def _with_lines(estimator: Any, snapshots: Iterator[Snapshot]) -> Iterator[Snapshot]:
    yield next(snapshots)
    for step, snapshot in enumerate(snapshots, 1):
        stop = f", {snapshot.stop}" if snapshot.stop else ""
        print(f"{type(estimator).__name__} step {step}/{estimator.max_iter}: objective {snapshot.objective:.4g}{stop}")
        yield snapshot

"""Watch a fit in a notebook: pictures while it runs, then a report with a scrubber that stays in the saved notebook."""

from __future__ import annotations

import base64
import html
import io
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.datasets import Dataset, encode_labels, guess_task
from supdr.engine.targets import as_labels
from supdr_viz.kit.extras import importing_app

with importing_app("supdr_viz.notebook"):
    from supdr_viz.export.replay import Replay, make_replay
    from supdr_viz.frames.scene import build_scene
    from supdr_viz.frames.table import OnInput, Table, last_step
    from supdr_viz.frames.types import Scene
    from supdr_viz.run.recording import Recording
    from supdr_viz.settings.making import Split

INTERVAL = 0.4
"""Seconds between two pictures."""

HEIGHT = 940


def watch(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    axes: tuple[int, int] | None = None,
) -> Any:
    """Fit an estimator and show how it learns.

    In a notebook a picture of input space, latent space and objective follows the run.  At its end a report takes the
    picture's place: with a scrubber through the recorded iterations, which also works in the saved notebook, without a
    kernel.  Elsewhere the estimator is only fitted.

    Parameters
    ----------
    estimator : estimator
        Of this library: it has `iterate`; or a scikit-learn pipeline that ends in one.  It is fitted in place, like by
        ``fit(X, y)``.
    X : array-like or DataFrame of shape (n, m)
        What `fit` takes; pictures show the space of these rows, also where a pipeline changes them first.
    y : array-like of shape (n,)
        Labels of any kind or values; NaN or None: unlabelled.
    X_test, y_test : array-like or DataFrame, optional
        Rows that the method does not see, for the test error.
    axes : tuple of int, optional
        Two features to show; by default the two there are, or the plane of the first two principal components.

    Returns
    -------
    estimator
        Fitted.

    Raises
    ------
    ValueError
        If the estimator has no `iterate`, or only one of `X_test` and `y_test` is given.
    """
    learner = last_step(estimator)
    if not hasattr(learner, "iterate"):
        raise ValueError(f"watch needs an estimator that iterates; {type(learner).__name__} has only fit")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; got only one of them")
    screen = _screen()
    if screen is None:
        return estimator.fit(X, y)
    table = Table(X, getattr(X, "columns", None))
    scene, parts = _rows(learner, table, X, y, X_test, y_test, axes)
    shown, recording = _Shown(screen), Recording()

    classification = scene.task == "classification"
    asked = Numbered(estimator, table, as_labels(y), parts.y_train) if classification else OnInput(estimator, table)

    def draw(last: bool) -> None:
        """Show the last iterate as a picture, or the whole run as a report."""
        replay = _replay(asked, recording, scene, parts, type(learner).__name__, last=last)
        shown.picture(replay) if last else shown.report(replay)

    _fit_observed(estimator, X, y, recording, lambda: draw(True))
    draw(False)
    return estimator


def _fit_observed(estimator: Any, X: Any, y: Any, recording: Recording, draw: Callable[[], None]) -> None:
    """Fit, and look at the snapshots that the last step's `fit` goes through."""
    learner = last_step(estimator)
    iterate = learner.iterate

    def observed(*arguments: Any, **options: Any) -> Iterator[Any]:
        del learner.iterate  # snapshots keep a copy of the estimator, which is to be as it was
        drawn_at = 0.0
        for snapshot in iterate(*arguments, **options):
            if recording.legs:
                recording.extend([snapshot])
            else:
                recording.begin_leg(learner, snapshot)
            if time.monotonic() - drawn_at > INTERVAL:
                draw()
                drawn_at = time.monotonic()
            yield snapshot

    learner.iterate = observed
    try:
        estimator.fit(X, y)
    finally:
        vars(learner).pop("iterate", None)


class Numbered(OnInput):
    """An estimator that was fitted to labels of any kind, and answers with class numbers, as pictures know them.

    Parameters
    ----------
    whole, table
        As of `OnInput`.
    labels : array of shape (n,)
        What it was fitted to.
    numbers : array of shape (n,)
        Their class numbers; NaN: unlabelled.
    fitted : estimator, optional
        As of `OnInput`.
    """

    def __init__(self, whole: Any, table: Table, labels: NDArray, numbers: NDArray, fitted: Any = None) -> None:
        super().__init__(whole, table, fitted)
        self._labels, self._numbers = labels, numbers

    def at(self, snapshot: Any) -> Numbered:
        """Return it as of a snapshot."""
        return Numbered(self._whole, self._table, self._labels, self._numbers, self._fitted.at(snapshot))

    @property
    def classes_(self) -> NDArray:
        """Class numbers (K,), in the order of the estimator's scores."""
        return np.array([self._numbers[np.argmax(self._labels == known)] for known in self._fitted.classes_])

    @property
    def transduction_(self) -> NDArray:
        """Class numbers of the training rows."""
        return self._numbered(self._fitted.transduction_)

    def predict(self, X: NDArray) -> NDArray:
        """Predict the class numbers of rows (n, m) of the input."""
        return self._numbered(super().predict(X))

    def _numbered(self, predicted: NDArray) -> NDArray:
        return self.classes_[np.searchsorted(self._fitted.classes_, predicted)]


class _Shown:
    """The one output that pictures and the report share."""

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None

    def picture(self, replay: Replay) -> None:
        self._show({"image/png": _png(replay), "text/plain": f"iteration {replay.moments[-1].iteration}"})

    def report(self, replay: Replay) -> None:
        from supdr_viz.export.report import report

        last, png = replay.moments[-1], _png(replay)
        picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        inner, name = html.escape(report(replay), quote=True), html.escape(replay.method, quote=True)
        # Where a notebook is not trusted, frames and styles are taken out of it: then the picture is seen.
        frame = (
            f"<style>.supdr-run + img {{display: none}}</style>"
            f'<iframe class="supdr-run" srcdoc="{inner}" title="{name}: the recorded run" '
            f'style="width:100%;height:{HEIGHT}px;border:0" sandbox="allow-scripts"></iframe>'
            f'<img alt="{name}, iteration {last.iteration}" src="{picture}">'
        )
        said = ", ".join(f"{name} {value:.4g}" for name, value in last.numbers.items())
        self._show({"text/html": frame, "image/png": png, "text/plain": f"{replay.method}: {said}"})

    def _show(self, bundle: dict[str, Any]) -> None:
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def _png(replay: Replay) -> bytes:
    """Draw the last moment."""
    from supdr_viz.export.film import picture

    out = io.BytesIO()
    picture(replay).save(out, "PNG", optimize=True)
    return out.getvalue()


def _screen() -> Any:
    """Return IPython's `display` if there is a notebook to show things in, else None."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    shell = get_ipython()
    return display if shell is not None and getattr(shell, "kernel", None) is not None else None


def _rows(
    learner: Any, table: Table, X: ArrayLike, y: ArrayLike, X_test: Any, y_test: Any, axes: tuple[int, int] | None
) -> tuple[Scene, Split]:
    train = table.numbers(X)
    test = np.empty((0, train.shape[1])) if X_test is None else table.numbers(X_test)
    labels = np.concatenate([np.asarray(y), np.asarray(y if y_test is None else y_test)[: len(test)]])
    task = getattr(learner, "task", None) or guess_task(labels)
    codes, classes = encode_labels(labels) if task == "classification" else (labels.astype(float), ())
    rows = np.concatenate([train, test])
    dataset = Dataset(rows, codes, feature_names=table.axis_names, target_names=classes, task=task, name="your data")
    cut, number = len(train), np.arange(len(rows))
    parts = Split(
        train=number[:cut],
        test=number[cut:],
        X_train=train,
        X_test=test,
        y_train=codes[:cut],
        y_test=codes[cut:],
        truth_train=codes[:cut],
        stratified=False,
        kept=np.arange(0),
    )
    return build_scene(dataset, parts, axes), parts


def _replay(
    asked: OnInput, recording: Recording, scene: Scene, parts: Split, method: str, *, last: bool = False
) -> Replay:
    if recording.ring.newest is not None:
        recording.watch(recording.ring.newest)
    recorded = [(snapshot, asked) for snapshot in recording.ring.snapshots]
    return make_replay(
        recorded[-1:] if last else recorded,
        scene,
        parts,
        method=method,
        losses=recording.losses.curves(),
    )

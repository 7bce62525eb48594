"""Watch a fit in a notebook: pictures while it runs, then a report with a scrubber that stays in the saved notebook."""

from __future__ import annotations

import base64
import html
import io
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from supdr.datasets import Dataset, encode_labels, guess_task
from supdr.engine.iterate import Snapshot
from supdr.engine.targets import as_labels
from supdr_viz.serving.extras import importing_app

with importing_app("supdr_viz.notebook"):
    from supdr_viz.data.split import Split
    from supdr_viz.export.replay import Replay, make_replay
    from supdr_viz.notebook.stages import Staged
    from supdr_viz.pictures.scene import build_scene
    from supdr_viz.pictures.table import OnInput, Table, last_step
    from supdr_viz.pictures.types import Scene
    from supdr_viz.run.recording import Recording

if TYPE_CHECKING:
    from supdr_viz.notebook.channel import Channel

# Seconds between two pictures.
INTERVAL = 0.4

HEIGHT = 940


def watch(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    axes: tuple[int, int] | None = None,
) -> Watched:
    """Fit an estimator and show how it learns.

    In a notebook a picture of input space, latent space and objective follows the run.  At its end a report takes the
    picture's place: with a scrubber through the recorded iterations, which also works in the saved notebook, without a
    kernel.  While the kernel runs, rows that are selected there with the mouse come back to Python.  Elsewhere the
    estimator is only fitted.

    Parameters
    ----------
    estimator : estimator
        Of this library; or of scikit-learn, if there is a public way to follow its fit: ``set_callbacks``
        (LogisticRegression), a parameter ``callback`` (NeighborhoodComponentsAnalysis), staged predictions (gradient
        boosting, AdaBoost), forests and bagging; or a pipeline that ends in one.  It is fitted in place, like by
        ``fit(X, y)``; callbacks that were set on it by ``set_callbacks`` are taken off.
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
    Watched
        The fitted estimator, the rows selected, the snapshot on display, the hyper-parameters.

    Raises
    ------
    ValueError
        If the fit of the estimator cannot be followed, or only one of `X_test` and `y_test` is given.
    """
    learner = last_step(estimator)
    staged = None if hasattr(learner, "iterate") else Staged(learner)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; got only one of them")
    recording, screen = Recording(), _screen()
    if screen is None:
        _follow(estimator, staged, X, y, recording, lambda: None)
        return Watched(estimator, recording)
    table = Table(X, getattr(X, "columns", None))
    scene, parts = _rows(learner, table, X, y, X_test, y_test, axes)
    channel = _channel()
    shown, name = _Shown(screen, channel), type(learner).__name__
    classification = scene.task == "classification"
    numbered = partial(Numbered, labels=as_labels(y), numbers=parts.y_train)
    estimator_input = (numbered if classification else OnInput)(estimator, table, fitted=staged)

    def draw() -> None:
        """Show the last iterate."""
        shown.picture(_replay(estimator_input, recording, scene, parts, name, last=True))

    _follow(estimator, staged, X, y, recording, draw)
    shown.report(_replay(estimator_input, recording, scene, parts, name))
    return Watched(estimator, recording, channel)


class Watched:
    """A fit that was watched.

    Parameters
    ----------
    estimator : estimator
    recording : Recording
    channel : Channel, optional
        What the report in the notebook tells; by default nothing.

    Attributes
    ----------
    estimator : estimator
        Fitted.
    """

    def __init__(self, estimator: Any, recording: Recording, channel: Channel | None = None) -> None:
        self.estimator = estimator
        self._recording, self._channel = recording, channel

    @property
    def selected(self) -> NDArray:
        """Numbers of the rows that are selected in the report, rising; those of ``X_test`` follow those of ``X``."""
        return np.array(sorted(self._channel.rows) if self._channel else [], dtype=int)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot on display; the last one unless the user went back."""
        iteration = self._channel.iteration if self._channel else None
        ring = self._recording.ring
        snapshot = ring.newest if iteration is None else ring.nearest(iteration)
        assert snapshot is not None
        return snapshot

    @property
    def settings(self) -> dict[str, Any]:
        """The method's name and its hyper-parameters."""
        learner = last_step(self.estimator)
        return {"method": type(learner).__name__, **learner.get_params(deep=False)}

    def __repr__(self) -> str:
        name, last = type(last_step(self.estimator)).__name__, self._recording.ring.newest
        assert last is not None
        return f"<Watched {name}: {last.iteration} iterations, {len(self.selected)} rows selected>"


def _follow(
    estimator: Any, staged: Staged | None, X: Any, y: Any, recording: Recording, draw: Callable[[], None]
) -> None:
    """Fit, record, and draw now and then."""
    drawn_at = 0.0

    def on_snapshot(snapshot: Snapshot) -> None:
        nonlocal drawn_at
        if recording.segments:
            recording.append(snapshot)
        else:
            recording.begin_segment(last_step(estimator), snapshot)
        if time.monotonic() - drawn_at > INTERVAL:
            draw()
            drawn_at = time.monotonic()

    if staged is None:
        _fit_observed(estimator, X, y, on_snapshot)
    elif estimator is staged.learner:
        staged.follow(X, y, lambda: estimator.fit(X, y), on_snapshot)
    else:
        _fit_piped(estimator, staged, X, y, on_snapshot)


def _fit_observed(estimator: Any, X: Any, y: Any, on_snapshot: Callable[[Snapshot], None]) -> None:
    """Fit, and look at the snapshots that the last step's `fit` goes through."""
    learner = last_step(estimator)
    iterate = learner.iterate

    def observed(*arguments: Any, **options: Any) -> Iterator[Any]:
        del learner.iterate  # snapshots keep a copy of the estimator, which is to be as it was
        for snapshot in iterate(*arguments, **options):
            on_snapshot(snapshot)
            yield snapshot

    learner.iterate = observed
    try:
        estimator.fit(X, y)
    finally:
        vars(learner).pop("iterate", None)


def _fit_piped(estimator: Any, staged: Staged, X: Any, y: Any, on_snapshot: Callable[[Snapshot], None]) -> None:
    """Fit the steps before the last one, and follow that one."""
    rows = X
    while isinstance(estimator, Pipeline):
        rows = estimator[:-1].fit_transform(rows, y) if len(estimator.steps) > 1 else rows
        estimator = estimator.steps[-1][1]
    staged.follow(rows, y, lambda: staged.learner.fit(rows, y), on_snapshot)


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
        return np.array([self._numbers[np.argmax(self._labels == label)] for label in self._fitted.classes_])

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

    def __init__(self, display: Any, channel: Channel | None) -> None:
        self._display, self._channel, self._handle = display, channel, None

    def picture(self, replay: Replay) -> None:
        self._show({"image/png": _png(replay), "text/plain": f"iteration {replay.moments[-1].iteration}"})

    def report(self, replay: Replay) -> None:
        from supdr_viz.export.report import report

        last, png = replay.moments[-1], _png(replay)
        picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        inner = html.escape(report(replay, channel=self._channel.name if self._channel else ""), quote=True)
        name = html.escape(replay.method, quote=True)
        # Where a notebook is not trusted, frames and styles are taken out of it: then the picture is seen.
        frame = (
            f"<style>.supdr-run + img {{display: none}}</style>"
            f'<iframe class="supdr-run" srcdoc="{inner}" title="{name}: the recorded run" '
            f'style="width:100%;height:{HEIGHT}px;border:0" sandbox="allow-scripts"></iframe>'
            f'<img alt="{name}, iteration {last.iteration}" src="{picture}">'
        )
        text = ", ".join(f"{name} {value:.4g}" for name, value in last.numbers.items())
        self._show({"text/html": frame, "image/png": png, "text/plain": f"{replay.method}: {text}"})
        if self._channel is not None:
            self._open(self._channel)

    def _open(self, channel: Channel) -> None:
        """Show the channel until the page has loaded it: it listens on, and the saved notebook is without it."""
        handle = self._display(channel, display_id=True)
        channel.observe(lambda _change: handle.update({"text/plain": ""}, raw=True), "heard")

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


def _channel() -> Channel | None:
    """Return a way for the report to speak to this kernel, or None: then it is played and no more."""
    try:
        from supdr_viz.notebook.channel import Channel
    except ImportError:
        return None
    return Channel()


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
    estimator_input: OnInput, recording: Recording, scene: Scene, parts: Split, method: str, *, last: bool = False
) -> Replay:
    if recording.ring.newest is not None:
        recording.watch(recording.ring.newest)
    recorded = [(snapshot, estimator_input) for snapshot in recording.ring.snapshots]
    return make_replay(
        recorded[-1:] if last else recorded,
        scene,
        parts,
        method=method,
        losses=recording.losses.curves(),
    )

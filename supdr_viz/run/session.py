"""One visitor's experiment: it goes in, a run comes out.  Knows no widgets."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from supdr.datasets import Dataset
from supdr_viz.data.csv_safety import escape_formula
from supdr_viz.data.sources import SOURCES
from supdr_viz.data.split import Split
from supdr_viz.experiment.build import build_dataset, build_estimator, check_columns, has_gaps
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU, METHODS_GROUP
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.snippet import to_python
from supdr_viz.experiment.splitting import filled, split
from supdr_viz.experiment.teaching import taught_dataset, taught_split
from supdr_viz.pictures.scene import build_scene
from supdr_viz.pictures.types import Scene
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.history import CurveLog
from supdr_viz.run.player import Gate, Player
from supdr_viz.run.pool import Pool


class Session:
    """Turns changes of the settings into the least that must happen to the run.

    `notify`: see `Player`; `gate`: see `Player`.

    experiment: in force; None before the first `apply`, and after one that cannot be shown.
    dataset, split, scene: its data set, split (with missing cells filled if the method needs that) and scene, taught
        labels included.
    estimator: its method.
    measures: whether it is found out how true the map is, also where no colours show it.
    """

    def __init__(self, pool: Pool, notify: Callable[[], None], gate: Gate | None = None) -> None:
        self.player = Player(pool, notify, gate)
        self.experiment: Experiment | None = None
        self.dataset: Dataset | None = None
        self.split: Split | None = None
        self._untaught: Dataset | None = None
        self._divided: Split | None = None
        self.scene: Scene | None = None
        self.estimator: Any = None
        self.options = DisplayOptions()
        self.measures = False

    @property
    def settings(self) -> Settings | None:
        """The settings in force."""
        return None if self.experiment is None else self.experiment.settings

    def apply(self, experiment: Experiment, like: Session | None = None) -> bool:
        """Put an experiment in force; a running run keeps running.

        `like`: if its data and split are the same, they are shared instead of made anew. Returns whether the scene is
        new. Raises NotAtHand, Unusable, ValueError, OSError: it cannot be shown; the message says why.  The run before
        is gone.
        """
        before, settings, running = self.experiment, experiment.settings, self.player.going
        old = self.settings
        same_data = before is not None and experiment.same_data(before)
        self.player.set_speed(settings.speed)
        self.set_display(settings)
        try:
            if not same_data or self._untaught is None or self._divided is None:
                self._take_data(experiment, like)
            assert self._untaught is not None
            assert self._divided is not None
            taught = same_data and old is not None and settings.taught != old.taught
            if not same_data or old is None or settings.method != old.method or taught:
                self.dataset = taught_dataset(self._untaught, settings.taught)
                parts = filled(self._divided, settings, self._untaught)
                self.split = taught_split(parts, self._untaught, settings.taught)
            assert self.dataset is not None
            assert self.split is not None
            new_scene = not same_data or old is None or settings.input_plane != old.input_plane
            if new_scene or taught:
                self.scene = self._scene_of(settings, like)
            check_columns(settings, self.dataset)
            known = self.dataset.task, self.split.n_train, self.dataset.views, has_gaps(self.dataset)
            estimator = build_estimator(settings, *known)
        except (ValueError, OSError):
            self.unload()
            raise
        self.experiment, self.estimator = experiment, estimator
        assert self.scene is not None
        anew = not same_data or old is None or settings.needs_restart(old)
        if anew or (taught and MENU[settings.method].group != METHODS_GROUP):
            self.player.load(estimator, self.split, self.scene)
            if running:
                self.player.run()
            return new_scene
        assert old is not None
        if taught:
            self.player.teach(estimator, self.split, self.scene)
        elif new_scene:
            self.player.set_scene(self.scene)
        if settings.method_options != old.method_options and not taught:
            self.player.change(estimator)
        return new_scene

    def unload(self) -> None:
        """Show nothing: there are no settings in force."""
        self.experiment = None
        self.player.unload()

    def _take_data(self, experiment: Experiment, like: Session | None) -> None:
        if like is not None and like.experiment is not None and experiment.same_data(like.experiment):
            self._untaught, self._divided = like._untaught, like._divided
            return
        self._untaught = build_dataset(experiment.settings, experiment.table)
        self._divided = split(self._untaught, experiment.settings)

    def _scene_of(self, settings: Settings, like: Session | None) -> Scene:
        assert self.dataset is not None
        assert self._untaught is not None
        assert self._divided is not None
        theirs = like.settings if like is not None and like._divided is self._divided else None
        same = theirs is not None and (theirs.input_plane, theirs.taught) == (settings.input_plane, settings.taught)
        if like is not None and like.scene is not None and same:
            return like.scene
        parts = taught_split(self._divided, self._untaught, settings.taught)
        return build_scene(self.dataset, parts, input_axes(settings, self.dataset))

    @property
    def n_components(self) -> int:
        """Size of the latent space; where the method chooses it, and no row is embedded yet, what its classes need."""
        chosen = self.settings.method_options.get("n_components") if self.settings is not None else None
        fitted = self.player.fitted if chosen is None else None
        if fitted is not None:
            return int(fitted.embedding_.shape[1])
        n_classes = len(self.scene.class_names) if self.scene is not None else 0
        return int(chosen or max(2, n_classes - 1))

    def close(self) -> None:
        """End the run and let go of the data."""
        self.player.close()
        self.experiment = self.dataset = self.split = self._untaught = self._divided = self.scene = None

    def set_display(self, settings: Settings, **changes: Any) -> None:
        """Change what frames show; `changes` are fields of `DisplayOptions` that no link carries."""
        axes = settings.latent_axes if isinstance(settings.latent_axes, tuple) else None
        truth = self.measures or settings.colour_by == "trust"
        options = replace(self.options, latent=settings.latent_shown, latent_axes=axes, truth=truth, **changes)
        if options != self.options:
            self.options = options
            self.player.set_options(options)

    def python(self) -> str:
        """Return a program that repeats the run up to the iteration on display."""
        if self.settings is None or self.dataset is None:
            return "# Nothing is loaded yet."
        shown = self.player.shown
        end = shown.iteration if shown is not None else 0
        segments = []
        for segment in self.player.segments:
            steps = min(segment.last_iteration, end) - segment.first_iteration
            if steps > 0:
                segments.append((replace(settings_of(segment.estimator, self.settings), taught=segment.taught), steps))
        return to_python(self.settings, segments, self.dataset)

    def curves_csv(self) -> str:
        """Return losses and errors by iteration as CSV."""
        merged = CurveLog()
        for table in self.player.curves():
            for place, iteration in enumerate(table.iteration):
                known = {key: float(values[place]) for key, values in table.values.items()}
                merged.insert(int(iteration), known)
        table = merged.table()
        return _csv({"iteration": table.iteration, **table.values})

    def labels_csv(self) -> str:
        """Return the labels of the training rows as CSV: row number, label for the method, label as it came."""
        parts, untaught, dataset = self.split, self._divided, self.dataset
        if parts is None or untaught is None or dataset is None:
            return ""
        import numpy as np

        now, before = parts.y_train, untaught.y_train
        taught = ~((now == before) | (np.isnan(now) & np.isnan(before)))
        if dataset.task == "classification":
            names = np.array([*dataset.target_names, ""], dtype=object)
            now, before = (names[np.where(np.isnan(each), len(names) - 1, each).astype(int)] for each in (now, before))
        return _csv({"row": parts.train, "label": now, "label before": before, "taught": taught.astype(int)})

    def embedding_csv(self) -> str:
        """Return the latent rows on display as CSV: row number, part, label, coordinates, prediction."""
        fitted, parts, dataset = self.player.fitted, self.split, self.dataset
        if fitted is None or parts is None or dataset is None:
            return ""
        import numpy as np

        shown = self.options.latent == "transform"
        train = fitted.transform(parts.X_train) if shown else fitted.embedding_
        test = fitted.transform(parts.X_test) if len(parts.X_test) else train[:0]
        latent = np.concatenate([train, test])
        labels = np.concatenate([parts.truth_train, parts.y_test])
        own = fitted.transduction_ if not shown else fitted.predict(parts.X_train)
        predicted = np.concatenate([own, fitted.predict(parts.X_test) if len(parts.X_test) else own[:0]])
        if dataset.task == "classification":
            names = np.array([*dataset.target_names, ""], dtype=object)
            labels, predicted = (
                names[np.where(np.isnan(values), len(names) - 1, values).astype(int)] for values in (labels, predicted)
            )
        columns = {
            "row": np.concatenate([parts.train, parts.test]),
            "part": np.repeat(["train", "test"], [len(train), len(test)]),
            "label": labels,
            "predicted": predicted,
            **{f"z{k + 1}": latent[:, k] for k in range(latent.shape[1])},
        }
        return _csv(columns)


def input_axes(settings: Settings, dataset: Dataset) -> tuple[int, int] | None:
    """Return the two features to show, or None for principal components.

    Returns tuple of int or None.
    """
    plane = settings.input_plane
    if isinstance(plane, tuple):
        return plane if max(plane) < dataset.n_features else None
    return (0, 1) if plane == "auto" and SOURCES[settings.data].planar else None


def settings_of(estimator: Any, settings: Settings) -> Settings:
    """Return `settings` with the hyper-parameters of `estimator`."""
    parameters = estimator.get_params(deep=False)
    return settings.with_options(**{name: parameters[name] for name in settings.method_options if name in parameters})


def _csv(columns: dict[str, Any]) -> str:
    import pandas as pd

    text = io.StringIO()
    shown = {
        name: [escape_formula(value) if isinstance(value, str) else value for value in values]
        for name, values in columns.items()
    }
    pd.DataFrame(shown).to_csv(text, index=False)
    return text.getvalue()

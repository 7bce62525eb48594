"""One visitor's experiment: it goes in, a run comes out.  Knows no widgets."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from supdr.datasets import Dataset
from supdr_viz.data.csv_safety import escape_formula
from supdr_viz.data.sources import SOURCES
from supdr_viz.data.split import Split
from supdr_viz.experiment.build import build_dataset, build_estimator, check_columns, has_gaps
from supdr_viz.experiment.change import Change, change_between
from supdr_viz.experiment.experiment import Experiment
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


@dataclass(frozen=True, eq=False)
class Loaded:
    """The data of a run.

    untaught: the data set as it came.
    divided: its rows as they were divided, without taught labels.
    dataset: with taught labels.
    split: with taught labels, and with missing cells filled if the method needs that.
    scene: with taught labels.
    """

    untaught: Dataset
    divided: Split
    dataset: Dataset
    split: Split
    scene: Scene


class Session:
    """Turns changes of the settings into the least that must happen to the run.

    `notify`: see `Player`; `gate`: see `Player`.

    experiment: in force; None before the first `apply`, and after one that cannot be shown.
    loaded: what its run is on.
    estimator: its method.
    measures: whether it is found out how true the map is, also where no colours show it.
    """

    def __init__(self, pool: Pool, notify: Callable[[], None], gate: Gate | None = None) -> None:
        self.player = Player(pool, notify, gate)
        self.experiment: Experiment | None = None
        self.loaded: Loaded | None = None
        self.estimator: Any = None
        self.options = DisplayOptions()
        self.measures = False

    @property
    def settings(self) -> Settings | None:
        """The settings in force."""
        return None if self.experiment is None else self.experiment.settings

    @property
    def dataset(self) -> Dataset | None:
        """The data set, with taught labels."""
        return None if self.loaded is None else self.loaded.dataset

    @property
    def split(self) -> Split | None:
        """The rows as the method sees them."""
        return None if self.loaded is None else self.loaded.split

    @property
    def scene(self) -> Scene | None:
        """The scene, which stays on display while the run goes on."""
        return None if self.loaded is None else self.loaded.scene

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns that the method sees; None where these are not the data set's."""
        dataset, split = self.dataset, self.split
        if dataset is None or split is None or len(dataset.feature_names) != split.X_train.shape[1]:
            return None
        return [str(name) for name in dataset.feature_names]

    def apply(self, experiment: Experiment, like: Session | None = None) -> bool:
        """Put an experiment in force; a running run keeps running.

        `like`: if its data and split are the same, they are shared instead of made anew. Returns whether the scene is
        new. Raises NotAtHand, Unusable, ValueError, OSError: it cannot be shown; the message says why.  The run before
        is gone.
        """
        settings, running = experiment.settings, self.player.going
        change = change_between(self.experiment, experiment)
        self.player.set_speed(settings.speed)
        self.set_display(settings)
        try:
            self.loaded = loaded = self._load(experiment, change, like)
            estimator = _estimator(settings, loaded)
        except (ValueError, OSError):
            self.unload()
            raise
        self.experiment, self.estimator = experiment, estimator
        self._carry_on(change, loaded, estimator, running)
        return change.data or change.plane

    def _carry_on(self, change: Change, loaded: Loaded, estimator: Any, running: bool) -> None:
        """Do to the run what a change asks for, and no more."""
        if change.restarts:
            self.player.load(estimator, loaded.split, loaded.scene)
            if running:
                self.player.run()
        elif change.labels:
            self.player.teach(estimator, loaded.split, loaded.scene)
        else:
            if change.plane:
                self.player.set_scene(loaded.scene)
            if change.options:
                self.player.change(estimator)

    def has_data_of(self, experiment: Experiment) -> bool:
        """Whether the rows and their parts that an experiment needs are those in force."""
        return self.experiment is not None and experiment.same_data(self.experiment)

    def unload(self) -> None:
        """Show nothing: there are no settings in force."""
        self.experiment = None
        self.player.unload()

    def _load(self, experiment: Experiment, change: Change, like: Session | None) -> Loaded:
        """Return what the run is to be on: what is there already, as far as the change leaves it."""
        settings, before = experiment.settings, self.loaded
        if before is None or change.data:
            untaught, divided = _rows(experiment, like)
        else:
            untaught, divided = before.untaught, before.divided
        if before is None or change.data or change.method or change.labels:
            dataset = taught_dataset(untaught, settings.taught)
            parts = taught_split(filled(divided, settings, untaught), untaught, settings.taught)
        else:
            dataset, parts = before.dataset, before.split
        if before is None or change.data or change.plane or change.labels:
            scene = _shared_scene(settings, divided, like)
            if scene is None:
                axes = input_axes(settings, dataset)
                scene = build_scene(dataset, taught_split(divided, untaught, settings.taught), axes)
        else:
            scene = before.scene
        return Loaded(untaught, divided, dataset, parts, scene)

    @property
    def n_components(self) -> int:
        """Size of the latent space; where the method chooses it, and no row is embedded yet, what its classes need."""
        chosen = self.settings.method_options.get("n_components") if self.settings is not None else None
        fitted = self.player.fitted if chosen is None else None
        if fitted is not None:
            return int(fitted.embedding_.shape[1])
        n_classes = len(self.scene.class_names) if self.scene is not None else 0
        return int(chosen or max(2, n_classes - 1))

    def chosen_number(self, name: str) -> float | None:
        """Return what the method has chosen for a hyper-parameter that is left to it, None if that is not known."""
        if name == "n_components":
            return self.n_components
        value = getattr(self.player.fitted, f"{name}_", None)
        return float(value) if isinstance(value, (int, float)) else None

    def close(self) -> None:
        """End the run and let go of the data."""
        self.player.close()
        self.experiment = self.loaded = None

    def set_display(self, settings: Settings, **changes: Any) -> None:
        """Change what frames show; `changes` are fields of `DisplayOptions` that each page has of its own."""
        axes = settings.latent_axes if isinstance(settings.latent_axes, tuple) else None
        measures = self.measures or "trust" in (settings.colour_by, settings.size_by)
        options = replace(self.options, latent=settings.latent_shown, latent_axes=axes, truth=measures, **changes)
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
                column = {key: float(values[place]) for key, values in table.values.items()}
                merged.insert(int(iteration), column)
        table = merged.table()
        return csv_text({"iteration": table.iteration, **table.values})

    def labels_csv(self) -> str:
        """Return the labels of the training rows as CSV: row number, label for the method, label as it came."""
        if self.loaded is None:
            return ""
        import numpy as np

        parts, dataset = self.loaded.split, self.loaded.dataset
        now, before = parts.y_train, self.loaded.divided.y_train
        taught = ~((now == before) | (np.isnan(now) & np.isnan(before)))
        if dataset.task == "classification":
            names = np.array([*dataset.target_names, ""], dtype=object)
            now, before = (names[np.where(np.isnan(each), len(names) - 1, each).astype(int)] for each in (now, before))
        return csv_text({"row": parts.train, "label": now, "label before": before, "taught": taught.astype(int)})

    def embedding_csv(self) -> str:
        """Return the latent rows on display as CSV: row number, part, label, coordinates, prediction."""
        fitted = self.player.fitted
        if fitted is None or self.loaded is None:
            return ""
        import numpy as np

        parts, dataset = self.loaded.split, self.loaded.dataset
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
            "split": np.repeat(["train", "test"], [len(train), len(test)]),
            "label": labels,
            "predicted": predicted,
            **{f"z{k + 1}": latent[:, k] for k in range(latent.shape[1])},
        }
        return csv_text(columns)


def _rows(experiment: Experiment, like: Session | None) -> tuple[Dataset, Split]:
    """Return the data set and its rows as they are divided; those of another session where they are the same."""
    theirs = like.loaded if like is not None and like.has_data_of(experiment) else None
    if theirs is not None:
        return theirs.untaught, theirs.divided
    dataset = build_dataset(experiment.settings, experiment.table)
    return dataset, split(dataset, experiment.settings)


def _shared_scene(settings: Settings, divided: Split, like: Session | None) -> Scene | None:
    """Return the scene of another session that shows the same rows with the same labels in the same plane."""
    if like is None or like.settings is None or like.loaded is None or like.loaded.divided is not divided:
        return None
    same = (like.settings.input_plane, like.settings.taught) == (settings.input_plane, settings.taught)
    return like.loaded.scene if same else None


def _estimator(settings: Settings, loaded: Loaded) -> Any:
    """Build the method; raise Unusable if it cannot be fitted to the rows."""
    check_columns(settings, loaded.dataset)
    dataset = loaded.dataset
    return build_estimator(settings, dataset.task, loaded.split.n_train, dataset.views, has_gaps(dataset))


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


def csv_text(columns: Mapping[str, Any]) -> str:
    """Write columns as CSV; texts that a spreadsheet would run are marked as texts."""
    import pandas as pd

    text = io.StringIO()
    shown = {
        name: [escape_formula(value) if isinstance(value, str) else value for value in values]
        for name, values in columns.items()
    }
    pd.DataFrame(shown).to_csv(text, index=False)
    return text.getvalue()

"""All that is known of each row of a run, as columns: labels, predictions, columns of the data, values of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.split import Split
from supdr_viz.pictures.fitted_values import LATENT, fitted_values
from supdr_viz.pictures.row_colours import COLUMN, meaning_text, value_choices
from supdr_viz.pictures.row_columns import Column
from supdr_viz.pictures.types import MapQuality, Scene, Surface
from supdr_viz.run.frame_builder import latent_rows
from supdr_viz.run.session import Session

ROW, PART, PREDICTED, TRUST = "row", "split", "prediction", "trust"
PARTS = ("train", "test", "train, label hidden")


@dataclass(frozen=True, eq=False)
class RowValues:
    """The columns of the rows of a scene as of one moment of a run.

    fitted: the method; None: there is none yet.
    surface: predictions; None: there are none yet.
    n_components: number of latent coordinates.
    shown: where training rows stand: "embedding" or "transform".
    target: name of the target, empty where it has none.
    quality: how true the map is, row by row; None: that was not measured.
    """

    scene: Scene
    split: Split
    fitted: Any
    surface: Surface | None
    n_components: int
    shown: str
    target: str = ""
    quality: MapQuality | None = None

    @classmethod
    def of(cls, session: Session, surface: Surface | None, quality: MapQuality | None = None) -> RowValues | None:
        """Return those of what a page shows, with this surface and quality; None: it shows no rows."""
        scene, split = session.scene, session.split
        if scene is None or split is None:
            return None
        fitted = session.player.fitted if session.player.newest is not None else None
        target = "" if session.dataset is None else session.dataset.target_name
        return cls(scene, split, fitted, surface, session.n_components, session.options.latent, target, quality)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.scene.position)

    @property
    def target_name(self) -> str:
        """What the target is called."""
        return self.target or self.usual_target

    @property
    def usual_target(self) -> str:
        """What the target of such a task is called, whatever its own name."""
        return "class" if self.scene.class_names else "target"

    @cached_property
    def computed(self) -> dict[str, str]:
        """What the method says of rows: name -> key of `pictures.fitted_values`."""
        if self.fitted is None or self.surface is None:
            return {}
        choices = value_choices(self.scene, self.n_components)
        keys = [start + text for _, start, texts in choices for text in texts if start != COLUMN]
        return {meaning_text(key): key for key in keys}

    @property
    def own_names(self) -> list[str]:
        """Names of the columns of the data."""
        return [] if self.scene.columns is None else self.scene.columns.names

    @cached_property
    def names(self) -> list[str]:
        """Names of all columns; those of the data come first where two have the same."""
        predicted = [PREDICTED] if self.surface is not None else []
        measured = [TRUST] if self.quality is not None else []
        return list(
            dict.fromkeys([*self.own_names, ROW, PART, self.target_name, *predicted, *measured, *self.computed])
        )

    @property
    def query_names(self) -> list[str]:
        """Names by which columns can be asked for."""
        return list(dict.fromkeys([*self.names, self.usual_target, TRUST]))

    @property
    def text_names(self) -> list[str]:
        """Names of the columns whose texts are looked through for a word."""
        metadata = [] if self.scene.columns is None else self.scene.columns.metadata
        return [self.target_name, PART, *metadata]

    @property
    def id_names(self) -> list[str]:
        """Names of the columns in which no number comes twice: by such a number a row is found."""
        columns = self.scene.columns
        metadata = [] if columns is None else columns.metadata
        names = [ROW]
        for name in metadata:
            column = self.column(name)
            present = column.values[np.isfinite(column.values)]
            if not column.categories and len(present) and len(np.unique(present)) == len(present):
                names.append(name)
        return names

    def column(self, name: str) -> Column:
        """Return a column by its name.

        Raises KeyError if there is none.
        """
        scene = self.scene
        own = None if scene.columns is None else scene.columns.get(name)
        if own is not None:
            return own
        if name == ROW:
            return Column(name, scene.row.astype(float))
        if name == PART:
            hidden = ~scene.is_test & ~scene.is_labelled
            return Column(name, np.where(scene.is_test, 1.0, np.where(hidden, 2.0, 0.0)), PARTS)
        if name in (self.target_name, self.usual_target):
            return Column(name, scene.target.astype(float), scene.class_names)
        if name == PREDICTED and self.surface is not None:
            return Column(name, self.surface.judged.astype(float), scene.class_names)
        if name == TRUST and self.quality is not None:
            return Column(name, self.quality.trust.round(3))
        return Column(name, self._compute(self.computed[name]))

    def cells(self, name: str, rows: NDArray) -> NDArray:
        """Return the values of some rows in a column as a file has them: numbers, whole ones as such, or texts."""
        column = self.column(name)
        values = column.values[rows]
        if column.categories:
            return column.texts[rows]
        whole = np.isfinite(values).all() and (values == np.floor(values)).all() and (np.abs(values) < 2**53).all()
        return values.astype(np.int64) if whole else values

    def _compute(self, key: str) -> NDArray:
        assert self.surface is not None
        if key in self.surface.values:
            return self.surface.values[key]
        latent = self.latent if key.startswith(LATENT) else None
        return fitted_values(key, self.fitted, self.scene, self.split, self.surface, latent)

    @cached_property
    def latent(self) -> NDArray:
        """Where all rows stand in the latent space, (n, d)."""
        return latent_rows(self.fitted, self.split, self.shown)

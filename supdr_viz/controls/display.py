"""Controls of the planes: which latent coordinates and which columns are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from supdr_viz.controls.part import Part
from supdr_viz.experiment.settings import Axes, Settings
from supdr_viz.ui import widgets
from supdr_viz.ui.lazy import Fold
from supdr_viz.ui.programmatic_update import ProgrammaticUpdate

KINDS = {"automatic": "auto", "principal components": "pca", "two columns": "chosen"}
MAX_LISTED = 500


class AxesControl:
    """Automatic, principal components, or two chosen columns.

    `names`: of the columns; `on_change`: ``on_change(value)``.
    """

    def __init__(self, label: str, value: Axes, names: Sequence[str], on_change: Callable[[Axes], Any]) -> None:
        self._on_change = on_change
        self._silence = ProgrammaticUpdate()
        self.kind = widgets.select(label, KINDS, "auto", self._kind_chosen)
        self.first = widgets.select("Across", {"1": 0}, 0, self._column_chosen, visible=False)
        self.second = widgets.select("Up", {"2": 1}, 1, self._column_chosen, visible=False)
        self.view = pn.Column(self.kind, self.first, self.second, margin=0, **widgets.WIDE)
        self.names = tuple(names)
        self.set(value, names)

    @property
    def value(self) -> Axes:
        """What is chosen."""
        return (self.first.value, self.second.value) if self.kind.value == "chosen" else self.kind.value

    def set(self, value: Axes, names: Sequence[str]) -> None:
        """Show another choice, over these columns, without reporting it."""
        with self._silence:
            self.names = tuple(names)[:MAX_LISTED]
            options = {f"{number + 1}: {name}": number for number, name in enumerate(self.names)}
            first, second = 0, min(1, max(len(self.names) - 1, 0))
            usable = not isinstance(value, str) and max(value) < len(self.names)
            if usable and not isinstance(value, str):
                first, second = value
            if options:
                self.first.param.update(options=options, value=first)
                self.second.param.update(options=options, value=second)
            self.kind.value = "chosen" if usable else value if isinstance(value, str) else "auto"
            self.first.visible = self.second.visible = self.kind.value == "chosen"
            self.kind.disabled = len(self.names) < 3

    def _kind_chosen(self, kind: str) -> None:
        self.first.visible = self.second.visible = kind == "chosen"
        self._changed()

    def _column_chosen(self, _column: int) -> None:
        self._changed()

    def _changed(self) -> None:
        if self._silence:
            return
        if self.kind.value == "chosen" and self.first.value == self.second.value:
            self.set((self.first.value, (self.first.value + 1) % max(len(self.names), 2)), self.names)
        self._on_change(self.value)


class DisplayControls(Part):
    """What the planes show, folded away; none of it touches the run."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._features: tuple[str, ...] = ()
        self._components: tuple[str, ...] = ()
        self._built = False
        self.fold = Fold("Planes", self._build)
        self.view = self.fold.view

    @property
    def settings(self) -> dict[str, Any]:
        """Fields of `Settings` that belong to these controls."""
        return {name: getattr(self._settings, name) for name in ("latent_axes", "input_plane")}

    def describe(self, feature_names: Sequence[str], n_components: int) -> None:
        """Name the columns and count the latent coordinates that can be chosen."""
        self._features = tuple(feature_names)
        self._components = tuple(f"z{number + 1}" for number in range(n_components))
        self.apply(self._settings)

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        self._settings = settings
        if self._built:
            self._latent.set(settings.latent_axes, self._components)
            self._plane.set(settings.input_plane, self._features)

    def _build(self) -> list[Any]:
        settings = self._settings
        self._latent = AxesControl(
            "Latent plane", settings.latent_axes, self._components, self._report_as("latent_axes")
        )
        self._plane = AxesControl("Input plane", settings.input_plane, self._features, self._report_as("input_plane"))
        self._built = True
        help = (
            "The planes only change the pictures, never the run. Automatic: two columns where there are two, else PCA."
        )
        return [self._latent.view, self._plane.view, widgets.caption(help)]

    def _report_as(self, name: str) -> Callable[[Any], None]:
        def report(value: Any) -> None:
            if getattr(self._settings, name) != value:
                self._report({name: value})

        return report

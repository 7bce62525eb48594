"""Controls of the planes: which latent coordinates and which columns are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from supdr_viz.controls.part import Part
from supdr_viz.experiment.settings import Axes, Settings
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.lazy import Fold

KINDS = {"automatic": "auto", "principal components": "pca", "two columns": "chosen"}
MAX_LISTED = 500


class AxesControl:
    """Automatic, principal components, or two chosen columns.

    `names`: of the columns; `on_change`: ``on_change(value)`` after a visitor's change.
    """

    def __init__(self, label: str, value: Axes, names: Sequence[str], on_change: Callable[[Axes], Any]) -> None:
        self._on_change = on_change
        self.kind = widgets.select(label, KINDS, "auto")
        self.first = widgets.select("Horizontal axis", {"1": 0}, 0, visible=False)
        self.second = widgets.select("Vertical axis", {"2": 1}, 1, visible=False)
        self._kind = Bound(self.kind, self._changed)
        self._first, self._second = Bound(self.first, self._changed), Bound(self.second, self._changed)
        self.view = pn.Column(self.kind, self.first, self.second, margin=0, **widgets.WIDE)
        self.names = tuple(names)
        self.show(value, names)

    @property
    def value(self) -> Axes:
        """What is chosen."""
        return (self._first.value, self._second.value) if self._kind.value == "chosen" else self._kind.value

    def show(self, value: Axes, names: Sequence[str]) -> None:
        """Show another choice, over these columns, without reporting it."""
        self.names = tuple(names)[:MAX_LISTED]
        options = {f"{number + 1}: {name}": number for number, name in enumerate(self.names)}
        first, second = 0, min(1, max(len(self.names) - 1, 0))
        usable = not isinstance(value, str) and max(value) < len(self.names)
        if usable and not isinstance(value, str):
            first, second = value
        if options:
            self._first.show(first, options=options)
            self._second.show(second, options=options)
        self._kind.show("chosen" if usable else value if isinstance(value, str) else "auto")
        self.first.visible = self.second.visible = self._kind.value == "chosen"
        self.kind.disabled = len(self.names) < 3

    def _changed(self, _value: Any) -> None:
        if self._kind.value == "chosen" and self._first.value == self._second.value:
            self.show((self._first.value, (self._first.value + 1) % max(len(self.names), 2)), self.names)
        self._on_change(self.value)


class DisplayControls(Part):
    """What the planes show, folded away; none of it touches the run.

    latent_plane, input_plane: there once the fold was opened.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._features: tuple[str, ...] = ()
        self._components: tuple[str, ...] = ()
        self._built = False
        self.fold = Fold("Planes", self._build)
        self.view = self.fold.view

    def describe(self, feature_names: Sequence[str], n_components: int) -> None:
        """Name the columns and count the latent coordinates that can be chosen."""
        self._features = tuple(feature_names)
        self._components = tuple(f"z{number + 1}" for number in range(n_components))
        self.apply(self._settings)

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        self._settings = settings
        if self._built:
            self.latent_plane.show(settings.latent_axes, self._components)
            self.input_plane.show(settings.input_plane, self._features)

    def _build(self) -> list[Any]:
        settings = self._settings
        self.latent_plane = AxesControl(
            "Latent plane", settings.latent_axes, self._components, self._report_as("latent_axes")
        )
        self.input_plane = AxesControl(
            "Input plane", settings.input_plane, self._features, self._report_as("input_plane")
        )
        self._built = True
        help = (
            "The planes only change the pictures, never the run. Automatic: two columns where there are two, else PCA."
        )
        return [self.latent_plane.view, self.input_plane.view, widgets.caption(help)]

    def _report_as(self, name: str) -> Callable[[Any], None]:
        def report(value: Any) -> None:
            if getattr(self._settings, name) != value:
                self._report({name: value})

        return report

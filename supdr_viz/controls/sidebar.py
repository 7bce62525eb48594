"""All controls of the sidebar as one: they write settings and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import panel as pn

from supdr.datasets import Dataset
from supdr_viz.controls.data import DataControls, SplitControls
from supdr_viz.controls.display import DisplayControls
from supdr_viz.controls.forms import Chosen
from supdr_viz.controls.method import MethodControls
from supdr_viz.controls.presets import PresetGallery
from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU, METHOD_FORMS, WORDS, method_for
from supdr_viz.experiment.settings import Settings, name_of_own_data
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.gallery import shelves
from supdr_viz.presets.preset import Needs
from supdr_viz.ui import widgets
from supdr_viz.ui.visitor import Visit

# What the two halves of an example's picture show.
PICTURES = "Left: the data. Right: what the method makes of them."


class Controls:
    """Examples, data, split, method and planes.

    `visit`: whose page it is. `settings`: what is shown at first. `preset`: name of the preset that `settings` stem
    from, if any. `fresh`: other data begin with the defaults of a method that suits them; False: method and options
    stay. `view`: for the sidebar; `presets`: beside it: a page need not offer examples; `data`, `split`, `method`,
    `planes`: the parts.
    """

    def __init__(self, visit: Visit, settings: Settings, preset: str = "", *, fresh: bool = True) -> None:
        self._fresh = fresh
        self._experiment = Experiment(settings)
        self._preset = preset
        self._callbacks: list[Callable[[Experiment, Experiment], Any]] = []
        self._exchange = ""  # why another method than the chosen one begins
        self._on_exchange: Callable[[str, Experiment], Any] | None = None
        self.data = DataControls(visit, settings)
        self.presets = PresetGallery(
            PRESETS, preset, self._preset_chosen, shelves, [self.data.file_button], meaning=PICTURES
        )
        self.split = SplitControls(settings)
        self.method = MethodControls(settings)
        self.planes = DisplayControls(settings)
        self.parts = (self.data, self.split, self.method, self.planes)
        for part in self.parts:
            part.on_change(self.change)
        self.data.on_loaded(self._loaded)
        if preset:
            self.presets.say(PRESETS[preset], at_hand=False)
        self.presets.name_own(name_of_own_data(settings))
        self.view = pn.Column(
            self.data.view,
            self.split.view,
            self.method.view,
            self.planes.view,
            margin=(6, 0, 12, 0),
            **widgets.WIDE,
        )

    @property
    def settings(self) -> Settings:
        """The settings of all parts."""
        return self._experiment.settings

    @property
    def experiment(self) -> Experiment:
        """The settings of all parts, and the table that they speak of if it is loaded."""
        return self._experiment

    @property
    def preset(self) -> str:
        """Name of the example that the settings stem from, empty if none."""
        return self._preset

    def on_change(self, callback: Callable[[Experiment, Experiment], Any]) -> None:
        """Call ``callback(old, new)`` once after each action of the user."""
        self._callbacks.append(callback)

    def on_exchange(self, callback: Callable[[str, Experiment], Any]) -> None:
        """Call ``callback(why, before)`` after other data have begun with another method than the one before."""
        self._on_exchange = callback

    def apply(self, settings: Settings, *, notify: bool = True) -> None:
        """Show these settings in all parts; reported once, if anything changed.

        `notify`: False: do not call back.
        """
        self._become(settings, notify=notify)

    def apply_preset(self, name: str) -> None:
        """Show a preset, its note, and how to get its data if they are not at hand.

        `name`: key of `PRESETS`.
        """
        preset = PRESETS[name]
        settings, at_hand = preset.settings, True
        if preset.needs is not None:
            fields = self.data.loaded_fields(preset.needs.rows, preset.needs.columns)
            at_hand = fields is not None
            settings = replace(settings, **(fields or {}))
        self._preset = name
        self.presets.show(name)
        self.presets.say(preset, at_hand)
        # The speed is the user's own, whatever is looked at.
        self._become(replace(settings, speed=self.settings.speed))

    def change(self, fields: dict[str, Any]) -> None:
        """Change settings as the user does: an example that they were of is left.

        `fields`: of `Settings`, by name.
        """
        new = _without_strangers(self.settings, replace(self.settings, **fields))
        preset = PRESETS.get(self._preset)
        if preset is not None:
            loaded = preset.needs is None or self._fits(preset.needs)
            if new.data != preset.settings.data:
                self._leave_preset()
            elif new.method != preset.settings.method and loaded:  # else the note says how to load the data
                self.presets.leave()
            else:
                self.presets.show("")
        if new.data != self.settings.data:
            table = self.data.tables.get(new.data)
            new = self._on_other_data(new, SOURCES[new.data].task if table is None else table.task, table)
        self._become(new)

    def describe(
        self,
        feature_names: Sequence[str],
        n_components: int,
        task: str = "classification",
        numbers: Chosen | None = None,
    ) -> None:
        """Name the columns and latent coordinates that the planes can show, and the task of the data.

        `numbers`: as for `MethodControls.describe`.
        """
        self.planes.describe(feature_names, n_components)
        self.method.describe(task, on_disk=isinstance(self._experiment.table, RowsOnDisk), numbers=numbers)

    def _preset_chosen(self, name: str) -> None:
        if name:
            self.apply_preset(name)
        else:
            self._leave_preset()

    def _loaded(self, fields: dict[str, Any]) -> None:
        """Take a table that was loaded; an example that waited for it begins."""
        new = replace(self.settings, **fields)
        if self._experiment.table is not None:
            new = replace(new, taught=())
        preset = PRESETS.get(self._preset)
        if preset is not None and preset.needs is not None and self._fits(preset.needs):
            self.presets.say(preset)
            settings = preset.settings
            new = replace(
                new, method=settings.method, method_options=settings.method_options, test_share=settings.test_share
            )
        elif preset is not None or not self._waits_for(fields):
            self._leave_preset()
            table = self.data.tables[new.data]
            new = self._on_other_data(new, table.task, table)
        self._become(new)

    def _waits_for(self, fields: dict[str, Any]) -> bool:
        """Whether the settings speak of a table of this name already, loaded or not: what is set belongs to it."""
        old = self.settings
        return fields["data"] == old.data and fields["data_options"]["name"] == old.data_options["name"]

    def _on_other_data(self, new: Settings, task: str, table: Dataset | None) -> Settings:
        """Return settings with which other data begin; where the method cannot stay, a sentence says so."""
        changed = self._with_method(new, task, table)
        if changed.method != new.method:
            old, other = MENU[new.method], MENU[changed.method]
            why = f"predicts {WORDS[old.tasks()[0]]}" if task not in old.tasks() else "does not take these data"
            self._exchange = f"{old.label} {why}: {other.label} was chosen in its place; choose another above."
        return changed

    def _with_method(self, new: Settings, task: str, table: Dataset | None) -> Settings:
        if isinstance(table, RowsOnDisk):
            method = method_for(task, new.method, on_disk=True)
            return replace(new, method=method, method_options=_quick(method), label_share=1.0)
        if not self._fresh:
            return new
        return replace(new, method=method_for(task, new.method), method_options={})

    def _fits(self, needs: Needs) -> bool:
        """Whether the data that a preset waits for have just been loaded."""
        return self.data.loaded_fields(needs.rows, needs.columns) is not None

    def _become(self, settings: Settings, *, notify: bool = True) -> None:
        for part in self.parts:
            part.apply(settings)
        exchange, self._exchange = self._exchange, ""
        self.method.explain(exchange)
        self.presets.name_own(name_of_own_data(settings))
        old, self._experiment = self._experiment, Experiment(settings, self.data.table)
        if notify and self._experiment != old:
            for callback in self._callbacks:
                callback(old, self._experiment)
            if exchange and self._on_exchange is not None:
                self._on_exchange(exchange, old)

    def _leave_preset(self) -> None:
        self._preset = ""
        self.presets.leave()


# Basis functions with which rows on disk begin.
FEW_CENTERS = 100


def _quick(method: str) -> dict[str, Any]:
    """Return options with which very many rows begin: as many basis functions as a pass of a second or two allows."""
    names = {spec.name for spec in METHOD_FORMS[method]}
    return {"n_centers": FEW_CENTERS} if "n_centers" in names else {}


def _without_strangers(old: Settings, new: Settings) -> Settings:
    """Forget what was taught where the rows are others: their numbers mean other rows now."""
    return new if new.same_data(old) else replace(new, taught=())

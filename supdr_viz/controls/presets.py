"""The menu of prepared settings, and what is said of the chosen ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.kit import widgets
from supdr_viz.kit.silence import Silence
from supdr_viz.presets.preset import Preset, Presets


class PresetMenu:
    """A menu of presets with a note below.

    Parameters
    ----------
    presets : Presets
    name : str
        Which is chosen at first; empty: none, the settings are the user's own.
    on_choose : callable
        ``on_choose(name)`` after a user's choice.

    Attributes
    ----------
    select : Select
    note : HTML
    """

    def __init__(self, presets: Presets[Any], name: str, on_choose: Callable[[str], Any]) -> None:
        self._silence = Silence()
        self._on_choose = on_choose
        self.select = widgets.select("Example", presets.menu(), name, self._chosen)
        self.note = widgets.html(visible=False, margin=(0, 8, 2, 8))

    @property
    def name(self) -> str:
        """Name of the chosen preset, empty if none."""
        return self.select.value

    def show(self, name: str) -> None:
        """Name another preset as the chosen one, without reporting it; the note stays."""
        with self._silence:
            self.select.value = name

    def leave(self) -> None:
        """Say that the settings are the user's own."""
        self.show("")
        widgets.message(self.note)

    def say(self, preset: Preset[Any], at_hand: bool = True) -> None:
        """Show a preset's note, and how to get its data unless they are at hand."""
        text = f'<p class="small">{widgets.escape(preset.note)}</p>'
        if preset.needs is not None and not at_hand:
            text = f'<p class="small warning">{widgets.escape(preset.needs.how)}</p>' + text
        self.note.param.update(object=text, visible=True)

    def _chosen(self, name: str) -> None:
        if not self._silence:
            self._on_choose(name)

"""The gallery of prepared settings, and what is said of the chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import panel as pn

from supdr_viz.presets.gallery import title_of
from supdr_viz.presets.pictures import GALLERY, stored
from supdr_viz.presets.preset import OWN, Preset, Presets
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.gallery import EXAMPLE, Gallery
from supdr_viz.ui.own_files import image
from supdr_viz.ui.page_thread import locked_callback


class PresetGallery:
    """Examples as pictures, with a note below.

    presets: what is offered.
    name: which is chosen at first; empty: none, the settings are the user's own.
    on_choose: ``on_choose(name)`` after a user's choice.
    sections: returns the shelves of the gallery, see `supdr_viz.presets.gallery`.
    beside: what stands between the gallery and the note.
    pictures: folder with the pictures, see `supdr_viz.presets.pictures`.
    meaning: what they show.

    `select`, `note`: gallery and note; `parts`: the gallery, and what stands below it; `view`: both.
    """

    def __init__(
        self,
        presets: Presets[Any],
        name: str,
        on_choose: Callable[[str], Any],
        sections: Callable[[], list[dict[str, Any]]],
        beside: Sequence[Any] = (),
        pictures: Path = GALLERY,
        meaning: str = "",
    ) -> None:
        self._presets, self._pictures, self._own = presets, pictures, ""
        self._meaning = meaning
        self.select = Gallery(lambda: self._pictured(sections()), value=name, margin=(2, 8, 6, 8), **widgets.WIDE)
        self._chosen = Bound(self.select, on_choose)
        self.note = widgets.html(margin=(0, 8, 2, 8))
        self.select.param.watch(locked_callback(lambda _event: self._describe()), "value")
        self._describe()
        self.select.styles = {"flex": "3 1 200px", "min-width": "0", "width": "auto"}
        for each in beside:
            each.styles = {"flex": "1 1 110px", "width": "auto"}
        self.parts = [
            widgets.flow(self.select, *beside, margin=0, sizing_mode=None),
            pn.Column(self.note, margin=0, **widgets.WIDE),
        ]
        self.view = pn.Column(*self.parts, margin=0, **widgets.WIDE)

    @property
    def name(self) -> str:
        """Name of the chosen preset, empty if none."""
        return str(self._chosen.value)

    def name_own(self, own: str) -> None:
        """Say what the settings are about where they are of no preset, such as the name of a file; empty: nothing."""
        if own != self._own:
            self._own = own
            self._describe()

    def show(self, name: str) -> None:
        """Name another preset as the chosen one, without reporting it; the note stays."""
        self._chosen.show(name)

    def leave(self) -> None:
        """Say that the settings are the user's own."""
        self.show("")
        widgets.message(self.note)

    def say(self, preset: Preset[Any], at_hand: bool = True) -> None:
        """Show a preset's note, its measurements behind a fold, and how to get its data unless they are at hand."""
        text = f'<p class="small">{widgets.symbols(preset.note)}</p>'
        if preset.more:
            more = f"<summary>More</summary><p>{widgets.symbols(preset.more)}</p>"
            text += f'<details class="small">{more}</details>'
        if preset.needs is not None and not at_hand:
            text = f'<p class="small warning">{widgets.escape(preset.needs.how)}</p>' + text
        self.note.object = text

    def _describe(self) -> None:
        """Show the chosen one on the button."""
        preset = self._presets.get(self.name)
        if preset is None:
            self.select.param.update(kind="Your data" if self._own else "Your own", title=self._own or OWN, picture="")
        else:
            self.select.param.update(kind=EXAMPLE, title=title_of(preset), picture=self._address(preset.name))

    def _pictured(self, shelves: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return shelves with the addresses of their pictures, and with what these show."""
        said = {"meaning": self._meaning}
        return [
            {**shelf, **said, "cards": [{**card, "picture": self._address(card["name"])} for card in shelf["cards"]]}
            for shelf in shelves
        ]

    def _address(self, name: str) -> str:
        content = stored(self._pictures, name)
        return "" if content is None else image(content)

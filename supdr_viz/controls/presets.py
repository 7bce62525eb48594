"""The menu or the gallery of prepared settings, and what is said of the chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.gallery import shelves, title_of
from supdr_viz.presets.pictures import GALLERY, stored
from supdr_viz.presets.preset import OWN, Preset, Presets
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.gallery import Gallery
from supdr_viz.ui.own_files import image
from supdr_viz.ui.page_thread import locked_callback


class _Chooser:
    """What offers presets: something to choose with, and a note below."""

    def __init__(self, select: Any, on_choose: Callable[[str], Any]) -> None:
        self.select = select
        self._chosen = Bound(select, on_choose)
        self.note = widgets.html(margin=(0, 8, 2, 8))

    @property
    def name(self) -> str:
        """Name of the chosen preset, empty if none."""
        return str(self._chosen.value)

    def show(self, name: str) -> None:
        """Name another preset as the chosen one, without reporting it; the note stays."""
        self._chosen.show(name)

    def leave(self) -> None:
        """Say that the settings are the user's own."""
        self.show("")
        widgets.message(self.note)

    def say(self, preset: Preset[Any], at_hand: bool = True) -> None:
        """Show a preset's note, its measurements behind a fold, and how to get its data unless they are at hand."""
        text = f'<p class="small">{widgets.escape(preset.note)}</p>'
        if preset.more:
            more = f"<summary>More</summary><p>{widgets.escape(preset.more)}</p>"
            text += f'<details class="small">{more}</details>'
        if preset.needs is not None and not at_hand:
            text = f'<p class="small warning">{widgets.escape(preset.needs.how)}</p>' + text
        self.note.object = text


class PresetMenu(_Chooser):
    """A menu of presets with a note below.

    `name`: which is chosen at first; empty: none, the settings are the user's own. `on_choose`: ``on_choose(name)``
    after a user's choice.
    """

    def __init__(self, presets: Presets[Any], name: str, on_choose: Callable[[str], Any]) -> None:
        super().__init__(widgets.select("Example", presets.menu(), name), on_choose)


class PresetGallery(_Chooser):
    """The explorer's examples as pictures, with a note below.

    `name`: which is chosen at first; empty: none, the settings are the user's own. `on_choose`: ``on_choose(name)``
    after a user's choice. `beside`: what stands between both. `view`: all.
    """

    def __init__(self, name: str, on_choose: Callable[[str], Any], beside: Sequence[Any] = ()) -> None:
        super().__init__(Gallery(_pictured, value=name, margin=(2, 8, 6, 8), **widgets.WIDE), on_choose)
        self.select.param.watch(locked_callback(lambda _event: self._describe()), "value")
        self._describe()
        self.view = pn.Column(self.select, *beside, self.note, margin=0, **widgets.WIDE)

    def _describe(self) -> None:
        """Show the chosen one on the button."""
        preset = PRESETS.get(self.name)
        if preset is None:
            self.select.param.update(title=OWN, picture="")
        else:
            self.select.param.update(title=title_of(preset), picture=_address(preset.name))


def _pictured() -> list[dict[str, Any]]:
    """Return the shelves of the gallery with the addresses of their pictures."""
    return [
        {**shelf, "cards": [{**card, "picture": _address(card["name"])} for card in shelf["cards"]]}
        for shelf in shelves()
    ]


def _address(name: str) -> str:
    content = stored(GALLERY, name)
    return "" if content is None else image(content)

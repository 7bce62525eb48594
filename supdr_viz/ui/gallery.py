"""Examples as pictures: a button that shows the chosen one, and a dialog with all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from supdr_viz.ui.own_files import Script
from supdr_viz.ui.page_thread import locked_callback

# What an example is called beside its title.
EXAMPLE = "Example"


class Gallery(JSComponent):
    """A button and its dialog of pictures, with search and folds.

    The sections are asked for when the dialog opens for the first time: most visitors of a link never see them.

    `sections`: returns a list of sections: dicts with ``title``, ``fold`` (title of the fold that holds it, or an empty
    text) and ``cards``, dicts with ``name``, ``title``, ``line``, ``source``, ``picture``, an address or empty, and
    ``more``, what the search finds besides, and ``meaning``, what the pictures show. `label`: name of the button;
    `kind`, `title`, `picture`: what is chosen.
    `value`: name of what is chosen, empty if nothing is.
    """

    label = param.String(default="Example")
    kind = param.String(default=EXAMPLE)
    title = param.String(default="")
    picture = param.String(default="", doc="Address of the chosen one's picture.")
    value = param.String(default="", doc="Name of the chosen one.")
    shelves = param.List(default=[], doc="Sections with their cards; empty until the dialog is opened.")

    _esm = Script("gallery.js")

    def __init__(self, sections: Callable[[], list[dict[str, Any]]], **params: Any) -> None:
        super().__init__(**params)
        self._sections = sections
        self.on_msg(locked_callback(self._fill))

    def _fill(self, _event: Any) -> None:
        if not self.shelves:
            self.shelves = self._sections()

"""The box above the plots in which a page says what is in the way."""

from __future__ import annotations

import panel_material_ui as pmui

from supdr_viz.kit import widgets

BESIDE_ICON = {"& .MuiAlertTitle-root": {"display": "none"}, "& .MuiAlert-message p": {"margin": 0}}
"""An empty title, or the margin of a paragraph, would push the text below the icon."""


class Notice:
    """A box that is away until there is something to say.

    Attributes
    ----------
    view : Alert
    """

    def __init__(self) -> None:
        self.view = pmui.Alert(title="", object="", visible=False, sx=BESIDE_ICON, margin=(0, 0, 8, 0), **widgets.WIDE)

    @property
    def shown(self) -> bool:
        """Whether it says something."""
        return self.view.visible

    def say(self, text: str, kind: str) -> None:
        """Show a sentence.

        Parameters
        ----------
        text : str
            Escaped here: the kit takes it for HTML, and it may quote a link or a file.
        kind : {"info", "success", "warning", "error"}
        """
        self.view.param.update(object=widgets.escape(text), severity=kind, visible=True)

    def hide(self) -> None:
        """Take the box away."""
        if self.view.visible:
            self.view.visible = False

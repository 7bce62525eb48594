"""The five views of one run together: one call per scene, frame, surface or theme."""

from __future__ import annotations

from supdr_viz.frames.types import Frame
from supdr_viz.views.errors import Errors
from supdr_viz.views.input_space import InputSpace
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.losses import Losses
from supdr_viz.views.method_view import MethodView
from supdr_viz.views.sources import Points
from supdr_viz.views.together import Together


class Board(Together):
    """Views that share their points.

    Parameters
    ----------
    touch : bool
        Start square figures without a drag tool, so that a finger on them scrolls the page.

    Attributes
    ----------
    points : Points
    input, latent, method, losses, errors
        The views.
    """

    def __init__(self, *, touch: bool = False) -> None:
        self.points = Points()
        self.input = InputSpace(self.points, touch=touch)
        self.latent = LatentSpace(self.points, touch=touch)
        self.method = MethodView(self.points, touch=touch)
        self.losses = Losses()
        self.errors = Errors()
        self._name_models()

    @property
    def parts(self) -> tuple:
        """The points, then every view: in the order in which they must learn of news."""
        return self.points, self.input, self.latent, self.method, self.losses, self.errors

    def show_frame(self, frame: Frame, *, curves: bool = True) -> None:
        """Show one iteration.

        Parameters
        ----------
        frame : Frame
        curves : bool
            Whether losses and errors are drawn too: they need not move as often as the points.
        """
        for part in self.parts:
            if curves or part not in (self.losses, self.errors):
                part.show_frame(frame)

    def _name_models(self) -> None:
        """Name figures and sources, so that the page can be asked about them: see the tests."""
        for name in ("input", "latent", "method", "losses", "errors"):
            getattr(self, name).figure.name = name
        for name in ("input", "latent", "method"):
            getattr(self.points, name).name = f"{name} points"
        self.points.facts.name, self.input.drawing.source.name = "facts", "drawn points"
        self.losses.source.name, self.errors.source.name = "loss curves", "error curves"

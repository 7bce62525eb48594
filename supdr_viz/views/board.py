"""The views of one run together: one call per scene, frame or surface."""

from __future__ import annotations

from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.composite_view import CompositeView
from supdr_viz.views.errors import Errors
from supdr_viz.views.input_space import InputSpace
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.losses import Losses
from supdr_viz.views.method_view import MethodView
from supdr_viz.views.points import Points
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Stage

TOOLS = ("select", "pan", "draw")


class Squares(CompositeView):
    """The three squares of a run: input space, latent space, and what the method shows of itself.

    `stage`: what the squares show; `input`, `latent`, `method`: the views.
    """

    def __init__(self) -> None:
        self.stage = Stage()
        self.points = Points(self.stage)
        self.input = InputSpace(self.points)
        self.latent = LatentSpace(self.points)
        self.method = MethodView(self.points)

    @property
    def parts(self) -> tuple:
        """The points, then every view: in the order in which they must learn of news."""
        return self.points, self.input, self.latent, self.method

    def show_colours(self, colour_by: str, size_by: str | None = None) -> None:
        """Choose what the colours and the sizes of rows mean, in every square: see `Points.show_colours`."""
        with self.stage:
            self.points.show_colours(colour_by, size_by)
            self.latent.show_colours()
            self.method.show_colours()

    @property
    def morphed(self) -> bool:
        """Whether the latent square shows the rows in the input space."""
        return self.stage.get("planes", "latent", "showing") == "input"

    def morph(self, on: bool) -> None:
        """Let the rows of the latent square move over to where they stand in the input space, or back."""
        self.stage.put("planes", "latent", showing="input" if on else "latent")

    def show_images(self, on: bool) -> None:
        """Draw rows of the latent square as the pictures that they are, as far as there is room, or as marks."""
        self.stage.put(images=on)

    def show_less(self, *, data_only: bool, plain: bool) -> None:
        """Show the rows alone, or with what a method makes of them: regions, boundaries and rings.

        `plain`: without margins.
        """
        points = self.points
        if (points.data_only, points.plain) != (data_only, plain):
            points.data_only, points.plain = data_only, plain
            if points.surface is not None:
                self.show_surface(points.surface)

    def use(self, tool: str) -> None:
        """Choose what dragging on a view does: one of `TOOLS`, or "scroll"."""
        self.stage.put(tool=tool)


class Board(Squares):
    """The squares of a page, and the curves of losses and errors.

    `tickets`: see `Hub`. `touch`: start without a drag tool, so that a finger on a view scrolls the page. `hub`: to be
    put into the page. `tools`: what dragging on a view can do; the first one holds at the start. `losses`, `errors`:
    the views of curves.
    """

    def __init__(self, tickets: Tickets | None = None, *, touch: bool = False) -> None:
        super().__init__()
        self.hub = Hub(self.stage, tickets)
        self.tools = ["scroll", *TOOLS] if touch else list(TOOLS)
        self.stage.put(name="explorer", tool=self.tools[0])
        self.losses = Losses(self.stage, "losses")
        self.errors = Errors(self.stage, "errors")

    @property
    def parts(self) -> tuple:
        """The points, then every view: in the order in which they must learn of news."""
        return *super().parts, self.losses, self.errors

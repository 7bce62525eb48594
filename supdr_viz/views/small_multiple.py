"""Small multiples: one run's two planes among those of others on the same rows, with one selection and one hover."""

from __future__ import annotations

from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.composite_view import CompositeView
from supdr_viz.views.input_space import InputPlane
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.points import Points
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Selection, Stage


class SmallMultiple(CompositeView):
    """Input and latent plane of one run.

    `selection`: shared by all runs of the page: brushing is linked by row; `group`: runs of the same group share
    selection and pointer in the browser; `tickets`: see `Hub`; `touch`: start without a drag tool, so that a finger on
    a view scrolls the page. `hub`: to be put into the page; `input`, `latent`: the views.
    """

    def __init__(
        self, selection: Selection, group: str, tickets: Tickets | None = None, *, touch: bool = False
    ) -> None:
        self.stage = Stage()
        self.hub = Hub(self.stage, tickets, group)
        self.stage.put(tool="scroll" if touch else "select")
        self.points = Points(self.stage, selection, small=True)
        self.input = InputPlane(self.points)
        self.latent = LatentSpace(self.points)

    @property
    def parts(self) -> tuple:
        """The points, then the views: in the order in which they must learn of news."""
        return self.points, self.input, self.latent

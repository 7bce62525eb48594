"""Views: `Scene`, `Frame` and `Surface` on the screen."""

from supdr_viz.views.board import Board
from supdr_viz.views.errors import Errors
from supdr_viz.views.figures import LegendEntry
from supdr_viz.views.input_space import InputPlane, InputSpace
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.losses import Losses
from supdr_viz.views.method_view import MethodView
from supdr_viz.views.plane import class_legend
from supdr_viz.views.points import Points

__all__ = [
    "Board",
    "Errors",
    "InputPlane",
    "InputSpace",
    "LatentSpace",
    "LegendEntry",
    "Losses",
    "MethodView",
    "Points",
    "class_legend",
]

"""Views saved as pictures of the user's, as they are shown."""

from __future__ import annotations

from supdr_viz.run.session import Session
from supdr_viz.views.board import Board
from supdr_viz.views.plane import points_legend

# What can be saved as a picture: title -> name of the view.
PLOTS = {
    "Input space": "input",
    "Latent space": "latent",
    "The method's view": "method",
    "Losses": "losses",
    "Error": "errors",
}


def save_plot(board: Board, session: Session, plot: str, format: str) -> None:
    """Save a view as a picture, with its title and its legend.

    `plot`: one of `PLOTS`; `format`: one of "png", "svg".
    """
    view = getattr(board, plot)
    legend = [] if plot == "input" else list(view.legend)
    if plot not in ("losses", "errors") and board.points.scene is not None:
        legend = [*points_legend(board.points), *legend]
    drawn = {"name": "text", **{word: word for word in ("colour", "kind", "dash", "shape")}}
    marks = [{word: getattr(key, field) for word, field in drawn.items()} for key in legend]
    words = {"title": view.title, "note": view.caption(), "legend": marks}
    board.hub.save_view(plot, format, f"supdr-{plot}", words)

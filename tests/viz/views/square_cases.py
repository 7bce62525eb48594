"""What tests of the squares look at."""

import numpy as np

from supdr_viz.pictures.methods import MARGINS, RECONSTRUCTION
from supdr_viz.views.board import Board
from tests.viz.made_frames import make_frame, make_scene, make_surface, told


def shown_board():
    """Return a board that shows a run, the messages that it sends from now on, and the scene."""
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION, MARGINS))
    board.show_frame(make_frame(scene, 4))
    board.show_surface(make_surface(scene))
    return board, told(board.stage), scene


def ringed(board, view, rings="ring"):
    bits = board.stage.get("planes", view, rings, "rows")
    return np.unpackbits(bits, bitorder="little")[: board.points.n_rows].astype(bool)


def plane(board, view, name):
    return board.stage.get("planes", view, name)

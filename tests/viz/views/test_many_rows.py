"""Many rows: they shine through each other, are counted, and only some of their rings are drawn."""

from dataclasses import replace

import numpy as np

from supdr_viz.pictures.types import Curves
from supdr_viz.views.board import Board
from supdr_viz.views.losses import Losses
from supdr_viz.views.plane import class_legend
from supdr_viz.views.points import point_opacity
from supdr_viz.views.stage.stage import Stage
from tests.viz.made_frames import make_scene, make_surface


def test_many_rows_shine_through_and_are_counted():
    opacities = [point_opacity(n) for n in (10, 2_000, 20_000, 1_000_000)]
    assert opacities[0] == opacities[1] == 1.0
    assert opacities == sorted(opacities, reverse=True)
    assert opacities[-1] >= 0.1
    few, many = make_scene(60), make_scene(3000)
    assert [entry.name for entry in class_legend(few)][:2] == list(few.class_names[:2])
    seen = many.is_test | many.is_labelled
    for code, entry in enumerate(class_legend(many)[: len(many.class_names)]):
        assert entry.name == f"{many.class_names[code]} · {((many.code == code) & seen).sum():,}"
    assert class_legend(many)[-1].name == f"label hidden · {(~seen).sum()}"
    for code, entry in enumerate(class_legend(many, "truth")[: len(many.class_names)]):
        assert entry.name == f"{many.class_names[code]} · {(many.code == code).sum():,}"
    assert class_legend(many, "prediction")[0].name == many.class_names[0]  # how many are predicted is not counted


def test_of_many_rings_some_are_drawn_and_their_share_is_said():
    board, scene = Board(), make_scene(3000)
    board.show_scene(scene)
    wrong = np.arange(3000) % 2 == 0
    surface = replace(make_surface(scene), beyond=wrong)
    board.show_surface(surface)
    bits = np.unpackbits(board.stage.get("planes", "input", "ring", "rows"), bitorder="little")[:3000].astype(bool)
    assert 60 < bits.sum() < 240
    assert not (bits & ~wrong).any()
    assert f"every {1500 / bits.sum():.0f}" in board.input.caption()
    board.show_surface(replace(surface, beyond=wrong & (np.arange(3000) < 2900)))
    again = np.unpackbits(board.stage.get("planes", "input", "ring", "rows"), bitorder="little")[:3000].astype(bool)
    assert (again & bits).sum() > 0.9 * bits.sum()  # rings do not jump from row to row
    board.show_surface(replace(surface, beyond=np.arange(3000) < 20))
    assert np.unpackbits(board.stage.get("planes", "input", "ring", "rows")).sum() == 20
    assert "1 in" not in board.input.caption()


def test_a_term_that_left_the_axis_is_said_to_be_nothing():
    losses = Losses(Stage(), "losses")
    values = {"objective": np.array([5.0, 4.0, 4.0]), "label": np.array([3.0, 1e-9, 0.0]), "ridge": np.ones(3)}
    losses.show_curves(Curves(np.arange(3), values), 2, (0, 2))
    assert [entry.name for entry in losses.legend] == ["objective", "label ≈ 0", "ridge"]
    assert [entry.kind for entry in losses.legend] == ["line"] * 3  # it has a line at the start
    values["label"] = np.array([1e-9, 1e-9, 0.0])
    losses.show_curves(Curves(np.arange(3), dict(values)), 2, (0, 2))
    assert [entry.kind for entry in losses.legend] == ["line", "none", "line"]
    values["label"] = np.array([3.0, 1e-9, 2.0])
    losses.show_curves(Curves(np.arange(3), values), 2, (0, 2))
    assert [entry.name for entry in losses.legend] == ["objective", "label", "ridge"]


def test_a_surrogate_that_the_objective_covers_is_not_in_the_legend():
    losses, objective = Losses(Stage(), "losses"), np.array([100.0, 10.0, 1.0])
    for factor, names in ((1.01, []), (3.0, ["goal of a step"])):
        values = {"objective": objective, "surrogate": factor * objective}
        losses.show_curves(Curves(np.arange(3), values), 2, (0, 2))
        assert [entry.name for entry in losses.legend] == ["objective", *names]

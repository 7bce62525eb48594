"""The objectives of several runs on one axis."""

import numpy as np

from supdr_viz.pictures.types import Curves
from supdr_viz.views.objectives import BOUND, Objectives
from supdr_viz.views.stage.stage import Stage


def curves(steps, objective, **more):
    return Curves(np.asarray(steps), {"objective": np.asarray(objective, dtype=float), **more})


def drawn(view):
    """Iterations and the values of every line."""
    return view.stage.get("charts", "objectives", "points")


def test_runs_with_steps_of_their_own_share_the_axis():
    view = Objectives(Stage(), "objectives")
    view.show_runs({"A": curves([0, 2, 4], [8, 4, 2]), "B": curves([0, 1], [5, 3]), "C": curves([0], [1])}, 4)
    nan = np.nan  # drawn as a line from the value before to the next one, and no further than the last one
    np.testing.assert_array_equal(drawn(view), [[0, 8, 5], [1, nan, 3], [2, 4, nan], [4, 2, nan]])
    assert [entry.name for entry in view.legend] == ["A", "B"]


def test_the_bound_is_drawn_and_may_be_negative():
    view = Objectives(Stage(), "objectives")
    view.show_runs({"D": curves([0, 1, 2], [9, 5, 4], bound=np.array([-3.0, 2.0, 3.5]))}, 2)
    assert view.log
    assert [entry.name for entry in view.legend] == ["D", f"{BOUND} of D"]
    low, high = (10.0**end for end in view.extent[2:])
    assert low <= 2.0
    assert high >= 9.0


def test_the_best_bound_is_drawn_if_it_can_hold_for_all():
    first = curves([0, 1, 2], [9, 5, 4], bound=np.array([1.0, 2.0, 2.0]))
    second = curves([0, 1, 2], [8, 6, 4], bound=np.array([0.0, 1.0, 3.0]))
    view = Objectives(Stage(), "objectives")
    view.show_runs({"A": first, "B": second}, 2)
    assert view.legend[-1].name == f"{BOUND} of A, B"
    np.testing.assert_array_equal(drawn(view)[:, 3], [1, 2, 3])
    view.show_runs({"A": first, "B": second, "C": curves([0, 1], [3, 0.5])}, 2)  # another objective: below the bound
    assert [entry.name for entry in view.legend] == ["A", "B", "C"]


def test_a_negative_objective_gets_a_linear_axis():
    view = Objectives(Stage(), "objectives")
    view.show_runs({"A": curves([0, 1], [3, -2]), "B": curves([0, 1], [4, 1])}, 1)
    assert not view.log
    np.testing.assert_array_equal(drawn(view)[:, 1], [3, -2])


def test_nothing_is_drawn_before_a_step():
    view = Objectives(Stage(), "objectives")
    view.show_runs({"A": curves([0], [3])}, 0)
    assert view.legend == []

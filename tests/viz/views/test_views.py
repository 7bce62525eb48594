"""Curves without a browser: what is sent, what stays, and what awkward data do to them."""

import dataclasses

import numpy as np
import pytest

from supdr_viz.data.number_format import alike, end_words, figure, mean_text, per_cent
from supdr_viz.pages.training_bar import status_words
from supdr_viz.pictures.methods import MARGINS, RECONSTRUCTION
from supdr_viz.pictures.types import Curves
from supdr_viz.ui.markup import explained, legend
from supdr_viz.views.board import Board
from supdr_viz.views.curves import linear_axis, log_axis, round_up
from supdr_viz.views.stage.wire import Tail, decode, merge
from tests.viz.made_frames import make_curves, make_frame, make_scene, make_surface


class Browser:
    """Takes what the stage of a board sends; has the charts that a browser would have."""

    def __init__(self, board):
        self.heard, self.tree = [], {}
        board.stage.connect(self.hear)

    def hear(self, message):
        patch = decode(message)
        self.heard.append(patch)
        self.tree = merge({} if patch.get("all") else self.tree, patch)

    @property
    def news(self):
        """Of the losses, in every message that has any."""
        return [patch["charts"]["losses"] for patch in self.heard if "losses" in patch.get("charts", {})]

    def __getitem__(self, name):
        return self.tree["charts"][name]


@pytest.fixture
def shown():
    board = Board()
    browser = Browser(board)
    scene = make_scene()
    board.show_scene(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION, MARGINS))
    board.show_frame(make_frame(scene, 4))
    board.show_surface(make_surface(scene))
    browser.heard.clear()
    return board, browser, scene


def test_errors_of_unlabelled_rows_replace_those_of_all_training_rows():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    rising = np.linspace(1, 2, 6)
    curves = {"train": rising, "labelled": rising / 2, "unlabelled": 2 * rising, "constant": np.full(6, 5.0)}
    board.show_frame(make_frame(scene, errors=Curves(np.arange(6), curves)))
    assert [entry.name for entry in board.errors.legend] == ["labelled", "unlabelled", "constant predictor"]
    constant = next(entry for entry in board.errors.legend if entry.name == "constant predictor")
    assert constant.dash == "dashed"


# --- curves -----------------------------------------------------------------------------------------------------------


def values_of(view, label):
    """A curve as the browser would draw it, with gaps."""
    chart = view.stage.get("charts", view.name)
    return chart["points"][:, 1 + [line["name"] for line in chart["lines"]].index(label)]


def test_growing_curves_are_appended_and_equal_the_whole(shown):
    board, browser, scene = shown
    for iteration in range(5, 30):
        board.show_frame(make_frame(scene, iteration))
    sent = [news["points"] for news in browser.news]
    assert all(isinstance(points, Tail) and len(points.rows) == 1 for points in sent)
    assert len(sent) == 25
    np.testing.assert_array_equal(browser["losses"]["points"], board.stage.get("charts", "losses", "points"))
    expected = make_frame(scene, 29).losses
    np.testing.assert_allclose(values_of(board.losses, "objective"), expected.values["objective"], rtol=1e-6)
    np.testing.assert_array_equal(browser["losses"]["points"][:, 0], expected.iteration)


def test_new_run_thinned_curves_and_late_values_are_sent_right(shown):
    board, browser, scene = shown
    rng = np.random.default_rng(0)
    steps = np.arange(50)
    late = rng.uniform(1, 2, 50)
    late[48:] = np.nan
    histories = [
        Curves(steps, {"objective": late}),
        Curves(steps, {"objective": np.where(np.isnan(late), 1.5, late)}),
        Curves(steps[::2], {"objective": rng.uniform(1, 2, 25)}),
        Curves(steps[:3], {"objective": rng.uniform(1, 2, 3)}),
        Curves(steps[:9], {"objective": rng.uniform(1, 2, 9), "label": rng.uniform(0, 1, 9)}),
    ]
    for curves in histories:
        board.show_frame(make_frame(scene, 49, losses=curves))
        np.testing.assert_allclose(values_of(board.losses, "objective"), curves.values["objective"], rtol=1e-6)
        np.testing.assert_array_equal(browser["losses"]["points"][:, 0], curves.iteration)
        np.testing.assert_array_equal(browser["losses"]["points"], board.stage.get("charts", "losses", "points"))


def test_scrubbing_moves_the_line_only(shown):
    board, browser, scene = shown
    frame = make_frame(scene, 20)
    board.show_frame(frame)
    browser.heard.clear()
    board.show_frame(dataclasses.replace(frame, iteration=3, live=False))
    assert browser.news == [{"viewed": 3}]


def test_empty_losses_and_all_nan():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    for curves in (
        Curves(np.empty(0, dtype=int), {}),
        make_curves(0),
        Curves(np.arange(3), {"test": np.full(3, np.nan)}),
    ):
        board.show_frame(make_frame(scene, 2, losses=curves, errors=curves))
        assert board.losses.legend == board.errors.legend == []
    board.show_frame(make_frame(scene, 3))
    assert {entry.name for entry in board.errors.legend} == {"train", "test"}


def test_log_axis_falls_back_to_linear_and_returns():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    negative = make_curves(6, label=np.linspace(1, -1, 6))
    board.show_frame(make_frame(scene, 5))
    assert board.losses.log
    board.show_frame(make_frame(scene, 5, losses=negative))
    assert not board.losses.log
    assert "linear" in board.losses.caption()
    assert board.stage.get("charts", "losses", "log") is False
    np.testing.assert_allclose(values_of(board.losses, "label"), negative.values["label"], rtol=1e-6)
    low, high = board.losses.extent[2:]
    assert low < -1
    assert high > np.max(negative.values["objective"])
    board.show_frame(make_frame(scene, 5))
    assert board.losses.log


def test_bound_below_zero_does_not_spoil_the_log_axis():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    bound = np.array([-50.0, -1.0, 0.0, 2.0, 4.0, 5.0])
    board.show_frame(make_frame(scene, 5, losses=make_curves(6, bound=bound, tiny=np.full(6, 1e-300))))
    assert board.losses.log
    np.testing.assert_array_equal(values_of(board.losses, "lower bound"), bound)  # what has no place is not drawn
    assert board.losses.extent[2] > -6
    names = [entry.name for entry in board.losses.legend]
    assert names[0] == "objective"
    assert names[-1] == "lower bound"
    assert board.losses.legend[-1].dash == "dashed"
    assert "no solution has an objective below" in board.losses.legend[-1].help
    assert "proved: no solution" in legend(board.losses.legend)
    assert board.losses.legend[0].width > board.losses.legend[1].width


def test_a_term_that_is_next_to_nothing_has_no_line_and_is_said_to_be_so():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    least = make_curves(6).values["objective"].min()
    board.show_frame(make_frame(scene, 5, losses=make_curves(6, regularisation=np.geomspace(1e-9, 5e-4, 6) * least)))
    entries = {entry.name: entry.kind for entry in board.losses.legend}
    assert entries["regularisation ≈ 0"] == "none"
    assert np.isnan(values_of(board.losses, "regularisation")).all()
    board.show_frame(make_frame(scene, 5, losses=make_curves(6, regularisation=np.geomspace(1e-9, 0.5, 6) * least)))
    assert {entry.name: entry.kind for entry in board.losses.legend}["regularisation"] == "line"
    assert np.isfinite(values_of(board.losses, "regularisation")).all()


def test_errors_start_at_zero_and_squared_errors_may_be_logarithmic():
    board = Board()
    board.show_scene(make_scene())
    board.show_frame(make_frame(make_scene(), 9))
    assert board.errors.extent[2] <= 0
    for worst in (0.7, 40.0):  # small errors are told apart, too
        curves = Curves(np.arange(9), {"test": np.full(9, worst)})
        board.show_frame(make_frame(make_scene(), 8, errors=curves))
        assert board.errors.extent[3] < max(2.5, 1.5 * worst)
        assert board.stage.get("charts", "errors", "title") == "Error"
    curves = Curves(np.arange(9), {"test": np.full(9, 1.0), "support vectors": np.full(9, 30.0)})
    board.show_frame(make_frame(make_scene(), 8, errors=curves))
    assert board.stage.get("charts", "errors", "title") == board.errors.title == "Error and support vectors"
    scene = make_scene(task="regression")
    board.show_scene(scene)
    steps = np.arange(9)
    for values, log in ((10.0**-steps, True), (3.0 + 0.1 * steps, False)):
        board.show_frame(make_frame(scene, 8, errors=Curves(steps, {"train": values, "test": 2 * values})))
        assert board.errors.log is log
    assert board.stage.get("charts", "errors", "title") == "Mean squared error"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 97), (-3, 5), (1e5, 1.1e5), (-1e-6, 0), (7, 7), (-4, -4), (0, 0)]
)
def test_linear_axis_holds_its_values(low, high):
    start, end, ticks = linear_axis(low, high)
    assert start < low <= high < end or start < low == high < end
    assert 2 <= len(ticks) <= 8
    assert all(start <= tick <= end for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (1, 1.2), (2, 9), (3, 4000), (1e-9, 1e7), (0.999, 1.001), (5e-5, 6e-5)]
)
def test_log_axis_holds_its_values_and_has_ticks(low, high):
    start, end, ticks = log_axis(low, high)
    assert start < np.log10(low) <= np.log10(high) < end
    assert 1 <= len(ticks) <= 10
    assert all(start <= tick <= end for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(3, 4000), (1e-9, 1e7), (2, 900), (0.013, 1.4)])
def test_a_long_log_axis_has_ticks_at_its_ends(low, high):
    start, end, ticks = log_axis(low, high)
    assert max(ticks[0] - start, end - ticks[-1]) < 0.05 * (end - start)
    assert np.diff([tick for tick in ticks if start <= tick <= end]).min() > 0.09 * (end - start)  # words do not touch


def test_axes_grow_in_jumps():
    assert [round_up(v) for v in (0, 3, 4, 10, 11, 12, 99, 101, 1999)] == [3, 3, 5, 10, 12, 12, 100, 120, 2000]


def test_numbers_have_the_minus_sign_of_print():
    for text in (figure(-3.0, 4), figure(-21330.4, 4), mean_text(-0.31, 0.02), mean_text(-3.0, 0.0), per_cent(-0.2)):
        assert text.startswith("\N{MINUS SIGN}")
        assert "-" not in text
    assert "·10⁻" in figure(2e-6, 3)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((-0.34, 0.285), ["−0.340", "0.285"]),
        ((12.0, 0.5), ["12.0", "0.5"]),
        ((1234.5, 7.0), ["1,234", "7"]),
        ((2e-6, 0.0), ["2·10⁻⁶", "0"]),
        ((float("nan"), 1.0), ["nan", "1.00"]),
    ],
)
def test_values_beside_each_other_end_at_the_same_place(values, texts):
    assert alike(*values) == texts


def test_a_start_is_said_to_be_none_of_the_steps():
    words = [status_words(iteration, {"objective": -2.0, "test_error": 40.0}) for iteration in (0, 1)]
    assert ["before the first step" in each[0] for each in words] == [True, False]


def test_a_word_is_explained_where_it_stands():
    plain, said = explained("gap", ""), explained("<b>7 %</b>", '"<i>certified</i>"', "number")
    assert plain == '<span class="">gap</span>'
    assert 'class="number explained" tabindex="0"' in said  # the Tab key leads to it
    assert said.count("&quot;&lt;i&gt;certified") == 2  # shown, and read out
    assert "<b>7 %</b>" in said


def test_a_term_has_one_colour_in_every_method():
    losses = Board().losses
    seen = {}
    for terms in (
        ["reconstruction", "regularisation", "label"],
        ["label", "margin", "regularisation"],
        ["neighbours", "label", "regularisation"],
        ["fit", "label", "smoothness", "margin"],
        [f"part {number}" for number in range(9)],
    ):
        styles = losses.styles_of(["objective", *terms, "bound"])
        looks = [(style.role, style.dash) for style in styles.values()]
        assert len(set(looks[:7])) == len(looks[:7])  # nobody takes one for another
        for name in terms:
            assert seen.setdefault(name, styles[name].role) == styles[name].role


def test_the_line_of_errors_stands_where_errors_are_known():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    errors = Curves(np.array([0, 4, 8]), {"train": np.array([5.0, 4.0, np.nan]), "test": np.array([6.0, 5.0, np.nan])})
    board.show_frame(make_frame(scene, iteration=9, errors=errors))
    assert board.stage.get("charts", "errors", "viewed") == 4
    assert board.stage.get("charts", "losses", "viewed") == 9
    board.show_frame(make_frame(scene, iteration=3, errors=errors))  # the curve passes between values
    assert board.stage.get("charts", "errors", "viewed") == board.stage.get("charts", "losses", "viewed") == 3
    board.show_frame(make_frame(scene, iteration=14, errors=errors))
    assert board.errors.extent[1] == board.losses.extent[1] == 15  # both charts reach as far


@pytest.mark.parametrize("n_rows", [7, 200, 30_000])
def test_per_cents_are_round_only_where_all_or_no_rows_are_meant(n_rows):
    for count in (0, 1, n_rows - 1, n_rows):
        assert (per_cent(count / n_rows) == "0\u00a0%") is (count == 0)
        assert (per_cent(count / n_rows) == "100\u00a0%") is (count == n_rows)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-1.0, 1.0137, ["−1", "1"]),
        (0.0, 0.974, ["0", "0.97"]),
        (-0.004, 1.3, ["0", "1.3"]),
        (25.0, 346.0, ["25", "346"]),
        (1000.25, 1000.75, ["1,000.25", "1,000.75"]),
        (2e-7, 5e-7, ["2·10⁻⁷", "5·10⁻⁷"]),
        (3.0, 3.0, ["3", "3"]),
    ],
)
def test_ends_of_a_scale_are_round_and_tell_its_ends_apart(low, high, words):
    assert end_words(low, high) == words

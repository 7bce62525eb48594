"""How reliable the map is: the questions of the explorer, as a visitor asks them."""

import re
import threading
import time

import numpy as np
import pytest

import supdr
from supdr.quality import Stability, class_trust, explain_pair, explain_row, explain_selection
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import parse_query
from supdr_viz.pages.explorer.again import agreement, laid_on
from supdr_viz.pages.explorer.belief import TITLE
from supdr_viz.pages.explorer.preservation import class_text
from supdr_viz.pages.explorer.question import effect_word
from supdr_viz.pages.explorer.reasons import SHORT, arrow_scale, column_weights, weights_text
from supdr_viz.pages.explorer.small_pictures import SCALES, SIDE, curves, histograms
from supdr_viz.run.pool import LONG_WAITS, LONG_WORKS, Courtesy, ManualPool, Pool
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.packed_positions import unpacked_places
from tests.viz.visitor import Visitor

IRIS = "?data=iris&method=MAC&method.n_components=2&method.n_centers=20&method.max_iter=4&test=0.3&seed=0&speed=fast"
NOISE = "?data=noise&data.n_samples=80&data.n_features=80&method=LSDR&method.max_iter=6&speed=fast"
LINEAR = "?data=iris&method=PCAProjection&method.n_components=2&test=0.3&seed=0&speed=fast"


def opened(visitor):
    visitor.press("Run").settle()
    return visitor.open_fold(TITLE).settle()


def say(visitor, **message):
    hub = next(iter(visitor.page.select(Hub)))
    visitor.do(lambda: visitor.send(message, hub))
    return visitor.settle()


def latent(visitor, name):
    return visitor.stage().get("planes", "latent", name)


def band(visitor):
    return visitor.stage().get("charts", "errors", "band")


# --- could it be chance -----------------------------------------------------------------------------------------------


def test_shuffled_labels_draw_a_band_and_say_a_sentence():
    with Visitor(IRIS) as visitor:
        opened(visitor).press("Shuffle the labels").settle()
        pattern = r"error is ([\d.]+) % with the true labels and ([\d.]+)–([\d.]+) % with shuffled labels"
        error, low, high = map(float, re.search(pattern, visitor.text).groups())
        assert error < low <= high
        assert band(visitor) == pytest.approx([low, high], rel=0.01)
        assert visitor.stage().get("charts", "errors", "extent")[3] >= high
        assert visitor.sees("None of the 19 shuffles did as well as the true labels. Chance is an unlikely explanation")
        assert visitor.sees("at most 1 of 20 cases (p = 0.05)")
        assert "shuffled labels" in visitor.head("Error")
        visitor.mark("Map of shuffled labels").settle()
        assert visitor.sees("The same rows, shuffled labels")
        visitor.choose("Method", "LSDR").settle()
        assert band(visitor) is None
        assert not visitor.sees("with the true labels")
        assert "shuffled labels" not in visitor.head("Error")


def test_a_map_of_noise_is_not_to_be_trusted():
    with Visitor(NOISE) as visitor:
        opened(visitor).press("Shuffle the labels").settle()
        assert visitor.sees("as well as the true labels. Chance can explain this result")
        assert visitor.sees("do not trust its groups")


def test_fits_can_be_stopped_and_what_is_known_stays():
    with Visitor(IRIS) as visitor:
        opened(visitor)
        group = next(each for each in visitor.parts() if "199 times" in (getattr(each, "options", None) or []))
        visitor.do(lambda: group.param.update(value="199 times"))
        visitor.press("Shuffle the labels")
        end = time.monotonic() + 60
        while band(visitor) is None and time.monotonic() < end:
            visitor.do(lambda: None)
        began = time.monotonic()
        visitor.press("Stop").settle()
        assert time.monotonic() - began < 2.0
        assert visitor.sees("of 199 shuffles so far")
        assert visitor.widget("Shuffle the labels").visible


def test_fits_give_way_to_runs_for_a_while_only():
    class Busy:
        def due(self, now):
            return 0.0

        def work(self, seconds):
            pass

    pool = ManualPool()
    assert pool.idle
    courtesy = Courtesy(pool, lambda: False)
    time.sleep(2 * LONG_WORKS)
    began = time.monotonic()
    assert not courtesy()
    assert time.monotonic() - began < LONG_WAITS
    pool.add(Busy())
    assert not pool.idle
    time.sleep(2 * LONG_WORKS)
    began = time.monotonic()
    assert not courtesy()
    assert time.monotonic() - began >= LONG_WAITS
    assert Courtesy(pool, lambda: True)()


def test_a_pool_at_work_is_not_idle():
    inside, go = threading.Event(), threading.Event()

    class Slow:
        def due(self, now):
            return None if inside.is_set() else 0.0

        def work(self, seconds):
            inside.set()
            go.wait(60)

    pool = Pool(1)
    pool.add(Slow())
    assert inside.wait(60)
    assert not pool.idle
    go.set()
    end = time.monotonic() + 60
    while not pool.idle and time.monotonic() < end:
        time.sleep(0.01)
    assert pool.idle


# --- would another fit look the same ----------------------------------------------------------------------------------


def test_other_seeds_leave_ghosts_and_colours():
    with Visitor(IRIS) as visitor:
        opened(visitor).press("Fit again").settle()
        assert visitor.sees("a row keeps")
        assert visitor.sees("agree")
        visitor.mark("Show all fits").settle()
        ghosts = latent(visitor, "ghosts")
        assert len(ghosts["rows"]) == 20 * 105
        near, far = unpacked_places(ghosts["place"]), visitor.places("latent")[ghosts["rows"]]
        assert np.linalg.norm(near - far, axis=1).mean() < 0.2 * np.ptp(far, axis=0).max()
        visitor.mark("Colour by spread").settle()
        colours = visitor.stage().get("rows", "colour")
        assert np.isfinite(colours[:105]).all()
        assert np.isnan(colours[105:]).all()  # test rows are in no fit
        assert visitor.sees("0.5 of the map")
        assert "view.colour=spread" in visitor.query
        visitor.slide("Margin weight", 1.0).settle()  # of another method nothing is known yet: labels until it is
        assert visitor.stage().get("rows", "colour").max() == 2
        assert "view.colour=spread" in visitor.query
        visitor.press("Fit again").settle()
        assert np.isfinite(visitor.stage().get("rows", "colour")[:105]).all()
        visitor.mark("Show all fits").settle()
        visitor.mark("Colour by spread").mark("Show all fits").settle()
        assert latent(visitor, "ghosts") is None
        assert visitor.stage().get("rows", "colour").max() == 2
        assert "view.colour" not in visitor.query


def test_a_link_with_the_spread_shows_labels_and_says_how_to_know_it():
    with Visitor(f"{IRIS}&view.colour=spread&view.size=spread") as visitor:
        assert visitor.sees("Rows show their spread after Fit again")
        assert visitor.stage().get("rows", "colour").max() == 2
        assert visitor.stage().get("rows", "sizes") is None
        opened(visitor).press("Fit again").settle()
        colours, sizes = (visitor.stage().get("rows", name) for name in ("colour", "sizes"))
        assert np.isfinite(colours[:105]).all()
        assert len(set(sizes[:105])) > 1
        far, near = colours[:105].argmax(), colours[:105].argmin()
        assert sizes[far] > sizes[near]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_ghosts_lie_on_the_map_that_they_are_of(d):
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(3, 40, d))
    maps[..., 2:] = 0.0
    places = maps.mean(axis=0)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) * 3.0
    target = places[:, :2] @ turn + 1.0 if d > 1 else np.column_stack([-2.0 * places[:, 0], rng.normal(size=40)])
    assert laid_on(maps, places, target).mean(axis=0) == pytest.approx(target)


def test_agreement_names_the_classes_that_move():
    one = np.zeros((4, 3, 2))
    answer = Stability(
        "seed", 4, 1, one, one[0], one[0, :, 0], one[0, :, 0], 0.5, np.arange(3.0), np.array([4, 1, 2]), 0
    )
    assert agreement(answer, ["a", "b", "c"]) == [
        "1 of 4 seeds agree about the place of class b.",
        "2 of 4 seeds agree about the place of class c.",
        "All fits agree about the places of the other classes.",
    ]


# --- why is it here ---------------------------------------------------------------------------------------------------


def test_the_row_under_the_pointer_has_arrows():
    with Visitor(IRIS) as visitor:
        say(visitor, kind="hover", row=3)
        assert latent(visitor, "arrows") is None  # nobody has asked
        opened(visitor)
        say(visitor, kind="hover", row=3)
        arrows = latent(visitor, "arrows")
        assert arrows["row"] == 3
        assert len(arrows["names"]) == len(arrows["by"]) == 3
        lengths = np.linalg.norm(arrows["by"], axis=1)
        assert (np.diff(lengths) <= 1e-6).all()
        assert visitor.sees("petal length (cm)")
        for row in (-1, 150, True, "3", None):
            say(visitor, kind="hover", row=row)
            assert latent(visitor, "arrows")["row"] == 3
        visitor.choose("Method", "LSDR").settle()
        assert latent(visitor, "arrows") is None


def test_a_selection_has_a_rule():
    with Visitor(IRIS) as visitor:
        opened(visitor)
        codes = visitor.stage().get("facts", "truth")
        rows = np.flatnonzero(codes == 0)
        say(visitor, kind="select", rows=[int(row) for row in rows])
        dataset = build_dataset(parse_query({"data": [b"iris"]})[0])
        order = visitor.stage().get("facts", "row")
        found = explain_selection(dataset.X[order], rows, names=[str(name) for name in dataset.feature_names])
        assert visitor.sees(f"{found.n_selected} selected rows are compared with the {found.n_rest} others")
        here, there = (f"{100 * share:.0f} %" for share in (found.holds, found.rest_holds))
        assert visitor.sees(f"holds for {here} of these and {there} of the others")
        assert latent(visitor, "arrows") is None


def test_a_linear_map_has_arrows_of_its_columns():
    with Visitor(LINEAR) as visitor:
        opened(visitor).mark("Arrows for all columns").settle()
        arrows = latent(visitor, "arrows")
        assert arrows["row"] == -1
        assert len(arrows["names"]) == 4
        assert arrows["origin"] == pytest.approx(visitor.places("latent").mean(axis=0), abs=1e-3)
        visitor.mark("Arrows for all columns").settle()
        assert latent(visitor, "arrows") is None
    with Visitor(IRIS) as visitor:
        opened(visitor).mark("Arrows for all columns").settle()
        assert latent(visitor, "arrows") is None
        assert visitor.sees("linear map")


@pytest.mark.parametrize(("longest", "scale"), [(0.5, 1), (0.0, 1), (0.003, 100), (1e-9, 1000)])
def test_short_arrows_are_drawn_longer(longest, scale):
    assert arrow_scale(longest) == scale
    assert longest * scale >= SHORT or scale == 1000 or longest == 0.0


def test_columns_are_listed_by_how_far_they_move_the_map():
    with Visitor(IRIS) as visitor:
        opened(visitor).mark("Most important columns").settle()
        assert visitor.sees("How far a row moves, on average, if a column increases by one standard deviation")
        assert visitor.sees("petal length (cm)")
        assert not visitor.sees("weight in the gate's distances")
        visitor.mark("Arrows for all columns").settle()  # MAC's map is not linear
        assert visitor.sees("linear map")
        assert not visitor.sees(", on average,")


def test_the_relevance_of_columns_is_that_of_the_gate():
    X = np.random.default_rng(0).standard_normal((300, 10))
    y = (X[:, 2] > 0) ^ (X[:, 7] > 0)
    model = supdr.ClassAtlas(max_iter=2, random_state=0).fit(X, y)
    moves, weights = column_weights(model, X)
    assert set(np.argsort(-weights)[:2]) == {2, 7}
    assert weights.mean() == pytest.approx(1.0)
    rows = X[np.linspace(0, 299, 100).astype(int)]
    slopes = [np.linalg.norm(explain_row(model, row).derivative, axis=0) for row in rows]
    assert moves == pytest.approx(np.sqrt(np.mean(np.square(slopes), axis=0)))
    text = weights_text([f"x{k}" for k in range(10)], moves, weights)
    assert "weight in the gate&#x27;s distances" in text
    assert text.index("x7") < text.index("x1<") or text.index("x2") < text.index("x1<")
    assert column_weights(supdr.LSDR(2, max_iter=2).fit(X, y), X)[1] is None


# --- what does it keep ------------------------------------------------------------------------------------------------


def test_neighbours_are_compared_class_by_class():
    with Visitor(IRIS) as visitor:
        opened(visitor).press("Compare neighbours").settle()
        assert re.search(
            r"Of the \d+ nearest rows to a row in the data, \d+ % are also its nearest on the map", visitor.text
        )
        assert visitor.sees("Measured on 45 test rows at iteration 4")
        assert all(
            visitor.sees(word)
            for word in ("False neighbours are close on the map", "setosa", "Steadiness", "Cohesiveness")
        )
        rows = next(each for each in visitor.parts() if "Training rows" in (getattr(each, "options", None) or []))
        visitor.do(lambda: rows.param.update(value="Training rows"))
        visitor.press("Compare neighbours").settle()
        assert visitor.sees("Measured on 105 training rows")
        visitor.choose("Method", "LSDR").settle()
        assert not visitor.sees("Measured on")


def test_without_new_rows_training_rows_are_offered():
    with Visitor(IRIS.replace("test=0.3", "test=0")) as visitor:
        opened(visitor).press("Compare neighbours").settle()
        assert visitor.sees("There are no test rows: choose training rows.")


def test_shares_of_false_and_lost_neighbours_are_the_librarys():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 5)), np.arange(80) % 3
    found = class_trust(X, X[:, :2], y)
    text = class_text(found, ["red", "green", "blue"])
    share = found.n_rows / 80
    added = [f"{100 * share @ each:.0f}\u00a0%" for each in (found.false_other, found.false_own)]
    assert (
        f"{added[0]} of the neighbours on the map are false and of another class, {added[1]} are false and of" in text
    )
    assert (
        f"{100 * share @ found.lost_own:.0f}\u00a0% of the neighbours in the data are lost and of the same class"
        in text
    )
    worst = ["red", "green", "blue"][int(np.argmax(found.false_other + found.lost_own))]
    assert re.search("<td>(red|green|blue)</td>", text).group(1) == worst


# --- what separates two classes ---------------------------------------------------------------------------------------


def test_two_classes_are_compared_everywhere_or_among_selected_rows():
    with Visitor(IRIS) as visitor:
        opened(visitor)
        assert visitor.sees("All rows: 50 rows of setosa, 50 of versicolor.")
        visitor.choose("First class", "virginica").settle()
        codes = visitor.stage().get("facts", "truth")
        order = visitor.stage().get("facts", "row")
        dataset = build_dataset(parse_query({"data": [b"iris"]})[0])
        names = [str(name) for name in dataset.feature_names]
        found = explain_pair(dataset.X[order], codes.astype(float), 2.0, 1.0, names=names)
        here, there = (f"{100 * share:.0f} %" for share in (found.holds, found.rest_holds))
        assert visitor.sees(f"holds for {here} of virginica and {there} of versicolor")
        rows = np.concatenate([np.flatnonzero(codes == code)[:20] for code in (1, 2)])
        say(visitor, kind="select", rows=[int(row) for row in rows])
        assert visitor.sees("Among the selected rows: 20 rows of virginica, 20 of versicolor.")
        say(visitor, kind="select", rows=[int(row) for row in np.flatnonzero(codes == 0)])
        assert visitor.sees("All rows: 50 rows of virginica, 50 of versicolor.")


@pytest.mark.parametrize(
    ("effect", "word"),
    [(-1.31, "large"), (0.8, "large"), (0.6, "medium"), (-0.2, "small"), (0.0, "negligible"), (np.nan, "")],
)
def test_the_size_of_an_effect_has_a_word(effect, word):
    assert effect_word(effect) == word


def test_numbers_have_no_two_classes():
    with Visitor("?data=diabetes&method=LSDR&method.max_iter=3") as visitor:
        opened(visitor)
        assert visitor.sees("The data have no two classes to compare.")


# --- a warning without a question -------------------------------------------------------------------------------------


def test_a_map_whose_new_rows_are_not_separated_says_so():
    with Visitor(NOISE) as visitor:
        visitor.press("Run").settle()
        assert visitor.sees("Only training rows look separated: 0 % wrong, of new ones ")
    with Visitor(IRIS) as visitor:
        visitor.press("Run").settle()
        assert not visitor.sees("training rows look separated")


# --- small pictures ---------------------------------------------------------------------------------------------------


def test_curves_rise_with_their_values_and_have_names():
    rise = np.array([0.0, 0.5, 1.0])
    picture = curves("k", np.array([1, 10, 100]), {"up": (rise, "curve 0"), "down": (1 - rise, "curve 1")})
    up, down = (np.array(path.split("L"), dtype=str) for path in re.findall('d="M([^"]*)" fill', picture))
    heights = [np.array([float(point.split()[1]) for point in line]) for line in (up, down)]
    assert (np.diff(heights[0]) < 0).all()  # downwards are pixels
    assert heights[1] == pytest.approx(heights[0][::-1])
    across = np.array([float(point.split()[0]) for point in up])
    assert np.diff(across)[0] == pytest.approx(np.diff(across)[1], abs=0.11)  # even in logarithms
    written = [(float(x), text) for x, text in re.findall(r'<text x="([\d.]+)" [^>]*middle">([^<]*)<', picture)]
    ticks = {float(text): x for x, text in written if text.isdecimal()}
    assert {1.0, 10.0, 100.0} <= {*ticks}  # both ends, and what lies between
    assert [ticks[value] for value in (1.0, 10.0, 100.0)] == pytest.approx(across, abs=0.11)
    assert all(f">{text}<" in picture for text in ("0 %", "100 %", "k"))
    assert all(name in picture for name in ("up", "down"))


def test_histograms_hold_all_values_on_one_scale():
    rng = np.random.default_rng(0)
    groups = {
        "a": (rng.standard_normal(500), "class 0"),
        "b": (np.append(3.0 + rng.standard_normal(200), np.nan), "class 1"),
    }
    boxes = re.findall(r'height="([\d.]+)" fill="([^"]*)"', histograms("x", groups))
    totals = {}
    for height, colour in boxes:
        totals[colour] = totals.get(colour, 0.0) + float(height)
    first, second = totals.values()
    assert first == pytest.approx(second, rel=0.02)  # both are shares of their group
    assert "stroke-dasharray" not in histograms("x", groups, [-np.inf], "bound")
    lined = histograms("x", groups, [9.0, np.inf], "bound")
    [x] = re.findall(r'd="M([\d.]+) [\d.]+V[\d.]+" stroke="[^"]*" stroke-width="1.5" stroke-dasharray', lined)
    apart = SIDE - SCALES[1] - float(x)
    assert 5.0 < apart < 15.0  # beyond all values, and a bin from the end of the scale
    assert "</i>bound</span>" in lined
    constant = histograms("x", {"a": (np.ones(3), "class 0"), "b": (np.ones(2), "class 1")})
    assert len(re.findall("<rect", constant)) == 2
    assert all(f">{end}</text>" in constant for end in ("0.5", "1.5", "0 %", "100 %"))  # ends of both axes
    assert all(f"</i>{name}</span>" in constant for name in "ab")

"""May I believe this map: the three questions of the explorer, as a visitor asks them."""

import re
import threading
import time

import numpy as np
import pytest

from supdr.quality import Stability, explain_selection
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import parse_query
from supdr_viz.pages.explorer.again import agreement, laid_on
from supdr_viz.pages.explorer.belief import TITLE
from supdr_viz.pages.explorer.question import GIVES_WAY, WORKS, Courtesy
from supdr_viz.pages.explorer.reasons import SHORT, arrow_scale
from supdr_viz.run.pool import ManualPool, Pool
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.packed_positions import unpacked_places
from tests.viz.visitor import Visitor

IRIS = "?data=iris&method=MAC&method.n_components=2&method.max_iter=4&test=0.3&seed=0&speed=fast"
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


# --- could chance do this ---------------------------------------------------------------------------------------------


def test_shuffled_labels_draw_a_band_and_say_a_sentence():
    with Visitor(IRIS) as visitor:
        opened(visitor).press("Shuffle the labels").settle()
        pattern = r"Held-out error ([\d.]+) %; with shuffled labels ([\d.]+)–([\d.]+) %; p ≤ 0.05 \(19 shuffles\)"
        error, low, high = map(float, re.search(pattern, visitor.text).groups())
        assert error < low <= high
        assert band(visitor) == pytest.approx([low, high], rel=0.01)
        assert visitor.stage().get("charts", "errors", "extent")[3] >= high
        assert visitor.sees("Chance hardly does this")
        assert "shuffled labels" in visitor.head("Error")
        visitor.mark("map of shuffled labels").settle()
        assert visitor.sees("The same rows, shuffled labels")
        visitor.choose("Method", "LSDR").settle()
        assert band(visitor) is None
        assert not visitor.sees("Held-out error")
        assert "shuffled labels" not in visitor.head("Error")


def test_a_map_of_noise_is_not_to_be_believed():
    with Visitor(NOISE) as visitor:
        opened(visitor).press("Shuffle the labels").settle()
        assert visitor.sees("shuffled labels did as well: chance can do this")
        assert visitor.sees("do not believe its groups")


def test_fits_can_be_stopped_and_what_is_known_stays():
    with Visitor(IRIS) as visitor:
        opened(visitor)
        group = next(each for each in visitor.parts() if "199" in (getattr(each, "options", None) or []))
        visitor.do(lambda: group.param.update(value="199"))
        visitor.press("Shuffle the labels")
        end = time.monotonic() + 60
        while band(visitor) is None and time.monotonic() < end:
            visitor.do(lambda: None)
        began = time.monotonic()
        visitor.press("Stop").settle()
        assert time.monotonic() - began < 2.0
        assert visitor.sees("of 199 so far")
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
    time.sleep(2 * WORKS)
    began = time.monotonic()
    assert not courtesy()
    assert time.monotonic() - began < GIVES_WAY
    pool.add(Busy())
    assert not pool.idle
    time.sleep(2 * WORKS)
    began = time.monotonic()
    assert not courtesy()
    assert time.monotonic() - began >= GIVES_WAY
    assert Courtesy(pool, lambda: True)()


def test_a_pool_at_work_is_not_idle():
    inside, go = threading.Event(), threading.Event()

    class Slow:
        def due(self, now):
            return None if inside.is_set() else 0.0

        def work(self, seconds):
            inside.set()
            go.wait(10)

    pool = Pool(1)
    pool.add(Slow())
    assert inside.wait(10)
    assert not pool.idle
    go.set()
    end = time.monotonic() + 10
    while not pool.idle and time.monotonic() < end:
        time.sleep(0.01)
    assert pool.idle


# --- would it look the same again -------------------------------------------------------------------------------------


def test_other_seeds_leave_ghosts_and_colours():
    with Visitor(IRIS) as visitor:
        opened(visitor).press("Fit again").settle()
        assert visitor.sees("neighbours stay")
        assert visitor.sees("agree")
        visitor.mark("ghosts").settle()
        ghosts = latent(visitor, "ghosts")
        assert len(ghosts["rows"]) == 20 * 105
        near, far = unpacked_places(ghosts["place"]), visitor.places("latent")[ghosts["rows"]]
        assert np.linalg.norm(near - far, axis=1).mean() < 0.2 * np.ptp(far, axis=0).max()
        visitor.mark("colour by spread").settle()
        colours = visitor.stage().get("rows", "colour")
        assert np.isfinite(colours[:105]).all()
        assert np.isnan(colours[105:]).all()  # test rows are in no fit
        assert visitor.sees("spread 0 to 0.5")
        visitor.mark("colour by spread").mark("ghosts").settle()
        assert latent(visitor, "ghosts") is None
        assert visitor.stage().get("rows", "colour").max() == 2


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
        "About the places of the other classes all agree.",
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
        assert visitor.sees(f"{found.n_selected} selected rows against {found.n_rest} others")
        assert visitor.sees(f"holds for {found.holds:.0%} of these and {found.rest_holds:.0%} of the others")
        assert latent(visitor, "arrows") is None


def test_a_linear_map_has_arrows_of_its_columns():
    with Visitor(LINEAR) as visitor:
        opened(visitor).mark("arrows of all columns").settle()
        arrows = latent(visitor, "arrows")
        assert arrows["row"] == -1
        assert len(arrows["names"]) == 4
        assert arrows["origin"] == pytest.approx(visitor.places("latent").mean(axis=0), abs=1e-3)
        visitor.mark("arrows of all columns").settle()
        assert latent(visitor, "arrows") is None
    with Visitor(IRIS) as visitor:
        opened(visitor).mark("arrows of all columns").settle()
        assert latent(visitor, "arrows") is None
        assert visitor.sees("linear map")


@pytest.mark.parametrize(("longest", "scale"), [(0.5, 1), (0.0, 1), (0.003, 100), (1e-9, 1000)])
def test_short_arrows_are_drawn_longer(longest, scale):
    assert arrow_scale(longest) == scale
    assert longest * scale >= SHORT or scale == 1000 or longest == 0.0

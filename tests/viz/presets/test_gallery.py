"""The gallery of examples: every example is in it once, those with a story first, and choosing one works as ever."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from scripts.example_pictures import example_picture, main
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import to_query
from supdr_viz.experiment.splitting import split
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.gallery import PAPERS, STORIES, TO_LOAD, plain_shelves, shelves, source_of, title_of
from supdr_viz.presets.pictures import GALLERY, SIZE, stored
from supdr_viz.ui.bar import Bar
from tests.viz.visitor import Visitor

WITH_DATA = [name for name, preset in PRESETS.items() if preset.needs is None]
HEAVIEST = 560_000
"""Bytes of all pictures: they are part of the package."""


def names(fold):
    return [card["name"] for shelf in shelves() if shelf["fold"] == fold for card in shelf["cards"]]


def test_every_example_is_offered_once_and_what_must_be_loaded_last():
    offered = names("") + names(PAPERS) + names(TO_LOAD)
    assert sorted(offered) == sorted(PRESETS)
    assert names("") == [name for idea in STORIES.values() for name in idea]
    assert names("")[0] == PRESETS.opening.name
    assert all((PRESETS[name].needs is None) == (name not in names(TO_LOAD)) for name in offered)


def test_cards_say_what_is_to_be_seen():
    cards = [card for shelf in shelves() for card in shelf["cards"]]
    assert len({card["title"] for card in cards}) == len(cards)
    for card in cards:
        assert card["line"].endswith((".", "?")), card
        assert card["source"], card
    assert source_of(PRESETS["mac-figure-2-10"]) == "MAC paper, Fig. 2"
    assert source_of(PRESETS["table-1-sonar-nsdr"]) == "NSDR paper, Table 1"
    assert source_of(PRESETS["figure-1"]) == "LSDR · NSDR paper, Fig. 1"


def test_pictures_are_those_of_the_examples_and_light():
    assert sorted(path.stem for path in GALLERY.iterdir()) == sorted(WITH_DATA)
    contents = [stored(GALLERY, name) for name in WITH_DATA]
    assert sum(map(len, contents)) <= HEAVIEST
    assert {Image.open(io.BytesIO(content)).size for content in contents} == {(2 * SIZE[0], SIZE[1])}


def test_a_picture_is_drawn_from_a_run():
    drawn = Image.open(io.BytesIO(example_picture(PRESETS["figure-1"])))
    halves = [drawn.crop((left, 0, left + SIZE[0], SIZE[1])) for left in (0, SIZE[0])]
    assert drawn.size == (2 * SIZE[0], SIZE[1])
    light, dark = (np.asarray(half.convert("L")).mean() for half in halves)
    assert light > 160 > 90 > dark  # one for a light page, one for a dark one
    assert all(len(set(half.convert("P").tobytes())) > 3 for half in halves)


def test_pictures_of_what_is_not_there_are_not_drawn(capsys):
    with pytest.raises(SystemExit):
        main(["figure-3"])
    assert "no example 'figure-3' whose data are included" in capsys.readouterr().err


def test_the_opening_goes_from_a_tangle_to_a_good_test_error():
    with Visitor() as visitor:
        assert visitor.sees("Press Run: three tangled arms come apart")
        assert visitor.number("test error") > 40
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        assert visitor.number("test error") < 2


def test_the_opening_comes_apart_step_by_step_and_its_second_act_closes_the_gap():
    opening = PRESETS.opening
    dataset = build_dataset(opening.settings)
    rows = split(dataset, opening.settings)
    passes = build_estimator(opening.settings)
    run = list(passes.iterate(rows.X_train, rows.y_train))
    told = run[: opening.slow_start + 1]
    errors = np.array([np.mean(passes.at(each).predict(rows.X_test) != rows.y_test) for each in told])
    assert errors[0] > 0.4
    assert errors[-1] < 0.02
    assert np.diff(errors).min() > -0.15  # no step tells it all
    joint = build_estimator(opening.settings.with_options(solver="lbfgs"))
    first, second = run[-1], list(joint.iterate(rows.X_train, rows.y_train, start=run[-1]))[-1]
    assert second.diagnostics["gap"] < 0.25 * first.diagnostics["gap"]


def test_the_gallery_is_filled_when_it_is_opened():
    with Visitor() as visitor:
        gallery = visitor.widget("Example")
        assert (gallery.value, gallery.shelves) == (PRESETS.opening.name, [])
        opened = visitor.open_gallery()
        pictured = [card["name"] for shelf in opened for card in shelf["cards"] if card["picture"]]
        assert sorted(pictured) == sorted(WITH_DATA)


def test_the_gallery_is_filled_and_an_example_begins_while_the_page_is_not_all_there():
    """As on a machine that is busy: the kit hands over what is pressed without the document's lock."""
    chosen = "sdr-glm-figure-1-labels"

    def press_at_once(visitor):
        gallery = visitor.widget("Example")
        visitor.send({"kind": "opened"}, gallery)
        visitor.tell(gallery, value=chosen)
        [bar] = [each for each in visitor.page.select(Bar) if "step" in each.held]
        visitor.send({"part": "step", "value": None}, bar)

    with Visitor(early=press_at_once) as visitor:
        gallery = visitor.widget("Example")
        assert len(gallery.shelves) == len(shelves())
        assert gallery.title == title_of(PRESETS[chosen])
        assert f"method={PRESETS[chosen].settings.method}" in visitor.query
        assert visitor.iteration == 1


def test_an_example_without_a_picture_of_its_own_begins_with_the_methods_first():
    with Visitor() as visitor:
        visitor.choose("Example", "Fig. 1b on six factors: labels lead, κ = 0.01").settle()
        assert visitor.widget("Example").title == title_of(PRESETS["sdr-glm-figure-1-labels"])
        assert "of X and targets" in visitor.head("Balance")
        visitor.choose("Example", "Fig. 1c: 1,000 Gaussian columns").settle()
        with pytest.raises(StopIteration):
            visitor.head("Balance")


def test_a_link_to_an_example_is_known_by_its_name_and_begins_with_its_picture():
    preset = PRESETS["sdr-glm-figure-1-labels"]
    with Visitor(f"?{to_query(preset.settings)}") as visitor:
        assert visitor.widget("Example").title == title_of(preset)
        assert visitor.sees(preset.note[:40])
        assert "of X and targets" in visitor.head("Balance")
    for other in (replace(preset.settings, seed=7), PRESETS["snf-tables-bears"].settings):  # a file may be any
        with Visitor(f"?{to_query(other)}") as visitor:
            assert visitor.widget("Example").value == ""


@pytest.mark.parametrize(
    ("page", "presets"),
    [
        ("explorer", PRESETS),
        pytest.param("compare", COMPARISON_PRESETS, marks=pytest.mark.slow),
        pytest.param("sensitivity", SWEEP_PRESETS, marks=pytest.mark.slow),
    ],
)
def test_the_gallery_of_every_page_offers_every_example_once(page, presets):
    with Visitor(page=page) as visitor:
        cards = [card for shelf in visitor.open_gallery() for card in shelf["cards"]]
        assert sorted(card["name"] for card in cards) == sorted(presets)
        assert len({card["title"] for card in cards}) == len(cards)
        assert visitor.widget("Example").value == presets.opening.name


def test_what_needs_other_data_stands_in_a_fold_of_its_own():
    sweeps = plain_shelves(SWEEP_PRESETS, lambda preset: "")
    folded = [card["name"] for shelf in sweeps if shelf["fold"] == TO_LOAD for card in shelf["cards"]]
    assert folded == [name for name, preset in SWEEP_PRESETS.items() if preset.needs]
    assert folded


def test_a_story_says_what_to_do_and_what_is_to_be_seen_in_few_words():
    for story in (story for idea in STORIES.values() for story in idea.values()):
        assert story.line.startswith("Run ")
        assert 10 <= len(story.line.split()) <= 25

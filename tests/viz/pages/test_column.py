"""Columns of a comparison without a browser: what the table says, and what can be saved."""

import csv
import io

import numpy as np
import pytest

from supdr_viz.experiment.build import Unusable
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare import table as scoreboard
from supdr_viz.pages.compare.checks import CHECKS, answers
from supdr_viz.pages.compare.column import Column, Facts
from supdr_viz.pages.compare.files import csv_of, python_of
from supdr_viz.pages.compare.lockstep import LockStep
from supdr_viz.views.stage.stage import Selection
from tests.viz.programs import execute

MOONS = {"data": "moons", "data_options": {"n_samples": 80}}
DIABETES = {"data": "diabetes"}


@pytest.fixture
def columns(hands):
    lockstep, selection, made = LockStep(speed="fast"), Selection(), []

    def make(*settings):
        for each in settings:
            column = Column(hands.pool, lockstep, selection, lambda _column: None)
            made.append(column)
            try:
                column.apply(Experiment(each), made[0].session if len(made) > 1 else None)
            except ValueError:
                continue
            column.show_scene()
        return made, lockstep

    yield make
    for column in made:
        column.close()


def scores(hands, columns):
    """Take frames as a page would, until train and test errors are known."""

    def known():
        for column in columns:
            frame = column.player.take_frame()
            if frame is not None:
                column._draw(frame, column.player.take_surface(), column.player.status)
                column.player.request_frame()
        return all(column.problem or "test" in column.facts().scores for column in columns)

    hands.until(known)
    return [column.facts() for column in columns]


def test_the_table_says_what_the_library_measures(hands, columns):
    made, _ = columns(
        Settings(**MOONS, method="RBFSVM"), Settings(**MOONS, method="MAC", method_options={"n_centers": 20})
    )
    facts = scores(hands, made)
    for column, row in zip(made, facts):
        fitted, parts = column.player.fitted, column.session.split
        assert row.scores["test"] == pytest.approx(100 * (1 - fitted.score(parts.X_test, parts.y_test)))
    assert facts[0].iteration is None
    assert facts[0].size == f"{len(made[0].player.fitted.support_)} support vectors"
    assert facts[1].iteration == 0
    assert "20 basis functions" in facts[1].size
    assert facts[0].seconds > 0


def test_r2_is_that_of_the_library(hands, columns):
    made, _ = columns(Settings(**DIABETES, method="ElasticNet"), Settings(**DIABETES, method="PLS"))
    for column, row in zip(made, scores(hands, made)):
        parts = column.session.split
        assert row.scores["test R²"] == pytest.approx(column.player.fitted.score(parts.X_test, parts.y_test), rel=1e-4)


def test_a_column_that_cannot_run_says_why_and_can_be_mended(hands, columns):
    made, _ = columns(Settings(**DIABETES, method="ElasticNet"), Settings(**DIABETES, method="LDA"))
    assert "needs classes" in made[1].facts().problem
    assert made[1].facts().state == "cannot run"
    with pytest.raises(Unusable):
        made[1].apply(Experiment(Settings(**DIABETES, method="NSDR")), made[0].session)
    made[1].apply(Experiment(Settings(**DIABETES, method="PLS")), made[0].session)
    made[1].show_scene()
    assert scores(hands, made)[1].problem == ""


def test_selection_is_shared_and_rows_are_the_same(hands, columns):
    made, _ = columns(Settings(**MOONS, method="LSDR"), Settings(**MOONS, method="LDA"))
    first, second = (column.pair.points for column in made)
    first.stage.hear({"kind": "select", "rows": [1, 3]})
    np.testing.assert_array_equal(second.stage.get("selected"), [1, 3])
    np.testing.assert_array_equal(first.stage.get("facts", "row"), second.stage.get("facts", "row"))


def test_everything_can_be_saved(hands, columns):
    made, _ = columns(Settings(**MOONS, method="LSDR"), Settings(**MOONS, method="LDA"))
    scores(hands, made)
    table = list(csv.DictReader(io.StringIO(csv_of(made, "table"))))
    assert [row["column"] for row in table] == ["A", "B"]
    assert float(table[1]["test"]) == made[1].facts().scores["test"]
    rows = list(csv.DictReader(io.StringIO(csv_of(made, "embedding"))))
    assert len(rows) == 160
    assert {row["column"] for row in rows} == {"A", "B"}
    assert csv_of(made, "losses").startswith("column,")
    program = python_of(made)
    assert "column A: LSDR" in program
    compile(program, "comparison", "exec")


def test_the_program_says_the_answers_of_the_table(hands, columns, tmp_path):
    made, _ = columns(Settings(**MOONS, method="LDA"))
    scores(hands, made)
    assert "supdr.quality" not in python_of(made)
    assert "supdr.quality" not in python_of(made, ["seeds"])
    column = made[0]
    for name in ("chance", "stability"):
        (column.answers[name],) = answers(CHECKS[name], [Experiment(column.settings)], lambda *_step: None)
    _, printed = execute(python_of(made, ["chance", "stability"]), tmp_path)
    assert f"p = {column.answers['chance'].value:.2g} (19 permutations)" in printed
    assert str(column.answers["stability"].value) in printed
    table = list(csv.DictReader(io.StringIO(csv_of(made, "table"))))
    assert float(table[0]["p by 19 shuffles of the labels"]) == column.answers["chance"].value
    assert float(table[0]["neighbours that stay over 10 bootstrap samples"]) == column.answers["stability"].value


def facts(**changes):
    return Facts(
        **{"label": "M", "note": "", "state": "ready", "iteration": 1, "scores": {}, "size": "", "seconds": 0.0}
        | changes
    )


def test_the_best_value_is_marked_and_text_is_escaped():
    rows = [facts(label="<b>", scores={"test": 2.0}), facts(scores={"test": 1.0}), facts(iteration=None, seconds=None)]
    html = scoreboard.table_html(rows, "classification")
    assert "<b>" not in html
    assert html.count(' best"') == 1
    assert '<td class="number best">1.0 %</td>' in html
    best = scoreboard.table_html([facts(scores={"test R²": 0.1}), facts(scores={"test R²": 0.9})], "regression")
    assert '<td class="number best">0.900</td>' in best
    first = scoreboard.table_html(
        [facts(scores={"test": 2.0}), facts(iteration=0, scores={"test": 1.0})], "classification"
    )
    assert ' best"' not in first  # one of them has not begun
    assert "Settings" not in first  # both columns have default settings
    some = scoreboard.table_html([facts(note="C: 3"), facts()], "classification")
    assert '<td class="note">C: 3</td>' in some
    assert '<td class="note">default</td>' in some
    trained = scoreboard.table_html([facts(scores={"train": 0.0}), facts(scores={"train": 1.0})], "classification")
    assert ' best"' not in trained  # training rows are placed with their labels
    assert "A M, ready, iteration 1" in scoreboard.sentence(rows[1:], "classification")

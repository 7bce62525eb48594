"""Teaching a map: selected rows get other labels, the run carries on, and all of it can be undone and repeated."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from supdr_viz.experiment.build import Unusable
from supdr_viz.experiment.codec import arguments_entries
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU, METHODS_GROUP
from supdr_viz.experiment.settings import MAX_TAUGHT, UNLABELLED, Settings, from_json, parse_entries, to_json, to_query
from supdr_viz.experiment.teaching import taught_dataset, taught_further, taught_split
from supdr_viz.run.session import Session
from supdr_viz.run.uncertainty import least_certain_rows
from tests.viz.hands import Hands
from tests.viz.prepared import prepared
from tests.viz.programs import execute
from tests.viz.visitor import Visitor

FEW = Settings(data="spirals", data_options={"n_per_class": 40}, method="NSDR", label_share=0.3)
LEARNERS = [
    name
    for name, each in MENU.items()
    if each.group == METHODS_GROUP and "classification" in each.tasks() and each.iterates
]


# --- what is taught ---------------------------------------------------------------------------------------------------


def test_labels_travel_in_links_and_files():
    settings = replace(FEW, taught=((3, 1), (9, UNLABELLED), (12, 2)))
    query = {name: [value] for name, _, value in (part.partition("=") for part in to_query(settings).split("&"))}
    assert parse_entries(arguments_entries({key: [text[0].encode()] for key, text in query.items()})) == (settings, [])
    assert from_json(to_json(settings)) == (settings, [])


@pytest.mark.parametrize(
    "text", ["1", "1,2,3", "a,b", "-1,0", "1,-2", "1,1.5", "1,9999", "1e300,0", "nan,1", ";", "[]"]
)
def test_what_is_no_label_is_said_and_ignored(text):
    settings, problems = parse_entries({"taught": f"4,1;{text}"})
    assert settings.taught == ((4, 1),)
    assert len(problems) == 1
    assert "taught labels" in problems[0]


def test_only_so_many_rows_are_taught():
    many = ";".join(f"{row},0" for row in range(MAX_TAUGHT + 1))
    settings, problems = parse_entries({"taught": many})
    assert len(settings.taught) == MAX_TAUGHT
    assert "the first 500 are kept" in problems[0]
    with pytest.raises(Unusable, match="501 rows would be taught; 500 are the most"):
        taught_further(settings.taught, [MAX_TAUGHT + 5], 1)


def test_training_rows_take_the_label_and_others_wait():
    dataset, parts, _scene = prepared(FEW)
    hidden = np.flatnonzero(np.isnan(parts.y_train))[0]
    known = np.flatnonzero(~np.isnan(parts.y_train))[:2]
    labels = {parts.train[hidden]: 1, parts.train[known[0]]: UNLABELLED, parts.train[known[1]]: 2, parts.test[0]: 1}
    taught = taught_further((), [], 0)
    for row, code in labels.items():
        taught = taught_further(taught, [row], code)
    there = taught_split(parts, dataset, taught)
    assert there.y_train[hidden] == there.truth_train[hidden] == 1
    assert np.isnan(there.y_train[known[0]])
    assert there.truth_train[known[0]] == parts.truth_train[known[0]]  # its truth is what it was
    assert there.y_train[known[1]] == there.truth_train[known[1]] == 2
    others = np.setdiff1d(np.arange(len(parts.train)), [hidden, *known])
    np.testing.assert_array_equal(there.y_train[others], parts.y_train[others])
    assert there.y_test is parts.y_test
    assert "3 training rows have labels that were taught." in there.notes
    assert "1 labels that were taught are of rows that do not train here." in there.notes
    assert taught_dataset(dataset, taught).target_names == (*dataset.target_names, "new class")
    assert taught_dataset(dataset, ()) is dataset


def test_two_classes_must_stay():
    dataset, parts, _scene = prepared(FEW)
    with pytest.raises(Unusable, match="two classes"):
        taught_split(parts, dataset, taught_further((), parts.train, 0))


# --- the run ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", LEARNERS)
def test_a_run_carries_on_with_what_it_was_taught(method):
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    settings = Settings(data="spirals", data_options={"n_per_class": 30}, method=method, label_share=0.5, speed="fast")
    session.apply(Experiment(settings))
    session.player.run(until=2)
    hands.rest()
    before, places = session.player.iteration, session.scene.position
    rows = session.split.train[np.flatnonzero(np.isnan(session.split.y_train))[:5]]
    session.apply(Experiment(replace(settings, taught=taught_further((), rows, 2))))
    hands.rest()
    assert session.player.iteration == before  # nothing is lost
    session.player.run(until=before + 1)
    hands.rest()
    assert session.player.status.phase.name != "failed", session.player.status
    assert session.player.iteration >= before
    assert 2 in session.player.fitted.classes_
    np.testing.assert_array_equal(session.scene.position, places)
    assert session.scene.class_names[-1] == "new class"
    session.apply(Experiment(settings))  # undone
    hands.rest()
    assert 2 not in session.player.fitted.classes_
    assert session.scene.class_names == ("arm 1", "arm 2")
    session.close()


def test_the_program_repeats_what_was_taught(tmp_path):
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(FEW))
    session.player.run(until=4)
    hands.rest()
    rows = session.split.train[np.flatnonzero(np.isnan(session.split.y_train))[:4]]
    settings = FEW
    for number, row in enumerate(rows):
        settings = replace(settings, taught=taught_further(settings.taught, [row], number % 2))
        session.apply(Experiment(settings))
        session.player.run(until=session.player.iteration + 2)
        hands.rest()
    names, printed = execute(session.python(), tmp_path)
    np.testing.assert_array_equal(names["model"].embedding_, session.player.fitted.embedding_)
    np.testing.assert_array_equal(names["y_train"], session.split.y_train)
    np.testing.assert_array_equal(names["truth"], session.split.truth_train)
    assert "train error" in printed
    session.close()


def test_labels_are_saved_as_a_table():
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(FEW))
    hands.rest()
    row = int(session.split.train[np.flatnonzero(np.isnan(session.split.y_train))[0]])
    session.apply(Experiment(replace(FEW, taught=((row, 1),))))
    table = pd.read_csv(io.StringIO(session.labels_csv())).set_index("row")
    assert list(table.index) == list(session.split.train)
    assert table.loc[row, "label"] == "arm 2"
    assert pd.isna(table.loc[row, "label before"])
    assert table["taught"].sum() == 1
    session.close()


@pytest.mark.parametrize("label_share", [0.3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_most_doubtful_row_is_asked_for_first(label_share, n_classes):
    settings = Settings(
        data="spirals", data_options={"n_per_class": 30, "n_classes": n_classes}, method="LSDR", label_share=label_share
    )
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings))
    hands.rest()
    fitted, parts = session.player.fitted, session.split
    places, likely = least_certain_rows(fitted, parts)
    wanted = np.isnan(parts.y_train) if label_share < 1 else np.ones(len(parts.y_train), dtype=bool)
    np.testing.assert_array_equal(np.sort(places), np.flatnonzero(wanted))
    scores = fitted.decision_function(parts.X_train[places])
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    best = np.sort(scores, axis=1)
    assert (np.diff(best[:, -1] - best[:, -2]) >= 0).all()
    np.testing.assert_array_equal(likely[:, 0], fitted.predict(parts.X_train[places]))
    shown = np.random.default_rng(0).permutation(len(wanted) + 10)[:40]  # some of them test rows
    among, _likely = least_certain_rows(fitted, parts, shown)
    np.testing.assert_array_equal(among, [place for place in places if place in shown])
    session.close()


# --- the page ---------------------------------------------------------------------------------------------------------


def selecting(visitor, rows):
    visitor.do(lambda: visitor.stage().hear({"kind": "select", "rows": [int(row) for row in rows]}))


def test_a_visitor_teaches_undoes_and_shares():
    few = replace(FEW, method_options={"max_iter": 20}, speed="fast")
    with Visitor(f"?{to_query(few)}") as visitor:
        selecting(visitor, range(5))
        assert visitor.sees("Relabel 5 training rows as …")
        visitor.press("arm 2").settle()
        rows = visitor.stage().get("facts", "row")[:5]
        assert f"taught={';'.join(f'{row},1' for row in sorted(rows))}" in visitor.query
        assert (visitor.stage().get("facts", "truth")[:5] == 1).all()
        assert (visitor.stage().get("facts", "split")[:5] == 0).all()  # their labels are not hidden any more
        assert visitor.iteration > 0  # it runs on by itself
        visitor.press("new class").settle()
        assert visitor.sees("new class")
        visitor.press("Undo").press("Undo").settle()
        assert "taught" not in visitor.query
        visitor.press("Done")
        assert visitor.stage().get("selected").size == 0


def test_the_doubtful_row_is_named_and_selected():
    with Visitor(f"?{to_query(FEW)}") as visitor:
        selecting(visitor, [0])
        visitor.press("Step").settle().press("Next uncertain row").settle()
        (first,) = visitor.stage().get("selected")
        assert visitor.sees(f"Row {visitor.stage().get('facts', 'row')[first]}: arm ")
        visitor.press("Next uncertain row").settle()
        assert list(visitor.stage().get("selected")) != [first]


def test_rows_that_cannot_be_taught_say_why():
    with Visitor(f"?{to_query(FEW)}") as visitor:
        test = np.flatnonzero(visitor.stage().get("facts", "split") == 1)
        selecting(visitor, test[:3])
        assert visitor.sees("Test rows cannot be taught")
        selecting(visitor, [0, 1, *test[:3]])
        assert visitor.sees("Relabel 2 training rows as … (3 test rows stay as they are)")
        visitor.choose("Data set", "Diabetes (regression)").settle()
        selecting(visitor, [0])
        assert visitor.sees("These rows have numbers, not classes")


def test_other_rows_know_nothing_of_what_was_taught():
    with Visitor(f"?{to_query(replace(FEW, taught=((3, 1), (5, 0))))}") as visitor:
        assert "taught=3,1;5,0" in visitor.query
        visitor.choose("Data set", "Iris").settle()
        assert "taught" not in visitor.query

"""The rows behind the points of the explorer: colours, search, table, counts, nearest rows."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from supdr_viz.ui.bar import Menu, Pickable, Search
from supdr_viz.views.colours import PICK_MISPLACED
from supdr_viz.views.row_table import RowTable
from tests.viz.visitor import Visitor

IRIS = "?data=iris&method=LSDR&test=0.3"


@pytest.fixture(scope="module")
def plants():
    """A table with a text of each row and an id, and the file of it."""
    iris = load_iris()
    table = pd.DataFrame(iris.data, columns=["sepal length", "sepal width", "petal length", "petal width"])
    table["site"] = np.array(["north", "south", "coast"])[np.arange(150) % 3]
    table["note"] = [f"plant {k} of the garden" for k in range(150)]
    table["id"] = np.arange(9000, 9150)
    table["species"] = iris.target_names[iris.target]
    return table


def part(visitor, kind, **attributes):
    return next(
        each
        for each in visitor.parts()
        if isinstance(each, kind) and all(getattr(each, name) == value for name, value in attributes.items())
    )


def hear(visitor, part, value):
    visitor.do(lambda: part.hear(value))
    return visitor.settle()


def find(visitor, text):
    return hear(visitor, part(visitor, Search), text)


def selected(visitor):
    return visitor.stage().get("selected")


def rows_shown(visitor):
    """Numbers in the data of the rows that are drawn."""
    return visitor.stage().get("facts", "row")


def open_rows(visitor):
    return visitor.open_fold("Table of rows").settle()


def piece(visitor, **asked):
    """What the table answers that is asked for a piece."""
    table = next(iter(visitor.page.select(RowTable)))
    answer = table.piece(**{"page": 1, "size": 100, **asked})
    heads = table.heads
    titles = {column["field"]: column["title"] for column in heads}
    frame = pd.DataFrame(answer["rows"], columns=answer["names"])
    return frame.rename(columns=titles), {column["title"]: column for column in heads}, answer


def test_any_column_colours_and_sizes_rows_and_is_in_the_link():
    with Visitor(IRIS) as visitor:
        menu = part(visitor, Menu, label="Colour")
        assert {"label", "prediction", "error", "trust", "doubt", "loss", "latent:1"} < set(menu.offered)
        hear(visitor, menu, "column:petal length (cm)")
        assert "view.colour=column:petal%20length%20%28cm%29" in visitor.query
        assert visitor.sees("petal length (cm) 1")
        lengths = load_iris().data[rows_shown(visitor), 2]
        np.testing.assert_allclose(visitor.stage().get("rows", "colour"), lengths)
        visitor.press("Run").settle()
        hear(visitor, menu, "probability:virginica")
        likely = visitor.stage().get("rows", "colour")
        assert np.isfinite(likely).all()
        true = load_iris().target[rows_shown(visitor)] == 2
        assert likely[true].mean() > likely[~true].mean()
        hear(visitor, part(visitor, Menu, label="Size"), "doubt")
        assert "view.size=doubt" in visitor.query
        sizes = visitor.stage().get("rows", "sizes")
        assert sizes.max() > sizes.min()
    with Visitor("?" + visitor.query) as again:
        assert part(again, Menu, label="Size").value == "doubt"
        assert again.settle().stage().get("rows", "sizes") is not None


def test_a_link_to_a_column_that_the_data_do_not_have_shows_classes():
    with Visitor(f"{IRIS}&view.colour=column:height&view.size=column:height") as visitor:
        assert visitor.sees("setosa")
        assert part(visitor, Menu, label="Colour").value == "label"
        assert visitor.stage().get("rows", "sizes") is None


def test_a_press_on_the_legend_selects_classes():
    with Visitor(IRIS) as visitor:
        legend = next(each for each in visitor.parts() if isinstance(each, Pickable) and "setosa" in each.html)
        codes = load_iris().target[rows_shown(visitor)]
        hear(visitor, legend, 0)
        np.testing.assert_array_equal(np.sort(selected(visitor)), np.flatnonzero(codes == 0))
        hear(visitor, legend, 2)
        np.testing.assert_array_equal(np.sort(selected(visitor)), np.flatnonzero(codes != 1))
        assert legend.pressed == [0, 2]
        hear(visitor, legend, 0)
        hear(visitor, legend, 2)
        assert len(selected(visitor)) == 0
        hear(visitor, legend, 1)
        visitor.do(lambda: visitor.stage().hear({"kind": "select", "rows": [3, 4]}))
        assert legend.pressed == []  # other rows are selected


def test_a_query_selects_rows_and_steps_through_them():
    with Visitor(IRIS) as visitor:
        search = part(visitor, Search)
        find(visitor, "petal length > 5 and sepal width < 3")
        X = load_iris().data[rows_shown(visitor)]
        expected = np.flatnonzero((X[:, 2] > 5) & (X[:, 1] < 3))
        np.testing.assert_array_equal(np.sort(selected(visitor)), expected)
        assert search.note == f"1 of {len(expected)}"
        seen = [visitor.stage().get("current")]
        for _ in expected:
            hear(visitor, search, 1)
            seen.append(visitor.stage().get("current"))
        assert seen[0] == seen[-1]  # around, once
        assert set(seen) == set(expected)
        hear(visitor, search, -1)
        assert visitor.stage().get("current") == seen[-2]
        assert "Row" in visitor.status
        find(visitor, "")
        assert (len(selected(visitor)), visitor.stage().get("current"), search.note) == (0, -1, "")


def test_what_is_not_found_is_said():
    with Visitor(IRIS) as visitor:
        for text, note, wrong in (
            ("height > 5", "no column 'height'", True),
            ("petal length > 50", "no rows", False),
            ("petal length >", "Expected", True),
            ("no such word", "no rows", False),
            ("trust < 0.5", "not measured yet", True),
            ("class = rose", "no value 'rose'; it has setosa", True),
        ):
            find(visitor, text)
            search = part(visitor, Search)
            assert note in search.note
            assert search.wrong is wrong
            assert note in visitor.status


def test_a_query_and_the_table_reach_the_rows_that_are_not_drawn():
    with Visitor("?data=blobs&data.n_samples=51000&method=LDA") as visitor:
        open_rows(visitor)
        find(visitor, "row >= 50000")
        count = int((np.array(rows_shown(visitor)) >= 50_000).sum())
        assert part(visitor, Search).note == f"1 of 1,000 ({count:,} drawn)"
        assert len(selected(visitor)) == count < 1000
        assert piece(visitor, page=10)[2]["rows"][-1][2] == 50_999


def test_columns_of_a_file_that_are_not_learnt_from_are_looked_at(plants):
    with Visitor("?data=iris&method=LDA") as visitor:
        visitor.choose("Data set", "A file …")
        visitor.upload("plants.csv", plants.to_csv(index=False))
        visitor.press("Use this file").settle()
        menu = part(visitor, Menu, label="Colour")
        assert {"column:site", "column:note"} < set(menu.offered)
        hear(visitor, menu, "column:site")
        for site in ("north", "south", "coast"):
            assert visitor.sees(f"{site} · 50")
        numbers = rows_shown(visitor)
        for text in ("plant 17 of the garden", "note ~ plant 17", "17"):
            find(visitor, text)
            assert 17 in numbers[selected(visitor)]
        find(visitor, "site = coast and species = setosa")
        np.testing.assert_array_equal(
            np.sort(numbers[selected(visitor)]),
            np.flatnonzero((plants.site == "coast") & (plants.species == "setosa")),
        )


def test_the_table_has_the_selected_rows_sorted_by_any_column():
    with Visitor(IRIS) as visitor:
        visitor.press("Run").settle()
        open_rows(visitor)
        everything, heads, _ = piece(visitor)
        assert len(everything) == 100  # a piece
        assert list(everything["Row"]) == list(range(100))
        assert heads["prediction"]["shares"] is not None
        find(visitor, "setosa")
        shown, heads, last = piece(visitor, column="c3", down=True)
        assert len(shown) == 50
        assert last["last"] == 1
        assert set(shown["class"]) == {"setosa"}
        values = shown[list(heads)[4]].astype(float)
        assert list(values) == sorted(values, reverse=True)
        assert visitor.sees("50 rows are selected; the 100 others are grey")
        assert visitor.sees("They differ most in class (100 % setosa, of the rest 0 %); petal")
        assert "of the rest" in heads["petal length (cm)"]["words"]


def test_errors_and_misplaced_rows_are_one_press_away():
    with Visitor("?data=wine&method=PCAProjection&test=0.3") as visitor:
        visitor.press("Run").settle()
        open_rows(visitor)
        shown, *_rest = piece(visitor, size=178)
        errors = list(shown["Row"][shown["class"] != shown["prediction"]])
        assert 0 < len(errors) < 50
        visitor.press(f"Show {len(errors)} errors").settle()
        assert sorted(piece(visitor)[0]["Row"]) == errors
        find(visitor, "")  # all rows again
        misplaced = (piece(visitor, size=178)[0]["trust"].astype(float) < 0.75).sum()
        visitor.press(f"Show {misplaced} misplaced rows").settle()
        assert "view.colour=trust" in visitor.query
        trust = piece(visitor)[0]["trust"].astype(float)
        assert 0 < len(trust) < 178
        assert trust.max() < 0.75
        assert visitor.sees("trust below 0.75")
        find(visitor, "trust < 0.75")
        legend = next(each for each in visitor.parts() if isinstance(each, Pickable) and "misplaced" in each.html)
        by_query = selected(visitor)
        hear(visitor, legend, PICK_MISPLACED)
        assert by_query.tolist() == selected(visitor).tolist()


def test_labels_are_offered_over_the_table_once_they_are_asked_for():
    with Visitor(IRIS) as visitor:

        def over():
            """Whether a bar lies over the page."""
            fixed = visitor.page.select(lambda each: getattr(each, "styles", {}).get("position") == "fixed")
            return any(each.visible for each in fixed)

        find(visitor, "setosa")
        assert over()
        open_rows(visitor)
        assert not over()
        visitor.press("Relabel").settle()
        assert over()
        find(visitor, "virginica")
        assert not over()
        open_rows(visitor)  # which closes them
        assert over()


def test_menus_say_by_themselves_what_is_chosen():
    with Visitor(IRIS) as visitor:
        texts = {value: text for _, _, each in part(visitor, Menu, label="Colour").groups for text, value in each}
        assert texts["latent:1"] == "z1"
        assert texts["probability:setosa"] == "probability of setosa"
        assert texts["column:petal length (cm)"] == "petal length (cm)"


def test_a_table_answers_no_nonsense_and_a_row_of_it_is_pointed_at_on_the_map():
    with Visitor(IRIS) as visitor:
        open_rows(visitor)
        table = next(iter(visitor.page.select(RowTable)))
        for page, size in ((0, 10), ("1", 10), (1, 10**9), (1, None)):
            assert table.piece(page, size) is None
            visitor.send({"kind": "piece", "page": page, "size": size, "column": ["x"]}, table)
        assert len(table.piece(1, 10, "no such column")["rows"]) == 10
        visitor.settle()
        visitor.send({"kind": "point", "number": 7}, table)
        visitor.settle()
        assert visitor.stage().get("current") == 7


def test_cells_of_classes_against_predictions_select_their_rows():
    with Visitor("?data=iris&method=LDA&test=0.5") as visitor:
        visitor.press("Run").settle()
        open_rows(visitor)
        counts = next(each for each in visitor.parts() if isinstance(each, Pickable) and "counts" in each.html)
        assert "rows of versicolor are predicted as virginica" in counts.html
        hear(visitor, counts, 0)
        codes = load_iris().target[rows_shown(visitor)]
        np.testing.assert_array_equal(np.sort(selected(visitor)), np.flatnonzero(codes == 0))
        assert counts.pressed == [0]
        hear(visitor, counts, 0)
        assert len(selected(visitor)) == 0


def test_rows_are_saved_as_csv():
    saved = []
    with Visitor(IRIS) as visitor:
        open_rows(visitor)
        visitor.bridge.download = lambda *file: saved.append(file)  # a browser would write it
        find(visitor, "virginica")
        visitor.press("CSV").settle()
    table = pd.read_csv(io.StringIO(saved[0][1]))
    assert set(table["class"]) == {"virginica"}
    np.testing.assert_allclose(table["petal length (cm)"], load_iris().data[table["row"], 2])


def test_nearest_rows_of_the_row_under_the_pointer():
    with Visitor(IRIS) as visitor:
        visitor.press("Run").settle()
        visitor.do(lambda: visitor.stage().hear({"kind": "hover", "row": 5}))
        open_rows(visitor)
        assert visitor.stage().get("compares") is True
        assert visitor.sees("Point at a row on a map or in the table")
        visitor.do(lambda: visitor.stage().hear({"kind": "hover", "row": 5}))
        visitor.settle()
        assert visitor.sees("In the input space, standard deviations")
        assert visitor.sees(f"Row {rows_shown(visitor)[5]}, ")
        for nonsense in (-1, 10**6, "5", True, None):
            visitor.do(lambda row=nonsense: visitor.stage().hear({"kind": "hover", "row": row}))
        visitor.open_fold("Table of rows").settle()
        assert visitor.stage().get("compares") is False


def test_nothing_of_it_is_built_until_it_is_opened():
    with Visitor(IRIS) as visitor:
        assert not list(visitor.page.select(RowTable))
        find(visitor, "setosa")
        assert not list(visitor.page.select(RowTable))

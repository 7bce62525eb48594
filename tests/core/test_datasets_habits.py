"""Habits of those who write tables: units, limits, footnotes, second headers, bars and spaces, the target first."""

import numpy as np
import pytest

from supdr.datasets import FileProblem, preview, read_file
from tests.bad_input.workbooks import workbook

ROWS = 40


def table(columns, delimiter=","):
    """Write columns of texts, the last of which are the classes a and b unless there is one called so."""
    columns = columns if "class" in columns else {**columns, "class": ["ab"[k % 2] for k in range(ROWS)]}
    return "\n".join(map(delimiter.join, [list(columns), *zip(*columns.values())])) + "\n"


def numbers(write=str):
    return [write(1.5 * k) for k in range(ROWS)]


def read(text, name="t.csv", **options):
    dataset = read_file(text.encode(), name=name, **options)
    return dict(zip(dataset.feature_names, dataset.X.T)), dataset


@pytest.mark.parametrize(
    ("write", "delimiter", "note"),
    [
        (lambda x: f"{x} kg", ",", "without their unit, 40 cells: 'x' (kg)"),
        (lambda x: f"{x}mg/dl", ",", "without their unit, 40 cells: 'x' (mg/dl)"),
        (lambda x: f"{x} °C", ",", "without their unit, 40 cells: 'x' (°C)"),
        (lambda x: f"{x} year{'' if x == 1.5 else 's'}", ",", "without their unit, 40 cells: 'x' (years)"),
        (lambda x: f"EUR {x}".replace(".", ","), ";", "without signs and marks, 40 cells: 'x' (EUR 0,0 is 0.0)"),
        (lambda x: f"{x:.1f} EUR".replace(".", ","), ";", "without signs and marks, 40 cells: 'x' (0,0 EUR is 0.0)"),
        (lambda x: f'"{x}"'.replace(".", ","), ",", "Numbers have decimal commas, 40 cells"),
        (lambda x: f"{x}".replace(".", ","), "\t", "Numbers have decimal commas, 40 cells"),
    ],
)
def test_numbers_may_have_a_sign_and_a_unit(write, delimiter, note):
    columns, dataset = read(table({"x": numbers(write), "z": ["5"] * ROWS}, delimiter))
    np.testing.assert_array_equal(columns["x"], 1.5 * np.arange(ROWS))
    assert note in dataset.description


def test_three_digits_behind_a_comma_are_thousands_unless_semicolons_say_that_it_is_a_decimal():
    thousands = table({"x": [f'"{k + 1},250"' for k in range(ROWS)]})
    np.testing.assert_array_equal(read(thousands)[0]["x"], 1000 * np.arange(1, ROWS + 1) + 250)
    decimals = table({"x": [f"{k + 1},250" for k in range(ROWS)]}, ";")
    np.testing.assert_array_equal(read(decimals)[0]["x"], np.arange(1, ROWS + 1) + 0.25)


@pytest.mark.parametrize("sign", ["<", "≥ "])
def test_limits_are_numbers_only_where_that_is_accepted(sign):
    text = table({"x": numbers(lambda x: f"{sign}{x}" if x > 56 else str(x)), "z": ["5"] * ROWS})
    columns, dataset = read(text)
    assert np.isnan(columns["x"]).tolist() == [1.5 * k > 56 for k in range(ROWS)]
    assert {f"x={sign}57.0", f"x={sign}58.5"} <= set(columns)
    for what in ("read as missing", "read as numbers where they are limits"):
        words = f"{what}, 2 cells: 'x' ({sign}57.0); until then these cells stay text."
        assert f"If you accept it: {words}" in dataset.description
    columns, _ = read(text, accept=["limits:x"])
    np.testing.assert_array_equal(columns["x"], 1.5 * np.arange(ROWS))


def test_numbers_of_several_units_and_grades_stay_words():
    grades = [("1", "2", "3+")[k % 3] for k in range(ROWS)]
    sizes = [f"{k % 3} {('kg', 'lb')[k % 2]}" for k in range(ROWS)]
    columns, _ = read(table({"x": numbers(), "grade": grades, "size": sizes}))
    assert {"grade=3+", "size=2 kg"} <= set(columns)
    dataset = read_file(table({"x": numbers(), "class": grades}).encode(), name="t.csv")
    assert dataset.target_names == ("1", "2", "3+")


@pytest.mark.parametrize(
    ("letters", "power"),
    [
        (("", "", "", "K"), (0, 0, 0, 3)),
        (("K", "M"), (3, 6)),
        (("k", "M", "B", ""), (3, 6, 9, 0)),
        (("M", "K", "K"), (6, 3, 3)),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_thousands_and_millions_are_numbers_of_one_size_only_where_that_is_accepted(letters, power, delimiter):
    written = [f"{1 + k / 10:.1f}" for k in range(ROWS)]
    cells = [text + letters[k % len(letters)] for k, text in enumerate(written)]
    if delimiter == ";":
        cells = [cell.replace(".", ",") for cell in cells]
    text = table({"x": cells, "z": ["5"] * ROWS}, delimiter)
    columns, _ = read(text)
    assert "x" not in columns or np.isnan(columns["x"]).any()  # no letter is dropped beside another one
    look = preview(text.encode(), "t.csv")
    offered = {each.key: each for each in look.proposals}
    where = [k for k in range(ROWS) if letters[k % len(letters)]]
    number = float(f"{written[where[0]]}e{power[where[0] % len(power)]}")
    assert offered["scale:x"].count == len(where)
    assert offered["scale:x"].example == f"{cells[where[0]]} is {number:.15g}"
    columns, _ = read(text, accept=["scale:x"])
    expected = [float(f"{number}e{power[k % len(power)]}") for k, number in enumerate(written)]
    np.testing.assert_array_equal(columns["x"], expected)


def test_a_column_of_thousands_alone_has_a_unit():
    columns, dataset = read(table({"x": numbers(lambda x: f"{x}K")}))
    np.testing.assert_array_equal(columns["x"], 1.5 * np.arange(ROWS))
    assert "without their unit" in dataset.description


def test_what_a_formula_failed_at_is_missing():
    cells = ["#DIV/0!" if k % 4 == 0 else str(k) for k in range(ROWS)]
    assert np.isnan(read(table({"x": cells}))[0]["x"]).sum() == ROWS // 4


def test_an_id_may_occur_again():
    ids = [str(700 + 3 * (k % (ROWS - 5))) for k in range(ROWS)]
    assert preview(table({"plot no": ids, "z": numbers()}).encode(), "t.csv").suggested("class") == ("plot no",)


def test_lines_below_the_table_are_left_out():
    text = table({"n": numbers(), "x": numbers(), "z": ["5"] * ROWS}) + "Source: own survey\n"
    columns, dataset = read(text)
    assert len(columns["x"]) == ROWS
    assert np.isfinite(dataset.y).all()
    assert "Left out below the table, 1 line: 'Source: own survey'." in dataset.description
    kept = preview(text.encode(), "t.csv", decline=["footnotes"])
    assert kept.n_rows == ROWS + 1
    assert kept.table.frame["n"].iloc[-1] == "Source: own survey"
    assert kept.table.frame.iloc[-1, 1:].isna().all()


@pytest.mark.parametrize("below", ["Total,,,\n\nSource: own survey\n", "Mean,7,5,\n", "Source: own survey,,,\n"])
def test_rows_that_may_be_totals_are_left_out_only_where_that_is_accepted(below):
    text = table({"n": numbers(), "x": numbers(), "z": ["5"] * ROWS}) + below
    columns, dataset = read(text)
    assert dataset.n_samples == ROWS + 1
    assert "n=" + below.split(",")[0] in columns
    assert "If you accept it: left out at the end, as totals and remarks, 1 row: '" in dataset.description
    columns, dataset = read(text, accept=["totals"])
    assert len(columns["x"]) == ROWS
    assert np.isfinite(dataset.y).all()


def test_a_last_row_that_is_cut_and_a_cell_of_several_lines_are_no_footnotes():
    text = table({"n": numbers(), "x": numbers(), "z": ["5"] * ROWS})
    with pytest.raises(FileProblem, match="Line 42 has 3 cells, the first line has 4"):
        read(text + "1,2,3\n")
    told = table({"n": numbers(), "x": numbers(), "class": [*"ab" * 19, "a", '"b\nor so"']})
    assert read(told)[1].target_names == ("a", "b", "b\nor so")


def test_footnotes_may_have_numbers():
    notes = "1.;Without the east until 1992.\n2.;Estimated.\n"
    columns, dataset = read(table({"n": numbers(), "x": numbers(), "z": ["5"] * ROWS}, ";") + "\n" + notes)
    assert (list(columns), dataset.n_samples) == (["n", "x", "z"], ROWS)
    assert "Left out below the table, 2 lines: '1. Without the east" in dataset.description
    with pytest.raises(FileProblem, match="Line 42 has 2 cells"):
        read(table({"n": numbers(), "x": numbers(), "z": ["5"] * ROWS}) + "1.,2.\n")


def test_units_below_the_header_are_part_of_the_names():
    text = table({"x": numbers(), "z": numbers(), "n": numbers()}).replace("\n", "\ncm,kg,,\n", 1)
    columns, dataset = read(text)
    assert dataset.n_samples == ROWS + 1
    assert {"x=cm", "z=kg"} <= set(columns)
    two_rows = "the first two rows name the columns, 1 row: 'cm, kg, ,'; until then the second is a row."
    assert f"If you accept it: {two_rows}" in dataset.description
    columns, dataset = read(text, accept=["second header"])
    assert list(columns) == ["x (cm)", "z (kg)", "n"]
    assert dataset.n_samples == ROWS
    with pytest.raises(FileProblem, match="Line 43 has 3 cells"):
        read(text + "1,2,3\n")


def test_a_workbook_may_have_two_rows_of_names():
    head = [["Harvest of 2024", "", "", ""], ["Climate", "", "Yield", "Sort"], ["warmth", "rain", "t/ha", ""]]
    book = workbook(Data=[*head, *([1.5 * k, 2.0 * k, 3.5 * k, "ab"[k % 2]] for k in range(ROWS))])
    assert read_file(book, name="t.xlsx", accept=["second header"]).feature_names == (
        "Climate (warmth)",
        "rain",
        "Yield (t/ha)",
    )


def test_a_first_row_of_words_among_rows_of_words_is_a_row():
    text = "a,b,class\n" + "\n".join(f"{w},{v},{c}" for w, v, c in zip("pqrs" * 5, "uvw" * 7, "xy" * 10)) + "\n"
    assert read_file(text.encode(), name="t.csv").n_samples == 20


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_excel_is_told_the_separator_in_a_line_of_its_own(mark):
    columns, _ = read(f"sep={mark}\n" + table({"x": numbers()}, mark))
    assert list(columns) == ["x"]
    with pytest.raises(FileProblem, match="Line 43 has 1 cell, "):
        read(f"sep={mark}\n" + table({"x": numbers()}, mark) + "1\n")


def test_bars_and_spaces_separate():
    columns, dataset = read(table({"x": numbers(), "z": numbers()}, "|"))
    assert (list(columns), "separated by bars" in dataset.description) == (["x", "z"], True)
    lines = "".join(f"{1.5 * k:9.2f}   {k % 7:3d}   {k % 2}\n" for k in range(ROWS))
    for text, names in ((lines, ["x1", "x2"]), ("  mpg   doors  origin\n" + lines, ["mpg", "doors"])):
        columns, dataset = read(text, "cars.data")
        assert list(columns) == names
        np.testing.assert_array_equal(columns[names[0]], 1.5 * np.arange(ROWS))
        assert "separated by spaces" in dataset.description


def test_prose_is_no_table():
    with pytest.raises(FileProblem, match="a single column"):
        read("to be or\nnot to be\nthat is it\n", "t.txt")


def test_the_target_may_be_first():
    kinds = [("setosa", "virginica")[k % 2] for k in range(ROWS)]
    first = {"flower": kinds, "x": numbers(), "class": numbers()}
    text = table(first).replace("class", "width")
    assert preview(text.encode(), "t.csv").target == "flower"
    coded = "".join(f"{1 + k % 3},{k + 0.5},{k * 1.5}\n" for k in range(ROWS))
    assert preview(coded.encode(), "wine.data").target == "x1"
    two = table({"site": kinds, "kind": kinds, "x": numbers(), "class": numbers()}).replace("class", "width")
    assert preview(two.encode(), "t.csv").target == "width"  # which of them would be a guess
    whole = table({"sex": kinds, "x": numbers(), "class": [str(k) for k in range(ROWS)]}).replace("class", "rings")
    assert preview(whole.encode(), "t.csv").target == "rings"


def test_y_beside_x_is_a_place():
    places = {"x": numbers(), "y": numbers(), "class": ["on", "off"] * (ROWS // 2)}
    assert preview(table(places).replace("class", "alarm").encode(), "t.csv").target == "alarm"
    assert preview(table({"y": ["0", "1"] * (ROWS // 2), "class": numbers()}).encode(), "t.csv").target == "class"
    del places["x"]
    assert preview(table(places).replace("class", "alarm").encode(), "t.csv").target == "y"

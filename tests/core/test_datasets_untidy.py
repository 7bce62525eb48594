"""Tables as people have them: ids, dates, constants, text, gaps; what is proposed, and what comes of a choice."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from supdr.datasets import FileProblem, encode_labels, preview, read_file

ROWS = 40


def table(**more):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "customer_id": rng.permutation(1000)[:ROWS],
            "row": np.arange(1, ROWS + 1),
            "when": [f"{day:02d}.03.2024" for day in range(1, 29)] + ["01.04.2024"] * 12,
            "name": [f"person {k}" for k in range(ROWS)],
            "unit": "cm",
            "height": rng.normal(size=ROWS).round(3),
            "weight": np.where(np.arange(ROWS) < 5, np.nan, rng.normal(size=ROWS).round(3)),
            "colour": np.resize(["red", "green", "blue"], ROWS),
            **more,
            "class": np.resize(["a", "b"], ROWS),
        }
    )
    return frame.to_csv(index=False).encode()


def facts(**more):
    return {each.name: each for each in preview(table(**more), "t.csv").facts}


def test_what_had_better_be_left_out_is_proposed_and_why():
    against = {name: each.against for name, each in facts().items() if each.against}
    assert against == {
        "customer_id": "an id",
        "row": "an id",
        "when": "a date",
        "name": "an id",
        "unit": "constant",
    }
    assert preview(table(), "t.csv").suggested("row") == ("customer_id", "when", "name", "unit")


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (np.arange(ROWS) * 2, ""),  # whole numbers, all different, but nothing says that they are an id
        (np.linspace(0, 1, ROWS), ""),
        ([""] * ROWS, "empty"),
        ([f"word {k % 30}" for k in range(ROWS)], "text of more than 20 values"),
        ([True, False] * (ROWS // 2), ""),
    ],
)
def test_columns_that_are_no_ids_stay(column, why):
    assert facts(extra=column)["extra"].against == why


def test_facts_of_a_column():
    found = facts()
    assert (found["weight"].missing, found["weight"].distinct) == (5, 35)
    assert sum(found["weight"].histogram) == 35
    assert found["colour"].histogram == (14, 13, 13)
    assert found["when"].kind == "date"
    assert sum(found["when"].histogram) == ROWS


def test_huge_and_equal_numbers_have_a_histogram():
    for extra in (np.where(np.arange(ROWS) % 2, 1e308, -1e308), 1e16 + np.arange(ROWS) % 3):
        assert sum(facts(extra=extra)["extra"].histogram) == ROWS


def test_columns_are_left_out_as_asked_for():
    data = read_file(table(), name="t.csv", ignore=["customer_id", "row", "name", "unit", "when"])
    assert data.feature_names == ("height", "weight", "colour=blue", "colour=green", "colour=red")
    assert "Left out as asked for: customer_id, row, name, unit, when." in data.description
    assert read_file(table(), name="t.csv", ignore=["class"]).task == "classification"  # the last of the others


def test_what_is_not_left_out_is_used_as_far_as_it_can_be():
    data = read_file(table(), name="t.csv")
    assert "text of too many values: name." in data.description
    assert "Dates were converted to days since 1970: when." in data.description
    assert "unit=cm" in data.feature_names


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["2024-03-01", "2024-03-02T12:00:00", None], [19783, 19784.5, np.nan]),
        (["01.03.2024", "02.03.2024"], [19783, 19784]),
        (["01/03/2024", "02/03/2024"], [19783, 19784]),  # both orders are possible: the day comes first
        (["03/13/2024", "03/01/2024"], [19795, 19783]),
        (["1066-10-14", "9999-12-31"], [-329893, 2932896]),
        (["2024/03/01 12:00 AM", "2024/03/02 6:00 PM"], [19783, 19784.75]),
        (["3/1/2024 18:00:00", "3/13/2024 6:00:00"], [19783.75, 19795.25]),
        (["2024/03/01 6:00:00 PM GMT+1", "2024/03/02 6:00:00 AM GMT+1"], [19783.75, 19784.25]),  # as forms write it
        (["1/3/2024 18:00", "2/3/2024 6:00"], [19783.75, 19784.25]),
    ],
)
def test_dates_are_days_since_1970(texts, days):
    frame = pd.DataFrame({"when": texts, "x": range(len(texts)), "class": np.resize(["a", "b"], len(texts))})
    np.testing.assert_allclose(read_file(frame.to_csv(index=False).encode(), name="t.csv").X[:, 0], days)


def test_columns_form_views():
    groups = {"body": ["height", "weight"], "look": ["colour"]}
    ignore = ["row", "when", "name", "unit"]
    data = read_file(table(), name="t.csv", ignore=ignore, groups=groups)
    assert data.views == (1, 2, 3)
    assert "Views: other (1), body (2), look (3)." in data.description
    assert data.feature_names[:3] == ("other:customer_id", "body:height", "body:weight")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"ignore": ["wings"]}, "no column 'wings' to leave out"),
        ({"groups": {"a": ["wings"]}}, "no column 'wings' to group"),
        ({"groups": {"a": ["height"], "b": ["height"]}}, "one group only; in several: height"),
        ({"ignore": ["class"], "target": "class"}, "'class' is to be predicted and cannot be left out"),
    ],
)
def test_impossible_choices_are_named(choice, message):
    with pytest.raises(FileProblem, match=message):
        read_file(table(), name="t.csv", **choice)


def read_columns(text, **options):
    """Read a table whose target is its last column; the values of each feature by name, and the notes."""
    dataset = read_file(text.encode(), name="t.csv", **options)
    return dict(zip(dataset.feature_names, dataset.X.T)), " ".join(preview(text.encode(), "t.csv", **options).notes)


def lines(header, cells, delimiter=","):
    return "\n".join([header, *(delimiter.join([*row, "ab"[k % 2]]) for k, row in enumerate(cells))]) + "\n"


@pytest.mark.parametrize(
    ("cells", "delimiter", "numbers"),
    [
        (["$1200", "$950.5", "-$3"], ",", [1200, 950.5, -3]),
        (["12 %", "3.5%", "0 %"], ",", [12, 3.5, 0]),
        (['"1,234.5"', '"12,000"', "7"], ",", [1234.5, 12000, 7]),
        (["1.234,5", "12.000,0", "7,25"], ";", [1234.5, 12000, 7.25]),
        (["1 234,5 €", "7,0 €", "-2,5 €"], ";", [1234.5, 7, -2.5]),
        (["(12.50)", "3", "4"], ",", [-12.5, 3, 4]),
    ],
)
def test_numbers_as_people_write_them(cells, delimiter, numbers):
    text = lines(delimiter.join(["x", "z", "class"]), [[cell, "5"] for cell in cells] * 4, delimiter)
    columns, notes = read_columns(text)
    np.testing.assert_array_equal(columns["x"], numbers * 4)
    np.testing.assert_array_equal(columns["z"], 5)
    assert "Read as numbers" in notes
    assert "'x'" in notes
    assert "'z'" not in notes


@pytest.mark.parametrize("hole", ["-", "n.a.", "none", "."])
def test_marks_for_a_missing_number_are_text_until_they_are_accepted(hole):
    text = lines("x,z,class", [[cell, "5"] for cell in ("1.5", hole, "2.5")] * 4)
    columns, notes = read_columns(text)
    assert f"x={hole}" in columns
    assert f"If you accept it: read as missing, 4 cells: 'x' ({hole}); until then these cells stay text." in notes
    for choice in ({"accept": ["missing:x"]}, {"missing": ["", hole]}):
        columns, _ = read_columns(text, **choice)
        np.testing.assert_array_equal(columns["x"], [1.5, np.nan, 2.5] * 4)


def test_what_only_looks_like_numbers_stays_text():
    for cells in (["$1", "two"], ["12.3.4", "1.2.3"], ["+", "-"], ["A-1", "A-2"]):
        text = lines("x,z,class", [[cell, "5"] for cell in cells] * 4)
        columns, notes = read_columns(text)
        assert "x" not in columns
        assert "Read as numbers" not in notes


def test_a_mark_for_a_missing_number_may_be_a_class():
    dataset = read_file(("x,class\n" + "".join(f"{k},{'+-'[k % 2]}\n" for k in range(8))).encode(), name="t.csv")
    assert dataset.target_names == ("+", "-")
    assert np.isfinite(dataset.y).all()


TITLES = ("Report of 2024\n", "Report of 2024\n\nby nobody\n", "Report of 2024,,\n,,\n", ",Report of 2024,\n,,\n")


@pytest.mark.parametrize("titles", TITLES)
def test_titles_above_the_header_are_left_out(titles):
    text = titles + lines("x,z,class", [[str(k), str(k * k)] for k in range(6)])
    columns, notes = read_columns(text)
    np.testing.assert_array_equal(columns["z"], [0, 1, 4, 9, 16, 25])
    assert re.search("Left out above the header, [12] lines?: 'Report of 2024", notes)
    with pytest.raises(FileProblem, match=f"Line {text.count(chr(10)) + 1} has 2 cells"):
        read_file((text + "1,2\n").encode(), name="t.csv")


def test_titles_may_hold_the_delimiter():
    text = "Report of 2024, by nobody\n\n" + lines("x,z,u,v,class", [["1", str(k), "3", "4"] for k in range(6)])
    columns, notes = read_columns(text)
    np.testing.assert_array_equal(columns["z"], range(6))
    assert "Left out above the header, 1 line: 'Report of 2024 / by nobody'." in notes
    with pytest.raises(FileProblem, match="Line 2 has 5 cells, the first line has 4"):  # a header, if a wrong one
        read_file(text.split("\n\n")[1].replace("x,z", "x").encode(), name="t.csv")


def test_text_that_excel_writes_is_read():
    text = lines("x\tz\tclass", [[str(k), "5"] for k in range(6)], "\t")
    data = read_file(text.encode("utf-16"), name="t.txt")
    assert data.feature_names == ("x", "z")
    np.testing.assert_array_equal(data.X[:, 0], range(6))


@pytest.mark.parametrize("name", ["class", "Outcome", "response"])
def test_a_usual_name_of_a_target_is_found_wherever_it_stands(name):
    assert preview(f"{name},a,b\nx,1,2\ny,3,4\n".encode(), "t.csv").target == name


def test_repeated_names_are_numbered():
    columns, notes = read_columns("x,x,x (2),class\n1,2,3,a\n4,5,6,b\n")
    assert {name: values[0] for name, values in columns.items()} == {"x": 1, "x (2)": 3, "x (3)": 2}
    assert "Names that occur twice are numbered: 'x'." in notes


def test_a_header_that_is_also_a_value_is_a_header_above_numbers():
    columns, _ = read_columns("x,z,yes\n1,2,yes\n3,4,no\n5,6,yes\n")
    assert list(columns) == ["x", "z"]


@pytest.mark.parametrize("texts", [["01.03.24", "13.03.24"], ["03/01/24", "03/13/24"], ["01/03/24", "13/03/24"]])
def test_years_of_two_digits_are_dates(texts):
    frame = pd.DataFrame({"when": texts, "x": [1, 2], "class": ["a", "b"]})
    np.testing.assert_allclose(read_file(frame.to_csv(index=False).encode(), name="t.csv").X[:, 0], [19783, 19795])


def test_what_windows_calls_latin_1_has_the_euro():
    data = read_file("größe;preis;ort\n1;3,50 €;Köln\n2;1.200,00 €;Ulm\n".encode("cp1252"), name="t.csv")
    np.testing.assert_array_equal(data.X, [[1, 3.5], [2, 1200]])
    assert "read as Latin-1" in data.description
    assert read_file(b"x,class\n1,\xe4\n2,\x81\n", name="t.csv").target_names == ("\x81", "ä")  # no letter on Windows


@pytest.mark.parametrize("header", ["x;z;class", '"x";"z";"class"'])
def test_rows_may_end_with_a_delimiter_that_the_header_lacks(header):
    text = f"{header}\n" + "".join(f"{k};5;{'ab'[k % 2]};\n" for k in range(6))
    columns, notes = read_columns(text)
    np.testing.assert_array_equal(columns["x"], range(6))
    assert "they have no name and are empty, count rows or name them, 1 column: 'column 4'." in notes


def test_names_of_rows_may_have_no_name_themselves():
    columns, _ = read_columns("x,z,class\n" + "".join(f"r{k},{k},5,{'ab'[k % 2]}\n" for k in range(6)))
    np.testing.assert_array_equal(columns["x"], range(6))
    look = preview(b"x,class\n7,1,a\n8,2,b\n9,3,a\n", "t.csv")
    assert look.columns == ("x", "class")  # what counts rows is left out at once


def test_rows_that_are_too_wide_otherwise_are_refused():
    for row in ("1,5,a,6\n1,5,a,\n", "1,5,6,a\n1,7,8,b\n"):
        with pytest.raises(FileProblem, match="Line 2 has 4 cells, the first line has 3"):
            read_file(f"x,z,class\n{row}".encode(), name="t.csv")


def test_rows_and_columns_of_nothing_are_left_out():
    text = "x,z,class,,\n" + "".join(f"{k},5,{'ab'[k % 2]},,\n" for k in range(6)) + ",,,,\n" * 3
    data = read_file(text.encode(), name="t.csv")
    assert (data.n_samples, data.n_features, data.labelled.all()) == (6, 2, True)
    assert "Left out, without any value, 3 rows." in data.description
    assert "name them, 2 columns: 'column 4, column 5'." in data.description
    assert preview(b"x,z,class\n1,2,a\n,3,b\n,,\n", "t.csv").n_rows == 2  # a gap is no row of nothing


REMARKED = {
    "a remark": ("# made, by, nobody\nx,z,class\n", ("x", "z")),
    "a remark as wide": ("# a, b\n# made, by, nobody\nx,z,class\n", ("x", "z")),
    "the header is one": ("# x, z, class\n", ("x", "z")),
    "the last one is the header": ("# made, by, nobody\n# x, z, class\n", ("x", "z")),
    "a number's sign": ("#,z,class\n", ("#", "z")),
    "a mark at the first name": ("#x,z,class\n", ("x", "z")),
}


@pytest.mark.parametrize("head", REMARKED)
def test_remarks_above_the_table_are_left_out(head):
    lines, names = REMARKED[head]
    rows = "".join(f"{k * k},{k},{'ab'[k % 2]}\n" for k in range(6))
    columns, notes = read_columns(lines + rows)
    assert tuple(columns) == names
    np.testing.assert_array_equal(columns["z"], range(6))
    assert bool(re.search("Left out above the header, .*'# ", notes)) == ("made" in lines)


@pytest.mark.parametrize("header", ["x z class", "made by us on Monday\nx z class", "seconds\nx z class"])
@pytest.mark.parametrize("mark", ["# ", "#"])
def test_names_that_numpy_writes_behind_a_mark(header, mark, tmp_path):
    rows = np.column_stack([np.arange(6) ** 2, np.arange(6) / 7, np.arange(6) % 2])
    np.savetxt(tmp_path / "t.txt", rows, header=header, comments=mark)
    look = preview(tmp_path / "t.txt")
    assert look.columns == ("x", "z", "class")
    np.testing.assert_array_equal(look.table.frame.to_numpy(dtype=float), rows)
    assert ("Left out above the header, 1 line" in " ".join(look.notes)) == ("\n" in header)


def test_years_beside_an_empty_corner_are_names_at_any_distance():
    look = preview(b",1985,1993,2000,2005\nnorth,1,2,3,4\nsouth,4,3,2,2\neast,5,5,5,1\nwest,5,4,2,1\n", "t.csv")
    assert (look.columns, look.n_rows) == (("column 1", "1985", "1993", "2000", "2005"), 4)


def test_a_lone_number_above_the_table_is_no_title():
    assert preview(b",,0\na,u,1\na,v,2\nb,u,3\nb,v,5\n", "t.csv").n_rows == 5


def test_a_first_column_of_marks_is_no_remark():
    columns, _ = read_columns("colour,x,class\n" + "".join(f"#{k % 2}f,{k},{'ab'[k % 2]}\n" for k in range(6)))
    assert list(columns) == ["colour=#1f", "x"]


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (["yes", "Yes", "yes", "NO", "no", "no"], ("no", "yes")),
        (["Y", "y", "y", "n", "N", "n"], ("n", "y")),
        (["new  York", "New York", "New York", "rome", "Rome", "Rome"], ("New York", "Rome")),
        (["a", "A", "b", "B", "b", "b"], ("A", "b")),
        (["yes ", "yes", "yes", "no", "no", "no"], ("no", "yes")),
    ],
)
def test_words_that_differ_in_capitals_and_spaces_are_one_only_where_that_is_accepted(cells, classes):
    text = "x,class\n" + "".join(f"{k},{cell}\n" for k, cell in enumerate(cells))
    look = preview(text.encode(), "t.csv")
    assert set(look.read().target_names) == set(cells)
    proposal = next(each for each in look.proposals if each.key == "spelling:class")
    assert proposal.count == sum(cell not in classes for cell in cells)
    accepted = preview(text.encode(), "t.csv", accept=["spelling:class"])
    assert accepted.read().target_names == classes
    assert {each.name: each.distinct for each in accepted.facts}["class"] == len(classes)


def test_spaces_around_words_are_nothing_to_speak_of_where_all_have_them():
    text = "x, class\n1, yes \n2, yes \n3, no\n"
    assert preview(text.encode(), "t.csv").notes == ()
    assert read_file(text.encode(), name="t.csv").target_names == ("no", "yes")


@pytest.mark.parametrize(
    ("name", "values", "task"),
    [
        ("room class", 40, "classification"),
        ("Label", 40, "classification"),
        ("class_2", 40, "classification"),
        ("age", 40, "regression"),
        ("classified", 40, "regression"),
        ("class", 90, "regression"),  # hardly two rows of each
        ("age", 20, "classification"),
    ],
)
def test_many_whole_numbers_are_classes_where_they_are_called_so(name, values, task):
    text = f"x,{name}\n" + "".join(f"{k % 7},{k % values}\n" for k in range(200))
    assert preview(text.encode(), "t.csv").task == task
    assert read_file(text.encode(), name="t.csv").task == task


@pytest.mark.parametrize(("name", "distinct", "rows"), [("y", 3, 5), ("size", 12, 20), ("id", 9, 9), ("class", 9, 9)])
def test_a_few_whole_numbers_that_hardly_recur_are_a_quantity_and_that_is_said(name, distinct, rows):
    text = f"x,{name}\n" + "".join(f"{k / 2},{7 * (k % distinct) + 3}\n" for k in range(rows))
    task = "classification" if name == "class" else "regression"
    assert preview(text.encode(), "t.csv").task == task
    assert (
        f"Target '{name}' holds few whole numbers that hardly recur"
        in read_file(text.encode(), name="t.csv").description
    ) == (task == "regression")
    asked = read_file(text.encode(), name="t.csv", task="classification")
    assert asked.n_classes == distinct
    assert "hardly recur" not in asked.description


def test_classes_stand_in_the_order_of_their_numbers():
    names = ["Town 10", "Town 2", "Town 1", "10", "9"]
    text = "x,class\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names))
    assert read_file(text.encode(), name="t.csv").target_names == ("9", "10", "Town 1", "Town 2", "Town 10")
    frame = pd.DataFrame({"x": range(4), "class": pd.Categorical(["10", "9", "2", "10"], ["10", "2", "9"])})
    file = io.BytesIO()
    frame.to_parquet(file)
    assert read_file(file.getvalue(), name="t.parquet").target_names == ("2", "9", "10")
    codes, known = encode_labels(["10", "9", None, "2"])
    assert known == ("2", "9", "10")
    np.testing.assert_array_equal(codes, [2, 1, np.nan, 0])

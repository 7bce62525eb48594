"""What is written is what is read: without a note and a switch no two texts become one and nothing is left out."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.datasets import load_svmlight_file

from supdr.datasets import FileProblem, preview, read_file
from tests.bad_input.files import npz_bytes
from tests.bad_input.workbooks import workbook

ROWS = 24
CLASSES = ["ab"[k % 2] for k in range(ROWS)]


def table(delimiter=",", **columns):
    """Write columns, whose cells take turns, and the classes a and b."""
    columns = {name: [cells[k % len(cells)] for k in range(ROWS)] for name, cells in columns.items()}
    rows = [[f'"{cell}"' for cell in row] for row in zip(*columns.values(), CLASSES)]
    return "\n".join(map(delimiter.join, [[*columns, "kind"], *rows])) + "\n"


def look_at(text, name="t.csv", **options):
    return preview(text.encode(), name, **options)


def column(text, name, **options):
    look = look_at(text, **options)
    return look.table.frame[name], " ".join(look.notes)


def parquet_of(**columns):
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


# --- different texts stay different values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ("<=50K", ">50K"),
        ("50K", "50M", "900"),
        ("<5", ">5", "5"),
        ("1,000", "1000", "2000"),
        ("007", "07", "7"),
        ("01067", "1067"),
        ("12345678901234567890", "12345678901234567891"),
        ("9007199254740992.0", "9007199254740993.0"),
        ("m", "M"),
        ("AA", "Aa", "aa"),
        ("5 kg", "5 lb"),
        ("$5", "5"),
        ("on", "on "),
        ("５", "5"),
        ("−5", "5"),
        ("($5)", "-$5", "$5"),
        ("1.50-", "1.50"),
        ("1 000", "1000"),
        ("1.000", "1000", "1,000"),
        ("9am", "9pm", "9 am"),
        ("5 CR", "5 DR"),
        ("5*", "5**", "5"),
        ("5±1", "5±2"),
        ("5 µg", "5 μg", "5 mg"),
        ("A+", "A-", "0-"),
        ("TRUE", "true", "True"),
    ],
)
def test_different_texts_are_different_values(texts):
    look = look_at(table(x=texts))
    assert look.table.frame["x"].nunique() == len(texts)
    as_target = look.read(target="x", task="classification")
    assert set(as_target.target_names) == set(texts)


@pytest.mark.parametrize(("texts", "values"), [(("(1.5)", "2"), (-1.5, 2)), (("(-1.5)", "2.5"), (-1.5, 2.5))])
def test_a_sign_is_never_dropped(texts, values):
    cells, notes = column(table(x=texts), "x")
    assert tuple(cells[:2]) == values
    assert "Read as numbers without signs and marks, 12 cells: 'x'" in notes
    cells, _ = column(table(x=texts), "x", decline=["numbers:x"])
    assert set(cells) == set(texts)


def test_a_class_is_called_as_it_is_written():
    dates = ("1.2.2003", "01.02.2003", "2.3.2004"), ("2020-01-01", "2020-01-01 00:00")
    for texts in (("1.0", "2.0"), ("01", "02"), ("1", "1.0"), ("1e1", "2"), ("TRUE", "FALSE"), *dates):
        look = look_at(table(code=texts))
        assert set(look.read(target="code", task="classification").target_names) == set(texts)


def test_a_comma_in_front_of_three_digits_is_no_thousand_where_a_zero_is_before_it():
    codes = ("01067", "1067", "007", "07")
    text = '"x","code"\n' + "".join(f'"0,{190 + k}","{codes[k % 4]}"\n' for k in range(ROWS))
    look = look_at(text)
    np.testing.assert_allclose(look.table.frame["x"], 0.19 + np.arange(ROWS) / 1000)
    assert look.read(target="code").target_names == ("007", "07", "01067", "1067")


# --- nothing is left out in silence -----------------------------------------------------------------------------------


def test_names_that_sound_like_totals_are_rows():
    head = [f"north,{k},{'ab'[k % 2]}" for k in range(30)]
    tail = [f"{('mean', 'total', 'average')[k % 3]},{k},{'ab'[k % 2]}" for k in range(12)]
    text = "\n".join(["statistic,x,kind", *head, *tail]) + "\n"
    look = look_at(text)
    assert look.n_rows == 42
    assert "left out at the end, as totals and remarks, 12 rows" in " ".join(look.notes)
    assert look_at(text, accept=["totals"]).n_rows == 30


def test_merged_cells_of_a_sheet_have_the_value_of_their_first_one():
    rows = [["site", "x", "kind"]]
    rows += [[("north" if k == 0 else "south" if k == 12 else None), k, "ab"[k % 2]] for k in range(ROWS)]
    merged = '<mergeCells count="2"><mergeCell ref="A2:A13"/><mergeCell ref="A14:A25"/></mergeCells>'
    book = workbook(one=rows, closing=merged)
    look = preview(book, "t.xlsx")
    assert look.table.frame["site"].tolist() == ["north"] * 12 + ["south"] * 12
    assert "Merged cells have the value of their first one, 22 cells." in look.notes
    assert preview(book, "t.xlsx", decline=["merged"]).table.frame["site"].isna().sum() == 22


def test_merged_cells_beyond_the_table_take_no_time():
    far = '<mergeCells><mergeCell ref="A2:A1048576"/><mergeCell ref="XFD1:XFD1048576"/></mergeCells>'
    assert preview(workbook(one=[["x", "kind"], [1, "a"], [2, "b"]], closing=far), "t.xlsx").n_rows == 2
    many = "<mergeCells>" + '<mergeCell ref="A1:A3"/>' * 9 + "</mergeCells>"
    with pytest.raises(FileProblem, match="merged cells that overlap"):
        preview(workbook(one=[["x", "kind"], [1, "a"], [2, "b"]], closing=many), "t.xlsx")


def test_every_proposal_in_force_can_be_declined():
    text = (
        "Title\n,x,kind,\n" + "".join(f"{k},{k + 0.5} kg,{'ab'[k % 2]},\n" for k in range(ROWS)) + ",,,\nSource: me\n"
    )
    look = look_at(text)
    in_force = [each.key for each in look.proposals if each.accepted]
    assert {"titles", "footnotes", "empty rows", "no name", "numbers:x"} <= set(in_force)
    assert look.columns == ("x", "kind")
    for key in {"empty rows", "no name", "numbers:x"}:
        changed = look_at(text, decline=[key])
        assert next(each for each in changed.proposals if each.key == key).accepted is False
    assert look_at(text, decline=["empty rows"]).n_rows == ROWS + 1
    assert look_at(text, decline=["no name"]).columns == ("column 1", "x", "kind", "column 4")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"accept": ["wings"]}, "no proposal 'wings' for this file; there are none"),
        ({"decline": ["numbers:z"]}, "no proposal 'numbers:z'"),
        ({"accept": ["totals"], "decline": ["totals"]}, "either accepted or declined; in both: totals"),
    ],
)
def test_what_was_not_proposed_is_named(choice, message):
    with pytest.raises(FileProblem, match=message):
        look_at("x,kind\n1,a\n2,b\n", **choice)


# --- the whole file decides -------------------------------------------------------------------------------------------


def test_a_decimal_comma_may_come_late():
    rows = [f"{k};{k % 7};{'ab'[k % 2]}" for k in range(230)] + [f"{k},125;{k},5;{'ab'[k % 2]}" for k in range(20)]
    look = look_at("\n".join(["x;y;kind", *rows]) + "\n")
    np.testing.assert_array_equal(look.table.frame["x"][230:], np.arange(20) + 0.125)
    np.testing.assert_array_equal(look.table.frame["y"][230:], np.arange(20) + 0.5)
    assert "Numbers have decimal commas, 40 cells" in " ".join(look.notes)


def test_a_text_may_come_late():
    rows = [f"{k},{'ab'[k % 2]}" for k in range(900)] + ["late,a"]
    cells, notes = column("\n".join(["x,kind", *rows]) + "\n", "x")
    assert cells[900] == "late"
    assert "If you accept it: read as missing, 1 cell: 'x' (late); until then these cells stay text." in notes


def test_a_delimiter_does_not_cut_through_quotation_marks():
    rows = "".join(f'"{k}"|"0,5"|"{"ab"[k % 2]}"\n' for k in range(6))
    assert preview(f'"x"|"z"|"kind"\n{rows}'.encode(), "t.csv").columns == ("x", "z", "kind")
    assert preview(rows.encode(), "t.csv").n_rows == 6


def test_the_last_lines_of_a_short_table_may_be_no_rows():
    rows = "".join(f"{k},2,3,{'ab'[k % 2]}\n" for k in range(6))
    look = preview(f"x,z,u,kind\n{rows}Source: a book\n".encode(), "t.csv")
    assert (look.n_rows, [each.key for each in look.proposals]) == (6, ["footnotes"])
    assert "totals" in {each.key for each in preview(f"x,z,u,kind\n{rows}total,12,18,\n".encode(), "t.csv").proposals}


def test_a_byte_that_is_not_utf_8_may_come_late():
    rows = "".join(f"{k},M{'ü' if k % 2 else 'ö'}ller\n" for k in range(300)).encode() + "300,Bär\n".encode("latin-1")
    look = preview(b"x,name\n" + rows, "t.csv")
    assert set(look.read(target="name").target_names) == {"Müller", "Möller", "Bär"}
    assert "Bytes that are not UTF-8 were read as Latin-1: 1, the first in line 302." in look.notes


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp932", "表 ソース 能力 りんご 甲 乙"),
        ("euc_jp", "表 ソース 能力 りんご 甲 乙"),
        ("gb18030", "北京 上海 广州 深圳 男 女"),
        ("big5", "臺北 高雄 許功蓋 新竹 男 女"),
        ("cp949", "서울 부산 대구 인천 남 여"),
    ],
)
def test_text_of_two_bytes_a_letter_is_told_from_latin_1(encoding, words):
    places, (one, two) = words.split()[:4], words.split()[4:]
    text = "".join(f"{places[k % 4]},{k},{(one, two)[k % 2]}\n" for k in range(ROWS))
    look = preview(f"p,x,kind\n{text}".encode(encoding), "t.csv")
    assert set(look.read().target_names) == {one, two}
    assert set(look.table.frame["p"]) == set(places)
    assert f"({encoding}), " in " ".join(look.notes)
    declined = preview(f"p,x,kind\n{text}".encode(encoding), "t.csv", decline=["encoding"])
    assert "read as Latin-1" in " ".join(declined.notes)
    assert declined.table.frame["p"].nunique() == 4


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1250", "cp1251", "koi8-r", "cp437", "mac-roman"])
def test_text_of_one_byte_a_letter_is_never_taken_for_two(encoding):
    words = "Москва Казань Омск жена" if encoding in ("cp1251", "koi8-r") else "Müller Größe Höhe Größenmaß"
    rows = "".join(f"{words.split()[k % 4]},{k},{'ab'[k % 2]}\n" for k in range(200))
    look = preview(f"p,x,kind\n{rows}".encode(encoding), "t.csv")
    assert "read as Latin-1" in " ".join(look.notes)
    assert look.table.frame["p"].nunique() == 4


def test_marks_between_thousands_and_decimals_that_contradict_each_other_stay_text():
    text = table(";", x=[f"{k},5" for k in range(ROWS)], y=[f"{k + 1}.25" for k in range(ROWS)], z=["1,250", "2,250"])
    look = look_at(text)
    kinds = {each.name: each.kind for each in look.facts}
    assert kinds == {"x": "number", "y": "number", "z": "text", "kind": "text"}
    np.testing.assert_array_equal(look.table.frame["y"], np.arange(ROWS) + 1.25)
    assert "numbers:z" in {each.key for each in look.proposals if not each.accepted}


def test_points_that_may_be_thousands_are_proposed_where_others_are_decimal_commas():
    text = table(";", price=[f"{k},5" for k in range(ROWS)], people=[f"{k + 1}.250" for k in range(ROWS)])
    np.testing.assert_array_equal(column(text, "people")[0], np.arange(ROWS) + 1.25)
    np.testing.assert_array_equal(column(text, "people", accept=["thousands:people"])[0], 1000 * np.arange(ROWS) + 1250)


# --- types that a file has already ------------------------------------------------------------------------------------


def test_names_and_index_of_parquet():
    buffer = io.BytesIO()
    pd.DataFrame(np.eye(4), columns=range(4)).to_parquet(buffer)
    assert preview(buffer.getvalue(), "t.parquet").columns == ("0", "1", "2", "3")
    buffer = io.BytesIO()
    frame = pd.DataFrame({"x1": range(4), "x2": range(4)}, index=pd.Index(["a", "b"] * 2, name="species"))
    frame.to_parquet(buffer)
    assert read_file(buffer.getvalue(), name="t.parquet").target_names == ("a", "b")


def test_types_of_arrow():
    data = parquet_of(
        day=pa.array([0, 19723, 2932896, -329893], pa.int32()).cast(pa.date32()),
        price=pa.array([1, 2, None, 4]).cast(pa.decimal128(24, 2)),
        flag=pa.array([True, None, False, True]),
        half=pa.array(np.array([0.5, 1, 2, 3], np.float16)),
        v=pa.array([[1.0, 2.0], None, [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), 2)),
        w=pa.array([[1], [2], [3], [4]], pa.list_(pa.int64())),
        code=pa.array(["007", "07", "007", "07"]),
        kind=pa.array(["b", "a", "b", "a"]).dictionary_encode(),
    )
    look = preview(data, "t.parquet")
    assert look.columns == ("day", "price", "flag", "half", "v:1", "v:2", "w:1", "code", "kind")
    dataset = look.read(ignore=["code"])
    nan = np.nan
    np.testing.assert_array_equal(
        dataset.X.T,
        [[0, 19723, 2932896, -329893], [1, 2, nan, 4], [1, nan, 0, 1], [0.5, 1, 2, 3]]
        + [[1, nan, 3, 5], [2, nan, 4, 6], [1, 2, 3, 4]],
    )
    assert look.read(target="code").target_names == ("007", "07")


def test_views_of_text_and_empty_texts_of_parquet():
    data = parquet_of(
        s=pa.array(["ä", "q", "", None]).cast(pa.string_view()),
        b=pa.array([b"u", b"", b"v", None]).cast(pa.binary_view()),
        kind=["a", "b", "a", "b"],
    )
    look = preview(data, "t.parquet")
    assert look.table.frame["s"].tolist()[:2] == ["ä", "q"]
    assert look.table.frame.isna().sum().tolist() == [2, 2, 0]
    assert "Read as missing: '' (2 cells)." in look.notes
    kept = preview(data, "t.parquet", missing=["?"])
    assert kept.table.frame.isna().sum().tolist() == [1, 1, 0]


def test_vectors_of_parquet_are_views():
    vectors = {name: pa.array(np.eye(4).tolist(), pa.list_(pa.float64(), 4)) for name in ("text", "image")}
    dataset = read_file(parquet_of(**vectors, kind=["a", "b", "a", "b"]), name="t.parquet")
    assert dataset.views == (4, 4)
    assert dataset.feature_names[4] == "image:1"


@pytest.mark.parametrize(
    "place",
    [[{"lat": 1}, None], [[1, 2], [3]], [["a"], ["b", "c"]], [[], None], [[[1], [2, 3]], []], [[True], [False]]],
)
def test_a_column_of_an_unknown_type_is_left_out(place):
    data = parquet_of(x=[1, 2], place=pa.array(place), kind=["a", "b"])
    dataset = read_file(data, name="t.parquet")
    assert len(dataset.metadata["place"]) == 2
    assert dataset.feature_names == ("x",)
    assert "not numbers or text of too many values: place." in dataset.description


@pytest.mark.parametrize("target", ["labels", "y", "group"])
def test_an_array_of_one_dimension_beside_a_table_is_the_target(target):
    dataset = read_file(npz_bytes(X=np.eye(4), **{target: np.array([0, 1, 0, 1])}), name="t.npz")
    assert dataset.target_names == ("0", "1")
    assert dataset.n_features == 4


def test_further_arrays_of_one_dimension_are_columns():
    dataset = read_file(npz_bytes(X=np.eye(4), age=np.arange(4), y=np.array([0, 1, 0, 1])), name="t.npz")
    assert dataset.feature_names == ("x1", "x2", "x3", "x4", "age")
    with pytest.raises(FileProblem, match="Array 'age' has 3 entries for 4 rows"):
        read_file(npz_bytes(X=np.eye(4), age=np.arange(3), y=np.array([0, 1, 0, 1])), name="t.npz")


# --- levels that look like missing cells ------------------------------------------------------------------------------


def arff(declared, rows):
    head = "".join(f"@attribute {each}\n" for each in declared)
    return read_file(f"@relation r\n{head}@data\n{rows}".encode(), name="t.arff")


def test_declared_levels_are_never_missing():
    rows = "0,NA,'?',b\n1,EU,NA,N/A\n2,null,?,b\n3,?,NA,?\n"
    dataset = arff(["x real", "region {NA,EU,null}", "note string", "kind {N/A,b}"], rows)
    assert dataset.feature_names[1:] == ("region=NA", "region=EU", "region=null", "note=NA")
    np.testing.assert_array_equal(dataset.X[:3, 1:4], np.eye(3))
    assert np.isnan(dataset.X[3, 1:4]).all()
    np.testing.assert_array_equal(dataset.X[:, 4], [0, 1, np.nan, 1])
    assert np.isnan(dataset.y[3])
    assert dataset.target_names == ("N/A", "b")


def test_what_stands_for_a_missing_cell_is_told_and_can_be_changed():
    text = table(country=["DE", "NA", "FR", "?"])
    cells, notes = column(text, "country")
    assert cells.isna().sum() == 12
    assert "Read as missing: 'NA' (6 cells), '?' (6 cells)." in notes
    cells, notes = column(text, "country", missing=["", "?"])
    assert set(cells.dropna()) == {"DE", "NA", "FR"}


# --- dialects ---------------------------------------------------------------------------------------------------------


def test_quotation_marks_of_both_kinds_and_comments_in_arff():
    declared = ["x numeric", 's {\'a b\',"it\'s",\'c, d\',"\\"e\\""} % {<5, >5}', "'kind of' {-1,1}% a comment"]
    rows = "0,'a b',1\n1,\"it's\",-1 % odd\n2, 'c, d' ,1\n3,\"\\\"e\\\"\",-1\n% a remark\n4,'a b', 1\n"
    dataset = arff(declared, rows)
    assert dataset.feature_names == ("x", "s=a b", "s=it's", "s=c, d", 's="e"')
    np.testing.assert_array_equal(dataset.X[:4, 1:], np.eye(4))
    assert dataset.target_names == ("-1", "1")


def test_dates_of_arff():
    declared = ["day date 'yyyy-MM-dd'", "time date \"dd.MM.yyyy'T'HH:mm:ss\" % a comment", "kind {a,b}"]
    dataset = arff(declared, "2024-01-01,01.01.1970T12:00:00,a\n?,02.01.1970T00:00:00,b\n")
    np.testing.assert_array_equal(dataset.X, [[19723, 0.5], [np.nan, 1]])


def test_a_file_of_keel():
    text = (
        "@relation r\n@attribute x real [0.0, 5.0]\n@attribute Class{one, two}\n@attribute z integer [0,9]\n"
        "@inputs x, z\n@outputs Class\n@data\n0.5, one, 1\n1.5, two, <null>\n2.5, one, 3\n"
    )
    dataset = read_file(text.encode(), name="t.dat")
    assert (dataset.feature_names, dataset.target_names) == (("x", "z"), ("one", "two"))
    np.testing.assert_array_equal(dataset.X, [[0.5, 1], [1.5, np.nan], [2.5, 3]])


def test_spaces_a_tab_and_quotation_marks():
    text = "".join(f'{k}.0   {k % 4}   {3 * k}.      70\t"model {k % 3}"\n' for k in range(ROWS))
    dataset = read_file(text.encode(), name="t.data")
    assert dataset.X.shape == (ROWS, 4)
    np.testing.assert_array_equal(dataset.X[:, 2], 3 * np.arange(ROWS))
    assert dataset.target_names == ("model 0", "model 1", "model 2")


def test_several_tabs_between_cells():
    text = "".join(f"{15 + k / 10}\t14.5\t{chr(9) * (k % 3)}{k}\t{1 + k % 3}\n" for k in range(ROWS))
    dataset = read_file(text.encode(), name="seeds.txt", target="x4", task="classification")
    np.testing.assert_array_equal(dataset.X[:, 2], np.arange(ROWS))
    empty = "".join(f"{k / 10}\t{'' if k % 4 else k}\t{'ab'[k % 2]}\n" for k in range(ROWS))
    assert np.isnan(read_file(empty.encode(), name="t.txt").X).sum() == 18


def test_decimal_commas_between_spaces():
    text = "".join(f"{k},5 {k},25 {k % 2}\n" for k in range(ROWS))
    np.testing.assert_array_equal(read_file(text.encode(), name="t.txt").X.T, np.arange(ROWS) + [[0.5], [0.25]])


@pytest.mark.parametrize("names", [[f'"{k + 1}"' for k in range(ROWS)], [f'"row {k}"' for k in range(ROWS)]])
def test_what_r_writes_has_a_header_that_is_one_shorter(names):
    rows = "".join(f'{name} {k / 2} {k % 5} "{CLASSES[k]}"\n' for k, name in enumerate(names))
    look = look_at(f'"x1" "x2" "kind"\n{rows}', "t.txt")
    assert look.columns == ("x1", "x2", "kind")
    np.testing.assert_array_equal(look.table.frame["x1"], np.arange(ROWS) / 2)
    kept = look_at(f'"x1" "x2" "kind"\n{rows}', "t.txt", decline=["no name"])
    assert kept.columns == ("column 1", "x1", "x2", "kind")


def test_three_header_lines_of_orange():
    rows = "".join(f"{k / 2}\t{k % 3}\t{k % 2}\tnote {k}\n" for k in range(ROWS))
    head = "x1\tgrade\tkind\tremark\ncontinuous\tdiscrete\tdiscrete\tstring\n\t\tclass\tmeta\n"
    look = look_at(head + rows, "t.tab")
    assert look.columns == ("x1", "grade", "kind")
    dataset = look.read()
    assert dataset.feature_names == ("x1", "grade=0", "grade=1", "grade=2")
    assert dataset.target_names == ("0", "1")
    assert look_at(head + rows, "t.tab", decline=["aside"]).columns[-1] == "remark"


@pytest.mark.parametrize(
    ("types", "columns"),
    [
        ("c\tlow very\\ high\td\ts\n\t\tclass\tmeta type=image", ("x1", "grade", "kind")),
        ("c\td\tno yes\ts\nweight\t\t\t", ("grade", "kind", "remark")),
        ("c\td\td\ts\n", ("x1", "grade", "kind", "remark")),
    ],
)
def test_types_of_orange_may_list_levels_and_lack_roles(types, columns):
    rows = "".join(f"{k / 2}\t{('low', 'very high')[k % 2]}\t{('no', 'yes')[k // 2 % 2]}\tr{k}\n" for k in range(ROWS))
    text = f"x1\tgrade\tkind\tremark\n{types}\n{rows}"
    look = look_at(text, "t.tab")
    assert (look.n_rows, look.columns, look.target) == (ROWS, columns, "kind")
    assert any("Left out, the types and roles below the names" in note for note in look.notes)
    assert look_at(text, "t.tab", decline=["types"]).n_rows > ROWS


def test_a_name_that_is_also_a_key_is_a_name():
    rows = "".join(f"land {k},{'ab'[k % 2]},I{'ABCDEFGHIJKLMNOPQRSTUVWX'[k]}\n" for k in range(ROWS))
    look = look_at(f"land,part,ID\n{rows}")
    assert (look.n_rows, look.columns) == (ROWS, ("land", "part", "ID"))


def test_years_beside_an_empty_corner_name_columns():
    rows = "".join(f'"land {k}",{k / 2},{k / 4},{k}\n' for k in range(ROWS))
    look = look_at(f'"","1940","1950","1960"\n{rows}')
    assert (look.n_rows, look.columns[1:]) == (ROWS, ("1940", "1950", "1960"))


@pytest.mark.parametrize("delimiter", [" ", ",", ";"])
def test_an_ending_that_says_tabs_does_not_hold_where_there_are_none(delimiter):
    rows = "".join(f"{k}{delimiter}{k / 2}{delimiter}{k % 2}\n" for k in range(ROWS))
    look = look_at(f"id{delimiter}x{delimiter}kind\n{rows}", "t.tsv")
    assert (look.n_rows, look.columns) == (ROWS, ("id", "x", "kind"))


def test_a_header_in_the_middle_is_no_row():
    part = "".join(f"{k / 2},{'ab'[k % 2]}\n" for k in range(ROWS))
    text = f"x,kind\n{part}x,kind\n{part}"
    look = look_at(text)
    assert (look.n_rows, look.facts[0].kind) == (2 * ROWS, "number")
    assert "Left out, the header in the middle of the table, 1 row." in look.notes
    assert look_at(text, decline=["repeated header"]).n_rows == 2 * ROWS + 1


def test_numbers_without_a_zero_and_limits_among_few_values():
    look = look_at(table(x=(".05", "<.05", "0.5", "1.5"), z=(".5", "-.25")))
    assert look.facts[0].distinct == 4
    np.testing.assert_array_equal(look.table.frame["z"][:2], [0.5, -0.25])


@pytest.mark.parametrize("odd", ["--0.5", "1.2.3", "0.5.", "+-3", "1e", "five"])
def test_one_odd_cell_is_no_reason_to_refuse_a_file(odd):
    cells = [str(k / 2) for k in range(ROWS)]
    cells[5] = odd
    look = look_at(table(x=cells))
    assert look.table.frame["x"][5] == odd
    assert (look.facts[0].kind, look.facts[0].distinct, look.facts[0].against) == ("number", ROWS, "")
    assert f"If you accept it: read as missing, 1 cell: 'x' ({odd}); until then these cells stay text." in look.notes
    dataset = look.read()
    assert dataset.feature_names == ("x", f"x={odd}")
    assert np.flatnonzero(np.isnan(dataset.X[:, 0])).tolist() == np.flatnonzero(dataset.X[:, 1]).tolist() == [5]
    assert "Texts among numbers have 0/1 columns of their own: x." in dataset.description
    accepted = read_file(table(x=cells).encode(), name="t.csv", accept=["missing:x"])
    assert accepted.feature_names == ("x",)
    assert np.flatnonzero(np.isnan(accepted.X[:, 0])).tolist() == [5]


def test_texts_among_numbers_with_a_unit_are_their_own_columns_and_missing_cells_stay_missing():
    cells = [f"{k / 2} kg" for k in range(ROWS)]
    cells[3], cells[5], cells[7] = "broken", "", "lost"
    look = look_at(table(x=cells))
    dataset = look.read()
    assert dataset.feature_names == ("x", "x=broken", "x=lost")
    values = np.arange(ROWS) / 2
    values[[3, 5, 7]] = np.nan
    np.testing.assert_array_equal(dataset.X[:, 0], values)
    np.testing.assert_array_equal(dataset.X[[0, 3, 5, 7], 1:], [[0, 0], [1, 0], [np.nan, np.nan], [0, 1]])
    classes = look.read(target="x", task="classification").target_names
    assert set(classes) == set(cells) - {""}


def test_numbers_with_too_many_texts_among_them_are_left_out_and_the_file_is_read():
    cells = [f"see page {k}" if k % 4 == 0 else str(k / 2) for k in range(100)]
    text = "x,z,kind\n" + "".join(f"{cell},{k % 7},{'ab'[k % 2]}\n" for k, cell in enumerate(cells))
    look = look_at(text)
    assert look.suggested("kind") == ("x",)
    assert look.read().feature_names == ("z",)
    assert "text of too many values: x." in look.read().description
    assert read_file(text.encode(), name="t.csv", accept=["missing:x"]).feature_names == ("x", "z")


def test_numbers_of_houses_are_text():
    cells = [str(k + 1) for k in range(ROWS)]
    cells[7] = "7A"
    look = look_at(table(house=cells, x=[str(k / 2) for k in range(ROWS)]))
    assert look.facts[0].kind == "text"
    assert look.read().feature_names == ("x",)
    assert np.isnan(look_at(table(house=cells), accept=["missing:house"]).table.frame["house"]).sum() == 1


# --- the header -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["<0.5", "n.d.", ">100", "(3)", "12 mg"])
def test_a_first_row_that_is_a_row(first):
    rows = [f"{k / 2},{('neg', 'pos')[k % 2]}" for k in range(ROWS)]
    look = look_at("\n".join(["crp,regime", f"{first},neg", *rows]) + "\n")
    assert (look.columns, look.n_rows) == (("crp", "regime"), ROWS + 1)
    without = look_at("\n".join([f"{first},neg", *rows]) + "\n")
    assert (without.columns, without.n_rows) == (("x1", "x2"), ROWS + 1)


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        ("2020-01-01,1.5", [f"2020-01-{k + 2:02d},{k / 4}" for k in range(20)]),
        ("5.1,town 0", [f"{k / 2},town {k}" for k in range(1, 20)]),
        ("-,2.5", [f"{k / 2},{k / 4}" for k in range(20)]),
    ],
)
def test_a_table_without_a_header_keeps_its_first_row(first, rows):
    look = look_at("\n".join([first, *rows]) + "\n")
    assert look.n_rows == len(rows) + 1
    named = look_at("\n".join([first, *rows]) + "\n", accept=["header"])
    assert named.n_rows == len(rows)


def test_years_and_wavelengths_name_columns():
    for names, first in (("id,2020,2021,2022", ""), ("1100.5,1102.5,1104.5,species", ""), ("land,1990,2000,2010", "l")):
        rows = "".join(f"{first}{k},{k / 2},{k / 4},{k if first else 'ab'[k % 2]}\n" for k in range(ROWS))
        assert look_at(f"{names}\n{rows}").columns == tuple(names.split(","))


@pytest.mark.parametrize(
    "names",
    [
        ",1,2,3",  # a table of counts, as R writes it
        ",142.24,144.78,149.86",
        "land,2001,2002,note",
        "land;2001;2002;2003",
    ],
)
def test_numbers_that_rise_are_names_beside_an_empty_corner_and_years_beside_a_word(names):
    delimiter = ";" if ";" in names else ","
    first = (lambda k: k + 1) if names[0] == "," else (lambda k: f"land {k}")
    marked = [f"{k}.5{'*' * (names[0] != ',' and k % 4 == 0)}" for k in range(ROWS)]  # not all cells are numbers
    rows = [[first(k), k * k, k * 3 % 7, marked[k]] for k in range(ROWS)]
    text = "".join(f"{delimiter.join(map(str, row))}\n" for row in rows)
    look = look_at(f"{names}\n{text}")
    assert look.n_rows == ROWS
    assert set(look.columns) >= set(names.split(delimiter)[1:])
    assert look_at(text).n_rows == ROWS


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_first_row_of_words_with_spaces_around_them_is_a_row(quote):
    rows = "".join(f"{20 + k}, {quote}Private{quote}, {quote}{('>50K', '<=50K')[k % 2]}{quote}\n" for k in range(ROWS))
    look = look_at(rows, "adult.data")
    assert look.n_rows == ROWS
    assert look.table.frame["x2"].nunique() == 1
    assert look.read().target_names == ("<=50K", ">50K")


def test_a_row_without_target_and_value_is_left_out_and_counted():
    head = "day,wind,warmth,storm\n"
    rows = "".join(f"no. {i},{i / 10},{1.5 * i},{'yes' if i % 2 else 'no'}\n" for i in range(40))
    data = read_file(f"{head}a holiday,,,\n{rows}".encode(), name="station.csv")
    assert data.n_samples == 40
    assert not np.isnan(data.X).any()
    assert "Rows left out that have neither a target nor a value: 1." in data.description
    for first in ("a holiday,,,yes", "a holiday,m/s,C,"):  # it has a class; it has texts
        assert read_file(f"{head}{first}\n{rows}".encode(), name="station.csv").n_samples == 41


def test_a_target_that_is_text_names_the_proposal_that_makes_it_numbers():
    prices = ["on request" if k % 7 == 0 else str(k / 2) for k in range(210)]
    text = "x,price\n" + "".join(f"{k},{price}\n" for k, price in enumerate(prices))
    for task in (None, "classification", "regression"):
        with pytest.raises(FileProblem, match=r"To accept 'missing:price' \(read as missing, 30 cells\) may help\."):
            read_file(text.encode(), name="flats.csv", target="price", task=task)
    data = read_file(text.encode(), name="flats.csv", target="price", accept=["missing:price"])
    assert (data.task, data.labelled.sum()) == ("regression", 180)


def test_where_no_feature_is_left_the_proposal_that_brings_one_back_is_named():
    cells = [f"e{k}" if k % 3 == 0 else str(k) for k in range(120)]
    text = "x,kind\n" + "".join(f"{cell},{'ab'[k % 2]}\n" for k, cell in enumerate(cells))
    with pytest.raises(
        FileProblem, match=r"used as a feature: x\..* To accept 'missing:x' \(read as missing, 40 cells\)"
    ):
        read_file(text.encode(), name="t.csv")


def test_a_first_row_of_one_number_is_no_title():
    with pytest.raises(FileProblem, match="Line 2 has 3 cells, the first line has 1"):
        look_at("5\n1,2,a\n2,3,b\n" + "3,4,a\n" * 9)
    look = look_at("5,,\n1,2,a\n2,3,b\n" + "3,4,a\n" * 9)
    assert look.n_rows == 12
    assert (
        "If you accept it: left out above the header, 1 line: '5'; until then they are read as part of the table."
        in look.notes
    )


# --- other ways to write a table --------------------------------------------------------------------------------------

QUOTED_TEXTS = [
    'a "quoted" word',
    '"',
    'one, "two"; three',
    "plain",
    'two\tof "them"',
    'a | "b"',
    'line\n"two"',
    "",
    '"" twice',
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("escapes", ["doubled", "backslash", "backslash, also its own"])
def test_quotation_marks_within_cells_are_read_however_they_are_escaped(delimiter, escapes):
    texts = [*QUOTED_TEXTS, r"C:\new", "ends in \\"] if escapes != "backslash" else QUOTED_TEXTS
    frame = pd.DataFrame({"x": np.arange(len(texts)) / 2, "note": texts, "kind": ["u", *"v" * (len(texts) - 1)]})
    options = {} if escapes == "doubled" else {"doublequote": False, "escapechar": "\\"}
    text = frame.to_csv(index=False, sep=delimiter, quoting=csv.QUOTE_NONNUMERIC, **options)
    look = look_at(text)
    assert look.table.texts["note"].fillna("").tolist() == texts
    proposals = [(each.key, each.count) for each in look.proposals]
    assert proposals == ([] if escapes == "doubled" else [("backslashes", sum('"' in text for text in texts))])
    if proposals:
        with pytest.raises(FileProblem, match=r"Line \d+ has"):
            look_at(text, decline=["backslashes"])


def test_a_backslash_at_the_end_of_a_cell_is_a_letter_of_it():
    texts, notes = column(table(x=["C:\\", "D:\\dir\\"], y=[1, 2]), "x")
    assert set(texts) == {"C:\\", "D:\\dir\\"}
    assert notes == ""


def aligned(frame, gap, right=()):
    """Write a table with its cells one below the other, as pandas prints one."""
    columns = [[str(name), *map(str, frame[name])] for name in frame]
    widths = [max(map(len, column)) for column in columns]
    sides = [str.rjust if name in right else str.ljust for name in frame]
    rows = zip(*columns)
    return (
        "\n".join((" " * gap).join(side(cell, w) for side, cell, w in zip(sides, row, widths)) for row in rows) + "\n"
    )


@pytest.mark.parametrize("gap", [1, 2, 5])
@pytest.mark.parametrize("right", [(), ("height of one", "n")])
def test_cells_that_stand_one_below_the_other_may_hold_single_spaces(gap, right):
    frame = pd.DataFrame(
        {
            "full name": ["Ann Lee", "Bo Li", "Ann Maria de Souza", "Di, Na", "Al"],
            "height of one": ["1.70", "1.80", "", "1.75", "2"],
            "n": ["1", "20", "300", "4", "5"],
            "kind": ["so so", "bad", "so so", "bad", "very good"],
        }
    )
    text = aligned(frame, gap, right)
    look = look_at(text, "t.txt")
    assert look.format == "text in columns of a fixed width"
    pd.testing.assert_frame_equal(look.table.texts.fillna(""), frame, check_dtype=False)
    theirs = pd.read_fwf(io.StringIO(text), dtype=str, keep_default_na=False, infer_nrows=9)
    assert theirs.shape[0] == len(look.table.frame)
    np.testing.assert_array_equal(look.table.frame["height of one"], [1.7, 1.8, np.nan, 1.75, 2])


@pytest.mark.parametrize("above", ["A report of 3 trials\n", "Growth\n(in cm, by kind)\n\n", "Growth, Kyoto 2024\n\n"])
@pytest.mark.parametrize("below", ["", "\nSource: own survey, of all that grew there\n"])
def test_titles_and_footnotes_stand_around_cells_that_only_spaces_separate(above, below):
    frame = pd.DataFrame(
        {"height": [f"{k}.5" for k in range(9)], "n": [str(7 * k) for k in range(9)], "kind": [*"ababababa"]}
    )
    named = frame.assign(name=["red rose", "tulip", "oak"] * 3)
    for table_, format in ((frame, "text separated by spaces"), (named, "text in columns of a fixed width")):
        look = look_at(above + aligned(table_, 2) + below, "t.txt")
        assert look.format == format
        pd.testing.assert_frame_equal(look.table.texts[:9].fillna(""), table_, check_dtype=False)
        assert [each.key for each in look.proposals if each.key == "titles"] == ["titles"]
        told = {each.key for each in look.proposals if "Source" in each.example}
        assert (look.n_rows, bool(told)) == (9 + ("totals" in told), bool(below))


def test_a_row_that_is_cut_short_is_no_footnote():
    rows = "".join(f"{k} {k + 0.5} {k * 7} {k % 2}\n" for k in range(9))
    assert look_at("a b c kind\n" + rows + "9 9.5\n", "t.txt").n_rows == 10
    with pytest.raises(FileProblem, match="Line 11 has 1 cell"):
        look_at(("a b c kind\n" + rows).replace(" ", ",") + "9;9.5;63;1\n")


def test_names_behind_a_percent_sign_are_those_of_columns_that_spaces_separate():
    look = look_at(
        "% made by us\n% x v kind\n" + "".join(f" {k}  {k + 0.5} {'ab'[k % 2]}\n" for k in range(9)), "t.dat"
    )
    assert (look.columns, look.n_rows) == (("x", "v", "kind"), 9)
    assert look_at("% urban,kind\n1,a\n2,b\n").columns == ("% urban", "kind")


@pytest.mark.parametrize(
    ("head", "line", "foot"),
    [
        ("| x | v | kind |\n|---|:--|-----:|\n", "| {} | {} | {} |\n", ""),
        ("+---+---+---+\n| x | v | kind |\n+---+---+---+\n", "| {} | {} | {} |\n", "+---+---+---+\n"),
        ("x;v;kind\n--------\n", "{};{};{}\n", ""),
        ("x   v   kind\n==  ===  ===\n", "{}   {}   {}\n", ""),
    ],
)
def test_lines_of_dashes_around_the_header_are_no_rows(head, line, foot):
    text = head + "".join(line.format(k, k % 7, "ab"[k % 2]) for k in range(9)) + foot
    look = look_at(text, "t.txt")
    assert (look.columns, look.n_rows) == (("x", "v", "kind"), 9)
    assert "Left out, lines of dashes, " in " ".join(look.notes)
    within = 'x,note,kind\n1,"a\n-----\nb",p\n2,c,q\n'
    assert look_at(within).table.frame["note"][0] == "a\n-----\nb"


@pytest.mark.parametrize("text", ["1e400", "-1e999", "+1E309", "9" * 310, "1" * 400 + ".5"])
@pytest.mark.parametrize("format", ["csv", "arff", "libsvm", "target"])
def test_numbers_beyond_the_range_are_quoted_as_they_are_written(text, format):
    data = {
        "csv": f"a,b,kind\n1,{text},x\n2,3,y\n3,4,x\n",
        "arff": f"@relation r\n@attribute b numeric\n@attribute kind {{x,y}}\n@data\n{text},x\n1,y\n",
        "libsvm": f"1 1:2 2:{text}\n-1 1:3\n",
        "target": f"a,b\n1,{text}\n2,3.5\n3,4.5\n",
    }[format]
    with pytest.raises(FileProblem, match="beyond the range of numbers") as caught:
        read_file(data.encode(), name=f"t.{'csv' if format == 'target' else format}")
    assert repr(text)[1:20] in str(caught.value)
    assert "inf" not in str(caught.value)
    assert ("Line 1" if format == "libsvm" else "Column 'b' holds") in str(caught.value)
    if format in ("csv", "target"):
        assert "To accept 'missing:b' (read as missing, 1 cell) may help." in str(caught.value)
        assert len(read_file(data.encode(), name="t.csv", accept=["missing:b"]).X) == 3


def test_types_that_arff_has_not_are_read_as_they_are_written():
    head = "@relation r\n@attribute a double\n@attribute b interval [0, 9]\n@attribute c nominal\n@data\n"
    look = look_at(head + "1.5,2,x\n?,low,y\n", "t.arff")
    np.testing.assert_array_equal(look.table.frame["a"], [1.5, np.nan])
    assert look.table.frame["b"].tolist() == ["2", "low"]
    assert look.read().target_names == ("x", "y")
    assert "read as it is written: a (double), b (interval), c (nominal)." in look.notes[0]
    with pytest.raises(FileProblem, match="Line 2 does not declare"):
        look_at("@relation r\n@attribute my class {a,b}\n@data\na\n", "t.arff")


def test_whole_numbers_of_arff_that_double_precision_would_merge_stay_texts():
    text = "@relation r\n@attribute id integer\n@attribute c {x,y}\n@data\n9007199254740993,x\n9007199254740992,y\n"
    assert look_at(text, "t.arff").table.frame["id"].nunique() == 2
    assert look_at(text, "t.arff", accept=["codes:id"]).table.frame["id"].dtype.kind == "f"


ATTRIBUTES = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {no,yes,'may be'}\n@data\n"


def test_sparse_rows_of_arff_are_those_of_dense_ones():
    dense = ATTRIBUTES + "1.5,0,yes\n0,2,no\n?,0,'may be'\n0,0,no\n-3,1e2,yes\n"
    sparse = ATTRIBUTES + "{0 1.5, 2 yes}\n{1 2} % a remark\n{0 ?,2 'may be'}\n{}\n{ 0 -3 , 1 1e2 , 2 yes }\n"
    looks = [look_at(text, "t.arff") for text in (dense, sparse)]
    pd.testing.assert_frame_equal(*[look.table.frame for look in looks])
    assert looks[0].notes == ()
    assert "The rows are sparse: numbers that are not written are 0" in looks[1].notes[0]


@pytest.mark.parametrize(
    "row", ["{0 1, 3 yes}", "{1 2, 0 3}", "{1 2, 1 3}", "{0}", "{0 1", "{0 1} x", "{-1 2}", "0,1,yes"]
)
def test_a_sparse_row_that_is_none_is_refused_with_its_line(row):
    with pytest.raises(FileProblem, match=r"^Line 7 is not a sparse row, .* with increasing indices from 0 to 2"):
        look_at(ATTRIBUTES + "{}\n" + row + "\n", "t.arff")


@pytest.mark.parametrize(
    "rows",
    ["1,2,yes,{0.5}\n3,4,no , { 2e0 } % far\n5,6,yes\n", "{0 1,1 2,2 yes}, {0.5}\n{0 3,1 4},{2}\n{0 5,1 6,2 yes}\n"],
)
def test_weights_of_rows_are_a_column_that_describes_them(rows):
    look = look_at(ATTRIBUTES + rows, "t.arff")
    data = look.read()
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4], [5, 6]])
    assert data.target_name == "c"
    np.testing.assert_array_equal(data.metadata["instance weight"], [0.5, 2, 1])
    assert "Rows have weights: column 'instance weight'" in data.description


def test_roles_and_dates_of_arff():
    text = (
        "@relation r\n@attribute a numeric {0.5}\n@attribute b date\n@attribute c {x,y} {2}\n@attribute d real [0, 1]\n"
    )
    rows = "@data\n1,2004-05-03T12:00:01,x,.5\n2,?,y,.25\n"
    look = look_at(text + rows, "t.arff")
    assert look.table.frame["b"].dtype.kind == "M"
    assert "The weights of attributes are not used." in look.notes
    keel = look_at(text + "@inputs a\n@outputs c\n" + rows, "t.dat")
    assert (keel.columns, keel.target) == (("a", "c"), "c")
    assert "Left out, as the file says, 2 columns: 'b, d'." in keel.notes
    assert look_at(text + "@inputs a\n@outputs c\n" + rows, "t.dat", decline=["aside"]).columns == ("a", "b", "c", "d")
    several = look_at(text + "@inputs a, b\n@outputs c, d\n" + rows, "t.dat")
    assert (several.columns, several.target) == (("a", "b", "c"), "c")


# --- tables of offices, and rows of LIBSVM ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 25, 80])
@pytest.mark.parametrize("delimiter", [",", " "])
def test_any_number_of_remarks_stands_above_a_table(count, delimiter):
    rows = [["year", "level", "kind"], *([str(1958 + k), f"31{k % 10}.5", "ab"[k % 2]] for k in range(30))]
    text = "".join(f"# remark {k}, and more\n" for k in range(count)) + "\n".join(map(delimiter.join, rows)) + "\n"
    look = look_at(text, "t.txt")
    assert (look.n_rows, look.columns) == (30, ("year", "level", "kind"))
    assert f"Left out above the header, {count} lines" in " ".join(look.notes)


def test_a_minus_with_a_space_behind_it_is_a_sign():
    numbers, notes = column(table(x=["- 23", "71", "-  1 380", "1 225"]).replace(",", ";"), "x")
    np.testing.assert_array_equal(numbers[:4], [-23, 71, -1380, 1225])
    assert "Read as numbers without signs and marks" in notes
    both, notes = column(table(x=["- 23", "-23"]), "x")
    assert set(both) == {"- 23", "-23"}  # until that is accepted
    assert "If you accept it: read as numbers" in notes


def test_a_second_line_of_names_may_stand_above_texts_too():
    text = "id,place,count\nId,Geography,Estimate; total\n" + "".join(f"0{k},town {k},{k * 7}\n" for k in range(9))
    look = look_at(text)
    proposal = next(each for each in look.proposals if each.key == "second header")
    assert not proposal.accepted
    with pytest.raises(FileProblem, match=r"'Estimate; total' in row 1.* 'second header'"):
        look.read()
    accepted = look_at(text, accept=["second header"])
    assert accepted.columns == ("id (Id)", "place (Geography)", "count (Estimate; total)")
    assert accepted.n_rows == 9
    rows = "id,place,count\nId,town 3,Estimate\n" + "".join(f"0{k},town {k},{k * 7}\n" for k in range(9))
    assert "second header" not in {each.key for each in look_at(rows).proposals}  # a text that comes again is a cell


def test_the_mark_of_utf_8_may_stand_before_each_of_two_files_that_were_joined():
    part = "x,kind\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(9))
    look = preview((part.encode("utf-8-sig")) * 2, "t.csv")
    assert (look.columns, look.n_rows) == (("x", "kind"), 18)


def test_a_short_line_of_words_below_the_header_is_a_row_or_more_names():
    rows = "".join(f"t{k},{k / 2},{k * 7},{k % 3}\n" for k in range(9))
    text = "Figures\nplace,size,count,kind\n,km,1000s\n" + rows + 'Notes:\n1,"Revised, since 2019"\n2,An estimate\n'
    look = look_at(text)
    assert "Line 3, below the header, has 3 cells; the others of its row are empty." in look.notes
    assert look.n_rows == 10
    assert look_at(text, accept=["second header"]).columns == ("place", "size (km)", "count (1000s)", "kind")
    with pytest.raises(FileProblem, match="Line 3 has 2 cells"):
        look_at(text.replace(",km,1000s\n", "t,9\n"))


def test_numbers_too_small_for_double_precision_are_zero_and_counted():
    text = "p,kind\n" + "".join(
        f"{p},{'ab'[k % 2]}\n" for k, p in enumerate(["1e-400", "0", "0.5", "-2.5E-999", "1e-400"])
    )
    look = look_at(text)
    np.testing.assert_array_equal(look.table.frame["p"], [0, 0, 0.5, 0, 0])
    assert "Read as 0, as they are too small for a number, 3 cells: 'p' (1e-400)." in look.notes
    assert set(look_at(text, decline=["small:p"]).table.frame["p"]) == {"1e-400", "0", "0.5", "-2.5E-999"}


def test_a_second_line_of_names_may_stand_below_merged_cells():
    text = "Area,2010,,Estimate,\n,Census,Base,2018,2019\n" + "".join(
        f"t{k},{k},{k + 1},{k},{k * 7}\n" for k in range(9)
    )
    look = look_at(text)
    assert look.n_rows == 10
    assert "the first two rows name the columns, 1 row" in " ".join(look.notes)
    accepted = look_at(text, accept=["second header"])
    assert accepted.n_rows == 9
    assert accepted.columns == ("Area", "2010 (Census)", "2010 (Base)", "Estimate (2018)", "Estimate (2019)")


@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_libsvm_keep_their_queries_and_say_what_is_left_out(first):
    lines = [f"{k % 2} qid:{k // 3} {first}:{k + 0.5} {first + 2}:1 # document {k}" for k in range(9)]
    look = look_at("# above\n" + "\n".join(lines) + "\n", "t.libsvm")
    theirs, labels, queries = load_svmlight_file(
        io.BytesIO("\n".join(lines).encode()), query_id=True, zero_based=first == 0
    )
    data = look.read()
    np.testing.assert_array_equal(data.X, theirs.toarray())
    np.testing.assert_array_equal(data.y, labels)
    np.testing.assert_array_equal(data.metadata["qid"], queries)
    assert "Remarks behind rows are left out: 9." in look.notes
    assert ("Indices begin with 0: index 0 is column x1." in look.notes) == (first == 0)


@pytest.mark.parametrize("name", ["t.txt", "t.data", "t.dat"])
def test_libsvm_is_known_by_its_first_line(name):
    lines = "".join(f"{k % 2} 1:{k}.5 2:{k} 4:1\n" for k in range(9))
    assert look_at("# made by us\n" + lines, name).format == "LIBSVM"
    times = "".join(f"{k} 12:{k:02d} 14:{k + 9:02d}\n" for k in range(10, 19))
    assert look_at(times, name).table.texts.iloc[0].tolist() == ["10", "12:10", "14:19"]


def test_rows_of_libsvm_have_all_a_query_or_none():
    with pytest.raises(FileProblem, match=r"has a qid in 1 row of 2: all have one, or none\.$"):
        look_at("1 qid:1 1:2\n0 1:3\n", "t.libsvm")

"""Reading files: round trips of every format, and what a researcher's CSV may look like."""

import gzip
import io
import struct
import tracemalloc
import zipfile
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from supdr.datasets import EXTENSIONS, Dataset, FileProblem, Limits, load, preview, read_file
from tests.bad_input.workbooks import workbook

IRIS = load("iris")
FRAME = pd.DataFrame(IRIS.X, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])
TABLE = FRAME.assign(species=IRIS.labels)


def csv_bytes(sep=",", **options):
    return TABLE.to_csv(sep=sep, index=False, **options).encode()


def parquet_bytes(frame, **options):
    buffer = io.BytesIO()
    frame.to_parquet(buffer, **options)
    return buffer.getvalue()


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def libsvm_bytes(X, y, **options):
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer, **options)
    return buffer.getvalue()


def rows_of(frame):
    return [list(frame.columns), *(list(row) for row in frame.itertuples(index=False))]


def arff_bytes(frame, levels):
    declared = [f"@ATTRIBUTE '{column}' REAL" for column in frame.columns[:-1]]
    lines = ["% a comment", "@RELATION iris", *declared, f"@attribute species {{{','.join(levels)}}}", "", "@DATA"]
    return ("\n".join(lines) + "\n" + frame.to_csv(header=False, index=False)).encode()


ROUND_TRIPS = {
    "iris.csv": csv_bytes(),
    "iris.tsv": csv_bytes("\t"),
    "semicolons.csv": csv_bytes(";"),
    "decimal_commas.csv": csv_bytes(";", decimal=","),
    "tabs.csv": csv_bytes("\t"),
    "crlf.csv": csv_bytes(lineterminator="\r\n"),
    "cr.csv": csv_bytes(lineterminator="\r"),
    "bom.csv": b"\xef\xbb\xbf" + csv_bytes(),
    "utf16.csv": csv_bytes().decode().encode("utf-16"),
    "utf16_without_mark.csv": csv_bytes().decode().encode("utf-16-le"),
    "quoted.csv": csv_bytes(quoting=1),
    "IRIS.CSV": csv_bytes(),
    "iris.csv.gz": gzip.compress(csv_bytes()),
    "iris.xlsx": workbook(iris=rows_of(TABLE)),
    "iris.parquet": parquet_bytes(TABLE),
    "category.parquet": parquet_bytes(TABLE.astype({"species": "category"})),
    "iris.arff": arff_bytes(TABLE, IRIS.target_names),
    "iris.arff.gz": gzip.compress(arff_bytes(TABLE, IRIS.target_names)),
    "iris.npz": npz_bytes(X=IRIS.X, y=IRIS.labels.astype(str), feature_names=np.array(list(FRAME))),
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_round_trip(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(ROUND_TRIPS[name])
    for dataset in (read_file(path), read_file(str(path)), read_file(ROUND_TRIPS[name], name=name)):
        np.testing.assert_array_equal(dataset.X, IRIS.X)
        np.testing.assert_array_equal(dataset.y, IRIS.y)
        assert dataset.feature_names == tuple(FRAME.columns)
        assert dataset.target_names == IRIS.target_names
        assert dataset.task == "classification"
        assert dataset.name == name.split(".")[0]


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm_round_trip(zero_based):
    dataset = read_file(libsvm_bytes(IRIS.X, IRIS.y, zero_based=zero_based), name="iris.libsvm")
    np.testing.assert_array_equal(dataset.X, IRIS.X)
    np.testing.assert_array_equal(dataset.y, IRIS.y)
    sparse = read_file(b"-1 1:0.5 3:2\n+1 2:1 # a comment\n", name="a.libsvm")
    np.testing.assert_array_equal(sparse.X, [[0.5, 0, 2], [0, 1, 0]])
    assert sparse.target_names == ("-1", "1")


def test_every_number_survives_text():
    values = np.random.default_rng(0).standard_normal((200, 3)) * 10.0 ** np.arange(-200, 100)[:200, None]
    text = pd.DataFrame(values).to_csv(index=False, header=["a", "b", "target"])
    np.testing.assert_array_equal(read_file(text.encode(), name="a.csv").X, values[:, :2])
    commas = pd.DataFrame(values).to_csv(index=False, header=["a", "b", "target"], sep=";", decimal=",")
    np.testing.assert_array_equal(read_file(commas.encode(), name="a.csv").X, values[:, :2])


def test_regression_round_trip():
    diabetes = load("diabetes")
    frame = pd.DataFrame(diabetes.X, columns=diabetes.feature_names).assign(target=diabetes.y)
    files = {
        "d.csv": frame.to_csv(index=False).encode(),
        "d.parquet": parquet_bytes(frame),
        "d.npz": npz_bytes(X=diabetes.X, y=diabetes.y),
        "d.libsvm": libsvm_bytes(diabetes.X, diabetes.y, zero_based=False),
    }
    for name, data in files.items():
        dataset = read_file(data, name=name)
        assert dataset.task == "regression"
        np.testing.assert_allclose(dataset.X, diabetes.X, rtol=1e-14)
        np.testing.assert_array_equal(dataset.y, diabetes.y)


def read(text, **options):
    return read_file(text.encode(), name="data.csv", **options)


def test_without_a_header_columns_are_numbered():
    dataset = read("1,2,0\n3,4,1\n")
    assert dataset.feature_names == ("x1", "x2")
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert "no header" in dataset.description
    labels_last = read("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.0,virginica\n")
    assert labels_last.n_samples == 3
    assert labels_last.target_names == ("setosa", "virginica")
    assert read("5.1,?,setosa\n4.9,3.0,setosa\n6.0,2.0,virginica\n").n_samples == 3


def test_numbers_may_be_column_names():
    assert read("0,1,2\n5,6,1\n7,8,0\n").feature_names == ("0", "1")
    assert read(pd.DataFrame(IRIS.X).to_csv()).n_features == 3
    assert read("400,401,species\n1,2,a\n3,4,b\n5,6,a\n").feature_names == ("400", "401")


def test_quoted_delimiters_and_newlines():
    dataset = read('"a, b","two\nlines",class\n1,2,"x\ny"\n3,4,"z, w"\n')
    assert dataset.feature_names == ("a, b", "two\nlines")
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.target_names == ("x\ny", "z, w")


def test_blank_lines_and_spaces_do_not_matter():
    dataset = read("\n a, b, class\n\n 1, 2, x\n   \n 3, 4, y\n\n")
    assert dataset.feature_names == ("a", "b")
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.target_names == ("x", "y")


def test_latin_1_is_read_and_noted():
    dataset = read_file("größe,class\n1,früh\n2,spät\n".encode("latin-1"), name="a.csv")
    assert dataset.feature_names == ("größe",)
    assert dataset.target_names == ("früh", "spät")
    assert "Latin-1" in dataset.description
    assert "Latin-1" not in read_file("größe,class\n1,früh\n2,spät\n".encode(), name="a.csv").description


@pytest.mark.parametrize("first", ["", "Unnamed"])
def test_row_numbers_without_a_name_are_left_out(first):
    text = FRAME.assign(y=IRIS.y).to_csv()
    dataset = read(first + text)
    assert dataset.n_features == (5 if first else 4)
    assert ("count rows" in dataset.description) == (not first)


@pytest.mark.parametrize("missing", ["", "?", "NA", "nan", "NULL", " "])
def test_missing_cells_and_missing_targets(missing):
    dataset = read(f"a,b,class\n1,{missing},x\n{missing},3,y\n5,6,{missing}\n")
    np.testing.assert_array_equal(dataset.X, [[1, np.nan], [np.nan, 3], [5, 6]])
    np.testing.assert_array_equal(dataset.y, [0, 1, np.nan])
    assert "Missing cells: 2, in a, b." in dataset.description
    assert "Unlabelled rows: 1." in dataset.description


def test_none_may_be_a_class():
    assert read("a,damage\n1,None\n2,Severe\n3,None\n").target_names == ("None", "Severe")


def test_text_becomes_0_and_1():
    dataset = read("sex,colour,smokes,age,class\nm,red,True,1,x\nf,blue,False,2,y\nm,green,True,3,x\n,red,False,4,y\n")
    assert dataset.feature_names == ("sex=m", "colour=blue", "colour=green", "colour=red", "smokes", "age")
    expected = [[1, 0, 0, 1, 1, 1], [0, 1, 0, 0, 0, 2], [1, 0, 1, 0, 1, 3], [np.nan, 0, 0, 1, 0, 4]]
    np.testing.assert_array_equal(dataset.X, expected)
    assert "one-hot encoded (two levels give one column): sex, colour." in dataset.description


def test_20_levels_are_the_most():
    rows = [f"level {row % 20},{row},{'ab'[row % 2]}" for row in range(60)]
    assert read("text,number,class\n" + "\n".join(rows)).n_features == 21
    more = read("text,number,class\n" + "\n".join([*rows, "level 20,1,a"]))
    assert more.feature_names == ("number",)
    assert "text of too many values: text." in more.description


def test_constant_columns_are_kept_and_noted():
    dataset = read("a,b,class\n1,7,x\n2,7,y\n")
    assert dataset.n_features == 2
    assert "Constant columns, kept: b." in dataset.description


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("a,TARGET,b", "TARGET"),
        ("a,Class,b", "Class"),
        ("label,a,b", "label"),
        ("a,y,b", "y"),
        ("y,target,b", "target"),
        ("a,b,c", "c"),
        ("class,sex,survived", "survived"),
    ],
)
def test_default_target(header, target):
    text = header + "\n1,0,1\n0,1,0\n1,1,1\n"
    look = preview(text.encode(), "a.csv")
    assert look.target == target
    assert target not in look.read().feature_names


@pytest.mark.parametrize("last", ["", "person {k}", "2020-01-{day:02d}"])
def test_neither_names_nor_dates_nor_an_empty_column_are_the_default_target(last):
    rows = [f"{k / 2},{k % 3},{last.format(k=k, day=k + 1)}" for k in range(30)]
    assert preview("\n".join(["x,kind,last", *rows]).encode(), "a.csv").target == "kind"


def test_target_and_task_may_be_chosen():
    text = "a,b,class\n1,1,x\n2,2,y\n3,4,x\n"
    dataset = read(text, target="B", task="regression")
    assert dataset.target_names == ("b",)
    assert dataset.feature_names == ("a", "class=y")
    assert read(text, target="b").task == "regression"  # numbers that do not recur
    assert read(text + "4,4,y\n5,1,x\n6,2,y\n", target="b").task == "classification"
    assert read(text, target="b", task="classification").target_names == ("1", "2", "4")
    with pytest.raises(ValueError, match="task must be"):
        read(text, task="ranking")


def test_columns_with_a_prefix_are_views():
    dataset = read("pix:1,fou:1,pix:2,fou:2,fou:3,class\n1,2,3,4,5,x\n6,7,8,9,10,y\n")
    assert dataset.views == (2, 3)
    assert dataset.feature_names == ("pix:1", "pix:2", "fou:1", "fou:2", "fou:3")
    np.testing.assert_array_equal(dataset.X[0], [1, 3, 2, 4, 5])
    assert read("pix:1,b,class\n1,2,x\n3,4,y\n").views is None
    assert read("pix:1,pix:2,class\n1,2,x\n3,4,y\n").views is None
    assert read("a:sex,b:1,class\nm,2,x\nf,4,y\nd,4,y\n").views == (3, 1)


def test_npz_views_keep_their_order():
    first, second = np.arange(6.0).reshape(3, 2), np.arange(9, dtype=np.uint8).reshape(3, 3)
    dataset = read_file(npz_bytes(pix=second, fou=first, y=np.array([[0], [1], [0]])), name="a.npz")
    assert dataset.views == (3, 2)
    np.testing.assert_array_equal(dataset.X, np.hstack([second, first]))
    assert dataset.feature_names[:2] == ("pix:1", "pix:2")
    without = read_file(npz_bytes(distances=first), name="a.npz")
    assert (without.n_features, without.views) == (1, None)


def test_arff_details():
    text = (
        "@relation 'a b'\n@attribute 'the size' numeric\n@attribute colour {red, 'dark blue', green}\n"
        '@attribute "it\'s" Integer\n@attribute class {no,yes}\n@data\n% remark\n'
        "1.5,'dark blue',?,yes\n?, red, 3, no\n2,green,4,?\n"
    )
    dataset = read_file(text.encode(), name="a.arff")
    assert dataset.feature_names == ("the size", "colour=red", "colour=dark blue", "colour=green", "it's")
    np.testing.assert_array_equal(dataset.X[0], [1.5, 0, 1, 0, np.nan])
    np.testing.assert_array_equal(dataset.y, [1, 0, np.nan])
    numbers = (
        "@relation a\n@attribute grade {1,2,3}\n@attribute a real\n@attribute y {0,1}\n@data\n1,2,0\n3,4,1\n2,1,1\n"
    )
    assert read_file(numbers.encode(), name="a.arff").feature_names == ("grade=1", "grade=2", "grade=3", "a")


def test_parquet_of_numbers_as_text_and_nullable_columns():
    frame = pd.DataFrame(
        {
            "text": ["1.5", "2.5", None],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "y": ["a", "b", None],
        }
    )
    dataset = read_file(parquet_bytes(frame), name="a.parquet", accept=["numbers:text"])
    np.testing.assert_array_equal(dataset.X, [[1.5, 1, 1], [2.5, np.nan, 0], [np.nan, 3, 1]])
    np.testing.assert_array_equal(dataset.y, [0, 1, np.nan])
    as_the_file_says = read_file(parquet_bytes(frame), name="a.parquet")
    assert as_the_file_says.feature_names == ("text=2.5", "nullable", "flag")
    assert "If you accept it: read text as numbers, 2 cells: 'text' (1.5); until then" in as_the_file_says.description


@pytest.mark.parametrize(
    ("values", "merge"),
    [
        (2**53 + np.arange(18), True),
        (2**53 - 1 - np.arange(18), False),
        ([None, *(-(2**60) - np.arange(17))], True),
        ([Decimal(k).scaleb(-20) + Decimal("0.5") for k in range(18)], True),
        ([Decimal(k) / 4 for k in range(18)], False),
    ],
)
def test_numbers_that_double_precision_would_merge_stay_texts(values, merge):
    frame = pd.DataFrame({"a": np.arange(18.0), "code": pd.Series(values, dtype=object)})
    content = parquet_bytes(frame.assign(kind=["x", "y"] * 9))
    codes = read_file(content, name="a.parquet", target="code", task="classification")
    assert codes.n_classes == frame["code"].nunique()
    columns = read_file(content, name="a.parquet", target="kind")
    assert ("different texts become one" in columns.description) == merge
    assert ("code" in columns.feature_names) != merge
    if merge:
        assert "code" in read_file(content, name="a.parquet", target="kind", accept=["codes:code"]).feature_names


def test_whole_numbers_of_arrays_that_double_precision_would_merge_stay_texts():
    content = npz_bytes(X=np.arange(36).reshape(18, 2), y=2**60 + np.arange(18) % 3)
    assert read_file(content, name="a.npz").target_names == tuple(str(2**60 + k) for k in range(3))


def test_number_classes_are_told_from_text():
    frame = pd.DataFrame({"a": [1, 2, 3], "y": ["10", "9", ""]})
    dataset = read_file(parquet_bytes(frame), name="a.parquet")
    assert dataset.target_names == ("9", "10")
    np.testing.assert_array_equal(dataset.y, [1, 0, np.nan])
    mixed = "a,grade\n1,1\n2,2\n3,3a\n"
    assert read(mixed, task="classification").target_names == ("1", "2", "3a")
    assert preview(mixed.encode(), "a.csv").task == "classification"
    empty_text = read_file(npz_bytes(X=np.eye(3), y=np.array(["u", "v", ""])), name="a.npz")
    np.testing.assert_array_equal(empty_text.y, [0, 1, np.nan])


def test_a_sheet_may_be_chosen():
    other = TABLE[["petal_width", "petal_length", "species"]].iloc[::-1]
    data = workbook(notes=[["made in spring"]], iris=rows_of(TABLE), turned=rows_of(other))
    assert preview(data, "a.xlsx").sheet == "iris"  # a line before it is no table
    with pytest.raises(FileProblem, match="Sheet 'notes' has a single column"):
        preview(data, "a.xlsx", sheet="notes")
    look = preview(data, "a.xlsx", sheet="turned")
    assert look.sheets == ("notes", "iris", "turned")
    assert look.sheet == "turned"
    np.testing.assert_array_equal(look.read().X, other.iloc[:, :2])
    chosen = read_file(data, name="a.xlsx", sheet="iris")
    np.testing.assert_array_equal(chosen.X, IRIS.X)
    assert "sheet 'iris' of an Excel workbook" in chosen.description
    assert "Sheet 'iris' of notes, iris, turned." in chosen.description
    with pytest.raises(FileProblem, match=r"no sheet 'roses' in a\.xlsx; there are notes, iris, turned"):
        preview(data, "a.xlsx", sheet="roses")
    with pytest.raises(FileProblem, match=r"a\.csv has no sheets"):
        preview(csv_bytes(), "a.csv", sheet="iris")


def test_numbers_days_and_yes_in_a_sheet():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(40) * 10.0 ** rng.integers(-300, 300, 40)
    day = date(2024, 2, 28)
    rows = [["Titles of a report"], [], ["x", "when", "yes", "whole", "y"]]
    rows += [[float(x), day + timedelta(k), k % 3 == 0, 2**50 + k, f"c{k % 2}"] for k, x in enumerate(numbers)]
    dataset = read_file(workbook(one=rows), name="a.xlsx")
    np.testing.assert_array_equal(dataset.X[:, 0], numbers)
    np.testing.assert_array_equal(dataset.X[:, 1] - dataset.X[0, 1], np.arange(40))
    np.testing.assert_array_equal(dataset.X[:, 2], np.arange(40) % 3 == 0)
    np.testing.assert_array_equal(dataset.X[:, 3], 2**50 + np.arange(40))
    assert "Left out above the header, 2 lines: 'Titles of a report'." in dataset.description


def test_a_workbook_that_lies_about_its_size_is_refused():
    honest = workbook(one=[["a", "y"], *([k, k % 2] for k in range(2000))])
    member = zipfile.ZipFile(io.BytesIO(honest)).getinfo("xl/worksheets/sheet1.xml")
    lying = honest.replace(struct.pack("<I", member.file_size), struct.pack("<I", 500))
    assert lying != honest
    with pytest.raises(FileProblem, match="is not a complete Excel workbook"):
        read_file(lying, name="a.xlsx")
    with pytest.raises(FileProblem, match=r"unpacks to more than 0\.0 MB"):
        read_file(honest, name="a.xlsx", limits=Limits(max_unpacked_bytes=20_000))


def test_preview():
    look = preview(csv_bytes(), "iris.csv")
    assert look.columns == tuple(TABLE.columns)
    assert [each.kind for each in look.facts] == ["number"] * 4 + ["text"]
    assert look.n_rows == 150
    assert look.rows[0] == ("5.1", "3.5", "1.4", "0.2", "setosa")
    assert len(look.rows) == 5
    assert (look.target, look.task) == ("species", "classification")
    assert look.task_of("petal_width") == "regression"
    np.testing.assert_array_equal(look.read().X, IRIS.X)
    assert look.read(target="sepal_width").task == "regression"
    assert preview(b"a,b\n,1\n2,\n", "a.csv").rows == (("", "1"), ("2", ""))


def test_preview_works_where_reading_does_not():
    look = preview(b"when,a,class\n2020-01-01,inf,x\n2020-01-02,2,x\n", "a.csv")
    assert [each.kind for each in look.facts] == ["date", "number", "text"]
    with pytest.raises(FileProblem, match="only one class"):
        look.read()


def test_name_is_needed_with_bytes():
    with pytest.raises(ValueError, match="name is needed"):
        read_file(b"1,2\n3,4\n")


@pytest.mark.parametrize("ending", EXTENSIONS)
def test_a_bomb_is_stopped_while_it_unpacks(ending):
    limits = Limits(max_unpacked_bytes=1e6)
    bomb = gzip.compress(bytes(30_000_000))
    tracemalloc.start()
    with pytest.raises(FileProblem, match=r"unpacks to more than 1\.0 MB"):
        read_file(bomb, name=f"a{ending}.gz", limits=limits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_damage_never_shows_a_library_error(name):
    """Cut and flipped files are either read or refused in a sentence."""
    data = ROUND_TRIPS[name]
    rng = np.random.default_rng(0)
    for _ in range(8):
        damaged = bytearray(data[: rng.integers(1, len(data))] if rng.random() < 0.5 else data)
        for position in rng.integers(0, len(damaged), 3):
            damaged[position] = rng.integers(256)
        try:
            assert isinstance(preview(bytes(damaged), name).read(), Dataset)
        except FileProblem as problem:
            assert str(problem).count("\n") == 0  # noqa: PT017


def test_columns_that_no_method_learns_from_are_kept_for_looking():
    rows = 45
    table = pd.DataFrame(
        {
            "size": np.arange(rows) / 10,
            "sex": ["male", "female", None] * 15,
            "name": [f"row {k}" for k in range(rows)],
            "seen": [f"2020-01-{1 + k % 28:02d}" for k in range(rows)],
            "id": np.arange(rows) + 100,
            "class": ["a", "b", "c"] * 15,
        }
    )
    dataset = read_file(table.to_csv(index=False).encode(), name="t.csv", ignore=["id", "seen"])
    assert dataset.target_name == "class"
    assert set(dataset.metadata) == {"sex", "name", "seen", "id"}
    assert not set(dataset.metadata) & set(dataset.feature_names)
    assert dataset.metadata["sex"].tolist() == ["male", "female", None] * 15  # as it is written; the features are 0/1
    assert dataset.metadata["name"].tolist() == table["name"].tolist()
    np.testing.assert_array_equal(dataset.metadata["id"], table["id"])
    assert dataset.metadata["seen"].dtype == np.float64  # days, as of a feature
    assert dataset.metadata["seen"][1] - dataset.metadata["seen"][0] == 1.0

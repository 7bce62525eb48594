"""Whatever is wrong with a file is said in one plain sentence."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from supdr.datasets import FileProblem, Limits, read_file

GOOD = b"a,b,class\n1,2,x\n3,4,y\n"
HEADER = "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n"


def parquet_bytes(frame):
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def pickled(array):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(2), y=np.array(array, dtype=object))
    return buffer.getvalue()


def npz_with(member, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, content)
    return buffer.getvalue()


def npy_header(shape, dtype="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def columns(**values):
    return parquet_bytes(pd.DataFrame(values))


EMPTY = [
    ("empty", "a.csv", b"", "^a.csv is empty.$"),
    ("blank", "a.csv", b" \n\n  \n", "^a.csv is empty.$"),
    ("only a mark", "a.csv", b"\xef\xbb\xbf", "^a.csv is empty.$"),
    ("empty in gzip", "a.csv.gz", gzip.compress(b""), "^a.csv.gz is empty.$"),
    ("empty LIBSVM", "a.libsvm", b"\n", "^a.libsvm is empty.$"),
    ("empty NPZ", "a.npz", npz_bytes(), "a.npz"),
    ("one column", "a.tsv", b"a,b\n1,2\n", "by tabs"),
    ("header only", "a.csv", b"a,b,class\n", "^a.csv has a header but no rows.$"),
    ("ARFF header only", "a.arff", HEADER.encode(), "^a.arff has a header but no rows.$"),
    ("Parquet without rows", "a.parquet", columns(a=[], y=[]), "No row is labelled"),
    ("NPZ without rows", "a.npz", npz_bytes(X=np.zeros((0, 2)), y=np.zeros(0)), "No row is labelled"),
]
TARGETS = [
    ("one class", "a.csv", b"a,class\n1,x\n2,x\n", "Target 'class' has only one class, 'x'; at least two"),
    ("one number", "a.csv", b"a,y\n1,7\n2,7\n", "Target 'y' has only one class, '7'"),
    ("one value", "a.csv", b"a,y\n1,0.5\n2,0.5\n", "Target 'y' has the same value 0.5 in all labelled rows"),
    ("no label", "a.csv", b"a,class\n1,\n2,\n", "No row is labelled: target 'class' is empty"),
    (
        "too many classes",
        "a.csv",
        b"a,class\n" + b"".join(b"1,c%d\n" % k for k in range(150)),
        "has 150 classes; at most 100",
    ),
    ("infinite target", "a.csv", b"a,y\n1,0.5\n2,inf\n3,1.5\n", "Column 'y' holds 'inf' in row 2, which is not finite"),
    (
        "only the target",
        "a.csv",
        b"class\nx\ny\n",
        "a.csv has only one column; separate the target and the features by commas, semicolons or tabs",
    ),
    ("stray text", "a.csv", b"a,y\n1,0.5\n2,oops\n3,1.5\n", "Column 'y' holds 'oops' in row 2, which is not a number"),
    ("only y", "a.parquet", columns(y=[0, 1]), "only one column, the target; at least one feature"),
    ("date target", "a.parquet", columns(a=[1, 2], y=pd.to_datetime(["2020", "2021"])), "Target 'y' must hold numbers"),
]
COLUMNS = [
    (
        "text in numbers",
        "a.csv",
        b"a,b,class\n1,2,x\n3,oops,y\n4,5,x\n",
        "Column 'b' holds 'oops' in row 2, which is not a n",
    ),
    ("half of it text", "a.csv", b"a,b,class\n1,2,x\n3,oops,y\n", "Column 'b' holds 'oops' in row 2"),
    ("infinite", "a.csv", b"a,b,class\n1,2,x\n-inf,4,y\n", "Column 'a' holds '-inf' in row 2, which is not finite"),
    ("overflow", "a.csv", b"a,class\n1,x\n1e999,y\n", "Column 'a' holds .* in row 2, which is not finite"),
    (
        "too many levels",
        "a.csv",
        b"a,class\n" + b"".join(b"t%d,%d\n" % (k, k % 2) for k in range(21)),
        "Column 'a' holds text with 21",
    ),
    ("all missing", "a.csv", b"a,b,class\n1,,x\n3,,y\n", "Column 'b' is empty: none of its cells has a value"),
    ("repeated names", "a.csv", b"a,b,a,class\n1,2,3,x\n4,5,6,y\n", "Column names must be distinct; repeated: a."),
    ("names repeated by levels", "a.csv", b"c,c=v,class\nu,1,x\nv,2,y\n", "names must be distinct; repeated: c=v"),
    ("dates", "a.parquet", columns(d=pd.to_datetime(["2020", "2021"]), y=[0, 1]), "Column 'd' holds dates"),
    ("lists", "a.parquet", columns(d=[[1], [2]], y=[0, 1]), "Column 'd' holds values of type"),
    ("long text", "a.parquet", columns(a=["t" * 2000, "u"], y=[0, 1]), "Column 'a' holds a text of 2,000 characters"),
    ("long level", "a.parquet", columns(a=pd.Categorical(["t" * 2000, "u"]), y=[0, 1]), "text of 2,000 characters"),
    ("complex", "a.npz", npz_bytes(X=np.eye(2) * 1j, y=[0, 1]), "Array 'X' must hold numbers, it holds complex128"),
    ("infinite NPZ", "a.npz", npz_bytes(X=np.array([[1.0], [np.inf]]), y=[0, 1]), "Column 'x1' holds 'inf' in row 2"),
]
RECORDS = [
    ("ragged, too long", "a.csv", b"a,b,class\n1,2,x\n3,4,5,y\n", "^Line 3 has 4 cells, the first line has 3.$"),
    ("ragged, too short", "a.csv", b"a,b,class\n\n1,2,x\n3,4\n", "^Line 4 has 2 cells, the first line has 3.$"),
    ("ragged after a cell of two lines", "a.csv", b'a,"b\nc",class\n1,2,x\n3,4\n', "^Line 4 has 2 cells"),
    ("open quote", "a.csv", b'a,b,class\n1,2,x\n3,"4,y\n5,6,x\n', "^Line 3 has a misplaced or open quotation mark.$"),
    ("quote in a cell", "a.csv", b'a,b,class\n"1"2,2,x\n3,4,y\n', "^Line 2 has a misplaced or open quotation mark.$"),
    ("endless cell", "a.csv", b'a,class\n"' + b"long " * 30_000, "^Line 2 has a cell that is too long"),
    ("zero bytes", "a.csv", GOOD + b"\0" * 3, "^a.csv is not a text file: it contains zero bytes.$"),
    ("broken UTF-16", "a.csv", b"\xff\xfea\0,\0b", "^a.csv is not valid UTF-16 text; save it as UTF-8.$"),
    ("ARFF without data", "a.arff", b"@relation r\n@attribute a real\n", "not an ARFF file: it has no @data line"),
    ("ARFF without attributes", "a.arff", b"@data\n1,2\n", "not an ARFF file: it declares no @attribute"),
    ("ARFF of unknown type", "a.arff", b"@attribute a relational\n@data\n1\n", "Line 1 does not declare"),
    ("sparse ARFF", "a.arff", (HEADER + "{0 1, 1 x}\n").encode(), "sparse ARFF"),
    ("ragged ARFF", "a.arff", (HEADER + "% c\n1,x\n2,y,3\n").encode(), "^Line 7 has 3 cells, the first line has 2.$"),
    ("wide ARFF", "a.arff", (HEADER + "1,x,2\n2,y,3\n").encode(), "declares 2 attributes, but its rows have 3 cells"),
    (
        "undeclared level",
        "a.arff",
        (HEADER + "1,x\n2,z\n").encode(),
        "Column 'class' holds 'z' in row 2, .* values x, y",
    ),
    ("text in ARFF numbers", "a.arff", (HEADER + "1,x\nb,y\n").encode(), "Column 'a' holds 'b' in row 2"),
    ("repeated ARFF names", "a.arff", HEADER.replace("class {x,y}", "a real").encode() + b"1,2\n", "repeated: a"),
    ("LIBSVM with text", "a.libsvm", b"1 1:2\n0 1:abc\n", "Line 2 is not in LIBSVM format .*'0 1:abc'"),
    ("CSV called LIBSVM", "a.libsvm", GOOD, "Line 1 is not in LIBSVM format .*'a,b,class'"),
    ("LIBSVM out of order", "a.libsvm", b"1 2:2 1:3\n", "indices must increase"),
]
CONTAINERS = [
    (
        "unknown type",
        "a.xlsx",
        b"PK\x03\x04",
        r"^a.xlsx ends in '.xlsx'; accepted are .csv, .tsv, .parquet, .arff, .npz, .libsvm",
    ),
    ("no type", "data", GOOD, "^data has no ending; accepted are .csv"),
    ("Parquet called CSV", "a.csv", columns(a=[1], y=[0]), "a.csv is called .csv but holds Parquet data"),
    ("Excel called CSV", "a.csv", npz_bytes(X=np.eye(2)), "a.csv is called .csv but holds ZIP or NPZ data"),
    ("gzip called CSV", "a.csv", gzip.compress(GOOD), "a.csv is called .csv but holds gzip data"),
    ("CSV called gzip", "a.csv.gz", GOOD, "a.csv.gz is not a complete gzip file"),
    ("truncated gzip", "a.csv.gz", gzip.compress(GOOD)[:-9], "a.csv.gz is not a complete gzip file"),
    ("CSV called Parquet", "a.parquet", GOOD, "a.parquet is not a complete Parquet file"),
    ("truncated Parquet", "a.parquet", columns(a=[1, 2], y=[0, 1])[:-20], "a.parquet is not a complete Parquet file"),
    ("truncated NPZ", "a.npz", npz_bytes(X=np.eye(9))[:-40], "a.npz is not a complete NPZ file"),
    (
        "damaged NPZ",
        "a.npz",
        npz_with("X.npy", npy_header((1, 1)) + np.ones(1).tobytes()).replace(np.ones(1).tobytes(), bytes(8)),
        "complete NPZ",
    ),
    ("pickle in NPZ", "a.npz", pickled(["x", "y"]), "Array 'y' holds Python objects, which are never opened"),
    ("text in NPZ", "a.npz", npz_with("readme.txt", b"hello"), "'readme.txt' in a.npz is not a NumPy array"),
    ("structured NPZ", "a.npz", npz_bytes(X=np.zeros(3, [("a", float)])), "Array 'X' must hold numbers"),
    ("NPZ cut short", "a.npz", npz_with("X.npy", npy_header((3, 3)) + bytes(8)), "Array 'X' in a.npz is cut short"),
    ("NPZ that lies", "a.npz", npz_with("X.npy", npy_header((10**9, 10**9))), "a.npz unpacks to more than 160.0 MB"),
    ("NPZ without a table", "a.npz", npz_bytes(y=np.arange(3)), "a.npz has no two-dimensional array"),
    ("vector in NPZ", "a.npz", npz_bytes(X=np.arange(3), y=np.arange(3)), "Array 'X' must have two dimensions"),
    ("views of unequal length", "a.npz", npz_bytes(u=np.eye(3), v=np.eye(2)), "Array 'v' has 2 rows, array 'u' has 3"),
    ("y of wrong length", "a.npz", npz_bytes(X=np.eye(3), y=np.arange(2)), "Array 'y' has 2 entries for 3 rows"),
    ("y of two columns", "a.npz", npz_bytes(X=np.eye(3), y=np.eye(3)), "Array 'y' must have one dimension"),
    (
        "names of wrong number",
        "a.npz",
        npz_bytes(X=np.eye(2), feature_names=["a"]),
        "'feature_names' must name 2 columns",
    ),
    ("y among the names", "a.npz", npz_bytes(X=np.eye(2), y=[0, 1], feature_names=["a", "y"]), "repeated: y"),
]
BAD = EMPTY + TARGETS + COLUMNS + RECORDS + CONTAINERS


@pytest.mark.parametrize(("name", "data", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_one_sentence(name, data, words, tmp_path):
    with pytest.raises(FileProblem, match=words) as caught:
        read_file(data, name=name)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert len(message) < 300
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FileProblem, match=words):
        read_file(path)


ROWS = "".join(f"{row},{row % 3},{row % 2}\n" for row in range(50)).encode()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_bytes=100), r"has 0.0 MB; at most 0.0 MB are read"),
        (Limits(max_rows=20), "more than 20 rows"),
        (Limits(max_rows=49), "50 rows; at most 49|more than 49 rows"),
        (Limits(max_columns=2), "3 columns; at most 2"),
        (Limits(max_cells=120), "cells; at most 120"),
    ],
)
def test_limits_of_text(limits, words):
    with pytest.raises(FileProblem, match=words):
        read_file(b"a,b,c\n" + ROWS, name="a.csv", limits=limits)
    generous = Limits(max_bytes=1000, max_rows=50, max_columns=3, max_cells=150)
    assert read_file(b"a,b,c\n" + ROWS, name="a.csv", limits=generous).n_samples == 50


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", parquet_bytes(pd.DataFrame({"a": np.zeros(5000), "b": np.zeros(5000)}))),
        ("a.npz", npz_bytes(X=np.zeros((5000, 2)))),
        ("a.libsvm", b"1 1:1 2:1\n" * 5000),
        ("a.arff", HEADER.encode() + b"1,x\n" * 5000),
        ("a.libsvm", b"1 1:1\n2 100000000:1\n"),
    ],
)
def test_limits_of_other_formats(name, data):
    with pytest.raises(FileProblem, match=r"rows|columns"):
        read_file(data, name=name, limits=Limits(max_rows=1000))


def test_levels_count_as_columns():
    text = "a,class\n" + "".join(f"t{row % 20},{row % 2}\n" for row in range(60))
    with pytest.raises(FileProblem, match="20 columns; at most 10"):
        read_file(text.encode(), name="a.csv", limits=Limits(max_columns=10))


def test_unpacked_size_of_parquet_and_npz_is_limited():
    limits = Limits(max_unpacked_bytes=10_000)
    for name, data in (
        ("a.npz", npz_bytes(X=np.zeros((500, 50)))),
        ("a.parquet", parquet_bytes(pd.DataFrame(np.random.default_rng(0).random((500, 50))).rename(columns=str))),
    ):
        with pytest.raises(FileProblem, match=r"unpacks to more than 0\.0 MB"):
            read_file(data, name=name, limits=limits)


def test_a_text_repeated_in_every_row_is_refused_while_it_is_small():
    """A dictionary lets a Parquet file of some kilobytes stand for gigabytes of text."""
    dictionary = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, np.int32)), pa.array(["0" * 500_000]))
    buffer = io.BytesIO()
    table = pa.table({"a": dictionary, "y": pa.array(np.arange(50_000) % 2)})
    parquet.write_table(table, buffer, store_schema=False)
    assert buffer.tell() < 200_000
    with pytest.raises(FileProblem, match="Column 'a' holds a text of 500,000 characters"):
        read_file(buffer.getvalue(), name="a.parquet")


def test_target_not_found_lists_the_columns():
    with pytest.raises(FileProblem, match="no column 'z' to predict; the columns are a, b, class"):
        read_file(GOOD, name="a.csv", target="z")
    many = (",".join(f"c{j}" for j in range(100)) + "\n" + ",".join("1" * 100) + "\n").encode()
    with pytest.raises(FileProblem, match=r"c0, c1, .* and 92 more"):
        read_file(many, name="a.csv", target="z")


def test_regression_refuses_text():
    with pytest.raises(FileProblem, match="Column 'class' holds 'x' in row 1, which is not a number"):
        read_file(GOOD, name="a.csv", task="regression")


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(FileProblem, match=r"There is no file .*none.csv"):
        read_file(tmp_path / "none.csv")
    with pytest.raises(FileProblem, match="cannot be opened: Is a directory"):
        read_file(tmp_path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".arff", ".npz", ".libsvm", ".parquet", ".csv.gz"])
def test_noise_is_refused(ending):
    rng = np.random.default_rng(1)
    for size in (1, 10, 3000):
        with pytest.raises(FileProblem):
            read_file(rng.bytes(size), name=f"noise{ending}")

"""Files that are wrong, each with what is said about it, and files that are odd but can be read."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

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


def npz_with(member, content, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression, compresslevel=1) as archive:
        archive.writestr(member, content)
    return buffer.getvalue()


def gzipped(content):
    """Pack quickly: what is packed here is large, and the same thing again and again."""
    return gzip.compress(content, 1)


def npy_header(shape, dtype="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def columns(**values):
    return parquet_bytes(pd.DataFrame(values))


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, content in members.items():
            archive.writestr(member.replace("__", "/"), content)
    return buffer.getvalue()


def table(**columns):
    """Parquet of Arrow arrays, for types that pandas does not have."""
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def npy(array, version=None):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version)
    return buffer.getvalue()


EMPTY = [
    ("empty", "a.csv", b"", "^a.csv is empty.$"),
    ("blank", "a.csv", b" \n\n  \n", "^a.csv is empty.$"),
    ("only a mark", "a.csv", b"\xef\xbb\xbf", "^a.csv is empty.$"),
    ("empty in gzip", "a.csv.gz", gzip.compress(b""), "^a.csv.gz is empty.$"),
    ("empty LIBSVM", "a.libsvm", b"\n", "^a.libsvm is empty.$"),
    ("empty NPZ", "a.npz", npz_bytes(), "a.npz"),
    ("one column", "a.tsv", b"a\n1\n2\n", "commas, semicolons, tabs, bars or spaces"),
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
        "a.csv has a single column. It needs at least a target and one feature, separated by commas, semicolons,",
    ),
    ("stray text", "a.csv", b"a,y\n1,0.5\n2,oops\n3,1.5\n", "Column 'y' holds 'oops' in row 2, which is not a number"),
    ("only y", "a.parquet", columns(y=[0, 1]), "only one column, the target; at least one feature"),
    ("date target", "a.parquet", columns(a=[1, 2], y=pd.to_datetime(["2020", "2021"])), "Target 'y' must hold numbers"),
]
COLUMNS = [
    (
        "text in a target of numbers",
        "a.csv",
        b"a,y\n1,2.5\n3,oops\n4,5\n",
        "Column 'y' holds 'oops' in row 2, which is not a n",
    ),
    ("infinite", "a.csv", b"a,b,class\n1,2,x\n-inf,4,y\n", "Column 'a' holds '-inf' in row 2, which is not finite"),
    ("overflow", "a.csv", b"a,class\n1,x\n1e999,y\n", "Column 'a' holds '1e999' in row 2, which is beyond the range"),
    (
        "too many levels",
        "a.csv",
        b"a,class\n" + b"".join(b"t%d,%d\n" % (k, k % 2) for k in range(21)),
        "Column 'a' holds text with 21",
    ),
    ("names repeated by levels", "a.csv", b"c,c=v,class\nu,1,x\nv,2,y\n", "names must be distinct; repeated: c=v"),
    ("uneven lists", "a.parquet", columns(d=[[1], [2, 3]], y=[0, 1]), "Column 'd' holds values of type"),
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
    ("ARFF without a type", "a.arff", b"@attribute a of metres\n@data\n1\n", "Line 1 does not declare"),
    ("tables in ARFF", "a.arff", b"@attribute a relational\n@data\n1\n", "Line 1 declares a relational .* one row for"),
    ("sparse ARFF", "a.arff", (HEADER + "{0 1, 2 x}\n").encode(), "is not a sparse row.* from 0 to 1"),
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
        "a.docx",
        b"PK\x03\x04",
        r"^a.docx ends in '.docx'; accepted are .csv, .tsv, .txt, .data, .dat, .xlsx, .parquet, .arff, .npz, .libsvm",
    ),
    ("no type", "data", GOOD, "^data has no ending; accepted are .csv"),
    ("Parquet called CSV", "a.csv", columns(a=[1], y=[0]), "a.csv is called .csv but holds Parquet data"),
    ("NPZ called CSV", "a.csv", npz_bytes(X=np.eye(2)), "a.csv is called .csv but holds ZIP, Excel or NPZ data"),
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
ENORMOUS = [
    ("blank lines", "a.csv.gz", gzipped(b"\n" * 2_000_000), "has 2,000,000 lines; at most 1,000,000"),
    ("blank lines of a Mac", "a.csv.gz", gzipped(b"\r" * 2_000_000), "has 2,000,000 lines"),
    ("comments of ARFF", "a.arff.gz", gzipped(b"%\n" * 2_000_000), "has 2,000,000 lines"),
    ("labels of LIBSVM", "a.libsvm.gz", gzipped(b"1\n" * 2_000_000), "has 2,000,000 lines"),
    ("commas", "a.csv.gz", gzipped(b"," * 20_000_000), "has more than 10,000,000 cells"),
    ("semicolons", "a.csv.gz", gzipped(b";" * 20_000_000), "has more than 10,000,000 cells"),
    ("tabs", "a.tsv.gz", gzipped(b"\t" * 20_000_000), "has more than 10,000,000 cells"),
    ("pairs of LIBSVM", "a.libsvm.gz", gzipped(b"1 " + b"1:1 " * 11_000_000), "has more than 10,000,000 cells"),
    (
        "levels of ARFF",
        "a.arff.gz",
        gzipped(b"@attribute a {" + b"x," * 11_000_000 + b"}\n@data\n"),
        "10,000,000",
    ),
    ("wide", "a.csv", b",".join(b"c%d" % j for j in range(6_000)) + b"\n", "has 6,000 columns; at most 5,000"),
    ("rows", "a.csv.gz", gzipped(b"a,y\n" + b"1,2\n" * 100_002), "has 100,002 rows; at most 100,000"),
    ("rows of LIBSVM", "a.libsvm.gz", gzipped(b"1 1:1\n" * 100_001), "100,001 rows; at most 100,000"),
    ("column of LIBSVM", "a.libsvm", b"1 1:1\n0 2147483646:1\n", "columns; at most 5,000"),
    ("members of NPZ", "a.npz", zipped(**{f"m{k}": b"" for k in range(1_001)}), "has 1,001 arrays; at most 1,000"),
    (
        "bomb in NPZ",
        "a.npz",
        npz_with("X.npy", npy_header((20_250, 1_000)) + bytes(162_000_000), zipfile.ZIP_DEFLATED),
        "unpacks to more than 160.0 MB",
    ),
    ("bomb in gzip", "a.csv.gz", gzipped(bytes(17_000_000)) * 10, "unpacks to more than 160.0 MB"),
    ("gzip in gzip", "a.csv.gz", gzip.compress(gzip.compress(GOOD)), "a.csv.gz is called .csv but holds gzip data"),
    ("bytes", "a.csv", bytes(41_000_000), "has 41.0 MB; at most 40.0 MB"),
]
DISGUISED = [
    ("page of the web", "a.csv", b"\n<!DOCTYPE html>\n<html>404, gone</html>\n", ".csv but holds HTML data"),
    ("pointer", "a.tsv", b"version https://git-lfs.github.com/spec/v1\n", ".tsv but holds a pointer of Git LFS"),
    ("bz2 called gzip", "a.csv.gz", bz2.compress(GOOD), "is not a complete gzip file"),
    ("xz called gzip", "a.csv.gz", lzma.compress(GOOD), "is not a complete gzip file"),
    ("PDF", "a.pdf", b"%PDF-1.7\n", "ends in '.pdf'; accepted are"),
    ("program", "a.csv", b"\x7fELF\x02\x01\x01" + bytes(9), "zero bytes|not valid UTF-16"),
    ("picture", "a.csv", b"\x89PNG\r\n\x1a\n" + bytes(20), "zero bytes|not valid UTF-16"),
    ("JSON", "a.csv", b'{"a": [1, 2], "y": [0, 1]}', ".csv but holds JSON data"),
    ("two endings", "a.csv.exe", GOOD, "ends in '.exe'"),
    ("only an ending", ".csv", GOOD, "has no ending"),
    ("pickle", "a.pkl", b"\x80\x04N.", "ends in '.pkl'"),
    ("NPY", "a.npy", npy(np.eye(3)), "ends in '.npy'"),
    ("NPY called NPZ", "a.npz", npy(np.eye(3)), "is called .npz but holds NPY data"),
    ("notebook", "a.ipynb", b"{}", "ends in '.ipynb'"),
    ("markup in the name", "<img src=x onerror=alert(1)>", GOOD, "has no ending|ends in"),
]
ARROW = [
    ("structures", "a.parquet", table(a=pa.array([{"x": 1}, {"x": 2}]), y=[0, 1]), "Column 'a' holds values of type"),
    ("map", "a.parquet", table(a=pa.array([[("k", 1)]] * 2, pa.map_(pa.string(), pa.int8())), y=[0, 1]), "of type"),
    ("fixed bytes", "a.parquet", table(a=pa.array([b"ab", b"cd"], pa.binary(2)), y=[0, 1]), "Column 'a' holds values"),
    ("time of day", "a.parquet", table(a=pa.array([1, 2], pa.time32("s")), y=[0, 1]), "Column 'a' holds"),
    ("duration", "a.parquet", table(a=pa.array([1, 2], pa.duration("s")), y=[0, 1]), "Column 'a' holds"),
    ("empty column", "a.parquet", table(a=pa.nulls(2), y=[0, 1]), "Column 'a' is empty"),
    ("infinite Parquet", "a.parquet", columns(a=[1.0, np.inf], y=[0, 1]), "Column 'a' holds 'inf' in row 2"),
    ("no columns", "a.parquet", parquet_bytes(pd.DataFrame(index=range(3))), "a.parquet has no columns"),
    ("a footer alone", "a.parquet", b"PAR1" + bytes(8) + b"PAR1", "is not a complete Parquet file"),
    ("half a footer", "a.parquet", b"PAR1PAR1", "is not a complete Parquet file"),
]
ARRAYS = [
    ("dates in NPZ", "a.npz", npz_bytes(X=np.zeros((2, 2), "M8[s]"), y=[0, 1]), "Array 'X' must hold numbers"),
    ("text as features", "a.npz", npz_bytes(X=np.array([["a"], ["b"]]), y=[0, 1]), "Array 'X' must hold numbers"),
    ("a number", "a.npz", npz_bytes(X=np.float64(3)), "Array 'X' must have two dimensions"),
    ("five axes", "a.npz", npz_bytes(X=np.zeros((2, 2, 2, 2, 2)), y=[0, 1]), "Array 'X' must have two dimensions"),
    ("texts in an array", "a.npz", npz_bytes(X=np.array([["1"], ["2"]]), y=[0, 1]), "must hold numbers.*astype"),
    ("sparse array", "a.npz", npz_bytes(data=[1], indices=[0], indptr=[0, 1], shape=[1, 1]), "scipy.sparse.load_npz"),
    ("no column in X", "a.npz", npz_bytes(X=np.zeros((3, 0)), y=[0, 1, 0]), "only one column, the target"),
    (
        "dates as targets",
        "a.npz",
        npz_bytes(X=np.eye(2), y=np.zeros(2, "M8[D]")),
        "must hold numbers or text, it holds datetime",
    ),
    (
        "complex targets",
        "a.npz",
        npz_bytes(X=np.eye(2), y=np.array([1j, 2j])),
        "must hold numbers or text, it holds complex128",
    ),
    ("infinite targets", "a.npz", npz_bytes(X=np.eye(2), y=[0.5, np.inf]), "holds 'inf' in row 2, which is not finite"),
    ("version 3 of NPY", "a.npz", npz_with("X.npy", npy(np.eye(2), (3, 0))), "'X' in a.npz is not a NumPy array"),
    ("negative shape", "a.npz", npz_with("X.npy", npy_header((-1, 3))), "is cut short or damaged"),
    ("huge shape", "a.npz", npz_with("X.npy", npy_header((2**62, 2**62))), "unpacks to more than"),
    (
        "header of code",
        "a.npz",
        npz_with("X.npy", b"\x93NUMPY\x01\x00\x20\x00__import__('os').abort()        "),
        "NumPy array",
    ),
    ("header cut short", "a.npz", npz_with("X.npy", b"\x93NUMPY\x01\x00\xff\xff{"), "is not a NumPy array"),
    ("Excel called NPZ", "a.npz", zipped(xl__workbook="<xml/>"), "is not a NumPy array"),
    ("path in NPZ", "a.npz", zipped(**{"../../escaped.npy": b""}), "is not a NumPy array"),
    ("folder in NPZ", "a.npz", zipped(**{"X.npy/": b""}), "is not a NumPy array"),
    ("an end without archive", "a.npz", b"PK\x05\x06" + bytes(18), "a.npz is empty"),
]
LINES = [
    ("only separators", "a.csv", b",,,\n,,,\n", "No row is labelled: target 'x4' is empty"),
    ("only quotes", "a.csv", b'"","",""\n"","",""\n', "No row is labelled"),
    ("only missing", "a.csv", b"a,b,class\nNA,NA,NA\n?,?,?\n", "No row is labelled"),
    ("only a header of numbers", "a.csv", b"1,2,3\n", "only one class, '3'"),
    (
        "long column name",
        "a.csv",
        b"n" * 3_000 + b",class\nx1,x\nx2,y\nx3,y\n" + b"".join(b"t%d,y\n" % k for k in range(30)),
        "holds text with",
    ),
    ("markup as column", "a.csv", b"<script>alert(1)</script>,class\n1,x\ninf,y\n3,x\n", "Column '<script>"),
    ("open quote at the end", "a.csv", b'a,class\n1,"x', "Line 2 has a misplaced or open quotation mark"),
    ("zero byte", "a.tsv", b"a\tclass\n1\tx\0\n2\ty\n", "contains zero bytes"),
    ("UTF-32", "a.csv", "a,class\n1,x\n2,y\n".encode("utf-32"), "zero bytes"),
    (
        "UTF-7 like",
        "a.csv",
        b"+AGE-,class\n+ADE-,x\n+ADI-,y\n+ADM-,y\n" + b"".join(b"+%d-,y\n" % k for k in range(30)),
        "text with",
    ),
    (
        "hexadecimal",
        "a.csv",
        b"a,class\n" + b"".join(b"0x%x,%d\n" % (k, k % 2) for k in range(40)),
        "holds text with 40",
    ),
    (
        "numbers with several units",
        "a.csv",
        b"a,class\n" + b"".join(b"%d %s,%d\n" % (k, (b"kg", b"lb")[k % 2], k % 2) for k in range(40)),
        "text with 40",
    ),
    ("one row", "a.csv", b"a,class\n1,x\n", "only one class"),
    ("all rows alike in class", "a.tsv", b"a\tclass\n1\tx\n2\tx\n", "only one class"),
    ("huge numbers", "a.csv", b"a,y\n1e308,1\n-1e309,2.5\n", "'-1e309' in row 2, which is beyond the range"),
    ("huge label", "a.libsvm", b"1 1:2\n-1e400 1:3\n", "Line 2 holds '-1e400', which is beyond the range"),
    ("infinity in words", "a.csv", b"a,y\nInfinity,1\n2,2.5\n", "not finite"),
    ("not UTF-16 after all", "a.csv", b"\xfe\xffabc", "is not valid UTF-16 text|a single column"),
    ("braces of ARFF", "a.arff", b"@attribute a {x,y\n@data\nx\n", "Line 1 does not declare"),
    ("nameless attribute", "a.arff", b"@attribute\n@data\n1\n", "Line 1 does not declare"),
    ("no level", "a.arff", b"@attribute a {}\n@attribute b real\n@data\nx,1\n", "none of its declared values"),
    ("open quote of ARFF", "a.arff", (HEADER + "'1,x\n").encode(), "quotation mark"),
    ("infinite ARFF", "a.arff", (HEADER + "inf,x\n1,y\n").encode(), "not finite"),
    ("index 0 after 1", "a.libsvm", b"1 1:1 0:1\n", "indices must increase"),
    ("negative index", "a.libsvm", b"1 -1:1\n", "Line 1 is not in LIBSVM"),
    ("index too large", "a.libsvm", b"1 99999999999999999999:1\n", "indices must increase and be in range"),
    ("several labels", "a.libsvm", b"1,2 1:1\n0 1:2\n", "Line 1 is not in LIBSVM"),
    ("infinite LIBSVM", "a.libsvm", b"1 1:inf\n0 1:2\n", "not finite"),
    ("no label in LIBSVM", "a.libsvm", b"1:1 2:2\n1:2 2:1\n", "is not in LIBSVM"),
    ("the same label", "a.libsvm", b"1 1:1\n1 1:2\n", "only one class"),
]
LONG_NAMES = [
    ("n" * 3_000 + ".exe", "^n{40}…n+.exe ends in '.exe'"),
    ("a." + "n" * 3_000, r"^a.n+…n+ ends in 'n*\.?n+"),
    ("n" * 3_000, "^n{40}…n{39} has no ending"),
]
BAD = EMPTY + TARGETS + COLUMNS + RECORDS + CONTAINERS + DISGUISED + ARROW + ARRAYS + LINES + ENORMOUS

ODD = [
    ("text in numbers", "a.csv", b"a,b,class\n1,2,x\n3,oops,y\n4,5,x\n", (3, 3)),
    ("backslashes", "a.csv", b'a,note,class\n1,"x \\"y, z\\"",u\n2,"\\\\",v\n3,"w\\"",u\n', (3, 4)),
    ("a fixed width", "a.txt", b"name    x kind\nAnn Lee 1 so so\nBo      2 bad\nCy Wu   3 bad\n", (3, 4)),
    ("sparse rows", "a.arff", (HEADER + "{0 1, 1 y},{0.5}\n{}\n{1 y} % c\n").encode(), (3, 1)),
    ("queries", "a.libsvm", b"# c\n1 qid:1 0:2 2:3 # d\n0 qid:2 1:4\n", (2, 3)),
    (
        "images",
        "a.npz",
        npz_bytes(x_a=np.eye(8).reshape(2, 2, 4, 4), y_a=[0, 1], x_b=np.eye(4), y_b=[0, 1, 0, 1]),
        (2, 32),
    ),
    ("half of it text", "a.csv", b"a,b,class\n1,2,x\n3,oops,y\n", (2, 3)),
    ("repeated names", "a.csv", b"a,b,a,class\n1,2,3,x\n4,5,6,y\n", (2, 3)),
    ("names that differ by spaces", "a.csv", b"a, a,class\n1,2,x\n3,4,y\n", (2, 2)),
    ("repeated views", "a.csv", b"u:a,u:a,v:b,class\n1,2,3,x\n4,5,6,y\n", (2, 3)),
    ("thousands", "a.csv", b"a,class\n" + b"".join(b'"1,%03d",%d\n' % (k, k % 2) for k in range(40)), (40, 1)),
    ("markup as levels", "a.csv", b"a,class\n<b>,x\n<i>,y\n", (2, 1)),
    ("a formula", "a.csv", b"a,class\n\"=cmd|' /C calc'!A0\",x\n1,y\n" + b"=1+1,x\n", (3, 3)),
    ("an empty column", "a.csv", b"a,b,class\n1,,x\n3,,y\n", (2, 1)),
    ("lists", "a.parquet", columns(d=[[1, 2], [2, 1]], y=[0, 1]), (2, 2)),
    ("dates", "a.parquet", columns(d=pd.to_datetime(["2020", "2021"]), y=[0, 1]), (2, 1)),
    (
        "dates as text",
        "a.csv",
        b"a,class\n" + b"".join(b"2020-01-%02d,%d\n" % (k + 1, k % 2) for k in range(28)),
        (28, 1),
    ),
    ("very small numbers", "a.csv", b"a,class\n1e-320,x\n2e-320,y\n", (2, 1)),
    ("very large numbers", "a.csv", b"a,class\n1e300,x\n-1e300,y\n", (2, 1)),
    ("long whole numbers", "a.csv", b"a,class\n99999999999999999999999,x\n1,y\n", (2, 1)),
    ("decimal commas", "a.csv", b"a;class\n1,5;x\n2,5;y\n", (2, 1)),
    ("line ends of a Mac", "a.csv", b"a,class\r1,x\r2,y\r", (2, 1)),
    ("mixed line ends", "a.csv", b"a,class\r\n1,x\n2,y\r", (2, 1)),
    ("blank lines between", "a.csv", b"\n\na,class\n\n1,x\n\n2,y\n\n", (2, 1)),
    ("a mark of UTF-8", "a.csv", b"\xef\xbb\xbfa,class\n1,x\n2,y\n", (2, 1)),
    ("UTF-16", "a.csv", "a,class\n1,x\n2,ÿ\n".encode("utf-16"), (2, 1)),
    ("UTF-16 without a mark", "a.csv", "a,class\n1,x\n2,y\n".encode("utf-16-le"), (2, 1)),
    ("Latin-1", "a.csv", "größe,class\n1,ä\n2,ö\n".encode("latin-1"), (2, 1)),
    ("all of Unicode", "a.csv", "é🎈,class\n1,שלום\n2,日本\n".encode(), (2, 1)),
    ("text that turns around", "a.csv", "a\u202e,class\n1,x\n2,y\n".encode(), (2, 1)),
    ("no name for the first", "a.csv", b",a,class\n0,1,x\n1,2,y\n2,3,x\n", (3, 1)),
    ("cells of two lines", "a.csv", b'a,class\n1,"x\ny"\n2,z\n', (2, 1)),
    ("missing cells", "a.csv", b"a,b,class\n1,NA,x\n,2,y\n", (2, 2)),
    ("missing labels", "a.csv", b"a,b,class\n1,2,x\n2,3,y\n3,4,\n", (3, 2)),
    ("a class called None", "a.csv", b"a,class\n1,None\n2,some\n", (2, 1)),
    ("big-endian", "a.npz", npz_bytes(X=np.eye(2, dtype=">f4"), y=[0, 1]), (2, 2)),
    ("half precision", "a.npz", npz_bytes(X=np.eye(2, dtype=np.float16), y=[0, 1]), (2, 2)),
    ("column by column", "a.npz", npz_bytes(X=np.asfortranarray(np.eye(2)), y=[0, 1]), (2, 2)),
    ("yes and no", "a.npz", npz_bytes(X=np.eye(2, dtype=bool), y=np.array(["yes", "no"])), (2, 2)),
    ("bytes as labels", "a.npz", npz_bytes(X=np.eye(2), y=np.array([b"\xff", b"b"])), (2, 2)),
    ("unsigned", "a.npz", npz_bytes(X=np.array([[2**64 - 1], [0]], np.uint64), y=[0, 1]), (2, 1)),
    ("dictionaries", "a.parquet", columns(a=pd.Categorical(["u", "v"]), y=[0, 1]), (2, 1)),
    ("decimals", "a.parquet", table(a=pa.array([1, 2], pa.decimal128(5, 2)), y=[0, 1]), (2, 1)),
    ("quoted attribute", "a.arff", b"@attribute 'a b' real\n@attribute c {x,y}\n@data\n1,x\n2,y\n", (2, 1)),
    ("comments of ARFF", "a.arff", ("% c\n" + HEADER + "% c\n1,x\n2,y\n").encode(), (2, 1)),
    ("queries of LIBSVM", "a.libsvm", b"1 qid:3 1:1 # c\n0 qid:4 2:1\n", (2, 2)),
    ("index from 0", "a.libsvm", b"1 0:1\n0 2:1\n", (2, 3)),
]

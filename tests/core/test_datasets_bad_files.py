"""Whatever is wrong with a file is said in one plain sentence."""

import contextlib
import gzip
import io
import os
import time
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from supdr.datasets import FileProblem, Limits, read_file
from tests.bad_input import files, workbooks
from tests.bad_input.files import GOOD, HEADER, LONG_NAMES, npz_bytes, parquet_bytes

BAD = files.BAD + workbooks.BAD
ODD = files.ODD + workbooks.ODD


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


@pytest.mark.parametrize(("name", "words"), LONG_NAMES)
def test_a_long_name_leaves_a_short_sentence(name, words):
    with pytest.raises(FileProblem, match=words) as caught:
        read_file(GOOD, name=name)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("name", "data", "shape"), [case[1:] for case in ODD], ids=[case[0] for case in ODD])
def test_odd_files_are_read(name, data, shape):
    dataset = read_file(data, name=name)
    assert dataset.X.shape == shape
    assert not np.isinf(dataset.X).any()
    assert dataset.y.shape == shape[:1]


def test_the_corpus_is_large():
    assert len(BAD) + len(ODD) >= 150


ROWS = "".join(f"{row},{row % 3},{row % 2}\n" for row in range(50)).encode()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_bytes=100), r"has 0.0 MB; at most 0.0 MB are read"),
        (Limits(max_rows=20), "50 rows; at most 20|more than 20 rows"),
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


def test_tens_of_millions_of_labels_are_refused_before_they_take_memory():
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for _ in range(79):
            file.write(b"1\n" * 1_000_000)
    tracemalloc.start()
    with pytest.raises(FileProblem, match=r"a.libsvm.gz has 79,000,000 lines; at most 1,000,000 are read.$"):
        read_file(packed.getvalue(), name="a.libsvm.gz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 158e6  # a few times what it unpacks to, and not a number for every line


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
    with pytest.raises(FileProblem, match="holds neither images in folders nor a table"):
        read_file(tmp_path)
    with pytest.raises(FileProblem, match=r"cannot be the name of a file: .*embedded null"):
        read_file("a\0b.csv")
    with pytest.raises(FileProblem, match="cannot be opened: File name too long"):
        read_file("n" * 3_000 + ".csv")
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(FileProblem, match="cannot be opened: Too many levels of symbolic links"):
        read_file(loop)


def test_what_never_ends_is_not_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileProblem, match=r"pipe.csv' is not a file on disk"):
        read_file(pipe)
    with pytest.raises(FileProblem, match="'/dev/zero' is not a file on disk"):
        read_file("/dev/zero")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".arff", ".npz", ".libsvm", ".parquet", ".csv.gz"])
def test_noise_is_refused(ending):
    rng = np.random.default_rng(1)
    for size in (1, 10, 3000):
        with pytest.raises(FileProblem):
            read_file(rng.bytes(size), name=f"noise{ending}")


LONG = 50_000
REPEATED = {
    "blank lines above": ("a.csv", "\n" * LONG + "a,b\n1,2\n"),
    "digits": ("a.csv", f"a,b\n{'1' * LONG}x,2\n3,4\n"),
    "digits in a remark": ("a.txt", f"# {'1' * LONG}x\na b\n1 2\n3 4\n"),
    "spaces": ("a.csv", f"a,b\n1,-{' ' * (4 * LONG)}x\n2,3\n"),
    "quotation marks": ("a.csv", "a,b\n" + ',"a' * LONG + '\\"\n'),
    "marks in levels": ("a.arff", "@attribute a {" + "a'" * LONG + "\n@data\n1\n"),
    "quoted levels": ("a.arff", "@attribute a {" + "'a'" * LONG + "\n@data\n1\n"),
    "spaces before a mark": ("a.arff", HEADER + "1," + " " * LONG + "'x\n"),
    "commas before a brace": ("a.arff", HEADER + "1,x" + "," * LONG + "}\n"),
    "braces": ("a.arff", HEADER + "{" + "}" * LONG + "x\n"),
    "spaces in a sparse row": ("a.arff", HEADER + "{0 a" + " " * LONG + "b}\n"),
    "columns": ("a.txt", ("x " * LONG + "\n") * 3),
    "digits in LIBSVM": ("a.libsvm", f"1 1:{'1' * LONG}x\n"),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_what_is_repeated_takes_no_more_time_than_its_length(kind):
    """A pattern that matches in several ways would take minutes, or forever."""
    name, text = REPEATED[kind]
    start = time.process_time()
    with contextlib.suppress(FileProblem):
        read_file(text.encode(), name=name)
    assert time.process_time() - start < 10

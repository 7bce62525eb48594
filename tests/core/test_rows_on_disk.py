"""Rows on disk come as Dask arrays, partition by partition, and MAC fits them as it fits arrays."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from supdr import MAC
from supdr.datasets import FileProblem, read_rows
from supdr.rows.stored_arrays import Stored, unchecked

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(float)
    y[::7] = np.nan
    return X, y


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    X, y = rows
    place = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(np.array_split(np.arange(90), 2)):
        columns = {name: X[part, j] for j, name in enumerate("abc")}
        pq.write_table(pa.table({**columns, "label": y[part]}), place / f"{number}.parquet", row_group_size=10)
    return place


def test_parquet_comes_by_row_groups_within_files(rows, folder):
    X, y = read_rows(folder, "label", partition_rows=25)
    assert X.chunks == ((20, 25, 20, 25), (3,))
    assert y.chunks == (X.chunks[0],)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.compute(), rows[0])
    np.testing.assert_array_equal(y.compute(), rows[1])


def test_labels_may_be_words_and_missing(tmp_path):
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3], "kind": ["x", None, "y"]}), path)
    assert read_rows(path, "kind")[1].compute().tolist() == ["x", None, "y"]


def test_numpy_files_come_by_slices(rows, tmp_path):
    X, y = rows
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "both.npy", np.column_stack([y, X]))
    for path, target in (("X.npy", tmp_path / "y.npy"), ("both.npy", 0)):
        found_X, found_y = read_rows(tmp_path / path, target, partition_rows=40)
        assert found_X.chunks[0] == found_y.chunks[0] == (40, 40, 10)
        np.testing.assert_array_equal(found_X.compute(), X)
        np.testing.assert_array_equal(found_y.compute(), y)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_one_numpy_file_come_by_slices(rows, tmp_path, order):
    X, y = rows
    np.savez(tmp_path / "rows.npz", names=np.array(["a", "b"]), y=y, X=np.asarray(X, order=order), more=X)
    for target, found, columns in (("y", y, [0, 1, 2]), (1, X[:, 1], [0, 2])):
        found_X, found_y = read_rows(tmp_path / "rows.npz", target, partition_rows=40)
        assert found_X.chunks[0] == found_y.chunks[0] == (40, 40, 10)
        np.testing.assert_array_equal(found_X.compute(), X[:, columns])
        np.testing.assert_array_equal(found_y.compute(), found)
    assert isinstance(unchecked(Stored(tmp_path / "rows.npz", "X")), np.memmap)  # nothing is read but what is asked for


def test_zarr_comes_by_whole_chunks(rows, tmp_path):
    X, y = rows
    zarr.create_array(tmp_path / "X.zarr", data=X, chunks=(25, 2))
    zarr.create_array(tmp_path / "y.zarr", data=y, chunks=(90,))
    zarr.create_array(tmp_path / "both.zarr", data=np.column_stack([y, X]), chunks=(30, 4))
    for path, target, sizes in (("X.zarr", tmp_path / "y.zarr", (50, 40)), ("both.zarr", 0, (60, 30))):
        found_X, found_y = read_rows(tmp_path / path, target, partition_rows=60)
        assert found_X.chunks[0] == found_y.chunks[0] == sizes
        np.testing.assert_array_equal(found_X.compute(), X)
        np.testing.assert_array_equal(found_y.compute(), y)
    assert read_rows(tmp_path / "X.zarr", 0, partition_rows=10)[0].chunks == ((25, 25, 25, 15), (2,))


def test_what_is_not_asked_for_is_not_read(rows, folder, tmp_path):
    """All row groups but one of a file are damaged, and that one can be read."""
    path = shutil.copy(folder / "0.parquet", tmp_path)
    content, metadata = bytearray(Path(path).read_bytes()), pq.ParquetFile(path).metadata
    for group in (0, 2, 3, 4):
        for column in map(metadata.row_group(group).column, range(metadata.num_columns)):
            start, size = column.dictionary_page_offset or column.data_page_offset, column.total_compressed_size
            content[start : start + size] = bytes(size)
    Path(path).write_bytes(content)
    X, _ = read_rows(path, "label", partition_rows=10)
    np.testing.assert_array_equal(X[12:15].compute(), rows[0][12:15])
    with pytest.raises(OSError, match="page header"):
        X[:5].compute()


def test_mac_fits_them_as_it_fits_arrays(rows, folder):
    settings = {"n_centers": 10, "max_iter": 1, "random_state": 0, "early_stopping": False, "preprocessing": "none"}
    expected = MAC(**settings).fit(rows[0].astype(float), rows[1])
    found = MAC(**settings).fit(*read_rows(folder, "label", partition_rows=20))
    np.testing.assert_allclose(found.history_["objective"], expected.history_["objective"], rtol=1e-5)


@pytest.mark.parametrize(
    ("file", "target", "word"),
    [
        ("nowhere", "label", "There is no file"),
        ("", "nothing", "target must be a column of 0.parquet; got 'nothing'"),
        ("text.csv", 0, "ends in .csv"),
        ("broken.parquet", "label", "no Parquet file that can be read"),
        ("words.parquet", "label", "Column a of words.parquet must hold numbers"),
        ("flat.npy", 0, "must hold numbers in 2 dimensions"),
        ("broken.npy", 0, "is no .npy file of numbers"),
        ("broken.zarr", 0, "is no .zarr folder of numbers"),
        ("group.zarr", 0, "is no .zarr folder of numbers"),
        ("plane.npy", 5, "number of a column, 0 to 1"),
        ("flat.npz", 0, "flat.npz has no array of two dimensions"),
        ("broken.npz", 0, "is no .npz file of numbers"),
        ("packed.npz", 0, "X is compressed; np.savez writes arrays that can be read in parts"),
        ("objects.npz", 0, "X holds Python objects"),
        ("plane.npz", "z", "There is no item named 'z.npy' in the archive"),
        ("plane.npz", "y", "X in plane.npz has 4 rows, but y in plane.npz has 3 labels"),
        ("plane.npy", "flat.npy", "has 4 rows, but flat.npy has 3 labels"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(folder, tmp_path, monkeypatch, file, target, word):
    monkeypatch.chdir(tmp_path)
    for name in ("text.csv", "broken.parquet", "broken.npy", "broken.npz"):
        (tmp_path / name).write_text("a,b\n")
    pq.write_table(pa.table({"a": ["x"], "label": [1]}), tmp_path / "words.parquet")
    (tmp_path / "broken.zarr").mkdir()
    zarr.create_group("group.zarr")
    np.save("flat.npy", np.zeros(3))
    np.save("plane.npy", np.zeros((4, 2)))
    np.savez("flat.npz", X=np.zeros(3))
    np.savez_compressed("packed.npz", X=np.zeros((4, 2)))
    np.savez("objects.npz", X=np.full((4, 2), None))
    np.savez("plane.npz", X=np.zeros((4, 2)), y=np.zeros(3))
    with pytest.raises(FileProblem, match=word):
        read_rows(tmp_path / file if file else folder, target)


def test_other_bad_input(folder, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="partition_rows must be"):
        read_rows(folder, "label", partition_rows=0)
    with pytest.raises(FileProblem, match=r"no \.parquet file"):
        read_rows(tmp_path, "label")
    (tmp_path / "rows.zarr").mkdir()
    for name, kind, path in (("pyarrow", "Parquet", folder), ("zarr", "Zarr", tmp_path / "rows.zarr")):
        monkeypatch.setattr(
            "supdr.engine.optional.find_spec", lambda asked, absent=name: None if asked == absent else asked
        )
        with pytest.raises(ImportError, match=f"Reading {kind} needs {name}"):
            read_rows(path, "label")

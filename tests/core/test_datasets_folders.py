"""Images in folders, arrays beside a table, several tables in one file, and AnnData."""

import io
import zipfile

import h5py
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse

from supdr.datasets import FileProblem, Limits, preview, read_file

RNG = np.random.default_rng(0)
CELLS, GENES = 12, ["CD4", "CD8A", "MS4A1"]


def picture(mode="L", size=(6, 8)):
    shape = (size[1], size[0]) if mode == "L" else (size[1], size[0], 3)
    return Image.fromarray(RNG.integers(0, 256, shape, dtype=np.uint8))


def encoded(image, format="PNG"):
    file = io.BytesIO()
    image.save(file, format)
    return file.getvalue()


def archive(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in files.items():
            made.writestr(path, content)
    return file.getvalue()


def array(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def table(rows=20):
    return pd.DataFrame({"id": range(rows), "words": [f"t{k}" for k in range(rows)], "kind": list("ab") * (rows // 2)})


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_folders_of_images_are_classes(tmp_path, mode):
    images = {f"pets/{kind}/{k}.png": picture(mode) for kind in ("dog", "cat") for k in range(4)}
    for path, image in images.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        image.save(tmp_path / path)
    folder = read_file(tmp_path / "pets")
    zipped = archive({**{path: encoded(image) for path, image in images.items()}, "__MACOSX/._0.png": b"x"})
    both = folder, read_file(zipped, name="pets.zip")
    for data in both:
        assert data.target_names == ("cat", "dog")
        assert data.image_shape == (8, 6)
        assert data.views == (None if mode == "L" else (48, 48, 48))
    pixels = np.asarray(images["pets/cat/0.png"])
    expected = pixels.ravel() if mode == "L" else np.moveaxis(pixels, -1, 0).ravel()
    np.testing.assert_array_equal(folder.X[0], expected)
    np.testing.assert_array_equal(np.sort(both[1].X, axis=0), np.sort(folder.X, axis=0))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"a/1.png": encoded(picture()), "b/2.png": encoded(picture(size=(5, 8)))},
            "b/2.png has 5 × 8 pixels, a/1.png",
        ),
        ({"1.png": encoded(picture())}, "1.png in a.zip is in no folder"),
        ({"a/1.png": b"no image"}, "a/1.png is no image that can be read"),
        ({"a/1.png": encoded(picture())[:60]}, "a/1.png is no image that can be read"),
        ({"a/1.png": encoded(picture(size=(200, 200)))}, "40,000 columns; at most 5,000"),
        ({"a.npy": array(np.eye(3))}, "neither images in folders nor a table beside its arrays"),
        ({"notes.doc": b"x"}, "neither images in folders nor a table"),
        ({"a.npy": array(np.eye(3)), "t.csv": table().to_csv(index=False)}, "must hold 20 rows of numbers, as t.csv"),
        ({"a.npy": array(np.array([None] * 20)), "t.csv": table().to_csv(index=False)}, "holds Python objects"),
        ({"a.npy": b"\x93NUMPY", "t.csv": table().to_csv(index=False)}, "is not a NumPy array"),
        ({"x/1.png": b"0" * 200_000_000}, "unpacks to more than"),
    ],
)
def test_what_is_wrong_with_an_archive_is_one_sentence(files, words):
    with pytest.raises(FileProblem, match=words):
        read_file(archive(files), name="a.zip")


def test_arrays_beside_a_table_are_views_and_its_columns_describe_rows(tmp_path):
    text, image = RNG.standard_normal((20, 4)), RNG.standard_normal((20, 3)).astype(np.float32)
    np.save(tmp_path / "text.npy", text)
    np.save(tmp_path / "image.npy", image)
    table().to_csv(tmp_path / "rows.csv", index=False)
    data = read_file(tmp_path, target="kind")
    assert data.views == (3, 4)
    np.testing.assert_array_equal(data.X, np.column_stack([image, text]))
    assert data.target_names == ("a", "b")
    assert "Left out as they describe rows: id, words." in data.description
    look = preview(tmp_path)
    assert {each.name for each in look.facts if each.against == "describes rows"} == {"id", "words", "kind"}
    assert "id" in look.read(target="kind", ignore=["words"]).feature_names[-1]


def test_a_table_in_an_archive_is_read_and_another_can_be_chosen():
    files = {"train.csv": table().to_csv(index=False), "test.csv": table(10).to_csv(index=False), "readme.md": "x"}
    look = preview(archive(files), "both.zip")
    assert (look.sheets, look.sheet, look.n_rows) == (("train.csv", "test.csv"), "train.csv", 20)
    assert "Files left out: test.csv, readme.md." in look.notes
    assert preview(archive(files), "both.zip", sheet="test.csv").n_rows == 10
    with pytest.raises(FileProblem, match=r"There is no table 'x' in both.zip; there are train.csv, test.csv"):
        preview(archive(files), "both.zip", sheet="x")


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_tables_of_the_same_columns_and_other_rows_are_alternatives():
    parts = {"X_train": RNG.random((6, 3)), "y_train": [0, 1] * 3, "X_test": RNG.random((4, 3)), "y_test": [0, 1] * 2}
    for sheet, rows in ((None, 6), ("X_train", 6), ("X_test", 4)):
        data = read_file(npz(**parts), name="parts.npz", sheet=sheet)
        np.testing.assert_array_equal(data.X, parts[sheet or "X_train"])
        assert (len(data.y), data.n_classes) == (rows, 2)
    assert read_file(npz(**parts), name="parts.npz", limits=Limits(max_cells=12)).n_samples == 4
    with pytest.raises(FileProblem, match="Array 'b' has 5 rows"):  # other columns: views that do not fit
        read_file(npz(a=RNG.random((6, 3)), b=RNG.random((5, 2)), y=[0, 1] * 3), name="views.npz")


@pytest.mark.parametrize("rows", [6, 4])
def test_tables_with_labels_of_their_own_are_alternatives(rows):
    """Also with equally many rows or other columns: they are never put side by side."""
    for x, y in (("X_train", "y_train"), ("fold0-x", "fold0-y"), ("x1", "y1")):
        other_x, other_y = (
            each.translate(str.maketrans({"0": "1", "1": "2"})) + "test" * ("_" in each) for each in (x, y)
        )
        parts = {x: RNG.random((6, 3)), y: [0, 1] * 3, other_x: RNG.random((rows, 2)), other_y: [0, 1] * (rows // 2)}
        look = preview(npz(**parts), "parts.npz")
        assert look.sheets == (x, other_x)
        assert f"Table '{x}' is read; of other rows, and left out, are {other_x}, {other_y}." in look.notes
        np.testing.assert_array_equal(read_file(npz(**parts), name="parts.npz", sheet=other_x).X, parts[other_x])


@pytest.mark.parametrize(
    ("shape", "views"),
    [
        ((6, 5, 6), {"X": (0, 1)}),
        ((6, 5, 6, 1), {"X": (0, 1)}),
        ((6, 5, 6, 3), {"red": (0, 3), "green": (1, 3), "blue": (2, 3)}),
        ((6, 3, 5, 6), {"red": (0, 3), "green": (1, 3), "blue": (2, 3)}),
        ((6, 5, 6, 2), {"channel 1": (0, 2), "channel 2": (1, 2)}),
    ],
)
def test_arrays_of_images_are_rows_of_cells(shape, views):
    """Line by line, each colour a view; the same beside a table."""
    X = RNG.integers(0, 256, shape)
    last = X[..., None] if X.ndim == 3 else X if shape[3] < 4 else np.moveaxis(X, 1, 3)
    expected = np.concatenate([last[..., k].reshape(6, 30) for k, _ in views.values()], axis=1)
    files = {"X.npy": array(X), "t.csv": "a,class\n" + "1,u\n2,v\n" * 3}
    for data in (read_file(npz(X=X, y=[0, 1] * 3), name="t.npz"), read_file(archive(files), name="t.zip")):
        np.testing.assert_array_equal(data.X, expected)
        assert data.image_shape == (5, 6)
        assert "5 × 6 cells, line by line" in data.description
        assert data.views == (None if len(views) == 1 else (30,) * len(views))
        assert all(name.startswith(tuple(views)) for name in data.feature_names) or len(views) == 1


def h5ad(X, **noted):
    """A file as `anndata.AnnData.write_h5ad` lays it out."""
    text, file = h5py.string_dtype(), io.BytesIO()
    with h5py.File(file, "w") as made:
        if sparse.issparse(X):
            group = made.create_group("X")
            group.attrs.update({"encoding-type": f"{X.format}_matrix", "shape": X.shape})
            group["data"], group["indices"], group["indptr"] = X.data, X.indices, X.indptr
        else:
            made["X"] = X
        for part, names in (("var", GENES), ("obs", [f"cell {k}" for k in range(CELLS)])):
            group = made.create_group(part)
            group.attrs.update({"_index": "_index", "column-order": list(noted) if part == "obs" else []})
            group["_index"] = np.array(names, dtype=text)
        for name, column in noted.items():
            if isinstance(column, pd.Categorical):
                group = made["obs"].create_group(name)
                group["codes"], group["categories"] = column.codes, np.array(list(column.categories), dtype=text)
            else:
                made["obs"][name] = column
        made.create_group("layers")["counts"] = np.arange(3 * CELLS).reshape(CELLS, 3)
        made.create_group("obsm")["X_pca"] = np.ones((CELLS, 2)) * np.arange(CELLS)[:, None]
    return file.getvalue()


KINDS = pd.Categorical(["B", "T", None] * 4, categories=["B", "T", "never"])
COUNTS = sparse.random_array((CELLS, 3), density=0.5, format="csr", rng=0)


@pytest.mark.parametrize("made", [COUNTS, COUNTS.tocsc(), COUNTS.toarray(), COUNTS.toarray().astype(np.float32)])
def test_cells_by_genes_with_the_labels_of_obs(made):
    data = read_file(h5ad(made, depth=np.arange(CELLS), cell_type=KINDS), name="cells.h5ad")
    np.testing.assert_array_equal(data.X, made.toarray() if sparse.issparse(made) else made)
    assert data.feature_names == tuple(GENES)
    assert data.target_names == ("B", "T")
    assert data.labelled.sum() == 8
    assert "Left out as they describe rows: depth." in data.description


def test_a_layer_or_coordinates_of_cells():
    content = h5ad(COUNTS, depth=np.arange(CELLS), cell_type=KINDS)
    assert preview(content, "cells.h5ad").sheets == ("X", "layers/counts", "obsm/X_pca")
    layer = read_file(content, name="cells.h5ad", sheet="layers/counts", target="depth", task="regression")
    assert (layer.feature_names, layer.X[-1, -1], layer.y[-1]) == (tuple(GENES), 3 * CELLS - 1, CELLS - 1)
    assert read_file(content, name="cells.h5ad", sheet="obsm/X_pca").feature_names == ("X_pca1", "X_pca2")
    with_depth = read_file(content, name="cells.h5ad", ignore=[])
    assert with_depth.feature_names == (*GENES, "depth")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (h5ad(COUNTS, cell_type=KINDS)[:3000], "is not a complete AnnData file"),
        (h5ad(COUNTS, depth=np.arange(5)), "must have 12 rows, as X has"),
        (h5ad(np.array([["a", "b", "c"]] * CELLS, dtype="S1")), "must be a table of numbers"),
        (h5ad(COUNTS, depth=np.ones((CELLS, 2))), "must have one dimension"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "is not a complete AnnData file"),
    ],
)
def test_what_is_wrong_with_a_file_of_cells_is_one_sentence(content, words):
    with pytest.raises(FileProblem, match=words):
        read_file(content, name="cells.h5ad")
    with pytest.raises(FileProblem, match=r"called .csv but holds HDF5 data"):
        read_file(h5ad(COUNTS), name="cells.csv")


def test_a_sparse_table_that_says_it_is_large_is_refused_before_it_is_read():
    content = io.BytesIO(h5ad(COUNTS, cell_type=KINDS))
    with h5py.File(content, "r+") as file:
        file["X"].attrs["shape"] = (10_000_000, 3)
    with pytest.raises(FileProblem, match="10,000,000 rows"):
        read_file(content.getvalue(), name="cells.h5ad")

"""Small files that were once read wrongly, in the folder `cases` beside that of the benchmark sets."""

import numpy as np
import pytest

from supdr.datasets import preview, read_file

pytestmark = pytest.mark.papers

ROWS = 24
# File -> rows, features, names of the classes.
EXPECTED = {
    "compared.csv": (ROWS, None, ("<=50K", ">50K")),
    "statistics.csv": (60, None, None),
    "index-is-class.parquet": (ROWS, 2, 2),
    "types.parquet": (ROWS, 6, ("a", "b")),  # a vector of three is three columns
    "declared.arff": (None, None, ("N/A", "b")),
    "quotes.arff": (None, None, ("-1", "1")),
    "write-table.txt": (ROWS, 2, 2),
    "three-lines.tsv": (ROWS, None, 2),
    "joined.csv": (2 * ROWS, None, 2),
    "labels.npz": (ROWS, None, 2),
    "double-sign.csv": (ROWS, 2, 2),  # the odd cell has a column of its own
    "censored-first.csv": (ROWS, None, 2),
    "letters.csv": (ROWS, None, ("AA", "Aa", "aa")),
    "one-missing.csv": (None, None, 2),
}


@pytest.mark.parametrize("file", EXPECTED)
def test_rows_features_and_classes(cases, file):
    rows, features, classes = EXPECTED[file]
    data = read_file(cases / file)
    assert rows in (None, data.n_samples)
    assert features in (None, data.n_features)
    assert classes in (None, data.n_classes, tuple(sorted(data.target_names)))


def test_texts_stay_different(cases):
    assert set(read_file(cases / "zeros.csv").target_names) == {"007", "07", "01067", "1067"}
    units = preview(cases / "units.csv").table.frame
    assert {"m", "M"} <= set(units["size"])
    assert "50K" in set(units["mass"])
    points = preview(cases / "points.csv").table.frame["x1"]
    assert set(points) == {".05", "0.5", "1.5", "<.05"}
    assert set(preview(cases / "integer-names.parquet").columns) == {"0", "1"}


def test_numbers_keep_their_sign_and_size(cases):
    signs = preview(cases / "signs.csv")
    assert (signs.table.frame["x"] == -1.5).any() or "(-1.5)" in set(signs.table.frame["x"])
    assert read_file(cases / "zeros.csv").X.max() < 1
    assert read_file(cases / "late-comma.csv").X[230, 0] == 0.125
    days = read_file(cases / "old-dates.csv").X[:4, 0]
    assert days.min() < 0 < 100_000 < days.max()
    for accept, names in ([], ("x", "x=--0.5")), (["missing:x"], ("x",)):
        odd = read_file(cases / "double-sign.csv", accept=accept)
        assert odd.feature_names == names
        assert np.isnan(odd.X).sum() == 1
    assert preview(cases / "auto.data").n_rows == ROWS
    assert [each.kind for each in preview(cases / "auto.data").facts].count("number") == 8
    places = read_file(cases / "offset-columns.csv").X
    assert len(np.unique(places, axis=0)) == 120


def test_what_is_left_out_is_told_and_comes_back(cases):
    joined = preview(cases / "joined.csv")
    assert any("the header in the middle" in note for note in joined.notes)
    assert preview(cases / "joined.csv", decline=["repeated header"]).n_rows == joined.n_rows + 1
    assert preview(cases / "statistics.csv", accept=["totals"]).n_rows < preview(cases / "statistics.csv").n_rows
    levels = read_file(cases / "declared.arff").feature_names
    assert {"region=NA", "region=EU", "region=null"} <= set(levels)
    assert {"s=a b", "s=it's", "s=c"} <= set(read_file(cases / "quotes.arff").feature_names)

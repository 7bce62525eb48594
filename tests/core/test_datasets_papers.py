"""The benchmark sets are read as their list describes them."""

import re

import numpy as np
import pytest

from supdr.datasets import Limits, preview, read_file

pytestmark = pytest.mark.papers


def listed_sets(data_dir):
    """Yield (file, rows, features per view, classes) from the table of the README; classes is 0 for regression."""
    for line in (data_dir / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) < 4 or not cells[0].endswith((".csv.gz", ".npz")):
            continue
        if "X_train" in cells[2]:  # two tables in one file: see below
            continue
        views = [int(size) for size in re.findall(r"(?:^| )(\d+)(?:,|$)", re.sub(r" \(.*?\)", "", cells[2]))]
        counted = len(re.findall(r"\d+=", cells[3])) or re.match(r"(\d+) (?:digits|folds)", cells[3])
        yield cells[0], int(cells[1]), views, int(counted[1]) if isinstance(counted, re.Match) else counted or 0


LARGE = 500_000  # bytes


@pytest.mark.parametrize(("large", "least"), [(False, 15), pytest.param(True, 4, marks=pytest.mark.slow)])
def test_every_set_is_read(data_dir, large, least):
    sets = [each for each in listed_sets(data_dir) if ((data_dir / each[0]).stat().st_size > LARGE) == large]
    assert len(sets) >= least
    for file, rows, views, classes in sets:
        y_listed = file.endswith(".npz") and views[-1] == 1
        views = views[:-1] if y_listed else views
        task = "classification" if classes else "regression"
        look = preview(data_dir / file, limits=Limits(max_columns=20_000))
        # 27 whole numbers are too many to be guessed to be classes
        assert look.task == task or classes > 20, file
        dataset = look.read(task=task)
        # without y the last column becomes the target
        taken = file.endswith(".npz") and not y_listed
        assert dataset.X.shape == (rows, sum(views) - taken), file
        assert dataset.n_classes == classes, file
        assert dataset.views == (tuple(views) if len(views) > 1 else None), file
        assert dataset.labelled.all(), file


def test_missing_cells_stay_missing(data_dir):
    assert np.isnan(read_file(data_dir / "breast_cancer_w.csv.gz").X).sum() == 16
    assert np.isnan(read_file(data_dir / "mpg.csv.gz").X).sum() == 6


def test_a_file_of_two_tables_is_read_by_either(data_dir):
    look = preview(data_dir / "mnist.npz", limits=Limits(max_cells=10**8))
    assert (look.sheets, look.sheet, look.target) == (("X_train", "X_test"), "X_train", "y_train")
    assert (look.n_rows, look.task) == (60_000, "classification")
    data = read_file(data_dir / "mnist.npz")  # as large as it may be
    assert data.X.shape == (10_000, 784)
    assert data.target_names == tuple("0123456789")
    assert "Table 'X_test' is read; of other rows, and left out, are X_train, y_train." in data.description

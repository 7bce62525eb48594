"""About as many rows as columns: linear methods stay as good when one row more lets them whiten."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import supdr

METHODS = {"LSDR": supdr.LSDR(), "SDRGLM": supdr.SDRGLM()}


def accuracies(method, X, y, sizes, n_draws):
    """Return the mean accuracy of rows left over, over some draws of training rows of each size."""
    means = []
    for size in sizes:
        scores = []
        for seed in range(n_draws):
            order = np.random.default_rng(seed).permutation(len(y))
            rows, rest = order[:size], order[size:]
            if len(np.unique(y[rows])) == len(np.unique(y)):
                scores.append(METHODS[method].fit(X[rows], y[rows]).score(X[rest], y[rest]))
        means.append(np.mean(scores))
    return np.array(means)


@pytest.mark.parametrize("method", METHODS)
def test_thirty_rows_of_thirty_columns_are_enough_for_breast_cancer(method):
    X, y = load_breast_cancer(return_X_y=True)
    assert (accuracies(method, X, y, (29, 30, 31), 6) >= 0.93).all()


def assert_no_step(method, X, y):
    """Accuracy does not fall where there is one row more than columns."""
    m = X.shape[1]
    fewer, equal, more = accuracies(method, X, y, (m - 1, m, m + 1), 6)
    assert more >= max(fewer, equal) - 0.02


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_one_row_more_than_columns_is_no_step(method, load):
    assert_no_step(method, *load(return_X_y=True))


@pytest.mark.slow
@pytest.mark.papers
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["sonar", "ionosphere", "spect"])
def test_one_row_more_than_columns_is_no_step_on_benchmark_sets(method, name, data_dir):
    table = np.loadtxt(data_dir / f"{name}.csv.gz", delimiter=",", skiprows=1, dtype=str)
    assert_no_step(method, table[:, :-1].astype(float), table[:, -1])

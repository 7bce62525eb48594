"""ClassAtlas's second gate: columns made symmetric, and heard where that lowers the left-out log loss."""

import numpy as np
import pytest
from scipy.stats import skew, yeojohnson, yeojohnson_llf

from supdr import ClassAtlas
from supdr.methods.class_atlas.gate import fit_gate
from supdr.methods.class_atlas.opinions import log_loss
from supdr.methods.class_atlas.symmetric import POWERS, fit_symmetric
from supdr.methods.class_atlas.two_gates import fit_two_gates


def skewed(n_rows, seed=0):
    """Two classes, two columns whose logarithms are Gaussian: there the classes are plain."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n_rows)
    return np.exp(1.5 * rng.standard_normal((n_rows, 2)) + 1.2 * codes[:, None]), codes


@pytest.mark.parametrize("turned", [1.0, -1.0], ids=["tail to the right", "tail to the left"])
def test_powers_are_those_of_yeo_and_johnson(turned):
    X = turned * skewed(300)[0]
    columns = fit_symmetric(X)
    u = (X - X.mean(axis=0)) / X.std(axis=0)
    for column, power in enumerate(columns.power):
        likelihood = [yeojohnson_llf(each, u[:, column]) for each in POWERS]
        assert power == POWERS[np.argmax(likelihood)]
        expected = yeojohnson(u[:, column], power)
        expected = (expected - expected.mean()) / expected.std()
        np.testing.assert_allclose(columns.apply(X)[:, column], expected, atol=1e-9)
    assert (np.abs(skew(columns.apply(X))) < 0.2 * np.abs(skew(X))).all()


def test_units_of_columns_do_not_matter():
    X = skewed(200)[0]
    first, second = fit_symmetric(X), fit_symmetric(X * [1e-3, 1e4] - 7.0)
    np.testing.assert_array_equal(first.power, second.power)
    np.testing.assert_allclose(first.apply(X), second.apply(X * [1e-3, 1e4] - 7.0), atol=1e-6)


def test_columns_without_a_shape_stay():
    X = np.column_stack([np.full(50, 3.0), np.arange(50) % 2, np.arange(50) < 3])
    columns = fit_symmetric(X)
    assert (columns.power == 1.0).all()
    assert np.isfinite(columns.apply(X)).all()


def test_new_rows_stay_within_the_known_range():
    X = skewed(100)[0]
    columns = fit_symmetric(X)
    far = columns.apply(np.array([[1e9, -1e9]]))[0]
    known = columns.apply(X)
    np.testing.assert_allclose(far, [known[:, 0].max(), known[:, 1].min()])


@pytest.mark.parametrize("n_rows", [400, 1500], ids=["all rows are looked at", "some rows are looked at"])
def test_a_second_gate_helps_where_columns_are_skew(n_rows):
    X, codes = skewed(n_rows + 2000)
    gate, left_out = fit_two_gates(X[:n_rows], codes[:n_rows], 2, 2000, 0)
    alone, alone_left_out = fit_gate(X[:n_rows], codes[:n_rows], 2, 2000, 0)
    assert gate.evened is not None
    assert log_loss(left_out, codes[:n_rows]) < log_loss(alone_left_out, codes[:n_rows])
    new, truth = X[n_rows:], codes[n_rows:]
    joined = gate.probabilities(new)
    assert log_loss(joined, truth) < log_loss(alone.probabilities(new), truth) - 0.005
    np.testing.assert_allclose(joined.sum(axis=1), 1.0)


def test_no_second_gate_where_it_would_not_be_heard():
    """Columns of two values, too few rows, nothing left to win."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=240)
    noisy = rng.standard_normal((240, 3)) + 0.5 * codes[:, None]
    for X in (np.sign(noisy), np.exp(rng.standard_normal((240, 100))), np.exp(noisy + 40.0 * codes[:, None])):
        gate, left_out = fit_two_gates(X, codes, 2, 2000, 0)
        alone, expected = fit_gate(X, codes, 2, 2000, 0)
        assert gate.evened is None
        np.testing.assert_array_equal(left_out, expected)
        np.testing.assert_array_equal(gate.probabilities(X), alone.probabilities(X))


def test_a_map_asks_both_gates():
    X, codes = skewed(300)
    model = ClassAtlas(random_state=0, max_iter=3).fit(X, codes)
    assert model.gate_.evened is not None
    prepared = model._prepare(X)
    np.testing.assert_allclose(model.predict_proba(X), model.gate_.probabilities(prepared))

"""MAC on rows in partitions: the numbers of the fit in memory, whatever the partitions."""

import dask.array as da
import numpy as np
import pytest

from supdr import MAC
from supdr.methods.mac import distributed, problem
from supdr.rows import partitioned as partitioned_rows
from supdr.solvers import leave_one_out, margin_working_set

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(3, 5))
    codes = rng.integers(0, 3, 400)
    X = centers[codes] + 0.8 * rng.normal(size=(400, 5))
    y = codes.astype(float)
    y[::9] = np.nan
    return X, y


def partitioned(values, count):
    ends = np.linspace(0, len(values), count + 1).astype(int)
    return da.from_array(values, chunks=(tuple(np.diff(ends)), *values.shape[1:]))


def model(**settings):
    return MAC(n_centers=30, max_iter=2, random_state=3, **settings)


@pytest.mark.parametrize(
    ("settings", "counts"), [({}, (1, 7, 40)), ({"scheme": "ovo"}, (7,)), ({"mapping": "linear"}, (7,))]
)
def test_partitions_do_not_matter(rows, settings, counts, monkeypatch):
    # Fitted more exactly than usual, classifiers agree in their latent rows, too, whatever the order of addition.
    monkeypatch.setattr(problem, "SVM_TOL", 1e-10)
    X, y = (values[:200] for values in rows)  # so narrow a gap takes long
    expected = model(**settings).fit(X, y)
    for count in counts:
        found = model(**settings).fit(partitioned(X, count), partitioned(y, count))
        for name in ("objective", "surrogate"):
            np.testing.assert_allclose(found.history_[name], expected.history_[name], rtol=1e-8)
        np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-8)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_as_they_are_used_partitions_do_not_matter(rows):
    X, y = rows
    expected = model().fit(X, y).history_["objective"]
    for count in (1, 7, 40):
        found = model().fit(partitioned(X, count), partitioned(y, count)).history_["objective"]
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_features_that_are_not_kept_are_the_same(rows, monkeypatch):
    X, y = (partitioned(values, 3) for values in rows)
    expected = model().fit(X, y)
    monkeypatch.setattr(distributed, "fits_in_memory", lambda n_rows, n_numbers: False)
    monkeypatch.setattr(leave_one_out, "BLOCK_FLOPS", 1)  # as few rows at a time as there may be
    found = model().fit(X, y)
    np.testing.assert_allclose(found.history_["objective"], expected.history_["objective"], rtol=1e-5)


def test_a_snapshot_resumes_and_holds_references(rows):
    X, y = (partitioned(values, 4) for values in rows)
    steps = list(model(early_stopping=False, tol=-1).iterate(X, y))
    again = list(model(early_stopping=False, tol=-1).set_params(max_iter=1).iterate(X, y, start=steps[1]))
    assert [step.objective for step in again] == [step.objective for step in steps[1:]]
    assert not any(isinstance(part, np.ndarray) for part in steps[1].state.targets.parts)


def test_transform_is_lazy(rows):
    X, y = (partitioned(values, 4) for values in rows)
    fit = model()
    last = list(fit.iterate(X, y))[-1]
    touched = []

    def touching(block):
        touched.append(len(block))
        return block

    lazy = fit.at(last).transform(X.map_blocks(touching, dtype=float, meta=np.empty((0, 0))))
    assert not touched
    np.testing.assert_allclose(lazy.compute(), fit.at(last).transform(rows[0]), rtol=1e-12)
    assert sum(touched) == len(rows[0])


def test_the_bound_is_below_every_objective(rows):
    X, y = (partitioned(values, 4) for values in rows)
    fit = model().fit(X, y)
    assert 0.0 < fit.history_["bound"][-1] < fit.history_["objective"].min()


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"solver": "lbfgs"}, "solver"), ({"early_stopping": True}, "early_stopping")],
)
def test_what_partitions_cannot_do_is_refused(rows, settings, word):
    X, y = (partitioned(values, 4) for values in rows)
    with pytest.raises(ValueError, match=f"{word} must be .* in partitions"):
        model(**settings).fit(X, y)


def test_bad_partitions_are_refused(rows):
    X, y = rows
    broken = X.copy()
    broken[5, 0] = np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        model().fit(partitioned(broken, 3), partitioned(y, 3))
    with pytest.raises(ValueError, match="partitioned alike"):
        model().fit(partitioned(X, 3), partitioned(y, 4))
    with pytest.raises(ValueError, match="y must be a Dask"):
        model().fit(partitioned(X, 3), y)


def test_without_distributed_a_sentence_says_what_to_install(rows, monkeypatch):
    monkeypatch.setattr("supdr.engine.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"Rows in partitions needs distributed: pip install"):
        model().fit(partitioned(rows[0], 2), partitioned(rows[1], 2))


def test_all_that_a_pass_asks_of_its_end_is_one_visit_and_moments_come_with_the_targets(rows, monkeypatch):
    X, y, *_ = rows
    seen, original = [], partitioned_rows.total
    for module in (partitioned_rows, margin_working_set):
        monkeypatch.setattr(
            module, "total", lambda work, *a, **k: seen.append(work.__name__) or original(work, *a, **k)
        )
    steps = model(early_stopping=False, tol=-1.0).iterate(partitioned(X, 3), partitioned(y, 3))
    for number in range(3):
        seen.clear()
        next(steps)
        assert seen.count("row_sums") == 1
        assert seen.count("moments_of") == (number == 0)

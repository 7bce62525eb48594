"""Two layers of MAC on rows in partitions: the numbers of the fit in memory, whatever the partitions."""

import dask
import dask.array as da
import numpy as np
import pytest

from supdr import MAC
from supdr.methods.mac import two_layer
from supdr.methods.mac.classes import simplex_numbers
from supdr.rows.partitions import gather


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(two_layer, "WIDTHS", (0.5, 1.0))
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 240)
    X = rng.normal(size=(3, 4))[codes] + 0.7 * rng.normal(size=(240, 4))
    y = codes.astype(float)
    y[::9] = np.nan
    return X, y


def partitioned(values, count):
    ends = (np.linspace(0.0, 1.0, count + 1) ** 1.3 * len(values)).astype(int)
    return da.from_array(values, chunks=(tuple(np.diff(ends)), *values.shape[1:]))


def model(**settings):
    return MAC(n_layers=2, max_iter=9, random_state=3, **settings)


@pytest.mark.parametrize(
    ("settings", "counts"),
    [({"n_centers": 40}, (1, 7, 40)), ({"n_centers": 40, "head": "ridge"}, (1, 7))],
)
def test_partitions_do_not_matter(rows, settings, counts, monkeypatch):
    monkeypatch.setattr(two_layer, "SEARCH_ROWS", 100)  # fewer than there are: the last step looks at all
    X, y = rows
    expected = model(**settings).fit(X, y)
    for count in counts:
        found = model(**settings).fit(partitioned(X, count), partitioned(y, count))
        np.testing.assert_allclose(found.history_["objective"], expected.history_["objective"], rtol=1e-8)
        for name in ("plane_error", "edge_ratio", "spread", "sv_ratio"):
            np.testing.assert_allclose(found.history_[name][-1], expected.history_[name][-1], rtol=1e-8)
        for name in ("hidden_", "hidden_left_out_", "plane_", "plane_left_out_", "embedding_"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-8)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("head", ["mix", "ridge"])
def test_few_rows_are_all_centres_as_in_memory(rows, head):
    X, y = rows
    expected, found = model(head=head).fit(X, y), model(head=head).fit(partitioned(X, 7), partitioned(y, 7))
    np.testing.assert_array_equal(found.history_["objective"], expected.history_["objective"])
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-8)


def test_beyond_the_sample_all_rows_are_looked_at(rows, monkeypatch):
    monkeypatch.setattr("supdr.rows.running.SAMPLE_ROWS", 150)
    X, y = rows
    model_ = model(n_centers=40)
    last = list(model_.iterate(partitioned(X, 3), partitioned(y, 3)))[-1]
    state = last.state
    left_out = np.concatenate(gather(np.asarray, state.second.left_out))
    hidden = np.concatenate(gather(np.asarray, state.first.hidden))
    labelled = ~np.isnan(y)
    assert len(model_.hidden_) < len(hidden) == labelled.sum()
    prepared = model_._preprocessing.transform(X[labelled])
    np.testing.assert_allclose(hidden, state.first.mapping.apply(prepared, state.first.coef), atol=1e-8)
    told = simplex_numbers(left_out, y[labelled].astype(int), 3)
    np.testing.assert_allclose([last.diagnostics[name] for name in told], list(told.values()), rtol=1e-8)


def test_a_snapshot_resumes_and_holds_references(rows):
    X, y = (partitioned(values, 4) for values in rows)
    steps = list(model(n_centers=40).iterate(X, y))
    again = list(model(n_centers=40, tol=1e-7).iterate(X, y, start=steps[1]))
    assert [step.objective for step in again] == [step.objective for step in steps[1:]]
    assert not any(isinstance(part, np.ndarray) for part in steps[1].state.first.left_out.parts)
    with pytest.raises(ValueError, match="belongs to other rows"):
        model(n_centers=40).iterate(X + 1.0, y, start=steps[1])


def test_a_run_goes_on_bit_for_bit_from_its_checkpoint(rows, tmp_path):
    X, y = (partitioned(values, 4) for values in rows)
    run = model(n_centers=40, early_stopping=False)
    expected = [step.objective for step in run.iterate(X, y)]
    stream = run.iterate(X, y, checkpoint=tmp_path)
    begun = [next(stream).objective for _ in range(2)]
    del stream
    again = list(run.iterate(X, y, checkpoint=tmp_path))
    assert begun + [step.objective for step in again[1:]] == expected
    fit = MAC().at(again[-1])
    np.testing.assert_array_equal(fit.transform(rows[0]), run.fit(X, y).transform(rows[0]))


def test_transform_is_lazy(rows):
    X, y = (partitioned(values, 4) for values in rows)
    fit, touched = model(n_centers=40).fit(X, y), []

    def touching(block):
        touched.append(len(block))
        return block

    lazy = fit.transform(X.map_blocks(touching, dtype=float, meta=np.empty((0, 0))))
    assert not touched
    at_once = fit.transform(rows[0])
    # Sums of products: their rounding goes with what is added, also where little is left of it.
    rounding = 8 * np.finfo(float).eps * np.abs(at_once).max()
    np.testing.assert_allclose(lazy.compute(), at_once, rtol=1e-12, atol=rounding)
    assert sum(touched) == len(rows[0])


@pytest.mark.parametrize(("name", "value"), [("early_stopping", True), ("class_weight", "balanced")])
def test_what_partitions_cannot_do_is_refused(rows, name, value):
    X, y = (partitioned(values, 4) for values in rows)
    with pytest.raises(ValueError, match=f"{name} must be .* in partitions"):
        model(**{name: value}).fit(X, y)

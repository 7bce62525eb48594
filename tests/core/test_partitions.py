"""SDR-GLM and LSDR on rows in partitions: the numbers of the fit in memory, whatever the partitions."""

import dask
import dask.array as da
import numpy as np
import pytest

from supdr import LSDR, SDRGLM
from supdr.engine.preprocessing import fit_preprocessing
from supdr.rows import partitioned, running
from supdr.rows.partitions import from_list
from supdr.rows.summed_columns import SummedColumns

ROWS = 240


pytestmark = pytest.mark.usefixtures("in_this_thread")


def made():
    """Return real numbers, bits, counts, classes and two targets, some labels missing."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, ROWS)
    X = 1.5 * rng.normal(size=(3, 6))[codes] + rng.normal(size=(ROWS, 6))
    counts = rng.poisson(np.exp(np.clip(X[:, :2], -2, 1.5))).astype(float)
    y = codes.astype(float)
    targets = X[:, :2] @ rng.normal(size=(2, 2)) + 0.1 * rng.normal(size=(ROWS, 2))
    y[::9], targets[::7] = np.nan, np.nan
    return X, (X > 0) * 1.0, counts, y, targets


X, BITS, COUNTS, Y, TARGETS = made()
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
BIT_HOLES = np.where(np.isnan(HOLES), np.nan, BITS)
MIXED = np.column_stack([X[:, :2], BITS[:, 2:4], COUNTS])
FAMILIES = ["gaussian"] * 2 + ["bernoulli"] * 2 + ["poisson"] * 2
POSITIVE = np.column_stack([COUNTS, np.exp(X[:, :2])])


def spread(values, count):
    """Return rows in so many partitions of uneven sizes."""
    ends = np.linspace(0, len(values), count + 1).astype(int)
    ends[1:-1:2] += 1
    return da.from_array(values, chunks=(tuple(int(size) for size in np.diff(ends)), *values.shape[1:]))


CASES = {
    "gaussian": (SDRGLM, {}, X, Y, (1, 7, 40)),
    "bits": (SDRGLM, {"inner": 2, "bound": "bohning", "init": "random"}, BITS, (Y > 0) * 1.0, (7,)),
    "bits with holes": (SDRGLM, {}, BIT_HOLES, Y, (7,)),
    "mixed": (SDRGLM, {"family_x": FAMILIES, "preprocessing": "minmax", "family_y": "bernoulli"}, MIXED, Y, (7,)),
    "counts and positive numbers": (
        SDRGLM,
        {"family_x": ["negative_binomial"] * 2 + ["gamma"] * 2, "negative_binomial_size": 2.5},
        POSITIVE,
        Y,
        (7,),
    ),
    "targets": (SDRGLM, {"task": "regression", "gauge": False}, X, TARGETS, (7,)),
    "counted targets": (SDRGLM, {"task": "regression", "family_y": "poisson"}, BITS, COUNTS, (7,)),
    "labels": (SDRGLM, {"preprocessing": "zscore"}, X, BITS[:, :2], (7,)),
    "more columns than rows": (SDRGLM, {}, X[1:7].repeat(3, axis=1) ** 3, np.arange(6) % 2.0, (2,)),
    "smooth hinge": (LSDR, {}, X, Y, (1, 7, 40)),
    "logistic": (LSDR, {"loss": "logistic", "row_bias": True, "preprocessing": "none"}, X, (Y > 0) * 1.0, (7,)),
    "hinge": (LSDR, {"loss": "hinge", "preprocessing": "zscore"}, X, Y, (7,)),
    "squared": (LSDR, {"loss": "squared", "init": "random", "preprocessing": "minmax"}, X, Y, (7,)),
    "holes": (LSDR, {}, HOLES, Y, (7,)),
    "values": (LSDR, {"task": "regression", "row_bias": True}, X, TARGETS, (7,)),
}


def model(kind=SDRGLM, **settings):
    return kind(2, random_state=3, **{"max_iter": 2, "tol": -1.0, **settings})


@pytest.mark.parametrize("case", CASES)
def test_partitions_do_not_matter(case):
    kind, settings, rows, labels, counts = CASES[case]
    expected = model(kind, **settings).fit(rows, labels)
    for count in counts:
        found = model(kind, **settings).fit(spread(rows, count), spread(labels, count))
        objective = expected.history_["objective"]
        np.testing.assert_allclose(found.history_["objective"], objective, rtol=1e-8)
        for name in set(expected.history_) & {"reconstruction", "label", "training_error"}:
            tiny = 1e-8 * abs(objective).min()
            np.testing.assert_allclose(found.history_[name], expected.history_[name], rtol=1e-8, atol=tiny)
        np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-6)
        np.testing.assert_allclose(found.transform(rows), expected.transform(rows), atol=1e-6)


@pytest.mark.parametrize("case", ["gaussian", "mixed", "values", "holes"])
def test_nothing_that_is_a_sum_is_chosen_on_the_sample(case, monkeypatch):
    kind, settings, rows, labels, _ = CASES[case]
    expected = model(kind, **settings).fit(rows, labels)
    monkeypatch.setattr(running, "SAMPLE_ROWS", 60)
    found = model(kind, **settings).fit(spread(rows, 5), spread(labels, 5))
    np.testing.assert_allclose(found.history_["objective"], expected.history_["objective"], rtol=1e-8)
    assert found.embedding_.shape == (60, 2)


def test_families_are_told_from_all_rows(monkeypatch):
    monkeypatch.setattr(running, "SAMPLE_ROWS", 60)
    rows = BITS.copy()
    sample = np.sort(np.random.default_rng([3, 1 << 21]).choice(ROWS, 60, replace=False))
    rows[np.setdiff1d(np.arange(ROWS), sample)[0], 0] = 0.5
    found = model(max_iter=1).fit(spread(rows, 5), spread(Y, 5))
    assert set(found.family_x_) == {"gaussian"}
    with pytest.raises(ValueError, match="a bernoulli column holds 0 and 1 only"):
        model(family_x="bernoulli").fit(spread(rows, 5), spread(Y, 5))


@pytest.mark.parametrize("kind", ["none", "zscore", "minmax", "whiten"])
@pytest.mark.parametrize("rows", [X * 1e4 + 7.0, HOLES, np.column_stack([X, X[:, :1] * 2.0, np.ones(ROWS)]), X[:5]])
def test_preprocessing_is_exact(kind, rows):
    parts = from_list(np.array_split(rows, [1, len(rows) // 2]))
    expected, found = fit_preprocessing(rows, kind), fit_preprocessing(SummedColumns(parts, rows.shape), kind)
    assert found.kind == expected.kind
    np.testing.assert_allclose(found.transform(rows), expected.transform(rows), atol=1e-9)


# --- snapshots and checkpoints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["gaussian", "smooth hinge"])
def test_a_snapshot_resumes_and_holds_references(case):
    kind, settings, *data, _ = CASES[case]
    rows, labels = (spread(values, 4) for values in data)
    steps = list(model(kind, **settings).iterate(rows, labels))
    again = list(model(kind, **settings, max_iter=1).iterate(rows, labels, start=steps[1]))
    assert [step.objective for step in again] == [step.objective for step in steps[1:]]
    assert not any(isinstance(part, np.ndarray) for part in steps[1].state.latent.parts)
    for other in (spread(data[0] + 1.0, 4), spread(data[0], 3)):
        with pytest.raises(ValueError, match="belongs to other rows or other partitions"):
            model(kind, **settings).iterate(other, spread(data[1], len(other.chunks[0])), start=steps[1])
    in_memory = list(model(kind, **settings).iterate(*data))
    with pytest.raises(ValueError, match="belongs to other rows"):
        model(kind, **settings).iterate(rows, labels, start=in_memory[1])
    with pytest.raises(ValueError, match="start must be a snapshot"):
        model(kind, **settings).iterate(rows, labels, start=steps[1].state)


@pytest.mark.parametrize("case", ["bits with holes", "values"])
def test_transform_is_lazy(case):
    kind, settings, *data, _ = CASES[case]
    fit = model(kind, **settings)
    last = list(fit.iterate(*(spread(values, 4) for values in data)))[-1]
    touched = []

    def touching(block):
        touched.append(len(block))
        return block

    lazy = fit.at(last).transform(spread(data[0], 3).map_blocks(touching, dtype=float, meta=np.empty((0, 0))))
    assert not touched
    assert lazy.shape == (ROWS, 2)
    np.testing.assert_allclose(lazy.compute(), fit.at(last).transform(data[0]), rtol=1e-12)
    assert sum(touched) == ROWS


@pytest.mark.parametrize("case", ["bits", "smooth hinge"])
def test_a_run_goes_on_from_its_checkpoint_bit_for_bit(case, tmp_path):
    kind, settings, *data, _ = CASES[case]
    rows, labels = (spread(values, 3) for values in data)
    expected = [step.objective for step in model(kind, **settings).iterate(rows, labels)]
    stream = model(kind, **settings).iterate(rows, labels, checkpoint=tmp_path)
    begun = [next(stream).objective for _ in range(2)]
    del stream
    again = [step.objective for step in model(kind, **settings).iterate(rows, labels, checkpoint=tmp_path)]
    assert begun + again[1:] == expected


@pytest.mark.parametrize(
    ("kind", "settings", "word"),
    [
        (SDRGLM, {"solver": "literal"}, "solver"),
        (SDRGLM, {"init": np.ones((ROWS, 2))}, "init"),
        (SDRGLM, {"early_stopping": True}, "early_stopping"),
        (SDRGLM, {"class_weight": "balanced"}, "class_weight"),
        (LSDR, {"solver": "lbfgs"}, "solver"),
        (LSDR, {"class_weight": {0.0: 2.0}}, "class_weight"),
    ],
)
def test_what_partitions_cannot_do_is_refused(kind, settings, word):
    with pytest.raises(ValueError, match=f"{word} must be .* where rows come in partitions"):
        model(kind, **settings).fit(spread(X, 2), spread(Y, 2))


def test_bad_rows_are_refused():
    broken = X.copy()
    broken[5, 0] = np.inf
    for kind in (SDRGLM, LSDR):
        with pytest.raises(ValueError, match="infinity in one of its partitions"):
            model(kind).fit(spread(broken, 3), spread(Y, 3))
        with pytest.raises(ValueError, match="sample_weight must be None where rows come in partitions"):
            model(kind).fit(spread(X, 3), spread(Y, 3), sample_weight=np.ones(ROWS))
    broken[5] = np.nan
    with pytest.raises(ValueError, match="no observed cell in row"):
        model(LSDR).fit(spread(broken, 3), spread(Y, 3))


# --- what travels -----------------------------------------------------------------------------------------------------


def numbers_in(value):
    """Return how many numbers of arrays, or floats, a value holds."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, (tuple, list)):
        return sum(map(numbers_in, value))
    if isinstance(value, float):
        return 1
    return numbers_in(tuple(vars(value).values())) if hasattr(value, "grams") else 0


@pytest.fixture
def travelled(monkeypatch):
    """Return the numbers that all partitions have sent, and that one has received, as runs go on."""
    counts = {"sent": 0, "received": 0}

    def metered(original, sends):
        def call(function, *arguments, **settings):
            def counted(*values):
                result = function(*values)
                counts["sent"] += numbers_in(sends(result))
                return result

            counts["received"] += sum(map(numbers_in, arguments))
            return original(counted, *arguments, **settings)

        return call

    for name, sends in {"total": lambda r: r, "persist_and_total": lambda r: r[1], "persist": lambda r: ()}.items():
        monkeypatch.setattr(partitioned, name, metered(getattr(partitioned, name), sends))
    return counts


def fours(count):
    return -(-count // 4) * 4


def glm_gaussian(D, L, K):
    """Return the numbers that a partition sends and receives a pass: softmax, three inner alternations."""
    head = (L + 1) ** 2 + (L + 1) * K
    sent = 3 * head + (L + 1) ** 2 + (L + 1) * D
    return sent, (L + 1) * D + 4 * (L + 1) * K + 3 * L**2 + L


def glm_weighted(D, L, K):
    """Return the same: bits, one target after another."""
    sent = D * (fours((L + 1) * (L + 2) // 2) + fours(L + 1)) + K * (L + 1) * (L + 2) + (L + 1) ** 2
    return sent, 2 * (L + 1) * (D + K) + L**2 + L


def factors(m, d, K):
    """Return the same: squared loss."""
    return 2 * (d + 1) ** 2 + (d + 1) * (m + K), 2 * (d + 1) * (m + K)


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "settings", "rows", "labels", "cost"),
    [
        (SDRGLM, {}, X, Y, glm_gaussian),
        (SDRGLM, {"task": "regression", "family_y": "bernoulli"}, BITS, BITS[:, :2], glm_weighted),
        (LSDR, {"loss": "squared"}, X, Y, factors),
    ],
)
def test_what_travels_is_what_the_cost_model_says(kind, settings, rows, labels, cost, count, travelled):
    n_targets = 3 if labels.ndim == 1 else 2
    sent, received = cost(rows.shape[1], 2, n_targets)
    for times in (1, 2):
        stream = model(kind, **settings, calibrate=False).iterate(
            *(spread(np.concatenate([values] * times), count) for values in (rows, labels))
        )
        next(stream)
        travelled.update(sent=0, received=0)
        next(stream)
        assert 0 <= travelled["sent"] / count - sent <= 6  # and some scalars
        assert 0 <= travelled["received"] - received <= 6


@pytest.mark.parametrize(("rows", "rounds"), [(X, 4), (BITS, 2)])
def test_a_pass_of_sdr_glm_waits_for_the_partitions_a_few_times(rows, rounds, monkeypatch):
    """Three alternations of U and W, or one; then the gauge, whose visit brings what the objective is made of."""
    waits = []
    for name in ("total", "persist_and_total", "persist"):
        original = getattr(partitioned, name)
        monkeypatch.setattr(partitioned, name, lambda *a, by=original, **k: waits.append(by.__name__) or by(*a, **k))
    stream = model().iterate(spread(rows, 4), spread(Y, 4))
    next(stream)
    waits.clear()
    next(stream)
    assert waits == ["persist_and_total"] * rounds


@pytest.mark.slow
def test_a_worker_killed_in_a_pass_changes_no_number():
    import os
    import signal

    distributed = pytest.importorskip("distributed")
    place = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with place, distributed.Client(place) as client, dask.config.set(scheduler="dask.distributed"):
        for kind, rows in ((SDRGLM, BITS), (LSDR, X)):
            data = spread(rows, 4), spread(Y, 4)
            expected = [step.objective for step in model(kind, max_iter=4).iterate(*data)]
            stream = model(kind, max_iter=4).iterate(*data)
            found = [next(stream).objective for _ in range(2)]
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            assert found + [step.objective for step in stream] == expected
            client.wait_for_workers(2)

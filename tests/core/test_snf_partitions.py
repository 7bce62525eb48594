"""SNF on rows in partitions: the numbers of the fit in memory, whatever the partitions."""

import sys

import dask.array as da
import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from supdr import SNF
from supdr.baselines import LLR
from supdr.methods.snf.distributed import Payload
from supdr.rows.partitioned import PartitionedRows
from supdr.rows.partitions import from_list, gather
from supdr.solvers.distributed_lbfgs import SummedSearch, summed_start, summed_step
from supdr.solvers.distributed_ridge import joined, moments, pull
from supdr.solvers.kernel_ridge import Primal
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step
from supdr.solvers.monomials import monomials

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    u = rng.uniform(-1.0, 1.0, (200, 2))
    basis = np.column_stack([u, u[:, 0] ** 2, u[:, 0] * u[:, 1], u[:, 1] ** 2])
    X = basis @ rng.standard_normal((5, 6)) + 0.1 * rng.standard_normal((200, 6))
    y = 0.5 * u[:, 0] + u[:, 0] * u[:, 1]
    y[40:] = np.nan  # partitions without a label
    return X, y


def partitioned(values, count):
    ends = (np.linspace(0.0, 1.0, count + 1) ** 1.3 * len(values)).astype(int)
    return da.from_array(values, chunks=(tuple(np.diff(ends)), *values.shape[1:]))


def model(**settings):
    return SNF(**{"n_components": 2, "max_iter": 6, "random_state": 1, **settings})


@pytest.mark.filterwarnings("ignore:n_components=7 exceeds")
@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({}, (1, 7, 40)),
        ({"kernel": "linear", "n_components": 7, "preprocessing": "none"}, (7,)),  # more than there are axes
        ({"init": "random", "preprocessing": "zscore", "target_weight": 5.0, "degree": 3}, (7,)),
    ],
)
def test_partitions_do_not_matter(rows, settings, counts):
    X, y = rows
    expected = model(**settings).fit(X, y)
    for count in counts:
        found = model(**settings).fit(partitioned(X, count), partitioned(y, count))
        for name in ("objective", "reconstruction", "label", "regularisation", "gradient_norm"):
            np.testing.assert_allclose(found.history_[name], expected.history_[name], rtol=1e-8)
        np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-8)
        np.testing.assert_allclose(found.reconstruction_, expected.reconstruction_, atol=1e-7)
        np.testing.assert_allclose(found.predict(X[:20]), expected.predict(X[:20]), atol=1e-5)


def test_classes_and_the_linear_baseline_run_on_partitions(rows):
    X, _ = rows
    y = np.where(np.arange(200) % 4 > 0, np.nan, (X[:, 0] > 0.0).astype(float) + (X[:, 1] > 0.0))
    for made in (model(task="classification"), LLR(2, task="classification", max_iter=5)):
        expected = made.fit(X, y).history_["objective"]
        found = made.fit(partitioned(X, 5), partitioned(y, 5)).history_["objective"]
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_snapshot_resumes_and_holds_references(rows):
    X, y = (partitioned(values, 4) for values in rows)
    steps = list(model().iterate(X, y))
    again = list(model(max_iter=4).iterate(X, y, start=steps[2]))
    assert [step.objective for step in again] == [step.objective for step in steps[2:]]
    assert not any(isinstance(part, np.ndarray) for part in steps[2].state.latent.parts)
    (first, *_) = model(reg_z=0.5).iterate(X, y, start=steps[2])  # another objective, from the same point
    assert first.losses["reconstruction"] == pytest.approx(steps[2].losses["reconstruction"], rel=1e-12)
    assert first.objective < steps[2].objective
    with pytest.raises(ValueError, match="belongs to other rows"):
        model().iterate(X + 1.0, y, start=steps[2])


def test_a_run_goes_on_bit_for_bit_from_its_checkpoint(rows, tmp_path):
    X, y = (partitioned(values, 4) for values in rows)
    expected = [step.objective for step in model().iterate(X, y)]
    stream = model().iterate(X, y, checkpoint=tmp_path)
    begun = [next(stream).objective for _ in range(4)]
    del stream
    again = [step.objective for step in model().iterate(X, y, checkpoint=tmp_path)]
    assert begun + again[1:] == expected


def checkpoint_from_before(X, y, folder, names):
    """Write a checkpoint with classes under the names of modules given for them; return the objectives of the run."""
    with pytest.MonkeyPatch.context() as patch:
        for kind, module in names.items():
            patch.setitem(sys.modules, module, sys.modules[kind.__module__])
            patch.setattr(kind, "__module__", module)
        return [step.objective for step in model().iterate(X, y, checkpoint=folder)]


def test_a_checkpoint_that_names_modules_as_they_were_before_goes_on(rows, tmp_path):
    X, y = (partitioned(values, 4) for values in rows)
    names = {Payload: "supdr.methods.snf.partitioned", SummedSearch: "supdr.solvers.summed_lbfgs"}
    expected = checkpoint_from_before(X, y, tmp_path, names)
    assert [step.objective for step in model().iterate(X, y, checkpoint=tmp_path)] == expected[-1:]


def test_a_checkpoint_of_a_class_that_is_gone_is_refused_in_a_sentence(rows, tmp_path):
    X, y = (partitioned(values, 4) for values in rows)
    checkpoint_from_before(X, y, tmp_path, {Payload: "supdr.methods.snf.gone"})
    with pytest.raises(ValueError, match=r"names supdr\.methods\.snf\.gone\.Payload, which this version of supdr"):
        model().iterate(X, y, checkpoint=tmp_path)


def test_transform_is_lazy(rows):
    X, y = (partitioned(values, 4) for values in rows)
    fit, touched = model().fit(X, y), []

    def touching(block):
        touched.append(len(block))
        return block

    lazy = fit.transform(X.map_blocks(touching, dtype=float, meta=np.empty((0, 0))))
    assert not touched
    np.testing.assert_allclose(lazy.compute(), fit.transform(rows[0]), atol=1e-8)
    assert sum(touched) == len(rows[0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("kernel", "rbf"), ("solver", "sgd"), ("n_init", 2), ("early_stopping", True), ("class_weight", "balanced")],
)
def test_what_partitions_cannot_do_is_refused(rows, name, value):
    X, y = (partitioned(values, 4) for values in rows)
    with pytest.raises(ValueError, match=f"{name} must be .* in partitions"):
        model(**{name: value}).fit(X, y)


def test_missing_cells_and_too_many_monomials_are_refused(rows):
    X, y = rows
    broken = X.copy()
    broken[5, 0] = np.nan
    with pytest.raises(ValueError, match="X must have no missing cell where rows come in partitions; got 1"):
        model().fit(partitioned(broken, 3), partitioned(y, 3))
    with pytest.raises(ValueError, match=r"n_components and degree must make at most .* monomials"):
        model(n_components=20, degree=5).fit(partitioned(X, 3), partitioned(y, 3))


# --- the parts --------------------------------------------------------------------------------------------------------


def test_joined_moments_give_the_regression_of_all_rows_and_its_slopes():
    rng = np.random.default_rng(1)
    Z, T = 3.0 + rng.standard_normal((50, 2)), 100.0 + rng.standard_normal((50, 3))
    form = Primal(monomials(2, 2, 1.0), 0.3)
    fit, residual = form.solve(Z, T)
    cuts = [slice(0, 0), slice(0, 7), slice(7, 7), slice(7, 50)]
    whole = joined([moments(form, Z[cut], T[cut]) for cut in cuts])
    found = whole.fit(form)
    np.testing.assert_allclose(found.coef, fit.coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.bias, fit.bias, rtol=1e-10)
    gradients, losses = zip(*(pull(form, found, whole.mean, Z[cut], T[cut]) for cut in cuts))
    assert sum(losses) == pytest.approx(fit.loss, rel=1e-10)
    np.testing.assert_allclose(np.concatenate(gradients), form.gradient(Z, fit, residual), atol=1e-8)


@pytest.mark.parametrize("memory", [2, 20])
def test_steps_on_partitions_are_those_of_lbfgs(memory):
    def evaluate(point):
        return float(rosen(point)), rosen_der(point), None

    def summed(point):
        value, gradient, payload = evaluate(np.concatenate(gather(np.copy, point)))
        return value, rows_.split(gradient), payload

    start, sizes = np.linspace(-1.0, 1.5, 6), (1, 3, 2)
    rows_ = PartitionedRows(from_list([]), sizes, np.arange(6), ())
    one, other = lbfgs_start(start, evaluate), summed_start(rows_, rows_.split(start), summed)
    for _ in range(12):
        one = lbfgs_step(one, evaluate, memory=memory)
        other = summed_step(rows_, other, summed, memory=memory)
        assert other.value == pytest.approx(one.value, rel=1e-8)
        assert (other.step, len(other.pairs)) == (one.step, len(one.pairs))

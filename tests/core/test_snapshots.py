"""A snapshot knows its run, and the estimator that made it stands where its newest snapshot is."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import supdr
from supdr import LSDR, NSDR, SDRGLM, SNF, Stop
from supdr.baselines import BASELINES, KNN, PCAProjection
from supdr.engine.iterate import Snapshot

SETTINGS = {
    "LSDR": {},
    "NSDR": {},
    "MAC": {"n_components": 2, "early_stopping": False},
    "SDRGLM": {},
    "SLDR": {"n_components": 1, "n_models": 2, "n_init": 2},
    "SNF": {"task": "classification"},
    "ClassAtlas": {},
}
every_method = pytest.mark.parametrize("name", list(supdr.METHODS))


def make(name, **more):
    return supdr.METHODS[name](**{"random_state": 0, "max_iter": 6, "tol": -1.0, **SETTINGS[name], **more})


def rows(n_classes, n_columns, seed):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(40) % n_classes)
    centres = 10.0 * rng.random(n_columns) + np.eye(n_classes, n_columns)
    return centres[codes] + rng.standard_normal((40, n_columns)), codes


A, B = rows(3, 5, 0), rows(2, 4, 1)


@every_method
def test_a_snapshot_knows_its_run(name):
    """An estimator that was applied to other snapshots since predicts as one that was not."""
    model, other = make(name), make(name)
    of_a, expected = list(model.iterate(*A)), other.fit(*A)
    of_b = list(model.iterate(*B))
    for estimator in (model, make(name), clone(model)):
        fitted = estimator.at(of_a[-1])
        np.testing.assert_array_equal(fitted.predict(A[0]), expected.predict(A[0]))
        np.testing.assert_array_equal(fitted.decision_function(A[0]), expected.decision_function(A[0]))
        np.testing.assert_array_equal(fitted.transduction_, expected.transduction_)
        assert list(fitted.classes_) == [0, 1, 2]
        assert fitted.n_features_in_ == 5
    assert list(model.at(of_b[-1]).classes_) == [0, 1]
    assert model.score(*B) == model.at(of_b[-1]).score(*B)


@every_method
def test_a_loop_leaves_the_model_fitted(name):
    model = make(name)
    for each in model.iterate(*A):
        snapshot = each
    expected = make(name).fit(*A)
    assert model.snapshot_ is snapshot
    assert (model.n_iter_, model.stop_) == (expected.n_iter_, expected.stop_) == (6, Stop.max_iter)
    assert expected.snapshot_.iteration == 6
    np.testing.assert_array_equal(model.predict(A[0]), expected.predict(A[0]))
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)

    for snapshot in model.iterate(*A):
        if snapshot.iteration == 3:
            break
    three = make(name, max_iter=3).fit(*A)
    assert (model.snapshot_, model.n_iter_, model.stop_) == (snapshot, 3, None)
    np.testing.assert_array_equal(model.transform(A[0]), three.transform(A[0]))
    assert not hasattr(model, "history_")


@every_method
def test_the_model_follows_a_stream_that_is_held(name):
    model = make(name).fit(*B)
    stream = model.iterate(*A)
    assert model.score(*B) == make(name).fit(*B).score(*B)  # nothing has been given yet
    for _ in range(3):
        snapshot = next(stream)
        assert model.snapshot_ is snapshot
        np.testing.assert_array_equal(model.predict(A[0]), model.at(snapshot).predict(A[0]))
        assert list(model.classes_) == [0, 1, 2]


def test_what_cannot_run_changes_nothing():
    model = LSDR(max_iter=3, random_state=0).fit(*A)
    before = model.predict(A[0])
    for X, y in ((A[0], A[1][:-1]), (np.full((40, 5), np.inf), A[1]), (A[0], np.ones(40))):
        with pytest.raises(ValueError, match=r"inconsistent|infinity|classes"):
            model.iterate(X, y)
    with pytest.raises(ValueError, match="beta"):
        model.set_params(beta=2.0).iterate(*B)
    model.set_params(beta=LSDR().beta)
    np.testing.assert_array_equal(model.predict(A[0]), before)


def test_the_newest_snapshot_counts():
    """A stream that ends later than another one does not bring its rows back."""
    model = LSDR(max_iter=3, random_state=0)
    first, second = model.iterate(*A), model.iterate(*B)
    next(first)
    snapshot = next(second)
    first.close()
    assert model.snapshot_ is snapshot
    assert list(model.classes_) == [0, 1]


LONG_IMPORTS = {"UMAP", "PaCMAP"}


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=pytest.mark.slow if name in LONG_IMPORTS else ())
        for name, method in {**supdr.METHODS, **BASELINES}.items()
    ],
)
def test_what_a_run_is_prepared_with_is_declared(method):
    run = next(method().iterate(A[0], A[1].astype(float))).run
    assert set(vars(run)) <= {*run.get_params(deep=False), *run.prepared_attributes}


@pytest.mark.parametrize(
    ("model", "first"),
    [
        *((make(name), {}) for name in supdr.METHODS),
        (supdr.MAC(), {"n_layers": 2, "max_iter": 2}),
        (supdr.MAC(n_layers=2, max_iter=2), {"n_layers": 1}),
        (supdr.MAC(mapping=LinearRegression(), max_iter=2), {"mapping": "rbf"}),
        (LSDR(task="regression"), {"task": "classification"}),
        (PCAProjection(head="knn"), {"head": "svm"}),
    ],
    ids=str,
)
def test_nothing_is_left_of_an_earlier_fit(model, first):
    """An estimator that has been fitted otherwise, to rows with names, has the attributes of a fresh one."""
    fresh = clone(model).fit(*B)
    again = (
        clone(model).set_params(**first).fit(pd.DataFrame(A[0]).add_prefix("x"), A[1]).set_params(**model.get_params())
    )
    next(again.iterate(*B))
    assert set(vars(again)) == set(vars(fresh)) - {"history_"}
    again.fit(*B)
    assert set(vars(again)) == set(vars(fresh))


@every_method
def test_a_snapshot_is_told_in_a_line(name):
    model = make(name)
    first, *_, last = model.iterate(*A)
    assert repr(first).startswith(f"<Snapshot of {name}: iteration=0, objective=")
    assert repr(last).endswith("stop='max_iter'>")
    assert max(len(repr(each)) for each in (first, last)) < 100


def test_at_refuses_what_is_not_of_its_runs():
    *_, last = LSDR(max_iter=2).iterate(*A)
    with pytest.raises(ValueError, match=r"^at needs a snapshot that NSDR\.iterate has made; got <Snapshot of LSDR: "):
        NSDR().at(last)
    bare = Snapshot(0, 0, last.losses, last.diagnostics, last.state, 0.0)
    with pytest.raises(ValueError, match=r"^at needs a snapshot that LSDR\.iterate has made; got <Snapshot: iter"):
        LSDR().at(bare)
    with pytest.raises(ValueError, match=r"^at needs a snapshot .*; got None"):
        LSDR().at(None)


@every_method
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_snapshots_can_be_saved(name, again):
    model = make(name)
    *_, middle, last = model.iterate(*A)
    kept = again(middle)
    np.testing.assert_array_equal(make(name).at(kept).predict(A[0]), model.at(middle).predict(A[0]))
    assert dict(kept.diagnostics) == dict(middle.diagnostics)
    resumed = list(make(name, max_iter=1).iterate(*A, start=kept))
    assert resumed[-1].losses == last.losses


@every_method
def test_fit_looks_at_its_last_step_only(name):
    """What a step has at hand is kept of every step; what takes time, of the last one."""
    early = make(name, early_stopping=True, n_iter_no_change=50).fit(*A)
    assert np.isfinite(early.history_["validation_error"]).all()
    fitted = make(name).fit(*A)
    last = fitted.snapshot_
    for key, values in fitted.history_.items():
        if name == "MAC" and key in ("bound", "gap"):  # every look brings them closer, the end of a fit more than one
            looked, fitted_to = last.diagnostics[key], values[-1]
            assert fitted_to >= looked if key == "bound" else fitted_to <= looked
            assert (values == fitted_to).all() if key == "bound" else (values >= 0).all()
            continue
        assert values[-1] == {**last.losses, **last.diagnostics}[key]
        of_every_step = key in last.losses or key in last.diagnostics.at_hand
        assert np.isfinite(values[:-1]).all() if of_every_step else np.isnan(values[:-1]).all()
    assert set(last.diagnostics) <= set(fitted.history_)


def test_parameters_of_a_run_stay_with_it():
    model = SNF(task="classification", kernel="rbf", gamma=0.5, max_iter=4, random_state=0)
    *_, last = model.iterate(*A)
    expected = model.at(last).predict(A[0])
    model.set_params(gamma=50.0)
    assert model.at(last).gamma == 0.5
    np.testing.assert_array_equal(model.at(last).predict(A[0]), expected)
    model.predict(A[0])
    assert model.gamma == 50.0  # looking takes nothing back


def test_the_kind_of_output_is_the_models():
    """Unlike a hyper-parameter it has no part in the run."""
    model = LSDR(max_iter=2, random_state=0)
    *_, last = model.iterate(*A)
    model.set_output(transform="pandas")
    assert list(model.at(last).transform(A[0]).columns) == ["lsdr0", "lsdr1"]


def test_what_was_fitted_before_is_gone():
    model = LSDR(max_iter=3, random_state=0).fit(*A)
    assert len(model.history_["objective"]) == 3
    next(model.iterate(*B))
    assert not hasattr(model, "history_")
    assert model.n_features_in_ == 4
    with pytest.raises(NotFittedError):
        clone(model).predict(B[0])


def test_baselines_of_one_fit_know_their_rows_too():
    model = KNN()
    of_a = next(model.iterate(*A))
    of_b = next(model.iterate(*B))
    assert model.snapshot_ is of_b
    assert model.at(of_a).score(*A) == KNN().fit(*A).score(*A)
    assert repr(of_a) == f"<Snapshot of KNN: iteration=1, objective={of_a.objective:.6g}, stop='converged'>"


@pytest.mark.parametrize(("method", "X"), [(LSDR, A[0]), (SDRGLM, np.tile(A[0], 10))], ids=["LSDR", "SDRGLM, wide"])
def test_a_view_may_look_while_a_run_goes_on(method, X):
    """A worker steps on; another thread looks at snapshots and at the model itself."""
    settings = {"max_iter": 60, "tol": -1.0, "random_state": 0}
    alone = list(method(**settings).iterate(X, A[1]))
    expected = [(method().at(each).predict(X), dict(each.diagnostics)) for each in alone]
    model, seen, given, ended = method(**settings), [], [], threading.Event()

    def work():
        for snapshot in model.iterate(X, A[1]):
            given.append(snapshot)
        ended.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not ended.is_set():
        if given:
            snapshot = given[-1]
            seen.append((snapshot.iteration, model.at(snapshot).predict(X), dict(snapshot.diagnostics)))
    worker.join()
    assert len(given) == 61
    for iteration, predicted, diagnostics in seen:
        np.testing.assert_array_equal(predicted, expected[iteration][0])
        assert diagnostics == expected[iteration][1]
    np.testing.assert_array_equal(model.predict(X), expected[-1][0])

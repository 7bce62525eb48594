"""MAC with one layer: the Z step, the passes, the certificate, the solvers, the estimator."""

import itertools
import threading
from concurrent.futures import Future

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from supdr.engine.context import run_context
from supdr.engine.interruption import MAX_ABANDONED, Interrupted, abandonable, checkpoint, result_of
from supdr.methods.mac.classes import (
    principal_targets,
)
from supdr.methods.mac.estimator import MAC
from tests.core.conventions import check_conventions
from tests.core.inside import problem_of
from tests.core.mac_cases import snapshots, spirals

# --- starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 4), (12, 30)])
def test_a_start_from_the_data_is_what_principal_components_show(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) * np.linspace(3.0, 0.5, shape[1]) + 5.0
    X.setflags(write=False)
    ours, theirs = principal_targets(X, 3, 0.0, rng), PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs) / theirs[:, 0].std(), atol=1e-9)
    assert ours[:, 0].std() == pytest.approx(1.0)


def test_a_start_from_the_data_has_noise_where_they_have_no_direction():
    rng = np.random.default_rng(0)
    line = principal_targets(rng.standard_normal((50, 1)), 3, 0.01, rng)
    assert line[:, 0].std() == pytest.approx(1.0)
    assert 0.005 < line[:, 1:].std() < 0.02
    same = principal_targets(np.full((50, 2), 7.0), 2, 0.01, rng)
    assert np.isfinite(same).all()


def test_a_run_that_starts_from_the_data_shows_them_first_and_separates_them():
    model, X, y = spirals(3, solver="lbfgs", init="pca", n_centers=60, centers="kmeans", max_iter=400)
    first, *_, last = model.iterate(X, y)
    shown, centred = model.at(first).embedding_, X - X.mean(axis=0)
    shown = shown - shown.mean(axis=0)
    fit = np.linalg.lstsq(centred, shown, rcond=None)[0]
    assert np.linalg.norm(centred @ fit - shown) < 0.15 * np.linalg.norm(shown)
    assert last.objective < 0.5 * first.objective


# --- the passes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("scheme", ["ova", "ovo"])
@pytest.mark.parametrize("init", ["simplex", "random", "pca"])
def test_surrogate_never_rises_at_fixed_mu(n_classes, scheme, init):
    model, X, y = spirals(n_classes, scheme=scheme, init=init, max_inner=6, inner_tol=0.0, max_iter=18)
    run = snapshots(model, X, y)
    assert len({snapshot.stage for snapshot in run}) == 3
    for before, after in itertools.pairwise(run):
        if before.stage == after.stage:
            fallen = before.diagnostics["surrogate"] - after.diagnostics["surrogate"]
            assert fallen >= -1e-8 * before.diagnostics["surrogate"]
        else:
            assert after.diagnostics["mu"] == pytest.approx(1.5 * before.diagnostics["mu"])


def test_each_pass_solves_its_parts():
    model, X, y = spirals(3, max_iter=3, n_components=2)
    state = snapshots(model, X, y)[-1].state
    problem = problem_of(model)
    features = problem.features(state.mapping)
    # F: normal equations; classifiers: alpha reproduces them; simplex numbers: those of the latent rows
    residual = features.matrix.T @ (state.latent - state.targets) + 2 * state.reg_w / state.mu * state.weights
    np.testing.assert_allclose(residual, 0.0, atol=1e-7)
    alpha, signs = state.heads.alpha, problem.signs
    np.testing.assert_allclose((alpha * signs).T @ state.targets, state.heads.coef, atol=2e-2)
    np.testing.assert_allclose((alpha * signs).sum(axis=0), 0.0, atol=1e-9)
    margins = signs * (state.targets @ state.heads.coef.T + state.heads.intercept)
    assert (alpha[margins > 1.0 + 1e-2] <= 1e-6).all()
    assert (alpha[margins < 1.0 - 1e-2] >= problem.C - 1e-6).all()


def test_spirals_collapse():
    model, X, y = spirals(3, 100, gamma=60.0, n_centers=150, max_iter=30)
    model.fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.history_["spread"][-1] < 0.2
    assert model.history_["edge_ratio"][-1] > 0.9


def test_smaller_hinge_with_admm_than_with_the_penalty():
    runs = [spirals(2, 80, solver=solver, max_iter=60, reg_w=0.1) for solver in ("mac", "admm")]
    penalty, admm = (snapshots(model, X, y)[-1].objective for model, X, y in runs)
    assert admm < penalty


def test_blocks_give_the_same_fit():
    model, X, y = spirals(3, max_iter=4, init_noise=0.0)
    whole = model.fit(X, y)
    with config_context(working_memory=1e-2):
        blocks = spirals(3, max_iter=4, init_noise=0.0)[0].fit(X, y)
        assert problem_of(blocks).features(blocks.mapping_).matrix is None
        np.testing.assert_allclose(blocks.transform(X), whole.transform(X), atol=1e-6)
    np.testing.assert_allclose(blocks.embedding_, whole.embedding_, atol=1e-6)


@pytest.mark.parametrize("solver", ["mac", "admm", "lbfgs", "fixed_point"])
def test_ten_and_ten_steps_equal_twenty(solver):
    model, X, y = spirals(solver=solver, max_iter=20, tol=-1.0, reg_w=0.1)
    whole = snapshots(model, X, y)
    halfway = snapshots(model.set_params(max_iter=10), X, y)[-1]
    resumed = snapshots(model, X, y, start=halfway)
    for name in ("weights", "latent", "targets"):
        np.testing.assert_array_equal(getattr(whole[-1].state, name), getattr(resumed[-1].state, name))
    assert resumed[-1].objective == whole[-1].objective
    assert resumed[-1].diagnostics == whole[-1].diagnostics


@pytest.mark.parametrize(
    "change",
    [
        {"C": 10.0},
        {"reg_w": 0.5},
        {"n_centers": 60},
        {"gamma": 10.0},
        {"solver": "lbfgs"},
        {"solver": "fixed_point"},
        {"solver": "admm"},
        {"mapping": "linear"},
        {"mu": 50.0},
    ],
)
def test_hyper_parameters_change_within_a_run(change):
    model, X, y = spirals(max_iter=4)
    before = snapshots(model, X, y)[-1]
    latent = before.state.latent.copy()
    after = snapshots(model.set_params(**change), X, y, start=before)
    assert after[0].iteration == 4
    assert after[-1].iteration > 4
    assert np.isfinite(after[-1].objective)
    assert max(snapshot.diagnostics["bound"] for snapshot in after) <= min(each.objective for each in after) * (
        1 + 1e-9
    )
    np.testing.assert_array_equal(before.state.latent, latent)


def test_other_shapes_do_not_fit():
    model, X, y = spirals(3, max_iter=2)
    start = snapshots(model, X, y)[-1]
    with pytest.raises(ValueError, match="n_components cannot change within a run"):
        snapshots(model.set_params(n_components=3), X, y, start=start)
    with pytest.raises(ValueError, match=r"snapshot to start from maps 2 columns to n_components=2; .* need 1 and 2"):
        snapshots(model.set_params(n_components=None), X[:, :1], y, start=start)
    fewer = snapshots(model, X, y == 1, start=start)[-1]
    assert fewer.state.latent.shape == start.state.latent.shape  # other labels of the same rows carry on in its space


def test_rows_and_labels_change_within_a_run():
    model, X, y = spirals(3, max_iter=5, n_components=2)
    before = snapshots(model, X, y)[-1]
    for rows, labels in (
        (X[:-30], y[:-30]),
        (X, np.where(y == 2, 1, y)),
        (X, np.where(np.arange(len(y)) % 2, y, np.nan)),
    ):
        after = snapshots(model, rows, labels, start=before)
        fitted = model.at(after[0])
        np.testing.assert_allclose(fitted.transform(X), before.state.mapping.apply(X, before.state.weights), atol=1e-12)
        assert fitted.embedding_.shape == (len(rows), 2)
        assert after[-1].iteration == 10
        assert after[-1].diagnostics["bound"] <= after[-1].objective


def test_a_run_stops_when_asked():
    model, X, y = spirals(3, 200, max_iter=1000, tol=-1.0)
    calls, run = itertools.count(), []
    for snapshot in model.iterate(X, y, interrupted=lambda: bool(run) and next(calls) > 40):
        run.append(snapshot)
    assert run[-1].stop == "interrupted"


def test_long_calls_are_left_alone_when_a_stop_is_asked_for():
    release = threading.Event()
    with run_context(stop_requested=lambda: True), pytest.raises(Interrupted):
        abandonable(release.wait)
    release.set()
    with run_context(stop_requested=lambda: False):
        assert abandonable(lambda: 3) == 3
        with pytest.raises(ZeroDivisionError):
            abandonable(lambda: 1 / 0)


def test_of_long_calls_that_are_left_only_a_few_are_at_work():
    release, begun = threading.Event(), []

    def call():
        begun.append(threading.current_thread())
        release.wait()

    for _ in range(MAX_ABANDONED + 3):  # a setting that changes again and again
        with run_context(stop_requested=lambda: True), pytest.raises(Interrupted):
            abandonable(call)
    release.set()
    with run_context(stop_requested=lambda: False):
        assert abandonable(lambda: 3) == 3
    for thread in begun:
        thread.join()
    assert len(begun) == MAX_ABANDONED


def test_parts_of_a_call_that_is_left_stop_where_they_ask():
    begun, ended = threading.Event(), threading.Event()

    def call():
        begun.set()
        try:
            while True:
                checkpoint()
        except Interrupted:
            ended.set()
            raise

    with run_context(stop_requested=begun.is_set), pytest.raises(Interrupted):
        abandonable(call)
    assert ended.wait(60)


def test_what_another_process_works_on_is_let_go_when_a_stop_is_asked_for():
    done, never = Future(), Future()
    done.set_result(3)
    assert result_of(done) == 3
    with run_context(stop_requested=lambda: True), pytest.raises(Interrupted):
        result_of(never)
    assert never.cancelled()


# --- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:MAC diverged")  # a check with C times weights from 1e-2 to 1e5
@pytest.mark.filterwarnings("ignore:[1-3] of [1-3] classifiers")  # checks with a class of one row, or of no weight
@check_conventions(
    rest=[
        MAC(max_iter=5),
        MAC(mapping="linear", C=100.0),
        MAC(solver="lbfgs", max_iter=3),
        MAC(scheme="ovo", solver="admm", max_iter=5),
    ],
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["mac", "lbfgs"])
@pytest.mark.parametrize("scheme", ["ova", "ovo"])
def test_iris_is_learnt(solver, scheme):
    X, y = load_iris(return_X_y=True)
    model = MAC(solver=solver, scheme=scheme, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) >= 0.85
    assert model.decision_function(X).shape == (150, 3)
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(model.embedding_, model.transform(X[::2]), atol=1e-9)


def test_unlabelled_rows_are_mapped_and_nothing_else():
    model, X, y = spirals(3, max_iter=5, centers=np.random.default_rng(0).uniform(-1, 1, (30, 2)))
    y = y.astype(float)
    hidden = np.arange(len(y)) % 3 == 0
    y[hidden] = np.nan
    with_them = model.fit(X, y)
    alone = MAC(**model.get_params()).fit(X[~hidden], y[~hidden])
    np.testing.assert_allclose(with_them.transform(X), alone.transform(X), atol=1e-8)
    np.testing.assert_allclose(with_them.embedding_, with_them.transform(X), atol=1e-9)
    np.testing.assert_array_equal(with_them.targets_[hidden], with_them.embedding_[hidden])
    assert (with_them.case_[hidden] == 0).all()
    assert not with_them.label_pull_[hidden].any()
    assert set(with_them.case_[~hidden]) <= {1, 2, 3}
    assert not set(with_them.support_) & set(np.flatnonzero(hidden))
    assert with_them.transduction_.shape == y.shape


def test_exposed_numbers_agree_with_each_other():
    model, X, y = spirals(3, max_iter=6)
    model.fit(X, y)
    assert model.n_support_.sum() == len(model.support_)
    assert model.support_fraction_ == pytest.approx(model.history_["support_fraction"][-1])
    assert model.dual_coef_.shape == (3, len(model.support_))
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0.0, atol=1e-9)
    assert model.label_pull_.max() <= 1.0
    assert set(np.flatnonzero(model.label_pull_)) == set(model.support_)
    assert model.simplex_["edge_ratio"] == pytest.approx(model.history_["edge_ratio"][-1])
    assert model.class_means_.shape == (3, 2)
    shares = [model.history_[f"case_{number}"][-1] for number in (1, 2, 3)]
    np.testing.assert_allclose(shares, [(model.case_ == number).mean() for number in (1, 2, 3)])
    assert sum(shares) == pytest.approx(1.0)
    error = np.mean(model.transduction_ != y)
    assert error == pytest.approx(model.history_["training_error"][-1])


@pytest.mark.parametrize("solver", ["mac", "admm"])
def test_a_pass_says_how_long_its_parts_took(solver):
    model, X, y = spirals(3, 60, solver=solver, max_iter=3)
    snapshots = list(model.iterate(X, y))
    for before, snapshot in itertools.pairwise(snapshots):
        assert set(snapshot.parts) == {"targets", "classifiers", "map"}
        assert min(snapshot.parts.values()) > 0.0
        assert sum(snapshot.parts.values()) <= snapshot.elapsed - before.elapsed


def test_early_stopping_keeps_the_best_iterate():
    model, X, y = spirals(3, 60, early_stopping=True, max_iter=40)
    model.fit(X, y)
    assert model.stop_ in ("no_improvement", "max_iter")
    assert model.score(X, y) > 0.9


def test_same_seed_same_numbers_other_seed_others():
    fits = [spirals(random_state=seed, centers="kmeans", gamma="loo", max_iter=3) for seed in (3, 3, 4)]
    first, second, third = (model.fit(X, y).transform(X) for model, X, y in fits)
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, third)


def test_mostly_trivial_classifiers_are_reported():
    model, X, y = spirals(6, 30, init="random", C=1e-3, max_iter=5)
    with pytest.warns(UserWarning, match="say the same of every point"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"mapping": "poly"}, "mapping must be 'rbf', 'linear', 'perceptron' or a scikit-learn regressor"),
        ({"n_centers": 0}, "n_centers must be an integer"),
        ({"n_centers": 10_000}, "n_centers must be at most n_samples=120"),
        ({"centers": "grid"}, "centers must be 'kmeans'"),
        ({"centers": np.ones((3, 5))}, "centers must have 2 columns"),
        ({"centers": np.full((3, 2), np.nan)}, "centers must be a finite array"),
        ({"gamma": 0.0}, "gamma must be"),
        ({"gamma": "scale"}, "gamma must be 'loo', 'median' or a number > 0; got 'scale'"),
        ({"reg_w": 0.0}, "reg_w must be 'loo' or a number > 0"),
        ({"C": -1.0}, "C must be a number > 0"),
        ({"mu": 0.0}, "mu must be a number > 0"),
        ({"mu_factor": 0.5}, "mu_factor must be a number >= 1"),
        ({"inner_tol": -1.0}, "inner_tol must be a number >= 0"),
        ({"max_inner": 0}, "max_inner must be an integer"),
        ({"scheme": "all"}, "scheme must be one of ova, ovo"),
        ({"init": "svd"}, "init must be one of simplex"),
        ({"init": np.ones((3, 1))}, "init must be finite and of shape"),
        ({"init_noise": -0.1}, "init_noise must be a number >= 0"),
        ({"n_layers": 3}, "n_layers must be 1 or 2"),
        ({"solver": "sgd"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter must be an integer"),
        ({"missing_label": 0}, "one class"),
    ],
)
def test_bad_parameters_are_named(change, message):
    model, X, y = spirals(**change)
    with pytest.raises(ValueError, match=message):
        model.iterate(X, y)


def test_fixed_point_needs_two_classes_and_memory():
    model, X, y = spirals(3, solver="fixed_point")
    with pytest.raises(ValueError, match="fixed_point' is for two classes"):
        model.iterate(X, y)
    model, X, y = spirals(2, solver="fixed_point")
    with config_context(working_memory=1e-2), pytest.raises(ValueError, match="working_memory"):
        snapshots(model, X, y)

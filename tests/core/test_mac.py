"""MAC with one layer: the Z step, the passes, the certificate, the solvers, the estimator."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.datasets import load_iris

from supdr.datasets import make_spirals
from supdr.engine.interruption import Interrupted, abandonable, interruptible
from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.certificate import balanced, certify
from supdr.methods.mac.classes import class_codes, class_scores, class_signs, simplex_codes, simplex_numbers
from supdr.methods.mac.estimator import MAC
from supdr.methods.mac.mapping import Features, choose_centers
from supdr.methods.mac.target_step import cases, move_points
from supdr.solvers.gaussians import Mapping
from tests.core.conventions import check_conventions


def spirals(n_classes=2, n_per_class=60, **settings):
    X, y = make_spirals(n_classes, n_per_class, turns=1.0, random_state=0).to_xy()
    plain = {"gamma": 30.0, "n_centers": 40, "centers": "random", "preprocessing": "none", "random_state": 0}
    plain |= {"reg_w": 1e-3, "early_stopping": False}
    return MAC(**{**plain, **settings}), X, y


def snapshots(model, X, y, **settings):
    return list(model.iterate(X, y, **settings))


# --- the Z step -------------------------------------------------------------------------------------------------------


def point_by_quadratic_programming(image, coef, intercept, sign, cost):
    """Minimise |z - f|^2 + c sum xi by SLSQP over (z, xi)."""
    L, used = len(image), sign != 0
    slopes = (sign[:, None] * coef)[used]
    start = np.maximum(0.0, 1.0 - sign * (coef @ image + intercept))[used]
    result = minimize(
        lambda v: ((v[:L] - image) ** 2).sum() + cost * v[L:].sum(),
        np.concatenate([image, start]),
        jac=lambda v: np.concatenate([2.0 * (v[:L] - image), np.full(used.sum(), cost)]),
        bounds=[(None, None)] * L + [(0.0, None)] * int(used.sum()),
        constraints={
            "type": "ineq",
            "fun": lambda v: slopes @ v[:L] + (sign * intercept)[used] - 1.0 + v[L:],
            "jac": lambda v: np.hstack([slopes, np.eye(int(used.sum()))]),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return result.x[:L]


@pytest.mark.parametrize("trial", range(40))
def test_targets_solve_the_quadratic_program(trial):
    rng = np.random.default_rng(trial)
    L, P, cost = rng.integers(1, 6), rng.integers(1, 7), 10 ** rng.uniform(-2, 2)
    images, coef, intercept = rng.standard_normal((4, L)), rng.standard_normal((P, L)), rng.standard_normal(P)
    signs = rng.choice([-1.0, 1.0] if P == 1 else [-1.0, 0.0, 1.0], (4, P))
    targets, multiplier = move_points(images, coef, intercept, signs, cost)
    assert ((multiplier >= 0.0) & (multiplier <= cost)).all()
    np.testing.assert_allclose(targets, images + 0.5 * (multiplier * signs) @ coef, atol=1e-12)
    for i in range(4):
        best = point_by_quadratic_programming(images[i], coef, intercept, signs[i], cost)
        np.testing.assert_allclose(targets[i], best, atol=1e-6)


def test_closed_form_equals_the_sweeps():
    rng = np.random.default_rng(0)
    images, coef, y = rng.standard_normal((50, 3)), rng.standard_normal((1, 3)), rng.choice([-1.0, 1.0], (50, 1))
    closed, _ = move_points(images, coef, np.array([0.3]), y, 0.5)
    twice, _ = move_points(images, np.vstack([coef, coef]), np.array([0.3, 0.3]), np.column_stack([y, 0.0 * y]), 0.5)
    np.testing.assert_allclose(closed, twice, atol=1e-12)


def test_three_cases():
    coef, intercept, y = np.array([[1.0, 0.0]]), np.zeros(1), np.ones((3, 1))
    images = np.array([[2.0, 5.0], [0.9, 5.0], [-8.0, 5.0]])
    targets, multiplier = move_points(images, coef, intercept, y, 1.0)
    assert cases(multiplier, 1.0).tolist() == [1, 2, 3]
    np.testing.assert_allclose(targets, [[2.0, 5.0], [1.0, 5.0], [-7.5, 5.0]])


def test_trivial_classifier_moves_nothing():
    images = np.random.default_rng(0).standard_normal((5, 2))
    for P in (1, 3):
        targets, multiplier = move_points(images, np.zeros((P, 2)), -np.ones(P), np.ones((5, P)), 1.0)
        np.testing.assert_array_equal(targets, images)
        assert not multiplier.any()


def test_threads_and_warm_starts_do_not_change_the_targets():
    rng = np.random.default_rng(1)
    images, coef, intercept = rng.standard_normal((9000, 4)), rng.standard_normal((5, 4)), rng.standard_normal(5)
    signs = rng.choice([-1.0, 1.0], (9000, 5))
    serial, multiplier = move_points(images, coef, intercept, signs, 2.0)
    threaded, _ = move_points(images, coef, intercept, signs, 2.0, n_jobs=2)
    warm, _ = move_points(images, coef, intercept, signs, 2.0, multiplier)
    np.testing.assert_array_equal(serial, threaded)
    np.testing.assert_allclose(serial, warm, atol=1e-8)


# --- codes, mapping ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10])
def test_simplex_is_regular(n_classes):
    codes = simplex_codes(n_classes)
    assert codes.shape == (n_classes, n_classes - 1)
    expected = np.where(np.eye(n_classes), 1.0, -1.0 / (n_classes - 1))
    np.testing.assert_allclose(codes @ codes.T, expected, atol=1e-12)
    numbers = simplex_numbers(np.repeat(codes, 3, axis=0), np.repeat(np.arange(n_classes), 3), n_classes)
    assert numbers["edge_ratio"] == pytest.approx(1.0)
    assert numbers["sv_ratio"] == pytest.approx(1.0)
    assert numbers["spread"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n_components", [1, 2, 3, 4])
def test_codes_in_few_dimensions_are_distinct(n_components):
    codes = class_codes(10, n_components)
    distance = np.linalg.norm(codes[:, None] - codes, axis=2)[~np.eye(10, dtype=bool)]
    assert distance.min() > 0.2
    assert np.abs(codes).max() <= 1.0 + 1e-12


def test_votes_decide_and_scores_break_ties():
    scores = np.array([[1.0, 1.0, 1.0], [1.0, -2.0, 0.5], [-1.0, -1.0, 3.0]])  # pairs 01, 02, 12
    assert class_scores(scores, 3, "ovo").argmax(axis=1).tolist() == [0, 2, 1]
    signs = class_signs(np.array([0, 1, 2]), 3, "ovo")
    np.testing.assert_array_equal(signs, [[1, 1, 0], [-1, 0, 1], [0, -1, -1]])


@pytest.mark.parametrize("n_centers", [30, 80])
def test_ridge_regression_solves_its_normal_equations(n_centers):
    rng = np.random.default_rng(0)
    X, values = rng.standard_normal((80, 2)), rng.standard_normal((80, 3))
    mapping = Mapping("rbf", choose_centers(X, n_centers, "random", rng), 0.5)
    features = Features(X, mapping)
    assert features.symmetric == (n_centers == 80)
    Phi = np.exp(-0.5 * ((X[:, None] - mapping.centers) ** 2).sum(axis=2))
    np.testing.assert_allclose(features.matrix, Phi, atol=1e-12)
    weights = features.solve(values, Phi.T @ values, 0.01)
    np.testing.assert_allclose(Phi.T @ (Phi @ weights - values) + 0.01 * weights, 0.0, atol=1e-8)
    gram = np.tril(features.gram())
    np.testing.assert_allclose(gram, np.tril(Phi.T @ Phi), atol=1e-10)


def test_cholesky_and_eigenvectors_agree(monkeypatch):
    rng = np.random.default_rng(0)
    X, values = rng.standard_normal((90, 3)), rng.standard_normal((90, 2))
    features = Features(X, Mapping("rbf", X[:40], 0.5))
    pulled = features.pull_back(values)
    by_eigenvectors = features.solve(values, pulled, 0.1)
    monkeypatch.setattr("supdr.methods.mac.mapping.EIGEN_SIZE", 10)
    np.testing.assert_allclose(features.solve(values, pulled, 0.1), by_eigenvectors, atol=1e-9)


@pytest.mark.parametrize("distance", [0.0, 10.0, 1000.0])
def test_features_of_wide_data_are_right_however_far_apart_clusters_are(distance):
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((1024, 512)) / np.sqrt(512)  # wide enough for single precision
    centers[512:] += distance / np.sqrt(512)
    X = centers[::8] + 0.1 * rng.standard_normal((128, 512)) / np.sqrt(512)
    exact = np.exp(-2.0 * ((X[:, None, :] - centers[None, ::4, :]) ** 2).sum(axis=2))
    np.testing.assert_allclose(Mapping("rbf", centers, 2.0).features(X)[:, ::4], exact, atol=1e-5)


# --- the certificate --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_certificate_is_below_every_point(n_classes):
    rng = np.random.default_rng(0)
    model, X, y = spirals(n_classes, reg_w=0.1, max_iter=1)
    next(model.iterate(X, y))
    problem = model._problem(*model._training)
    state = problem.start(0)
    features = problem.features(state.mapping)
    certificate = None
    for _ in range(30):
        alpha = balanced(rng.uniform(0, 1, problem.signs.shape) ** 2, problem.signs)
        np.testing.assert_allclose((alpha * problem.signs).sum(axis=0), 0.0, atol=1e-10)
        certificate = certify(alpha, features.pull_back(alpha * problem.signs), 0.1, certificate)
        for scale in (0.01, 0.3, 3.0):
            coef = scale * rng.standard_normal(state.heads.coef.shape)
            weights = scale * rng.standard_normal(state.weights.shape)
            heads = state.heads._replace(coef=coef, intercept=rng.standard_normal(len(coef)))
            point = state._replace(weights=weights, latent=features.image(weights), heads=heads)
            assert certificate.bound <= math.fsum(problem.terms(point).values())


@pytest.mark.parametrize("solver", ["mac", "admm", "lbfgs", "fixed_point"])
def test_a_pass_does_not_search_for_the_bound(solver, monkeypatch):
    calls = []
    monkeypatch.setattr(Bounded, "_advance", lambda *_: calls.append("step"))
    monkeypatch.setattr(Bounded, "_certify", lambda *_: calls.append("multipliers"))
    model, X, y = spirals(2, solver=solver, max_iter=6, tol=-1.0)
    run = snapshots(model, X, y)
    assert not calls
    assert run[3].diagnostics["bound"] == 0.0
    assert calls == ["multipliers", "step"]


def test_looking_at_the_bound_changes_nothing_in_a_run():
    model, X, y = spirals(3, max_iter=6)
    looked = []
    for snapshot in model.iterate(X, y):
        looked.append((snapshot.objective, snapshot.diagnostics["bound"]))
    assert [each.objective for each in snapshots(model, X, y)] == [objective for objective, _ in looked]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bound_is_closed_when_a_fit_ends(n_classes):
    """Passes alone, or a step of the search a pass, prove a small part of the optimum."""
    model, X, y = spirals(n_classes, reg_w=0.1, n_components=n_classes, max_iter=30)
    history = model.fit(X, y).history_
    np.testing.assert_allclose(history["gap"], history["objective"] - history["bound"])
    assert (history["gap"] >= 0.0).all()
    optimum = spirals(n_classes, solver="lbfgs", reg_w=0.1, max_iter=80, n_components=n_classes)[0].fit(X, y).history_
    assert history["bound"][-1] <= optimum["objective"][-1]
    assert history["bound"][-1] >= 0.97 * optimum["objective"][-1]


def test_a_run_that_goes_on_keeps_what_was_proved():
    model, X, y = spirals(3, max_iter=8)
    first = snapshots(model, X, y)
    proved = max(each.diagnostics["bound"] for each in first)
    assert snapshots(model, X, y, start=first[-1])[0].diagnostics["bound"] >= proved


@pytest.mark.parametrize("solver", ["mac", "admm", "lbfgs"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bound_never_exceeds_the_objective_and_never_falls(solver, n_classes):
    model, X, y = spirals(n_classes, solver=solver, reg_w=0.1, max_iter=25, n_components=n_classes)
    run = snapshots(model, X, y)
    bounds = [snapshot.diagnostics["bound"] for snapshot in run]
    assert max(bounds) <= min(snapshot.objective for snapshot in run) * (1 + 1e-12)
    assert all(after >= before for before, after in itertools.pairwise(bounds))
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize(("n_classes", "within"), [(2, 0.01), (3, 0.03)])
def test_joint_search_reaches_the_certified_optimum(n_classes, within):
    model, X, y = spirals(n_classes, solver="lbfgs", reg_w=0.1, max_iter=80, n_components=n_classes)
    last = snapshots(model, X, y)[-1]
    assert last.objective <= (1 + within) * last.diagnostics["bound"]


@pytest.mark.parametrize("n_components", [1, 3])
def test_fixed_point_is_the_optimum_for_two_classes(n_components):
    model, X, y = spirals(solver="fixed_point", reg_w=0.1, n_components=n_components, tol=1e-9)
    run = snapshots(model, X, y)
    assert run[-1].stop == "converged"
    assert run[-1].objective <= (1 + 1e-3) * run[-1].diagnostics["bound"]
    objectives = [snapshot.objective for snapshot in run]
    assert all(after <= before * (1 + 1e-6) for before, after in itertools.pairwise(objectives))


def test_two_classes_are_mapped_to_a_line():
    model, X, y = spirals(solver="lbfgs", reg_w=0.1, n_components=3, max_iter=60)
    model.fit(X, y)
    singular = np.linalg.svd(model.mapping_weights_, compute_uv=False)
    assert singular[1] <= 0.02 * singular[0]
    along = np.abs(np.linalg.svd(model.mapping_weights_)[0][:, 0] @ model.coef_[0]) / np.linalg.norm(model.coef_[0])
    assert along == pytest.approx(1.0, abs=1e-3)


# --- the passes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("scheme", ["ova", "ovo"])
@pytest.mark.parametrize("init", ["simplex", "random"])
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
    problem = model._problem(*model._training)
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
        assert blocks._problem(*blocks._training).features(blocks.mapping_).matrix is None
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
    import threading

    release = threading.Event()
    with interruptible(lambda: True), pytest.raises(Interrupted):
        abandonable(release.wait)
    release.set()
    with interruptible(lambda: False):
        assert abandonable(lambda: 3) == 3
        with pytest.raises(ZeroDivisionError):
            abandonable(lambda: 1 / 0)


# --- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:MAC diverged")  # a check with C times weights from 1e-2 to 1e5
@pytest.mark.filterwarnings("ignore:[1-3] of [1-3] classifiers")  # checks with a class of one row, or of no weight
@check_conventions(
    others=[
        MAC(max_iter=5),
        MAC(solver="lbfgs", max_iter=3),
        MAC(scheme="ovo", solver="admm", max_iter=5),
        MAC(mapping="linear", C=100.0),
    ]
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
        ({"mapping": "poly"}, "mapping must be one of rbf, linear"),
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
        ({"init": "pca"}, "init must be 'simplex'"),
        ({"init": np.ones((3, 1))}, "init must be finite and of shape"),
        ({"init_noise": -0.1}, "init_noise must be a number >= 0"),
        ({"n_layers": 3}, "n_layers must be a number 1 or 2"),
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

"""MAC's parts: the step in the targets, codes and mapping, the certificate."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.certificate import balance_factors, certify, signed_multipliers, signed_sums
from supdr.methods.mac.classes import (
    class_codes,
    class_scores,
    class_signs,
    simplex_codes,
    simplex_numbers,
)
from supdr.methods.mac.mapping import EIGEN_SIZE, InMemoryFeatures, choose_centers
from supdr.methods.mac.target_step import cases, move_points
from supdr.solvers.gaussians import Mapping
from tests.core.inside import problem_of
from tests.core.mac_cases import snapshots, spirals

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
    features = InMemoryFeatures(X, mapping)
    assert features.symmetric == (n_centers == 80)
    Phi = np.exp(-0.5 * ((X[:, None] - mapping.centers) ** 2).sum(axis=2))
    np.testing.assert_allclose(features.matrix, Phi, atol=1e-12)
    weights = features.solve(values, Phi.T @ values, 0.01)
    np.testing.assert_allclose(Phi.T @ (Phi @ weights - values) + 0.01 * weights, 0.0, atol=1e-8)
    gram = np.tril(features.gram())
    np.testing.assert_allclose(gram, np.tril(Phi.T @ Phi), atol=1e-10)


@pytest.mark.parametrize("n_centers", [40, EIGEN_SIZE + 1], ids=["by eigenvectors", "by Cholesky's factor"])
def test_weights_solve_the_normal_equations_by_either_way(n_centers):
    rng = np.random.default_rng(0)
    X, values = rng.standard_normal((n_centers + 50, 3)), rng.standard_normal((n_centers + 50, 2))
    features = InMemoryFeatures(X, Mapping("rbf", X[:n_centers], 0.5))
    weights, Phi = features.solve(values, features.pull_back(values), 0.1), features.matrix
    np.testing.assert_allclose(Phi.T @ (Phi @ weights - values) + 0.1 * weights, 0.0, atol=1e-9)


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
    problem = problem_of(model)
    state = problem.start(0)
    features = problem.features(state.mapping)
    certificate = None
    for _ in range(30):
        alpha = rng.uniform(0, 1, problem.signs.shape) ** 2
        sums = signed_sums(problem.signs, alpha)
        balanced = signed_multipliers(problem.signs, alpha, balance_factors(sums))
        np.testing.assert_allclose(balanced.sum(axis=0), 0.0, atol=1e-10)
        np.testing.assert_allclose(np.abs(balanced).sum(axis=0), 2.0 * sums.min(axis=0))
        certificate = certify(np.abs(balanced).sum(), features.pull_back(balanced), 0.1, certificate)
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_who_stays_with_a_snapshot_learns_as_much_as_a_fit(n_classes):
    model, X, y = spirals(n_classes, reg_w=0.1, n_components=n_classes, max_iter=30)
    last = snapshots(model, X, y)[-1]
    bounds = [last.diagnostics["bound"]]
    while last.diagnostics.refine():
        bounds.append(last.diagnostics["bound"])
    assert (np.diff(bounds) >= 0.0).all()
    assert bounds[-1] > 1.5 * bounds[0]
    assert last.diagnostics["gap"] == last.objective - bounds[-1]
    assert bounds[-1] == pytest.approx(model.fit(X, y).history_["bound"][-1], rel=0.01)


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
    ratios = []
    for seed in range(3):  # how far the search for the bound comes is a matter of luck: one start says little
        settings = {"solver": "lbfgs", "reg_w": 0.1, "max_iter": 80, "n_components": n_classes, "random_state": seed}
        model, X, y = spirals(n_classes, **settings)
        last = snapshots(model, X, y)[-1]
        ratios.append(last.objective / last.diagnostics["bound"])
    assert np.median(ratios) <= 1 + within


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

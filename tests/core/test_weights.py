"""Weights of rows and classes: they multiply the label term of a row, and nothing else."""

import itertools

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import has_fit_parameter

import supdr
from supdr.baselines import LMKL
from supdr.functions.kernels import Kernel
from supdr.functions.losses import LOSSES, loss_code, total_loss
from supdr.methods.mac.target_step import cases, move_points
from supdr.methods.nsdr.min_max import multiplier_sweep
from supdr.solvers.kernel_heads import close_gap, heads_on_features, heads_on_kernel
from supdr.solvers.linear_heads import RIDGE_WEIGHTS, loo_ridge
from supdr.solvers.support_vectors import purify
from tests.core.inside import fit_heads, problem_of, targets_of
from tests.core.variants import arrays_of, assert_same_state
from tests.core.weight_cases import SOLVERS, data, every_method, make

VARIANTS = [(name, settings) for name, variants in SOLVERS.items() for settings in variants]
every_variant = pytest.mark.parametrize(
    ("name", "settings"), VARIANTS, ids=[f"{name}-{'-'.join(map(str, s.values()))}" for name, s in VARIANTS]
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


every_loss = pytest.mark.parametrize("loss", LOSSES)


def last_state(estimator, X, y, **options):
    *_, last = estimator.iterate(X, y, **options)
    return last.state


# --- what weights mean to an estimator --------------------------------------------------------------------------------


def test_every_method_says_whether_it_weighs_rows():
    for name, method in supdr.METHODS.items():
        assert method.accepts_weights == has_fit_parameter(method(), "sample_weight") == (name in SOLVERS)


@every_variant
def test_weights_of_one_are_none(name, settings):
    X, y = data(settings)
    plain = last_state(make(name, settings), X, y)
    assert_same_state(last_state(make(name, settings), X, y, sample_weight=np.ones(len(y))), plain)
    weighted = last_state(make(name, settings), X, y, sample_weight=np.where(np.arange(len(y)) % 3, 0.3, 2.0))
    pairs = zip(arrays_of(weighted), arrays_of(plain))
    assert any(first.shape != second.shape or (first != second).any() for (_, first), (_, second) in pairs)


@every_variant
def test_a_row_without_weight_is_unlabelled(name, settings):
    X, y = data(settings)
    weights, hidden = np.ones(len(y)), y.copy()
    weights[::4], hidden[::4] = 0.0, np.nan
    expected = make(name, settings).fit(X, hidden)
    found = make(name, settings).fit(X, y, sample_weight=weights)
    assert_same_state(found.snapshot_.state, expected.snapshot_.state)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@every_method
def test_class_weights_are_weights_of_rows(name):
    X, y = data(imbalance=4)
    y[::7] = np.nan
    known = y[~np.isnan(y)]
    by_hand = compute_class_weight("balanced", classes=np.unique(known), y=known)
    weights = np.where(np.isnan(y), 1.0, by_hand[np.nan_to_num(y).astype(int)])
    expected = last_state(make(name), X, y, sample_weight=weights)
    for class_weight in ("balanced", dict(enumerate(by_hand))):
        found = last_state(make(name, class_weight=class_weight), X, y)
        for (path, first), (_, second) in zip(arrays_of(found), arrays_of(expected), strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12, err_msg=path)


@every_method
def test_weights_of_rows_and_classes_multiply(name):
    X, y = data()
    rows = np.where(np.arange(len(y)) % 2, 0.5, 2.0)
    both = last_state(make(name, class_weight={1: 4.0}), X, y, sample_weight=rows)
    assert_same_state(both, last_state(make(name), X, y, sample_weight=rows * np.where(y == 1, 4.0, 1.0)))


@every_method
def test_a_heavy_class_is_predicted_more_often(name):
    X, y = data(imbalance=4, n_rows=120)
    shares = [(make(name, class_weight=each, max_iter=20).fit(X, y).predict(X) == 2).mean() for each in (None, {2: 6})]
    assert shares[0] < shares[1]


@every_method
def test_balanced_classes_count_weights_not_rows(name):
    """Whatever the rows weigh, every class weighs the same in all."""
    X, y = data(imbalance=2)
    rows = np.where(y == 0, 0.5, 1.0) * 3.0
    balanced = make(name, class_weight="balanced")
    balanced.fit(X, y, sample_weight=rows)
    weights = targets_of(balanced).weights
    totals = [weights[y == k].sum() for k in range(3)]
    np.testing.assert_allclose(totals, rows.sum() / 3)


@every_variant
def test_the_objective_never_rises_under_weights(name, settings):
    """MAC's passes descend a surrogate within a stage, the paper's loops need not fall."""
    if settings.get("solver") in ("sgd", "admm"):
        return
    X, y = data(settings)
    weights = np.random.default_rng(1).choice([0.2, 1.0, 5.0], len(y))
    steps = list(make(name, settings, max_iter=15).iterate(X, y, sample_weight=weights))
    for before, after in itertools.pairwise(steps):
        if before.stage == after.stage:
            values = [each.diagnostics.get("surrogate", each.objective) for each in (before, after)]
            assert values[1] <= values[0] * (1 + 2e-3 * (name in ("NSDR", "SLDR")) + 1e-9)


def test_the_label_term_is_the_weighted_sum_of_the_losses():
    X, y = data()
    weights = np.random.default_rng(1).choice([0.2, 1.0, 5.0], len(y))
    lsdr = make("LSDR", loss="logistic").fit(X, y, sample_weight=weights)
    losses = np.log1p(np.exp(-np.where(y[:, None] == np.arange(3), 1, -1) * lsdr.training_decision_)).sum(axis=1)
    assert lsdr.history_["label"][-1] == pytest.approx((1 - lsdr.beta) * weights @ losses)
    mac = make("MAC", C=0.7).fit(X, y, sample_weight=weights)
    hinges = np.maximum(0, 1 - np.where(y[:, None] == np.arange(3), 1, -1) * mac.training_decision_).sum(axis=1)
    assert mac.history_["label"][-1] == pytest.approx(0.7 * weights @ hinges)
    sldr = make("SLDR", C=2.0).fit(X, y, sample_weight=weights)
    hinges = np.maximum(0, 1 - np.where(y[:, None] == np.arange(3), 1, -1) * sldr.training_decision_).sum(axis=1)
    assert sldr.history_["label"][-1] == pytest.approx(2.0 * weights @ hinges, rel=1e-6)


@pytest.mark.parametrize("name", ["NSDR", "MAC", "SLDR"])
def test_multipliers_stay_below_the_bound_of_their_row(name):
    X, y = data()
    weights = np.random.default_rng(1).choice([0.2, 1.0, 5.0], len(y))
    fitted = make(name).fit(X, y, sample_weight=weights)
    alpha = np.zeros(len(y))
    alpha[fitted.support_] = np.abs(fitted.dual_coef_).max(axis=0)
    assert (alpha <= fitted.C * weights * (1 + 1e-12)).all()
    assert (alpha > fitted.C).any()  # heavy rows pull harder than C
    assert fitted.label_pull_.max() == pytest.approx(1.0)


@every_method
def test_other_weights_carry_on(name):
    X, y = data()
    *_, last = make(name).iterate(X, y)
    first, *_, end = make(name).iterate(X, y, start=last, sample_weight=np.where(y == 1, 3.0, 0.5))
    assert first.objective != last.objective
    assert name == "MAC" or end.objective < first.objective  # its passes descend a surrogate


def test_held_out_rows_count_by_their_weights():
    X, y = data(n_rows=90)
    plain = make("LSDR", early_stopping=True).fit(X, y)
    weighted = make("LSDR", early_stopping=True, class_weight={0: 50.0}).fit(X, y)
    held_out = ~targets_of(weighted).labelled
    np.testing.assert_array_equal(held_out, ~targets_of(plain).labelled)
    wrong, weights = weighted.transduction_[held_out] != y[held_out], np.where(y[held_out] == 0, 50.0, 1.0)
    best = weighted.history_["validation_error"].min()
    assert best == pytest.approx(np.average(wrong, weights=weights))


def test_a_pipeline_passes_weights_on():
    X, y = data()
    weights = np.where(y == 1, 4.0, 1.0)
    piped = make_pipeline(StandardScaler(), make("LSDR")).fit(X, y, lsdr__sample_weight=weights)
    scaled = StandardScaler().fit_transform(X)
    alone = make("LSDR").fit(scaled, y, sample_weight=weights)
    np.testing.assert_array_equal(piped.decision_function(X), alone.decision_function(scaled))


# --- the fixed point: the whole model of repeated rows ----------------------------------------------------------------


def test_whole_weights_are_repeated_rows_where_nothing_but_the_label_term_counts_rows():
    """MAC's objective at given features: its optimum, the decisions and the certified bound are those of repetition."""
    X, y = data({"solver": "fixed_point"})
    times = np.random.default_rng(2).integers(0, 4, len(y))
    options = {"solver": "fixed_point", "preprocessing": "none", "centers": X, "gamma": 0.2, "max_iter": 60}
    weighted = make("MAC", **options).fit(X, y, sample_weight=times)
    repeated = make("MAC", **options).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    for fitted in (weighted, repeated):
        assert fitted.history_["bound"][-1] <= fitted.history_["objective"][-1]
        assert fitted.history_["gap"][-1] < 1e-3 * fitted.history_["objective"][-1]
    assert weighted.history_["objective"][-1] == pytest.approx(repeated.history_["objective"][-1], rel=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        supdr.SLDR(n_models=2),
        supdr.SLDR(n_models=2, kernel="rbf"),
        supdr.SLDR(n_models=2, init="random", solver="alternating"),
        supdr.SLDR(views=(2, 3), init="random", solver="joint"),
        LMKL(),
    ],
    ids=str,
)
def test_whole_weights_are_repeated_rows_of_a_gated_model(model):
    X, y = data()
    times = np.random.default_rng(2).integers(1, 4, len(y))
    settings = {"preprocessing": "none", "svm_tol": 1e-7, "max_iter": 4, "n_init": 1, "random_state": 0}
    weighted = clone(model).set_params(**settings).fit(X, y, sample_weight=times)
    repeated = clone(model).set_params(**settings).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.history_["objective"], repeated.history_["objective"], rtol=1e-4)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("solver", ["mac", "admm", "lbfgs"])
def test_the_certified_bound_holds_under_weights(solver):
    X, y = data({"solver": "fixed_point"})
    weights = np.random.default_rng(3).choice([0.1, 1.0, 8.0], len(y))
    options = {"preprocessing": "none", "centers": X, "gamma": 0.2}
    least = make("MAC", solver="fixed_point", max_iter=60, **options).fit(X, y, sample_weight=weights)
    run = make("MAC", solver=solver, max_iter=20, **options).fit(X, y, sample_weight=weights)
    assert (run.history_["bound"] <= least.history_["objective"][-1] * (1 + 1e-9)).all()
    assert run.history_["bound"][-1] > 0


# --- the parts: whole weights are repeated rows -----------------------------------------------------------------------


def problem(rng, n_rows=50, n_heads=2):
    features = rng.standard_normal((n_rows, 3))
    scores = features @ rng.standard_normal((3, n_heads)) + rng.standard_normal((n_rows, n_heads))
    return features, np.where(scores > 0, 1.0, -1.0), rng.integers(1, 4, n_rows)


@every_loss
def test_linear_heads(loss, rng):
    features, targets, times = problem(rng)
    start, code = (np.zeros((3, 2)), np.zeros(2)), loss_code(loss)
    weighted = fit_heads(features, targets, code, *start, weight=0.7, row_weights=times.astype(float), max_steps=100)
    repeated = fit_heads(features.repeat(times, 0), targets.repeat(times, 0), code, *start, weight=0.7, max_steps=100)
    for found, expected in zip(weighted, repeated):
        np.testing.assert_allclose(found, expected, atol=1e-5)
    scores = features @ weighted[0] + weighted[1]
    total = total_loss(code, targets.repeat(times, 0), scores.repeat(times, 0))
    assert total_loss(code, targets, scores, times.astype(float)) == pytest.approx(total)


def test_ridge_heads_are_weighted_ridge_regressions(rng):
    features, _, times = problem(rng)
    target = features @ rng.standard_normal(3) + rng.standard_normal(len(times))
    coef, intercept = loo_ridge(features, target[:, None], times.astype(float))
    root = np.sqrt(times)[:, None]
    centred = root * (features - np.average(features, axis=0, weights=times))

    def weighted_ridge(kept, ridge):
        weight = times[kept] / times[kept].sum()
        rows, values = features[kept] - weight @ features[kept], target[kept] - weight @ target[kept]
        coef = np.linalg.solve(rows.T * times[kept] @ rows + ridge * np.eye(3), rows.T * times[kept] @ values)
        return coef, weight @ (target[kept] - features[kept] @ coef)

    def left_out_error(ridge):
        models = (weighted_ridge(np.arange(len(times)) != row, ridge) for row in range(len(times)))
        return sum(
            count * (value - row @ coef - intercept) ** 2
            for count, value, row, (coef, intercept) in zip(times, target, features, models)
        )

    ridges = RIDGE_WEIGHTS * np.linalg.norm(centred, 2) ** 2 / times.sum()
    best = Ridge(min(ridges, key=left_out_error)).fit(features, target, sample_weight=times)
    np.testing.assert_allclose(coef[:, 0], best.coef_, rtol=1e-6)
    assert intercept[0] == pytest.approx(best.intercept_, rel=1e-6)


@pytest.mark.parametrize("how", ["gap", "kernel", "features"])
def test_kernel_heads(how, rng):
    features, signs, times = problem(rng)

    def solve(features, signs, C):
        if how == "features":
            return heads_on_features(features, signs, C, 1e-6, None)
        K = Kernel("linear").matrix(features)
        return close_gap(K, signs, C, precision=1e-8) if how == "gap" else heads_on_kernel(K, signs, C, 1e-8, 0 * signs)

    more, more_signs = features.repeat(times, 0), signs.repeat(times, 0)
    weighted, repeated = solve(features, signs, 0.5 * times), solve(more, more_signs, 0.5)
    assert weighted.primal == pytest.approx(repeated.primal, rel=1e-6)
    assert weighted.dual == pytest.approx(repeated.dual, rel=1e-6)
    np.testing.assert_allclose(weighted.bias, repeated.bias, atol=1e-3)
    assert (weighted.alpha <= 0.5 * times[:, None] * (1 + 1e-12)).all()
    pull = features.T @ (weighted.alpha * signs)
    np.testing.assert_allclose(pull, more.T @ (repeated.alpha * more_signs), atol=1e-3)


def test_fewest_support_vectors_of_the_same_weighted_machine(rng):
    features, signs, times = problem(rng, n_heads=1)
    heads = heads_on_features(features, signs, 0.5 * times, 1e-8, None)
    duals = heads.alpha[:, 0] * signs[:, 0]
    pure = purify(duals, 0.5 * times, features)
    np.testing.assert_allclose(features.T @ pure, features.T @ duals, atol=1e-6)
    assert pure.sum() == pytest.approx(0.0, abs=1e-6)
    free = (np.abs(pure) > 1e-6) & (np.abs(pure) < 0.5 * times - 1e-6)
    assert free.sum() <= 4
    assert (np.abs(pure) <= 0.5 * times + 1e-12).all()


@pytest.mark.parametrize("n_heads", [1, 3])
def test_targets_move_as_far_as_the_weight_of_their_row(n_heads, rng):
    images, signs, times = problem(rng, n_heads=n_heads)
    coef, intercept, cost = rng.standard_normal((n_heads, 3)), rng.standard_normal(n_heads), 0.3 * times
    targets, multiplier = move_points(images, coef, intercept, signs, cost)
    for row in range(len(times)):
        part = slice(row, row + 1)
        alone, pull = move_points(images[part], coef, intercept, signs[part], float(cost[row]))
        np.testing.assert_allclose(targets[part], alone)
        assert cases(pull, float(cost[row]))[0] == cases(multiplier, cost)[row]


def test_the_sweeps_of_the_paper_reach_the_weighted_machine(rng):
    features, signs, times = problem(rng, n_heads=1)
    y, C = signs[:, 0].copy(), 0.5 * times
    K = Kernel("rbf", gamma=0.5).matrix(features)
    alpha, bias = np.zeros(len(y)), 0.0
    for _ in range(300):
        previous = alpha
        alpha, bias, scores = multiplier_sweep(K, y, C, alpha, bias, rng)
        assert abs(alpha @ y) < 1e-9
        assert (alpha <= C).all()
        if np.array_equal(alpha, previous):
            break
    expected = close_gap(K, signs, C, precision=1e-8).dual
    assert alpha.sum() - 0.5 * (alpha * y) @ scores == pytest.approx(expected, rel=1e-4)


@every_loss
def test_the_gradient_of_lsdr(loss, rng):
    X, y = data()
    estimator = make("LSDR", solver="lbfgs", loss=loss, row_bias=True)
    estimator.fit(X, y, sample_weight=rng.choice([0.2, 1.0, 5.0], len(y)))
    problem = problem_of(estimator)
    point = 0.7 * rng.standard_normal(len(problem.first_search(problem.start(0)).point))
    size = np.linalg.norm(problem.evaluate(point)[1])
    assert check_grad(lambda p: problem.evaluate(p)[0], lambda p: problem.evaluate(p)[1], point) < 1e-5 * size

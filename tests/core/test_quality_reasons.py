"""Why a row is here: derivatives against finite differences, planted columns, rules."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import supdr
from supdr.quality import biplot_arrows, explain_pair, explain_row, explain_selection, map_derivative

WINE, CLASSES = load_wine(return_X_y=True)
UNIT = WINE.std(axis=0)

MODELS = {
    "MAC": supdr.MAC(max_iter=5, random_state=0),
    "MAC linear": supdr.MAC(2, mapping="linear", random_state=0),
    "MAC two layers": supdr.MAC(n_layers=2, random_state=0),
    "MAC two layers, ridge": supdr.MAC(n_layers=2, head="ridge", random_state=0),
    "SLDR": supdr.SLDR(max_iter=5, random_state=0),
    "SLDR views": supdr.SLDR(
        2, views=[[0, 1, 2], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]], gating_columns=[1, 5], max_iter=5, random_state=0
    ),
    "SLDR free gate": supdr.SLDR(n_gating=None, kernel="rbf", max_iter=3, random_state=0),
    "ClassAtlas": supdr.ClassAtlas(max_iter=20, random_state=0),
    "ClassAtlas embedded": supdr.ClassAtlas(
        charts="embed", tau=2.0, preprocessing="zscore", max_iter=20, random_state=0
    ),
    "ClassAtlas half": supdr.ClassAtlas(separation=0.5, max_iter=20, random_state=0),
    "LSDR": supdr.LSDR(2, random_state=0),
    "LSDR row bias": supdr.LSDR(2, row_bias=True, random_state=0),
    "NSDR": supdr.NSDR(2, max_iter=5, random_state=0),
    "SDRGLM": supdr.SDRGLM(2),
    "SDRGLM nonnegative": supdr.SDRGLM(3, nonnegative=True),
    "SDRGLM gamma": supdr.SDRGLM(2, family_x="gamma"),
    "PCA": supdr.BASELINES["PCAProjection"](),
    "LDA": supdr.BASELINES["LDAProjection"](),
}
SNFS = {
    "SNF": supdr.SNF(2, task="classification", max_iter=30, random_state=0),
    "SNF cubic": supdr.SNF(2, task="classification", degree=3, max_iter=30, random_state=0),
    "SNF Gaussian": supdr.SNF(2, task="classification", kernel="rbf", max_iter=30, random_state=0),
}


@pytest.fixture(scope="module")
def new_rows():
    rng = np.random.default_rng(0)
    return np.abs(WINE[::30] + 0.3 * UNIT * rng.standard_normal(WINE[::30].shape)) + 1e-3


def differences(places, X, step):
    """Finite differences of order 6 for a standard deviation of each column, (n, d, D)."""
    slopes = []
    for column in np.eye(X.shape[1]) * UNIT * step:
        pairs = [(places(X + k * column) - places(X - k * column)) / (2 * k) for k in (1, 2, 3)]
        slopes.append((1.5 * pairs[0] - 0.6 * pairs[1] + 0.1 * pairs[2]) / step)
    return np.stack(slopes, axis=2)


def assert_agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_finite_differences_of_transform(name, new_rows):
    model = MODELS[name].fit(WINE, CLASSES)
    assert_agree(map_derivative(model, new_rows), differences(model.transform, new_rows, 1e-3))


@pytest.mark.parametrize("name", SNFS)
def test_the_derivative_of_snf_is_that_of_its_minimum(name, new_rows):
    """`transform` stops where the cost no longer falls, at half the digits: Newton's steps add the rest."""
    model = SNFS[name].fit(WINE, CLASSES)
    form, state, reg = model._on_all, model.snapshot_.state, model.reg_z
    fit, anchors = state.predictors, state.latent

    def minimum(X):
        rows, Z = model._preprocessing.transform(X), model.transform(X)

        def gradient(Z):
            residual = rows - form.predict(fit, anchors, Z)
            return reg * Z - np.einsum("pkm,pm->pk", form.jacobian(fit, anchors, Z), residual)

        for _ in range(3):
            bent = np.stack([(gradient(Z + e) - gradient(Z - e)) / 2e-5 for e in 1e-5 * np.eye(2)], axis=2)
            Z = Z - np.linalg.solve(bent, gradient(Z)[:, :, None])[:, :, 0]
        return Z

    assert_agree(map_derivative(model, new_rows), differences(minimum, new_rows, 1e-3))
    assert np.abs(minimum(new_rows) - model.transform(new_rows)).max() < 1e-6


@pytest.mark.parametrize("family", ["bernoulli", "poisson", "negative_binomial"])
def test_derivatives_by_bits_and_counts_solve_the_condition_of_the_maximum(family):
    """Cells are whole numbers, latent rows are defined between them: the condition is that the gradient stays 0."""
    from supdr.functions.families import FAMILIES
    from supdr.methods.sdr_glm.features import WeightedFeatures
    from supdr.methods.sdr_glm.prediction import embed, embed_derivative

    rng = np.random.default_rng(0)
    codes, loadings = np.full(6, FAMILIES.index(family)), 0.5 * rng.standard_normal((3, 6))
    X = rng.uniform(0.1, 0.9, (4, 6))
    X[0, 0] = np.nan

    def latent(X):
        return embed(WeightedFeatures(X, codes, 1.0, "jj", None, 1.5), loadings, 0.7, 0.3)

    found = embed_derivative(WeightedFeatures(X, codes, 1.0, "jj", None, 1.5), loadings, 0.7, 0.3, False, latent(X))
    steps = 1e-3 * np.eye(6)
    expected = np.stack([(latent(X + step) - latent(X - step)) / 2e-3 for step in steps], axis=2)
    expected[0, :, 0] = 0.0
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_missing_cell_has_no_say(new_rows):
    model = supdr.LSDR(2, preprocessing="zscore", random_state=0).fit(WINE, CLASSES)
    rows = new_rows.copy()
    rows[:, 3] = np.nan
    found = map_derivative(model, rows)
    assert (found[:, :, 3] == 0.0).all()
    assert (found[:, :, 4] != 0.0).all()


def test_wide_rows_of_class_atlas(new_rows):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 200)), np.repeat([0, 1], 30)
    X[:, 0] += 3.0 * y
    model = supdr.ClassAtlas(max_iter=10, random_state=0).fit(X, y)
    row, step, column = X[:1] + 0.3 * rng.standard_normal((1, 200)), 1e-4, np.eye(200)[0] * X[:, 0].std()
    expected = (model.transform(row + step * column) - model.transform(row - step * column)) / (2 * step)
    found = map_derivative(model, row)[:, :, 0]
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_affine_maps_of_other_libraries_have_their_matrix():
    model = make_pipeline(StandardScaler(), PCA(2)).fit(WINE)
    found = map_derivative(model, WINE[:3], fitted_on=WINE)
    np.testing.assert_allclose(found, np.tile(model[-1].components_, (3, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(biplot_arrows(model, WINE, fitted_on=WINE), model[-1].components_.T, atol=1e-9)


def test_maps_without_a_derivative_are_refused():
    others = [
        supdr.MAC(2, mapping=KNeighborsRegressor(), random_state=0),
        supdr.ClassAtlas(gate=LogisticRegression(max_iter=1000), max_iter=3, random_state=0),
    ]
    for model in others:
        with pytest.raises(ValueError, match="no derivative"):
            map_derivative(model.fit(WINE, CLASSES), WINE[:1])
    with pytest.raises(ValueError, match="linear map; that of MAC"):
        biplot_arrows(supdr.MAC(random_state=0, max_iter=2).fit(WINE, CLASSES), WINE)


def planted(seed, n=300, D=12):
    """Rows whose two classes depend on columns 2 and 7."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    return X, (X[:, 2] - X[:, 7] + 0.3 * rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize(("n_draws", "least"), [(10, 9), pytest.param(50, 48, marks=pytest.mark.slow)])
def test_planted_columns_come_first_in_explanations_of_rows(n_draws, least):
    right = 0
    for seed in range(n_draws):
        X, y = planted(seed)
        model = supdr.MAC(
            random_state=0, max_iter=2, early_stopping=False, gamma=0.02, reg_w=1.0, preprocessing="zscore"
        )
        border = np.abs(X[:, 2] - X[:, 7]).argmin()
        right += set(explain_row(model.fit(X, y), X[border], n_columns=2).columns) == {2, 7}
    assert right >= least


def test_planted_columns_come_first_in_explanations_of_selections():
    right = 0
    for seed in range(50):
        X, y = planted(seed)
        right += set(explain_selection(X, y == 1, n_columns=2).columns) == {2, 7}
    assert right >= 48


def test_a_row_is_explained_within_a_twentieth_of_a_second():
    X, y = load_digits(return_X_y=True)
    model = supdr.MAC(2, max_iter=1, gamma="median", reg_w=1e-3, random_state=0).fit(X, y)
    explain_row(model, X[0])
    began = time.perf_counter()
    for row in X[:5]:
        explain_row(model, row)
    assert (time.perf_counter() - began) / 5 < 0.2  # 50 ms, on a machine that does other things


def test_an_explanation_of_a_row_says_what_moves_it():
    model = supdr.MAC(2, max_iter=2, random_state=0).fit(WINE, CLASSES)
    found = explain_row(model, WINE[5], names=[f"c{k}" for k in range(13)])
    np.testing.assert_allclose(found.place, model.transform(WINE[5:6])[0])
    np.testing.assert_allclose(found.arrows, found.derivative[:, found.columns].T)
    assert (np.diff(found.effects[found.columns]) <= 0).all()
    assert 0 < found.share <= 1
    assert found.names == tuple(f"c{k}" for k in found.columns)
    assert found.names[0] in str(found)
    np.testing.assert_allclose(found.deviations, ((WINE[5] - WINE.mean(axis=0)) / UNIT)[found.columns], atol=1e-9)


def test_effects_are_cohens():
    chosen = CLASSES == 1
    found = explain_selection(WINE, np.flatnonzero(chosen), n_columns=13)
    one, two = WINE[chosen], WINE[~chosen]
    expected = (one.mean(axis=0) - two.mean(axis=0)) / np.sqrt((one.var(axis=0) + two.var(axis=0)) / 2)
    np.testing.assert_allclose(found.all_effects, expected)
    np.testing.assert_allclose(found.effects, expected[found.columns])


def test_a_rule_holds_as_often_as_it_says():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (600, 5))
    chosen = (X[:, 3] > 1.2) & (X[:, 1] < 0)
    found = explain_selection(X, chosen)
    assert {each.column for each in found.rule} == {1, 3}
    holds = np.logical_and.reduce([each.holds(X) for each in found.rule])
    assert found.holds == holds[chosen].mean() > 0.9
    assert found.rest_holds == holds[~chosen].mean() < 0.1
    assert "x4 > 1." in str(found)
    assert "holds for" in str(found)


def test_chance_makes_no_rule():
    rng = np.random.default_rng(0)
    rules = [explain_selection(rng.standard_normal((200, 5)), np.arange(100)).rule for _ in range(20)]
    assert sum(bool(rule) for rule in rules) <= 3  # one in twenty is expected


def test_reasons_do_not_depend_on_the_order_of_rows():
    X, y = planted(0)
    order = np.random.default_rng(1).permutation(len(X))
    one, two = explain_selection(X, y == 1), explain_selection(X[order], y[order] == 1)
    np.testing.assert_allclose(one.all_effects, two.all_effects, atol=1e-12)
    assert [str(each) for each in one.rule] == [str(each) for each in two.rule]


def test_a_pair_of_classes_among_some_rows():
    names = np.array(["a", "b", "c"])[CLASSES]
    whole = explain_pair(WINE, names, "a", "c")
    assert (whole.n_selected, whole.n_rest) == ((names == "a").sum(), (names == "c").sum())
    some = explain_pair(WINE, names, "a", "c", rows=np.arange(150))
    assert some.n_rest == (names[:150] == "c").sum()
    np.testing.assert_allclose(whole.all_effects, -explain_pair(WINE, names, "c", "a").all_effects)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"selected": []}, "selected must"),
        ({"selected": [400]}, "selected must"),
        ({"selected": np.zeros(178, dtype=bool)}, "selected must hold a row"),
        ({"selected": np.ones(178, dtype=bool)}, "rest must hold a row"),
        ({"selected": [0, 1], "rest": [1, 2]}, "both hold row 1"),
        ({"selected": [0], "n_columns": 0}, "n_columns must"),
        ({"selected": [0], "n_intervals": 1.5}, "n_intervals must"),
        ({"selected": [0], "names": ["a"]}, "names must be one name for each of the 13 columns; got 1 names"),
    ],
)
def test_bad_selections_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        explain_selection(WINE, **arguments)


def test_bad_rows_and_pairs_are_named():
    model = supdr.LSDR(2, random_state=0).fit(WINE, CLASSES)
    with pytest.raises(ValueError, match="row must be one row"):
        explain_row(model, WINE)
    with pytest.raises(ValueError, match="13 columns of the fit"):
        map_derivative(model, WINE[:, :3])
    with pytest.raises(ValueError, match="fitted_on must be the training rows"):
        map_derivative(PCA(2).fit(WINE), WINE)
    with pytest.raises(ValueError, match="second must be a class that has a row here; got 7"):
        explain_pair(WINE, CLASSES, 0, 7)
    with pytest.raises(ValueError, match="y must hold one class for each of the 178 rows"):
        explain_pair(WINE, CLASSES[:5], 0, 1)
    with pytest.raises(ValueError, match="must not share rows"):
        explain_pair(WINE, CLASSES, 0, 0)


def test_a_row_at_which_the_map_stands_still_names_no_columns():
    X, y = load_wine(return_X_y=True)
    model = supdr.ClassAtlas(random_state=0, separation=0.0, max_iter=3).fit(X[::3], y[::3])
    explanation = explain_row(model, X[0])
    assert not explanation.derivative.any()
    assert "stands still at this row" in str(explanation)
    assert "moves the row by: " in str(explain_row(model, X[1]))

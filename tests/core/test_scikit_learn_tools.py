"""Estimators within scikit-learn's tools: ensembles, calibration, inspection, routing, storage."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate, learning_curve
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import supdr
from supdr.baselines import LogisticPCA

FEW_STEPS = {"max_iter": 2, "random_state": 0}
METHODS = dict(supdr.METHODS)
PUBLIC = {**METHODS, **supdr.BASELINES, "LogisticPCA": LogisticPCA, "KernelViews": supdr.KernelViews}

every_method = pytest.mark.parametrize("name", METHODS)
every_estimator = pytest.mark.parametrize("name", PUBLIC)
OF_AN_EXTRA = ("UMAP", "PaCMAP")  # whose first fit compiles for seconds
weighing = pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.accepts_weights])


def make(name, **more):
    """Return an estimator that takes a moment to fit."""
    estimator = PUBLIC[name]()
    few = {key: value for key, value in FEW_STEPS.items() if key in estimator.get_params()}
    task = {"task": "classification"} if name == "SNF" else {}
    one_start = {"n_init": 1} if name == "SLDR" else {}
    return estimator.set_params(**{**few, **task, **one_start, **more})


def rows_and_targets(classes=True):
    """Return 36 rows of four columns; the first column tells the classes, or is the target."""
    X = np.random.default_rng(0).standard_normal((36, 4))
    y = np.arange(36) % 2
    X[:, 0] += 4.0 * y
    return X, y if classes else X[:, 0].copy()


def fitted(name):
    estimator = make(name)
    if name == "KernelViews":
        X = rows_and_targets()[0]
        return estimator.fit([X @ X.T]), X @ X.T
    X, y = rows_and_targets(is_classifier(estimator))
    if name == "LogisticPCA":
        X = (X > 0).astype(float)  # its columns are bits
    return estimator.fit(X, y), X


# --- representation and storage ---------------------------------------------------------------------------------------


@every_estimator
def test_the_html_representation_links_to_the_page_of_the_class(name):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    home = "supdr" if name in supdr.__all__ else "supdr.baselines"
    address = f"{project['urls']['Documentation']}_autosummary/{home}.{name}.html"
    assert f'href="{address}"' in make(name)._repr_html_()


def test_the_reference_has_a_page_for_every_linked_class():
    lines = (Path(__file__).parents[2] / "docs" / "api.rst").read_text(encoding="utf-8").splitlines()
    assert set(PUBLIC) <= {line.strip() for line in lines}


def test_a_class_of_a_user_has_no_link_to_our_pages():
    class Own(supdr.LSDR):
        pass

    assert Own()._get_doc_link() == ""


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow) if each in OF_AN_EXTRA else each for each in PUBLIC]
)
def test_skops_gives_back_the_same_estimator(name):
    estimator, X = fitted(name)
    content = skops.io.dumps(estimator)
    types = skops.io.get_untrusted_types(data=content)
    again = skops.io.loads(content, trusted=types)
    own = [each for each in types if not each.startswith(("supdr.", "numpy.", "sklearn.", "scipy."))]
    assert own == []
    for method in ("transform", "predict", "predict_proba"):
        if hasattr(estimator, method):
            np.testing.assert_array_equal(getattr(again, method)(X), getattr(estimator, method)(X))


@every_estimator
def test_no_estimator_claims_to_compute_on_other_array_libraries(name):
    assert not get_tags(make(name)).array_api_support


# --- weights and their routing ----------------------------------------------------------------------------------------


@weighing
def test_a_pipeline_routes_the_weights_that_a_step_requests(name):
    X, y = rows_and_targets()
    weights = np.where(y == 1, 4.0, 0.5)
    scaled = StandardScaler().fit_transform(X)
    expected = make(name).fit(scaled, y, sample_weight=weights).decision_function(scaled)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        piped = make_pipeline(scaler, make(name).set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(piped.decision_function(X), expected)


@weighing
def test_weights_without_a_request_are_refused(name):
    X, y = rows_and_targets()
    with config_context(enable_metadata_routing=True), pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(make(name), X, y, cv=2, params={"sample_weight": np.ones(36)}, error_score="raise")


def gate(sample_weight):
    return LogisticRegression().set_fit_request(sample_weight=sample_weight)


def test_weights_go_past_an_atlas_to_the_steps_before_it():
    X, y = rows_and_targets()
    weights = np.where(y == 1, 4.0, 0.5)
    scaled = StandardScaler().fit(X, sample_weight=weights).transform(X)
    expected = make("ClassAtlas", gate=LogisticRegression()).fit(scaled, y).predict_proba(scaled)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        piped = make_pipeline(scaler, make("ClassAtlas", gate=gate(False))).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(piped.predict_proba(X), expected)


def test_an_atlas_routes_the_weights_that_its_gate_requests():
    X, y = rows_and_targets()
    weights = np.where(y == 1, 4.0, 0.5)
    with config_context(enable_metadata_routing=True):
        atlas = make("ClassAtlas", gate=gate(True), preprocessing="none").fit(X, y, sample_weight=weights)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        piped = make_pipeline(scaler, make("ClassAtlas", gate=gate(True))).fit(X, y, sample_weight=weights)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make("ClassAtlas", gate=gate(None)).fit(X, y, sample_weight=weights)
        with pytest.raises(TypeError, match="sample_weight"):
            make("ClassAtlas").fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError, match="sample_weight must have an entry for each of"):
            make("ClassAtlas", gate=gate(True)).fit(X, y, sample_weight=weights[1:])
    codes = np.searchsorted(atlas.classes_, y)
    expected = LogisticRegression().fit(X, codes, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(atlas.predict_proba(X), expected, atol=1e-6)
    plain = make("ClassAtlas", gate=LogisticRegression()).fit(scaled := StandardScaler().fit_transform(X), y)
    assert not np.allclose(piped.predict_proba(X), plain.predict_proba(scaled))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        atlas.fit(X, y, sample_weight=weights)


def test_weights_of_the_gate_are_those_of_rows_repeated():
    """In folds apart, a row of weight 2 is not the same as two rows: their gates alike are those of all rows."""
    X, y = rows_and_targets()
    weights = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(len(y)), weights)
    with config_context(enable_metadata_routing=True):
        weighed = make("ClassAtlas", gate=gate(True), preprocessing="none").fit(
            X, y, sample_weight=weights.astype(float)
        )
    repeated = make("ClassAtlas", gate=LogisticRegression(), preprocessing="none").fit(X[twice], y[twice])
    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=1e-4)


def test_parameters_of_the_gate_of_an_atlas_are_searched():
    X, y = rows_and_targets()
    search = GridSearchCV(make("ClassAtlas", gate=LogisticRegression()), {"gate__C": [1e-6, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["gate__C"] == search.best_estimator_.gate.C
    assert not hasattr(search.best_estimator_.gate, "coef_")  # a copy is fitted


# --- composition ------------------------------------------------------------------------------------------------------


@every_method
def test_stacking(name):
    X, y = rows_and_targets()
    stack = StackingClassifier([("one", make(name)), ("two", LogisticRegression())], cv=2).fit(X, y)
    assert stack.score(X, y) > 0.8


@every_method
def test_calibration(name):
    X, y = rows_and_targets()
    proba = CalibratedClassifierCV(make(name), cv=2).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert ((proba[:, 1] > 0.5) == y).mean() > 0.8


@every_method
def test_the_column_that_tells_the_classes_is_important(name):
    X, y = rows_and_targets()
    means = permutation_importance(make(name).fit(X, y), X, y, n_repeats=5, random_state=0).importances_mean
    assert np.argmax(means) == 0


@every_method
def test_partial_dependence_is_the_mean_over_the_rows(name):
    X, y = rows_and_targets()
    estimator = make(name).fit(X, y)
    found = partial_dependence(estimator, X, [0], response_method="predict_proba", grid_resolution=3)
    for value, mean in zip(found["grid_values"][0], found["average"][0], strict=True):
        rows = X.copy()
        rows[:, 0] = value
        assert mean == pytest.approx(estimator.predict_proba(rows)[:, 1].mean())


@every_method
def test_learning_curves(name):
    X, y = rows_and_targets()
    sizes, _, scores = learning_curve(make(name), X, y, train_sizes=[10, 18], cv=2, shuffle=True, random_state=0)
    assert list(sizes) == [10, 18]
    assert np.isfinite(scores).all()


@every_method
def test_latent_coordinates_beside_other_columns(name):
    X, y = rows_and_targets()
    union = FeatureUnion([("latent", make(name)), ("scaled", StandardScaler())]).fit(X, y)
    expected = np.hstack([make(name).fit(X, y).transform(X), StandardScaler().fit_transform(X)])
    np.testing.assert_array_equal(union.transform(X), expected)
    assert len(union.get_feature_names_out()) == expected.shape[1]


@every_method
def test_a_reduction_of_some_columns(name):
    X, y = rows_and_targets()
    columns = ColumnTransformer([("latent", make(name), [0, 1, 2])], remainder="passthrough").fit(X, y)
    expected = np.hstack([make(name).fit(X[:, :3], y).transform(X[:, :3]), X[:, 3:]])
    np.testing.assert_array_equal(columns.transform(X), expected)

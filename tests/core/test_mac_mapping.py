"""MAC with a scikit-learn regressor as its mapping."""

import itertools
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from supdr import MAC
from supdr.baselines import TwoStep
from supdr.datasets import make_spirals
from tests.core.conventions import check_conventions
from tests.core.mac_cases import snapshots, spirals

NETWORK = MLPRegressor(hidden_layer_sizes=(20,), activation="tanh", solver="lbfgs", max_iter=20, warm_start=True)

ANY = {
    "perceptron": "perceptron",
    "network": NETWORK,
    "stochastic network": MLPRegressor(hidden_layer_sizes=(10,), max_iter=5, warm_start=True),
    "forest": RandomForestRegressor(5),
    "Gaussian process": GaussianProcessRegressor(alpha=1e-2, optimizer=None),
    "kernel ridge": KernelRidge(kernel="rbf", gamma=20.0, alpha=1e-2),
    "neighbours": KNeighborsRegressor(3),
    "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(3), Ridge(1e-2)),
    "network in a pipeline": make_pipeline(StandardScaler(), NETWORK),
    "one copy a column": MultiOutputRegressor(SVR(C=10.0)),
}
every_regressor = pytest.mark.parametrize("mapping", list(ANY.values()), ids=list(ANY))


class Wrong(RegressorMixin, BaseEstimator):
    """Predicts what it is told to, whatever it was fitted to."""

    def __init__(self, columns=1, value=0.0):
        self.columns, self.value = columns, value

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full((len(X), self.columns), self.value)


def mapped(mapping, n_classes=2, **settings):
    return spirals(n_classes, mapping=mapping, **{"max_iter": 6, **settings})


# --- the F step ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_regression_is_the_linear_mapping(weighted):
    X, y = make_spirals(3, 40, turns=0.5, random_state=0).to_xy()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) if weighted else None
    settings = {"mu": 2.0, "mu_factor": 1.0, "max_iter": 8, "tol": -1.0, "preprocessing": "zscore", "random_state": 0}
    settings |= {"early_stopping": False, "reg_w": 0.3, "calibrate": False}
    own = MAC(2, mapping="linear", **settings).fit(X, y, sample_weight=weights)
    ridge = MAC(2, mapping=Ridge(alpha=2 * 0.3 / 2.0, fit_intercept=False), **settings).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ridge.mapping_.coef_, own.mapping_weights_, atol=1e-8)
    np.testing.assert_allclose(ridge.transform(X), own.transform(X), atol=1e-8)
    np.testing.assert_allclose(ridge.decision_function(X), own.decision_function(X), atol=1e-6)
    # Q is the same but for the ridge, which the objective of a regressor leaves out.
    left_out = own.history_["surrogate"] - own.history_["regularisation"]
    np.testing.assert_allclose(ridge.history_["objective"], left_out, rtol=1e-6)


@pytest.mark.parametrize("scheme", ["ova", "ovo"])
@pytest.mark.parametrize("mapping", [LinearRegression(), make_pipeline(PolynomialFeatures(5), LinearRegression())])
def test_objective_falls_where_the_regressor_minimises_the_squared_error(mapping, scheme):
    model, X, y = mapped(mapping, 3, max_iter=15, scheme=scheme, tol=-1.0)
    run = snapshots(model, X, y)
    assert run[-1].objective < 0.99 * run[0].objective
    assert {snapshot.stage for snapshot in run} == {0}  # mu stays
    for before, after in itertools.pairwise(run):
        assert after.objective <= before.objective * (1 + 1e-8)


def test_objective_is_the_penalised_one():
    model, X, y = mapped(NETWORK, 3)
    last = snapshots(model, X, y)[-1]
    fitted, mu = model.at(last), last.diagnostics["mu"]
    signs = np.where(y[:, None] == fitted.classes_, 1.0, -1.0)
    margins = signs * (fitted.targets_ @ fitted.coef_.T + fitted.intercept_)
    terms = {
        "label": np.maximum(1.0 - margins, 0.0).sum(),
        "margin": 0.5 * (fitted.coef_**2).sum(),
        "penalty": 0.5 * mu * ((fitted.targets_ - fitted.transform(X)) ** 2).sum(),
    }
    for name, value in terms.items():
        assert last.losses[name] == pytest.approx(value, rel=1e-9)
    assert last.objective == pytest.approx(sum(terms.values()))
    assert "bound" not in last.diagnostics
    assert "gap" not in last.diagnostics


def test_warm_start_goes_on_from_the_weights():
    """One quasi-Newton step a pass gets somewhere only if the next pass goes on."""
    errors = {}
    for warm in (False, True):
        network = clone(NETWORK).set_params(max_iter=2, warm_start=warm)
        model, X, y = mapped(network, max_iter=40, mu_factor=1.0, tol=-1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            errors[warm] = snapshots(model, X, y)[-1].losses["penalty"]
    assert errors[True] < 0.8 * errors[False]


def test_warm_started_network_does_not_warn_of_its_steps():
    model, X, y = mapped(NETWORK)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        snapshots(model, X, y)


def test_spirals_come_apart():
    X, y = make_spirals(2, 150, random_state=0).to_xy()
    network = MLPRegressor(hidden_layer_sizes=(30, 30), activation="tanh", solver="lbfgs", max_iter=30, warm_start=True)
    for mapping in (network, "perceptron"):
        assert MAC(mapping=mapping, random_state=0).fit(X, y).score(X, y) >= 0.98
    assert MAC(mapping="linear", random_state=0).fit(X, y).score(X, y) <= 0.75


# --- states -----------------------------------------------------------------------------------------------------------


@every_regressor
def test_three_and_three_passes_equal_six(mapping):
    model, X, y = mapped(mapping, 3, tol=-1.0)
    whole = snapshots(model, X, y)
    halfway = snapshots(model.set_params(max_iter=3), X, y)[-1]
    resumed = snapshots(model, X, y, start=pickle.loads(pickle.dumps(halfway)))
    for name in ("targets", "latent", "multiplier"):
        np.testing.assert_array_equal(getattr(whole[-1].state, name), getattr(resumed[-1].state, name))
    assert whole[-1].losses == resumed[-1].losses
    np.testing.assert_array_equal(model.at(whole[-1]).transform(X), model.at(resumed[-1]).transform(X))


@every_regressor
def test_snapshots_are_never_written_to(mapping):
    model, X, y = mapped(mapping, 3)
    run = model.iterate(X, y)
    seen = []
    for snapshot in run:
        seen.append((snapshot, snapshot.state.latent.copy(), model.at(snapshot).transform(X)))
    for snapshot, latent, rows in seen:
        np.testing.assert_array_equal(snapshot.state.latent, latent)
        np.testing.assert_array_equal(model.at(snapshot).transform(X), rows)
        np.testing.assert_allclose(rows, latent, atol=1e-10)


def test_users_regressor_is_left_alone():
    network = clone(NETWORK)
    content = joblib.hash(network)
    model, X, y = mapped(network)
    model.fit(X, y)
    assert model.mapping is network
    assert joblib.hash(network) == content
    assert model.mapping_ is not network
    assert model.mapping_.n_features_in_ == 2


def test_run_keeps_the_regressor_that_it_was_started_with():
    model, X, y = mapped(clone(NETWORK))
    expected = snapshots(model, X, y)[-1].objective
    run = model.iterate(X, y)
    next(run)
    model.set_params(mapping__hidden_layer_sizes=(3,))
    assert list(run)[-1].objective == expected


def test_same_seed_same_run_and_another_seed_another():
    runs = [mapped(RandomForestRegressor(5), random_state=seed, init_noise=0.0)[0] for seed in (0, 0, 1)]
    _, X, y = mapped("perceptron")
    first, again, other = (model.fit(X, y).transform(X) for model in runs)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"mapping": "rbf"}, {"mapping": "perceptron"}),
        ({"mapping": "perceptron"}, {"mapping": "rbf"}),
        ({"mapping": "perceptron"}, {"mapping": "rbf", "solver": "lbfgs"}),
        ({"mapping": NETWORK}, {"mapping__alpha": 1.0}),
        ({"mapping": NETWORK}, {"mapping": RandomForestRegressor(5)}),
        ({"mapping": "perceptron"}, {"C": 5.0}),
        ({"mapping": "perceptron"}, {"mu": 10.0}),
    ],
    ids=str,
)
def test_mapping_changes_within_a_run(before, after):
    model, X, y = mapped(**{"mapping": None, **before})
    model = clone(model)
    begun = snapshots(model, X, y)[-1]
    rest = snapshots(model.set_params(**after), X, y, start=begun)
    assert [snapshot.iteration for snapshot in rest[:2]] == [6, 7]
    assert np.isfinite(rest[-1].objective)


def test_labels_change_within_a_run():
    model, X, y = mapped("perceptron")
    begun = snapshots(model, X, y)[-1]
    taught = y.astype(float)
    taught[::7] = np.nan
    rest = snapshots(model, X, taught, start=begun)
    assert rest[-1].iteration == 12
    assert model.at(rest[-1]).transduction_.shape == y.shape


# --- a fitted model ------------------------------------------------------------------------------------------------


@every_regressor
@pytest.mark.parametrize("n_components", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_every_regressor_maps_three_classes(mapping, n_components):
    model, X, y = mapped(mapping, 3, n_components=n_components, max_iter=3)
    y = y.astype(float)
    y[::5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
        rows = model.transform(X)
    assert rows.shape == (len(X), n_components)
    np.testing.assert_allclose(model.embedding_, rows, atol=1e-10)
    assert set(model.predict(X)) <= {0.0, 1.0, 2.0}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert list(model.case_[::5]) == [0] * len(model.case_[::5])
    assert not hasattr(model, "centers_")
    assert not hasattr(model, "reg_w_")


def test_one_component_takes_regressors_for_single_outputs():
    model, X, y = mapped(SVR(C=10.0, gamma=20.0), 2)
    assert model.fit(X, y).score(X, y) > 0.9


def test_held_out_labels_stop_a_run():
    model, X, y = mapped(KernelRidge(kernel="rbf", gamma=20.0, alpha=1e-2), 2, early_stopping=True, max_iter=40)
    model.fit(X, y)
    assert model.stop_ == "no_improvement"
    assert model.history_["validation_error"][-1] <= 0.1


def test_calibration_does_nothing():
    models = [mapped("perceptron", 3, calibrate=each)[0] for each in (False, True)]
    _, X, y = mapped("perceptron", 3)
    np.testing.assert_array_equal(*(model.fit(X, y).decision_function(X) for model in models))


def test_columns_are_standardised_where_the_scaling_is_left_open():
    model, X, y = mapped("perceptron", preprocessing="loo")
    assert model.fit(X, y).scaling_ == "zscore"
    far = clone(model).fit(64.0 * X, y)  # a power of 2: no rounding
    np.testing.assert_array_equal(far.transform(64.0 * X), model.transform(X))


def test_parameters_of_the_regressor_are_nested():
    model = MAC(mapping=make_pipeline(StandardScaler(), MLPRegressor(alpha=0.5)))
    assert model.get_params()["mapping__mlpregressor__alpha"] == 0.5
    other = clone(model).set_params(mapping__mlpregressor__alpha=2.0)
    assert (model.mapping[-1].alpha, other.mapping[-1].alpha) == (0.5, 2.0)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mapping": "forest"}, "mapping must be 'rbf', 'linear', 'perceptron' or a scikit-learn regressor.* 'forest'"),
        ({"mapping": LogisticRegression()}, r"scikit-learn regressor, an instance; got LogisticRegression\(\)"),
        ({"mapping": Ridge}, "an instance; got <class"),
        ({"mapping": None}, "an instance; got None"),
        ({"mapping": StandardScaler()}, r"an instance; got StandardScaler\(\)"),
        ({"mapping": Ridge(), "solver": "lbfgs"}, "'rbf' or 'linear' with solver='lbfgs', which needs features"),
        ({"mapping": "perceptron", "solver": "admm"}, "'rbf' or 'linear' with solver='admm'"),
        ({"mapping": "perceptron", "solver": "fixed_point"}, "'rbf' or 'linear' with solver='fixed_point'"),
        ({"mapping": Ridge(), "n_layers": 2}, "mapping must be 'rbf' with n_layers=2"),
        ({"mapping": RandomForestRegressor(warm_start=True)}, "must have warm_start=False: an ensemble"),
        ({"mapping": make_pipeline(HistGradientBoostingRegressor(warm_start=True))}, "must have warm_start=False"),
    ],
)
def test_bad_mappings_are_named(change, message):
    model, X, y = mapped(**change)
    with pytest.raises(ValueError, match=message):
        model.iterate(X, y)


@pytest.mark.parametrize("mapping", [SVR(), HistGradientBoostingRegressor(), make_pipeline(StandardScaler(), SVR())])
def test_regressors_for_single_outputs_are_sent_to_multi_output_regressor(mapping):
    model, X, y = mapped(mapping, 3)
    with pytest.raises(ValueError, match=r"n_components=2 columns.*MultiOutputRegressor"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [(Wrong(columns=3), r"must predict 2 finite numbers a row; it predicted an array of shape \(180, 3\)"),
     (Wrong(columns=2, value=np.nan), "entries that are not finite")],
)  # fmt: skip
def test_predictions_that_are_no_latent_rows_are_named(mapping, message):
    model, X, y = mapped(mapping, 3)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_two_step_needs_features():
    _, X, y = spirals()
    with pytest.raises(ValueError, match="mapping must be one of rbf, linear"):
        TwoStep(mapping=Ridge()).fit(X, y)


@pytest.mark.parametrize("mapping", ["perceptron", Ridge()])
def test_partitions_need_features(mapping):
    array = pytest.importorskip("dask.array")
    model, X, y = mapped(mapping)
    with pytest.raises(ValueError, match="mapping must be 'rbf' or 'linear' where rows come in partitions"):
        model.iterate(array.from_array(X, chunks=(60, 2)), array.from_array(y, chunks=60))


# --- conventions ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
@pytest.mark.filterwarnings("ignore:[1-3] of [1-3] classifiers")
@check_conventions(
    others=[MAC(mapping=KernelRidge(kernel="rbf"), max_iter=3, random_state=0)],
    rest=[MAC(mapping="perceptron", max_iter=5, random_state=0)],
)
def test_conventions(estimator, check):
    check(estimator)

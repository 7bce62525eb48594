"""NSDR as users see it: resuming, live hyper-parameters, prediction, bad input, the targets on the papers' sets."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from supdr import NSDR, Stop

SOLVERS = ("bcd", "lbfgs", "sgd")


def data(n_classes=2, *, n_samples=45, unlabelled=0.3, missing=0.0, seed=0):
    """Overlapping classes in five columns; NaN marks unlabelled rows and missing cells."""
    X, y = make_classification(
        n_samples, 5, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.6, random_state=seed
    )
    rng = np.random.default_rng(seed)
    y = y.astype(float)
    y[rng.random(n_samples) < unlabelled] = np.nan
    X[rng.random(X.shape) < missing] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    return X, y


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_resuming_is_exact_and_states_are_not_written_to(solver, kernel):
    X, y = data(3, missing=0.1)
    estimator = NSDR(2, solver=solver, kernel=kernel, max_iter=8, tol=-1, random_state=3, row_bias=True)
    whole = list(estimator.iterate(X, y))
    copies = [[np.copy(array) for array in snapshot.state[:3]] for snapshot in whole]
    resumed = list(estimator.set_params(max_iter=5).iterate(X, y, start=whole[3]))
    assert resumed[-1].iteration == 8
    assert resumed[-1].losses == whole[-1].losses
    for snapshot, copied in zip(whole, copies):
        for array, expected in zip(snapshot.state[:3], copied):
            np.testing.assert_array_equal(array, expected)
    for array, expected in zip(resumed[-1].state[:3], whole[-1].state[:3]):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    "change",
    [
        {"C": 0.1},
        {"C": 20.0},
        {"kernel": "poly", "degree": 3},
        {"gamma": 3.0},
        {"beta": 0.7},
        {"reg_u": 0.01},
        {"solver": "lbfgs"},
        {"solver": "sgd"},
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_hyper_parameters_act_on_a_running_optimisation(solver, change):
    X, y = data(3)
    estimator = NSDR(2, solver=solver, max_iter=3, tol=-1, random_state=0)
    middle = list(estimator.iterate(X, y))[-1]
    estimator.set_params(**change)
    assert not set(change) & estimator.restart_parameters
    snapshots = list(estimator.iterate(X, y, start=middle))
    np.testing.assert_array_equal(snapshots[0].state.latent, middle.state.latent)
    alpha = snapshots[0].state.heads.alpha
    assert alpha.min() >= 0.0
    assert alpha.max() <= estimator.C * (1 + 1e-12)
    if estimator.solver != "sgd":
        assert all(later.objective <= earlier.objective for earlier, later in itertools.pairwise(snapshots))
        assert snapshots[-1].objective < snapshots[0].objective
        assert estimator.at(snapshots[-1]).predict(X).shape == y.shape


def test_labels_may_be_hidden_and_shown_within_a_run():
    X, y = data(unlabelled=0.0)
    estimator = NSDR(2, max_iter=3, random_state=0)
    middle = list(estimator.iterate(X, y))[-1]
    fewer = y.copy()
    fewer[::3] = np.nan
    last = list(estimator.iterate(X, fewer, start=middle))[-1]
    assert last.state.heads.alpha.shape[0] == np.isfinite(fewer).sum()


def test_a_snapshot_of_other_shapes_is_refused():
    X, y = data()
    estimator = NSDR(2, max_iter=2, random_state=0)
    middle = list(estimator.iterate(X, y))[-1]
    with pytest.raises(ValueError, match=r"latent rows \(45, 2\).* need \(40, 2\)"):
        list(estimator.iterate(X[:40], y[:40], start=middle))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_stop_request_inside_a_step_ends_at_the_last_complete_one(solver):
    X, y = data(3, n_samples=120)
    calls = itertools.count()
    stream = NSDR(2, solver=solver, tol=-1).iterate(X, y, interrupted=lambda: next(calls) > 40)
    *_, last = stream
    assert last.stop is Stop.interrupted
    assert last.iteration < 40


# --- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_unlabelled_rows_lie_where_transform_puts_them(missing):
    X, y = data(missing=missing)
    for row_bias in (False, True):
        estimator = NSDR(2, max_iter=5, row_bias=row_bias, random_state=0).fit(X, y)
        unlabelled = np.isnan(y)
        np.testing.assert_allclose(estimator.embedding_[unlabelled], estimator.transform(X)[unlabelled], atol=1e-9)
        assert np.abs(estimator.embedding_ - estimator.transform(X))[~unlabelled].max() > 1e-3


def test_calibrated_head_is_an_svm_on_rescaled_transform():
    X, y = load_iris(return_X_y=True)
    estimator = NSDR(C=2.0, max_iter=10, random_state=0).fit(X, y)
    latent = estimator.transform(X)
    svc = SVC(C=2.0, gamma=0.5, tol=1e-6)
    scaled = latent / latent.std(axis=0)
    for k in range(3):
        expected = svc.fit(scaled, np.where(y == k, 1, -1)).decision_function(scaled)
        np.testing.assert_allclose(estimator.decision_function(X)[:, k], expected, atol=0.02)
    np.testing.assert_array_equal(
        estimator.latent_decision_function(latent, head="calibrated"), estimator.decision_function(X)
    )
    own = estimator.set_params(calibrate=False).decision_function(X)
    np.testing.assert_array_equal(estimator.latent_decision_function(latent), own)


def test_calibrated_head_is_not_computed_for_frames():
    X, y = data()
    estimator = NSDR(2, max_iter=3, random_state=0)
    for snapshot in estimator.iterate(X, y):
        frame = estimator.at(snapshot)
        frame.transform(X)
        frame.latent_decision_function(np.zeros((1, 2)))
        assert not frame._memo
    frame.predict(X)
    assert frame._memo


def test_fitted_attributes_and_reconstruction():
    X, y = load_iris(return_X_y=True)
    estimator = NSDR(4, beta=0.9, reg_u=1e-6, reg_v=1e-6, C=0.01, max_iter=60, random_state=0).fit(X, y)
    np.testing.assert_allclose(estimator.inverse_transform(estimator.transform(X)), X, atol=0.02)
    assert estimator.dual_coef_.shape == (3, len(estimator.support_))
    assert estimator.n_support_.sum() == len(estimator.support_)
    assert estimator.support_fraction_ == len(estimator.support_) / len(X)
    assert estimator.transduction_.shape == y.shape
    with pytest.raises(ValueError, match=r"latent must have shape \(n_samples, 4\); got \(3, 2\)"):
        estimator.inverse_transform(np.zeros((3, 2)))
    assert not hasattr(NSDR(row_bias=True), "inverse_transform")


@pytest.mark.parametrize("solver", ["bcd", "lbfgs"])
def test_rotation_of_the_columns_changes_nothing(solver):
    X, y = data(n_samples=60)
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    plain, rotated = (
        NSDR(2, solver=solver, preprocessing="none", max_iter=5, tol=-1, random_state=0).fit(Z, y)
        for Z in (X, X @ rotation)
    )
    np.testing.assert_allclose(plain.history_["objective"], rotated.history_["objective"], rtol=1e-10)


def test_names_of_the_classes_do_not_matter():
    X, y = data(3, unlabelled=0.0)
    numbers = NSDR(2, max_iter=5, random_state=0).fit(X, y)
    words = NSDR(2, max_iter=5, random_state=0).fit(X, np.array(["a", "b", "c"])[y.astype(int)])
    np.testing.assert_array_equal(numbers.embedding_, words.embedding_)
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[numbers.predict(X).astype(int)], words.predict(X))


def test_early_stopping_keeps_the_best_iterate():
    X, y = data(n_samples=90, unlabelled=0.0)
    estimator = NSDR(2, early_stopping=True, n_iter_no_change=3, max_iter=60, tol=-1, random_state=0).fit(X, y)
    assert estimator.stop_ is Stop.no_improvement


@pytest.mark.parametrize("solver", SOLVERS)
def test_degenerate_data(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    X[:, 2] = 7.0  # constant column
    X[10:] = X[:10]  # every row twice, with opposite labels
    y = np.repeat([0, 1], 10)
    estimator = NSDR(2, solver=solver, kernel="poly", degree=3, preprocessing="zscore", random_state=0, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, y)
    assert np.isfinite(estimator.transform(X)).all()
    assert np.isfinite(estimator.decision_function(X)).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_rows_and_one_column(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = NSDR(1, solver=solver, random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    assert list(estimator.predict([[0.0], [1.0]])) == ["no", "yes"]


def test_more_components_than_columns_warns():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="n_components=6 exceeds the 4 columns"):
        NSDR(6, max_iter=2).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, or None; got 0"),
        ({"n_components": 1.5}, "n_components must be"),
        ({"C": 0.0}, "C must be a number > 0; got 0.0"),
        ({"C": -1}, "C must be"),
        ({"beta": 0.0}, r"beta must be a number in \(0, 1\]; got 0.0"),
        ({"beta": 1.1}, "beta must be"),
        ({"reg_u": -1e-3}, "reg_u must be a number >= 0"),
        ({"reg_v": np.nan}, "reg_v must be"),
        ({"kernel": "gaussian"}, "kernel must be one of"),
        ({"kernel": "poly", "degree": 0}, "degree must be"),
        ({"gamma": "scale"}, "gamma must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"coef0": -1.0}, "coef0 must be"),
        ({"solver": "adam"}, "solver must be one of bcd, lbfgs, sgd; got 'adam'"),
        ({"lr_reconstruction": 0}, "lr_reconstruction must be a number > 0"),
        ({"lr_classification": "slow"}, "lr_classification must be"),
        ({"init": "zeros"}, "init must be one of pca, random; got 'zeros'"),
        ({"init": np.zeros((3, 2))}, r"init must be .* array of shape \(45, n_components\); got shape \(3, 2\)"),
        ({"init_scale": 0.0}, "init_scale must be"),
        ({"preprocessing": "robust"}, "preprocessing must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"early_stopping": True, "n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction must lie"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(settings, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        NSDR(**settings).iterate(X, y)


def test_new_rows_with_missing_cells():
    X, y = data()
    incomplete = X[:3].copy()
    incomplete[1, 2] = np.nan
    estimator = NSDR(2, preprocessing="zscore", random_state=0).fit(X, y)
    latent = estimator.transform(incomplete)
    np.testing.assert_allclose(latent[[0, 2]], estimator.transform(X[[0, 2]]), rtol=1e-9)
    assert np.isfinite(latent).all()
    with pytest.raises(ValueError, match=r"missing cell in row 1.*preprocessing='zscore'"):
        NSDR(2, random_state=0).fit(X, y).transform(incomplete)


def test_bad_data_are_named():
    X, y = data()
    with pytest.raises(ValueError, match="at least two classes"):
        NSDR().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="no labelled row"):
        NSDR().fit(X, np.full(len(X), np.nan))
    X[4] = np.nan
    with pytest.raises(ValueError, match="no observed cell in row 4"):
        NSDR().fit(X, y)


# --- the paper's sets -------------------------------------------------------------------------------------------------


def read(data_dir, name):
    table = np.genfromtxt(data_dir / f"{name}.csv.gz", delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1]
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), y


TABLE_1 = {"row_bias": True, "calibrate": False, "init": "random", "kernel": "poly", "random_state": 0}
PAPERS = {
    "sonar": (
        {"n_components": 60, "reg_u": 1e-2, "reg_v": 1.0, "beta": 0.1, "C": 0.1, "max_iter": 30},
        {"solver": "bcd", "preprocessing": "minmax"},
        0.16,
    ),
    "breast_cancer_w": (
        {"n_components": 9, "reg_u": 1e-2, "reg_v": 1.0, "beta": 0.9, "C": 10.0, "max_iter": 60},
        {"solver": "lbfgs", "preprocessing": "zscore"},
        0.05,
    ),
}


@pytest.mark.papers
@pytest.mark.parametrize("name", PAPERS)
def test_transductive_error_under_the_papers_parameters(name, data_dir):
    X, y = read(data_dir, name)
    settings, run, target = PAPERS[name]
    errors = []
    for _, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        hidden = y.copy()
        hidden[test] = np.nan
        estimator = NSDR(**TABLE_1, **settings, **run).fit(X, hidden)
        errors.append(np.mean(estimator.transduction_[test] != y[test]))
    assert np.mean(errors) <= target


@pytest.mark.slow
@pytest.mark.papers
def test_five_neighbours_in_the_default_view(data_dir):
    sets = [read(data_dir, name) for name in ("ionosphere", "sonar", "breast_cancer_w", "pi_diabetes", "spect")]
    errors = []
    for X, y in [*sets, load_wine(return_X_y=True)]:
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            estimator = NSDR(random_state=0, calibrate=False).fit(X[train], y[train])
            neighbours = KNeighborsClassifier(5).fit(estimator.transform(X[train]), y[train])
            errors.append(1 - neighbours.score(estimator.transform(X[test]), y[test]))
    assert np.mean(errors) <= 0.155

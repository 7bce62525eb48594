"""Class probabilities: those of the predicted classes, calibrated on left-out rows, as good as scikit-learn's."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import supdr
from supdr.engine.probabilities import class_probabilities, crossfitted_scores, fit_temperature
from supdr.methods.mac.bounds import Bounded
from tests.core.inside import targets_of
from tests.core.variants import ALWAYS

CLASSIFIERS = {
    "LSDR": [{}, {"calibrate": False, "early_stopping": True}],
    "NSDR": [{}, {"solver": "sgd", "max_iter": 30}],
    "MAC": [{}, {"scheme": "ovo"}, {"n_layers": 2}, {"calibrate": False}],
    "SLDR": [{"n_init": 1}],
    "SDRGLM": [{}],
    "SNF": [{}],
    "LinearSVM": [{}],
    "KNN": [{}],
    "LDA": [{}],
    "MKL": [{}],
    "LSSVM": [{"task": "classification"}],
    "PCAProjection": [{}],
}
VARIANTS = [(name, settings) for name, variants in CLASSIFIERS.items() for settings in variants]
every_classifier = pytest.mark.parametrize(
    ("name", "settings"), VARIANTS, ids=[f"{name}-{'-'.join(map(str, s.values()))}" for name, s in VARIANTS]
)


def make(name, settings=None):
    cls = supdr.METHODS[name] if name in supdr.METHODS else supdr.baselines.BASELINES[name]
    wanted = {"max_iter": 5, "random_state": 0, **ALWAYS.get(name, {}), **(settings or {})}
    return cls(**{key: value for key, value in wanted.items() if key in cls().get_params()})


def data(n_classes=3, n_rows=90, distance=1.8):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    names = np.array(["ash", "beech", "cedar"], dtype=object)
    y = names[codes]
    y[::6] = None
    return rng.standard_normal((n_rows, 5)) + distance * np.eye(n_classes, 5)[codes], y


@every_classifier
@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_the_most_probable_class_is_the_predicted_one(name, settings, n_classes):
    X, y = data(n_classes)
    fitted = make(name, settings).fit(X, y)
    new = np.random.default_rng(1).standard_normal((200, 5)) * 2
    found = fitted.predict_proba(new)
    assert found.shape == (200, n_classes)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.classes_[found.argmax(axis=1)], fitted.predict(new))


@every_classifier
def test_the_same_fit_gives_the_same_probabilities(name, settings):
    X, y = data()
    first, second = (make(name, settings).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    np.testing.assert_allclose(first.predict_proba(X[:7]), first.predict_proba(X)[:7], rtol=1e-12)


def test_regressions_have_no_probabilities():
    assert not hasattr(supdr.LSDR(task="regression"), "predict_proba")
    assert not hasattr(supdr.SNF(), "predict_proba")
    assert hasattr(supdr.LSDR(), "predict_proba")


class Counted(supdr.LSDR):
    """Counts its fits and those of its clones."""

    fits = 0

    def fit(self, X, y, **options):
        """Fit, and count it."""
        Counted.fits += 1
        return super().fit(X, y, **options)


def test_no_clone_is_fitted_before_somebody_asks():
    X, y = data()
    fitted = Counted(calibrate=False).fit(X, np.where(np.equal(y, None), "ash", y))
    fitted.predict(X)
    assert Counted.fits == 1
    fitted.predict_proba(X)
    needed = Counted.fits
    assert needed > 1
    for _ in range(2):
        fitted.predict_proba(X)
    assert Counted.fits == needed  # it is known


def test_no_bound_is_searched_for_rows_that_are_left_out(monkeypatch):
    """Closing it takes many times as long as the fit, and no score depends on it."""
    X, y = data()
    searched, closed_bound = [], Bounded.closed_bound
    monkeypatch.setattr(Bounded, "closed_bound", lambda *given: searched.append(1) or closed_bound(*given))
    fitted = supdr.MAC(max_iter=5, calibrate=False, random_state=0).fit(X, y)
    assert len(searched) == 1
    fitted.predict_proba(X)
    assert len(searched) == 1


def test_left_out_rows_are_scored_without_their_labels():
    """Labels that say nothing look learnt on the training rows, and are chance on rows that were left out."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 20)), np.arange(80) % 2
    fitted = supdr.NSDR(C=10.0, random_state=0, max_iter=10).fit(X, y)
    scores, rows = crossfitted_scores(fitted, X, targets_of(fitted), 0)
    assert sorted(rows) == list(range(80))
    assert (fitted.transduction_ == y).mean() > 0.9
    assert ((scores[:, 0] > 0) == y[rows]).mean() < 0.7
    assert log_loss(y, fitted.predict_proba(X)) > 0.4  # no false certainty, also about rows that were seen


def test_a_class_of_one_row_is_never_left_out():
    X, y = data()
    y[0], y[1] = "yew", "oak"
    y[2] = "oak"
    fitted = supdr.LSDR(random_state=0).fit(X, y)
    scores, rows = crossfitted_scores(fitted, X, targets_of(fitted), 0)
    assert 0 not in rows
    assert {1, 2} <= set(rows)
    assert scores.shape == (len(rows), 5)
    one_each = supdr.LSDR(random_state=0).fit(X[:3], ["ash", "oak", "yew"])
    np.testing.assert_allclose(one_each.predict_proba(X).sum(axis=1), 1.0)  # nothing can be left out


def test_probabilities_count_weights():
    """A class that weighs more is expected more often."""
    X, y = data(2, distance=0.7)
    plain, heavy = (supdr.LSDR(random_state=0, class_weight=each).fit(X, y) for each in (None, {"ash": 5.0}))
    assert heavy.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_known_temperature_is_found(n_classes):
    rng = np.random.default_rng(0)
    scores = 3.0 * rng.standard_normal((20_000, 1 if n_classes == 2 else n_classes))
    for temperature in (0.03, 1.0, 50.0):
        expected = class_probabilities(scores, 1.0)
        codes = (rng.random((len(scores), 1)) > expected.cumsum(axis=1)).sum(axis=1)
        found = fit_temperature(scores * temperature, codes, np.ones(len(scores)))
        assert found == pytest.approx(temperature, rel=0.05)
        np.testing.assert_allclose(class_probabilities(scores * temperature, temperature), expected)


def test_scores_without_a_mistake_stay_uncertain():
    scores = np.eye(3)[np.arange(30) % 3]
    temperature = fit_temperature(scores, np.arange(30) % 3, np.ones(30))
    assert softmax(scores[0] / temperature)[0] == pytest.approx(31 / 32, abs=1e-3)
    assert fit_temperature(0 * scores, np.arange(30) % 3, np.ones(30)) == 1.0
    assert fit_temperature(scores[:0], np.arange(0), np.ones(0)) == 1.0


CALIBRATED = {
    "LSDR": supdr.LSDR(random_state=0),
    "SNF": supdr.SNF(task="classification", random_state=0),
    "NSDR": supdr.NSDR(max_iter=15, random_state=0),
    "MAC": supdr.MAC(random_state=0),
}
SETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
QUICK = {("LSDR", "breast_cancer"), ("SNF", "iris"), ("MAC", "breast_cancer")}


@pytest.mark.parametrize(
    ("estimator", "load"),
    [
        pytest.param(model, load, id=f"{name}-{data}", marks=() if (name, data) in QUICK else pytest.mark.slow)
        for name, model in CALIBRATED.items()
        for data, load in SETS.items()
    ],
)
def test_as_good_as_scikit_learns_calibration(estimator, load):
    X, y = load(return_X_y=True)
    X, y = X[-300:], y[-300:]
    ours, theirs = [], []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        fitted = clone(estimator).fit(X[train], y[train])
        peer = CalibratedClassifierCV(clone(estimator), cv=3).fit(X[train], y[train])
        ours.append(log_loss(y[test], fitted.predict_proba(X[test])))
        theirs.append(log_loss(y[test], peer.predict_proba(X[test])))
    assert np.mean(ours) < 1.03 * np.mean(theirs)

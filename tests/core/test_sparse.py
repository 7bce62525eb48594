"""Sparse rows: the same numbers as dense ones in every format, without making them dense, or one sentence."""

import functools
import io
import itertools
import pickle
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import cross_val_predict
from sklearn.utils import estimator_checks

import supdr
from supdr import quality
from supdr.baselines import BASELINES, PCASVM, ElasticNet, LinearSVM, LogisticPCA
from supdr.engine.fitted import ExtrapolationWarning
from supdr.engine.preprocessing import PREPROCESSING, fit_preprocessing
from supdr.engine.sparse_rows import SparseRows
from supdr.methods.mac.mapping import InMemoryFeatures
from supdr.methods.mac.sparse_features import SparseFeatures
from supdr.sensitivity import Sweep
from supdr.solvers.gaussians import Mapping
from tests.core.conventions import check_conventions

rng = np.random.default_rng(0)
D = np.where(rng.random((60, 24)) < 0.25, rng.integers(1, 200, (60, 24)), 0).astype(float)
D[:, 3] += 10_000.0  # a column without a zero, far away
SCORE = D[:, :6].sum(axis=1) - 10_000.0 + 30.0 * rng.normal(size=60)
CLASSES, VALUES = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.6])), SCORE
CLASSES_OR_NOT = np.where(np.arange(60) % 4, CLASSES, np.nan)


def unsorted(X):
    """Return a csr matrix whose rows are not in order, with every cell stored in two halves and zeros beside them."""
    rows, columns = np.nonzero(X)
    order = np.random.default_rng(1).permutation(2 * len(rows))
    cells = np.tile(X[rows, columns] / 2.0, 2)[order]
    rows, columns = np.tile(rows, 2)[order], np.tile(columns, 2)[order]
    by_row = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sparse.csr_matrix((cells[by_row], columns[by_row], starts), shape=X.shape)


def long_indices(X):
    made = sparse.csr_array(X)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


FORMATS = {
    "csr array": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "other": sparse.lil_matrix,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "int": lambda X: sparse.csc_array(X.astype(np.int32)),
    "64-bit indices": long_indices,
    "unsorted": unsorted,
    "data frame": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)),
}

ESTIMATORS = {
    "LSDR": supdr.LSDR(),
    "LSDR, whitened": supdr.LSDR(n_components=3, preprocessing="whiten", task="regression"),
    "LSDR, row bias": supdr.LSDR(n_components=2, row_bias=True),
    "LSDR, lbfgs": supdr.LSDR(n_components=2, solver="lbfgs", max_iter=5),
    "SDRGLM": supdr.SDRGLM(),
    "SDRGLM, regression": supdr.SDRGLM(task="regression", column_weight=np.linspace(0.0, 2.0, 24)),
    "SDRGLM, counts": supdr.SDRGLM(n_components=2, family_x=["poisson"] * 20 + ["gaussian"] * 4, max_iter=10),
    "SDRGLM, nonnegative": supdr.SDRGLM(n_components=2, nonnegative=True, max_iter=10),
    "MAC": supdr.MAC(mapping="linear"),
    "MAC, lbfgs": supdr.MAC(mapping="linear", solver="lbfgs", max_iter=1, early_stopping=False),
    "MAC, admm": supdr.MAC(mapping="linear", solver="admm", scheme="ovo", init="pca", preprocessing="none", max_iter=4),
    **{
        name: kind() if name != "LogisticPCA" else kind(max_iter=20)
        for name, kind in {**BASELINES, "LogisticPCA": LogisticPCA}.items()
        if kind.accepts_sparse
    },
}
for each in ESTIMATORS.values():
    each.set_params(random_state=0)  # deals the folds that calibrate probabilities


def targets_of(estimator):
    return VALUES if is_regressor(estimator) else CLASSES_OR_NOT


def data_for(name):
    return (D > 0).astype(float) if name == "LogisticPCA" else D


@functools.cache
def on_dense(name):
    return clone(ESTIMATORS[name]).fit(data_for(name), targets_of(ESTIMATORS[name]))


def tolerance_of(estimator, otherwise):
    return (
        2e-3 if isinstance(estimator, LinearSVM) else otherwise
    )  # LIBSVM, of dense rows, stops at a tolerance of 1e-3


def assert_alike(one, other, X, rows):
    """Check that two fitted estimators say the same, one of dense rows, the other of sparse ones."""
    tolerance = tolerance_of(one, 1e-8)
    near = functools.partial(np.testing.assert_allclose, rtol=tolerance, atol=tolerance)
    near(other.embedding_, one.embedding_)
    near(other.transform(rows), one.transform(X))
    near(other.training_decision_, one.training_decision_)
    if is_regressor(one):
        near(other.predict(rows), one.predict(X))
        return
    near(other.decision_function(rows), one.decision_function(X))
    np.testing.assert_array_equal(other.predict(rows), one.predict(X))
    np.testing.assert_array_equal(other.transduction_, one.transduction_)
    assert other.score(rows, CLASSES) == one.score(X, CLASSES)


def pairs_of_estimator_and_format():
    """Yield all; quick are every format of two estimators, and two formats of the others: they convert rows alike."""
    for name, form in itertools.product(ESTIMATORS, FORMATS):
        quick = name in ("LSDR", "PCAProjection") or form in ("csc array", "unsorted")
        yield pytest.param(name, form, id=f"{form}-{name}", marks=() if quick else pytest.mark.slow)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "form"), list(pairs_of_estimator_and_format()))
def test_sparse_rows_give_the_numbers_of_dense_ones(name, form):
    X, estimator = data_for(name), ESTIMATORS[name]
    rows = FORMATS[form](X)
    before = pickle.dumps(rows)
    fitted = clone(estimator).fit(rows, targets_of(estimator))
    assert pickle.dumps(rows) == before
    assert_alike(on_dense(name), fitted, X, rows)
    # A fit to one kind of rows takes the other kind, too.
    one, other = on_dense(name).transform(rows), fitted.transform(X)
    np.testing.assert_allclose(one, on_dense(name).transform(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(other, fitted.transform(rows), rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if is_classifier(ESTIMATORS[name])])
def test_probabilities_and_resumed_runs_agree(name):
    X = data_for(name)
    rows, dense = sparse.csc_array(X), on_dense(name)
    fitted = pickle.loads(pickle.dumps(clone(ESTIMATORS[name]).fit(rows, CLASSES_OR_NOT)))
    tolerance = tolerance_of(dense, 1e-6)
    np.testing.assert_allclose(fitted.predict_proba(rows), dense.predict_proba(X), rtol=tolerance, atol=tolerance)
    again = clone(ESTIMATORS[name]).fit(rows, CLASSES_OR_NOT, fitted.snapshot_)
    assert np.isfinite(again.transform(rows)).all()


@pytest.mark.parametrize("kind", PREPROCESSING)
def test_bits_are_recognised_whatever_their_type(kind):
    bits = D[:, 4:] > 0
    dense = supdr.SDRGLM(n_components=2, preprocessing=kind, max_iter=5).fit(bits, CLASSES)
    fitted = clone(dense).fit(sparse.csr_array(bits), CLASSES)
    assert set(fitted.family_x_) == {"bernoulli"}
    np.testing.assert_allclose(fitted.embedding_, dense.embedding_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", PREPROCESSING)
def test_preprocessing_is_that_of_dense_rows(kind):
    new = sparse.csr_array(np.where(D[:7] > 100, 2.0 * D[:7], 0.0))
    dense, fitted = fit_preprocessing(D, kind), fit_preprocessing(SparseRows.of(sparse.csr_array(D)), kind)
    assert dense.kind == fitted.kind
    for rows in (sparse.csr_array(D), new):
        scaled = fitted.transform(SparseRows.of(rows))
        np.testing.assert_allclose(scaled.toarray(), dense.transform(rows.toarray()), atol=1e-10)
        clipped = fitted.clipped(SparseRows.of(rows))
        np.testing.assert_array_equal(clipped.toarray(), dense.clipped(rows.toarray()))


def test_zscores_in_place_of_whitening_are_said():
    wide = SparseRows.of(sparse.eye_array(2100, format="csr"))
    with pytest.warns(UserWarning, match=r"^preprocessing='whiten' is replaced by 'zscore': .* 4,410,000 entries"):
        assert fit_preprocessing(wide, "whiten").kind == "zscore"
    assert fit_preprocessing(wide, "zscore").kind == "zscore"


SOME_FORMATS = ("csr matrix", "csc array", "unsorted", "data frame")


@pytest.mark.parametrize("form", SOME_FORMATS)
def test_sweeps_take_them(form):
    metrics = ["error", "trustworthiness"]
    sweep = Sweep(supdr.LSDR(n_components=2, max_iter=5), {"reg_u": [0.1, 1.0]}, cv=3, scoring=metrics)
    dense, fitted = (list(sweep.run(made(D), CLASSES, "in-process")) for made in (np.asarray, FORMATS[form]))
    for one, other in zip(dense, fitted, strict=True):
        for metric in metrics:
            assert len(other.values(metric)) == 3
            assert other.values(metric) == pytest.approx(one.values(metric), abs=1e-9)


@pytest.mark.parametrize("form", SOME_FORMATS)
def test_measures_of_maps_take_them(form):
    X, Z = FORMATS[form](D), D @ rng.normal(size=(24, 2))
    model = supdr.LSDR(n_components=2, max_iter=5, random_state=0).fit(D, CLASSES)
    for measure in (
        lambda X: quality.map_quality(X, Z, CLASSES).numbers,
        lambda X: quality.model_quality(model, X, CLASSES).numbers,
        lambda X: vars(quality.explain_selection(X, np.arange(20)))["effects"],
        lambda X: quality.label_permutation(clone(model), X, CLASSES, n_permutations=2, cv=3).permuted_scores,
        lambda X: quality.stability(clone(model), X, CLASSES, resample="subsample", n=2).kept,
    ):
        assert measure(X) == pytest.approx(measure(D), nan_ok=True)


def test_measures_that_need_all_cells_say_what_to_measure():
    X = sparse.csr_array((10_001, 10_000))
    with pytest.raises(
        TypeError, match=r"^X is sparse, .* at most 100,000,000 cells; .* 100,010,000\. Measure some of"
    ):
        quality.map_quality(X, np.zeros((10_001, 2)))


def test_arithmetic_is_that_of_arrays():
    S, offset, factors = SparseRows.of(sparse.csr_array(D)), rng.normal(size=24), rng.random(24) + 0.5
    V, U, mix = rng.normal(size=(24, 3)), rng.normal(size=(60, 2)), rng.normal(size=(24, 5))
    low, some = np.where(np.arange(24) % 3 == 0, 1.0, 0.0), rng.permutation(60)[:31]
    for rows, X in (
        ((S - offset) * factors, (D - offset) * factors),
        (S.minus(offset, low, low) / factors, (D - offset) / factors),
        (S[10:40].mixed(mix) - offset[:5], D[10:40] @ mix - offset[:5]),
        (S[some][:, 5:9], D[some][:, 5:9]),
    ):
        near = functools.partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)
        n, m = X.shape
        assert rows.shape == (len(rows), rows.shape[1]) == (n, m)
        near(rows.toarray(), X)
        near(rows @ mix[:m, :2], X @ mix[:m, :2])
        near(U[:n].T @ rows, U[:n].T @ X)
        near(rows.T @ U[:n, 0], X.T @ U[:n, 0])
        near(rows.mean(0), X.mean(axis=0))
        near(rows.std(0), X.std(axis=0))
        near(rows.square, (X**2).sum())
        near(rows.row_squares(), (X**2).sum(axis=1), rtol=1e-7)
        near(rows.row_gram(), X @ X.T, rtol=1e-7)
        near(rows.column_gram(), X.T @ X, rtol=1e-7, atol=1e-6)
        near(rows.distance(U[:n], V[:m, :2].T), ((X - U[:n] @ V[:m, :2].T) ** 2).sum())
        singular, right = rows.decomposition()
        near(singular, np.linalg.svd(X, compute_uv=False), atol=1e-8)
        near(abs(right[0]), abs(np.linalg.svd(X)[2][0]), atol=1e-8)


@pytest.mark.parametrize("n_rows", [60, 20])
@pytest.mark.parametrize("direct_size", [60, 0])
def test_ridge_regression_and_leverages_are_those_of_dense_features(n_rows, direct_size):
    """More rows than columns and fewer; by eigenvectors, and by LSMR and Lanczos steps."""
    X = D[:n_rows] / D.std(axis=0)
    mapping = Mapping("linear", X.mean(axis=0, keepdims=True), 0.0)
    dense = InMemoryFeatures(X, mapping)
    made = SparseFeatures(SparseRows.of(sparse.csr_array(X)), mapping, direct_size)
    targets, some = np.random.default_rng(0).normal(size=(n_rows, 2)), np.arange(0, n_rows, 3)
    near = functools.partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-8)
    for ridge in (0.3, 30.0):
        pulled = dense.pull_back(targets)
        near(made.pull_back(targets), pulled)
        weights = dense.solve(targets, pulled, ridge)
        near(made.solve(targets, pulled, ridge), weights)
        near(made.image(weights), dense.image(weights))
        near(made.leverages(some, ridge), dense.leverages(some, ridge))


def test_the_linear_map_of_many_columns_is_that_of_dense_rows():
    """Its features are not formed."""
    X = np.where(np.random.default_rng(3).random((40, 1100)) < 0.05, 1.0, 0.0) * np.arange(1.0, 1101.0)
    X[:, 0], y = CLASSES[:40] + 1.0, CLASSES[:40]
    model = supdr.MAC(mapping="linear", max_iter=4, random_state=0)
    dense, fitted = clone(model).fit(X, y), clone(model).fit(sparse.csc_array(X), y)
    assert fitted.reg_w_ == pytest.approx(dense.reg_w_, rel=1e-9)
    np.testing.assert_allclose(fitted.embedding_, dense.embedding_, atol=1e-7)
    np.testing.assert_allclose(fitted.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-6)
    assert fitted.history_["bound"][-1] <= fitted.history_["objective"].min() + 1e-9


def test_far_new_rows_are_clipped_with_the_same_words():
    new = np.zeros((3, 24))
    new[0, 3], new[1] = 10_001.0, D[1]
    new[1, 7] = 9_000.0
    said, predicted = [], []
    for made in (np.asarray, sparse.csr_array):
        fitted = supdr.LSDR(n_components=2, task="regression").fit(made(D), VALUES)
        with pytest.warns(ExtrapolationWarning, match="^2 of 3 rows of X lie far outside") as caught:
            predicted.append(fitted.predict(made(new)))
        said.append(str(caught[0].message))
    assert said[0] == said[1]
    np.testing.assert_allclose(predicted[0], predicted[1], rtol=1e-8)


@pytest.mark.parametrize("name", sorted({**supdr.METHODS, **BASELINES}))
def test_what_needs_dense_rows_says_so(name):
    kind = {**supdr.METHODS, **BASELINES}[name]
    estimator = kind()
    takes = estimator.__sklearn_tags__().input_tags.sparse
    if takes:
        return
    y = VALUES if is_regressor(estimator) else CLASSES
    with pytest.raises(TypeError, match=r"^X is sparse: .* takes? sparse (ones|rows)\. X\.toarray\(\) makes X dense$"):
        estimator.fit(sparse.csr_array(D), y)
    with pytest.raises(TypeError, match=r"^X is sparse: "):
        kind().fit(pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(D)), y)


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (supdr.LSDR(solver="sgd"), "solver='sgd' visits every cell; solver='bcd' and 'lbfgs' take sparse rows"),
        (supdr.MAC(), "mapping='rbf' takes dense rows; mapping='linear' takes sparse ones"),
        (supdr.MAC(mapping="linear", n_layers=2), "n_layers=2 .* n_layers=1 with mapping='linear' takes sparse ones"),
        (supdr.MAC(mapping="linear", solver="fixed_point"), "solver='fixed_point' keeps all features in memory; "),
        (LinearSVM(preprocessing="whiten"), "preprocessing='whiten' mixes all columns; "),
        (PCASVM(n_components=0.9), "n_components=0.9 needs all components; with an integer PCASVM takes sparse rows"),
    ],
)
def test_a_parameter_that_needs_dense_rows_is_named(estimator, sentence):
    assert not estimator.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=f"^X is sparse: {sentence}"):
        estimator.fit(sparse.csr_array(D), CLASSES)


def test_cells_that_are_no_numbers_are_refused():
    holes = sparse.csr_array(D)
    holes.data[5] = np.nan
    with pytest.raises(ValueError, match="contains NaN: X is sparse, and missing cells are for dense rows"):
        supdr.LSDR().fit(holes, CLASSES)
    holes.data[5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        supdr.LSDR().fit(holes, CLASSES)
    holes.data[5] = 1e200
    with pytest.raises(ValueError, match="must hold numbers from"):
        supdr.LSDR(preprocessing="none").fit(holes, CLASSES)
    holes.data[5] = 0.5
    with pytest.raises(ValueError, match=r"poisson column holds the counts .* has 0\.5 in row"):
        supdr.SDRGLM(family_x="poisson").fit(holes, CLASSES)


def test_cross_validation_takes_them():
    model = supdr.LSDR(n_components=2)
    assert (cross_val_predict(model, sparse.csr_array(D), CLASSES) == cross_val_predict(model, D, CLASSES)).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("check", ["check_estimator_sparse_matrix", "check_estimator_sparse_array"])
@pytest.mark.parametrize("name", ["LSDR", "SDRGLM", "MAC", "LinearSVM", "ElasticNet", "PCAProjection", "KNN"])
def test_scikit_learns_checks_of_sparse_rows_hold(name, check):
    estimator = ESTIMATORS.get(name) or BASELINES[name]()
    vars(estimator_checks)[check](name, clone(estimator))


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
@pytest.mark.filterwarnings("ignore:[1-3] of [1-3] classifiers")
@check_conventions(others=[supdr.MAC(mapping="linear", random_state=0)])
def test_conventions(estimator, check):
    check(estimator)


def test_libsvm_files_are_made_dense_within_the_limits_with_a_note():
    text = b"0 1:2 4:1\n1 2:1\n0 1:1 3:5\n1 2:3 4:2\n"
    look = supdr.datasets.preview(text, "words.libsvm")
    assert "7 of the 16 cells are written; the others are 0" in " ".join(look.notes)
    X, y = load_svmlight_file(io.BytesIO(text))
    data = look.read()
    np.testing.assert_array_equal(data.X, X.toarray())
    model = supdr.LSDR(n_components=2)
    near = functools.partial(np.testing.assert_allclose, atol=1e-10)
    near(clone(model).fit(X, y).transform(X), model.fit(data.X, data.y).transform(data.X))
    with pytest.raises(supdr.datasets.FileProblem, match=r"at most 5,000 are read.*load_svmlight_file"):
        supdr.datasets.preview(b"0 1:2\n1 9000:1\n", "wide.libsvm")


# --- large rows -------------------------------------------------------------------------------------------------------

LARGE = {
    "LSDR": supdr.LSDR(n_components=2),
    "SDRGLM": supdr.SDRGLM(n_components=2),
    "MAC": supdr.MAC(mapping="linear", random_state=0),
    **{name: BASELINES[name]() for name in ("PCAProjection", "LogisticUDR", "Constant")},
    "ElasticNet": ElasticNet(alpha=0.1),
    "LinearSVM": LinearSVM(),
    "LinearSVM, none": LinearSVM(preprocessing="none"),
}
QUICK = ("Constant",)


@functools.cache
def large_rows():
    """Return 20,000 rows of 50,000 columns, 1 in 1,000 stored, and their classes."""
    rng, (n, m, k) = np.random.default_rng(0), (20_000, 50_000, 50)
    codes = rng.integers(0, 2, n)
    columns = rng.integers(0, m, (n, k))
    columns[:, :10] = rng.integers(0, 500, (n, 10)) + 500 * codes[:, None]
    cells = rng.exponential(1.0, n * k) + 0.1
    return sparse.csr_array((cells, (np.repeat(np.arange(n), k), columns.ravel())), shape=(n, m)), codes


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in LARGE])
def test_large_rows_are_never_made_dense(name):
    """They would take 8 GB."""
    X, y = large_rows()
    estimator = clone(LARGE[name])
    tracemalloc.start()
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X[:19_000], y[:19_000])
        score = estimator.score(X[19_000:], y[19_000:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{name}: {time.process_time() - began:.1f} s of processor, {peak / 1e6:.0f} MB, score {score:.3f}")
    assert peak < 1e9
    assert name == "Constant" or score > (0.3 if name == "ElasticNet" else 0.95)

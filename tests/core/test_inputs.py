"""Tables of any library and arrays of any layout: the numbers of plain NumPy, or one sentence."""

import tempfile
import warnings

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import supdr
from supdr.baselines import LogisticPCA

ESTIMATORS = {**supdr.METHODS, **supdr.BASELINES, "LogisticPCA": LogisticPCA}
IN_FULL = ("LSDR", "MAC", "KNN", "PLS")  # methods, and baselines of one fit, for classes and numbers
OF_AN_EXTRA = ("UMAP", "PaCMAP")
BITS_ONLY = ("LogisticPCA",)
NAMES = ["a", "b", "c"]


def rows(n=24):
    """Numbers that float16 has, and two classes that they tell."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 2
    X = np.round(8 * (rng.standard_normal((n, 3)) + 2 * np.outer(codes, [1, 0, 1]))) / 8
    return X, codes.astype(float)


def mapped(X):
    """Rows in a file that is mapped into memory."""
    with tempfile.TemporaryFile() as file:
        array = np.memmap(file, dtype=np.float64, shape=X.shape, mode="w+")
    array[:] = X
    return array


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


TABLES = {
    "list": lambda X: X.tolist(),
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "longdouble": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "mapped": mapped,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, numbered": lambda X: pd.DataFrame(X, index=np.arange(len(X))[::-1]),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas, of Arrow": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, objects": lambda X: pd.DataFrame(X, columns=NAMES).astype(object),
    "polars": lambda X: polars.DataFrame(X, schema=NAMES),
    "Arrow": lambda X: pyarrow.table({name: X[:, j] for j, name in enumerate(NAMES)}),
    "Arrow, in pieces": lambda X: pyarrow.concat_tables(
        [pyarrow.table({name: part[:, j] for j, name in enumerate(NAMES)}) for part in (X[:7], X[7:])]
    ),
    "Arrow, one piece": lambda X: pyarrow.record_batch({name: X[:, j] for j, name in enumerate(NAMES)}),
}
SWITCHES = {
    "bool": lambda X: X > 0,
    "pandas, bool": lambda X: pd.DataFrame(X > 0, columns=NAMES),
    "pandas, boolean": lambda X: pd.DataFrame(X > 0, columns=NAMES).astype("boolean"),
    "polars, bool": lambda X: polars.DataFrame(X > 0, schema=NAMES),
    "Arrow, bool": lambda X: pyarrow.table({name: X[:, j] > 0 for j, name in enumerate(NAMES)}),
}
LABELS = {
    "list": lambda y: y.tolist(),
    "int8": lambda y: y.astype(np.int8),
    "big-endian": lambda y: y.astype(">f8"),
    "read-only": read_only,
    "float16": lambda y: y.astype(np.float16),
    "pandas": pd.Series,
    "pandas, nullable": lambda y: pd.Series(y).convert_dtypes(),
    "pandas, of Arrow": lambda y: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, levels": lambda y: pd.Series(pd.Categorical(y, categories=[0.0, 0.5, 1.0, 9.0])),
    "levels": lambda y: pd.Categorical(y, categories=[0.0, 0.5, 1.0, 9.0]),
    "polars": polars.Series,
    "Arrow": pyarrow.array,
    "Arrow, in pieces": lambda y: pyarrow.chunked_array([y[:5], y[5:]]),
}


def predictions(name, X, y):
    """What an estimator says of the rows that it was fitted to."""
    model = ESTIMATORS[name](random_state=0)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return model.predict(X), model.transform(X)


def check_alike(name, X, y, tables, labels):
    """Every table says what the array X says, and all labels say what y says."""
    expected = predictions(name, X, y)
    pairs = {kind: (table(X), y) for kind, table in tables.items()}
    pairs |= {f"y: {kind}": (X, table(y)) for kind, table in labels.items()}
    for kind, (table, labels) in pairs.items():
        predicted, places = predictions(name, table, labels)
        np.testing.assert_allclose(predicted.astype(float), expected[0], rtol=1e-9, atol=1e-12, err_msg=kind)
        np.testing.assert_allclose(places, expected[1], rtol=1e-9, atol=1e-12, err_msg=kind)


def check_all_kinds(name, tables, labels, switches):
    X, y = rows()
    if name not in BITS_ONLY:
        check_alike(name, X, y, tables, labels)
    check_alike(name, (X > 0).astype(float), y, switches, {})


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in IN_FULL else pytest.mark.slow) for n in ESTIMATORS])
def test_all_kinds_of_tables_say_what_an_array_says(name):
    check_all_kinds(name, TABLES, LABELS, SWITCHES)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in (*IN_FULL, *OF_AN_EXTRA)])
def test_every_estimator_reads_tables(name):
    """One of each library, and arrays that must be copied: the shell that all share converts the rest alike."""
    few = ("big-endian", "pandas, nullable", "polars", "Arrow, in pieces", "pandas, boolean")
    tables, labels, switches = (
        {kind: each[kind] for kind in few if kind in each} for each in (TABLES, LABELS, SWITCHES)
    )
    check_all_kinds(name, tables, labels, switches)


LEVELS = ["zero", "hot", "cold"]
NAMED = {
    "str": lambda y: pd.Series(y, dtype="str"),
    "string": lambda y: pd.Series(y, dtype="string"),
    "category": lambda y: pd.Series(pd.Categorical(y, categories=LEVELS)),
    "Categorical": lambda y: pd.Categorical(y, categories=LEVELS, ordered=True),
    "polars": lambda y: polars.Series(y.tolist()),
    "enum": lambda y: polars.Series(y.tolist(), dtype=polars.Enum(LEVELS)),
    "Arrow": pyarrow.array,
    "dictionary": lambda y: pyarrow.array(y).dictionary_encode(),
    "StringDType": lambda y: np.array(y.tolist(), dtype=np.dtypes.StringDType(na_object=None)),
}


@pytest.mark.parametrize("kind", NAMED)
def test_names_of_classes_of_any_kind(kind):
    X, codes = rows()
    names = np.where(codes == 1, "hot", "cold").astype(object)
    few = np.where(np.arange(len(X)) % 5 == 0, None, names)
    for y in (names, few):
        model = supdr.LSDR(random_state=0).fit(X, NAMED[kind](y))
        assert model.classes_.tolist() == ["cold", "hot"]
        np.testing.assert_array_equal(model.predict(X), supdr.LSDR(random_state=0).fit(X, y).predict(X))
        assert model.score(X, NAMED[kind](y)) == model.score(X, y)


MISSING = {
    "pandas": pd.DataFrame,
    "pandas.NA": lambda X: pd.DataFrame(X).convert_dtypes(),
    "pandas, of Arrow": lambda X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, objects": lambda X: pd.DataFrame(X).astype(object).mask(np.isnan(X), pd.NA),
    "None": lambda X: np.where(np.isnan(X), None, X),
    "masked": lambda X: np.ma.masked_array(np.where(np.isnan(X), 7.0, X), np.isnan(X)),
    "polars": lambda X: polars.DataFrame(X, schema=NAMES).fill_nan(None),
    "Arrow": lambda X: pyarrow.table([pyarrow.array(column, from_pandas=True) for column in X.T], names=NAMES),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_cells_of_any_kind(kind):
    X, y = rows()
    X[3, 1] = X[10, 0] = np.nan
    for cls in supdr.METHODS.values():
        if cls.accepts_missing_cells:
            expected = cls(random_state=0, max_iter=2).fit(X, y).transform(X)
            table = MISSING[kind](X)
            np.testing.assert_allclose(cls(random_state=0, max_iter=2).fit(table, y).transform(table), expected)
        else:
            with pytest.raises(ValueError, match="Input X contains NaN"):
                cls().fit(MISSING[kind](X), y)


def test_masked_labels_are_unlabelled():
    X, y = rows()
    masked = np.ma.masked_array(y, np.arange(len(y)) % 3 == 0)
    expected = supdr.LSDR(random_state=0).fit(X, np.where(masked.mask, np.nan, y))
    np.testing.assert_array_equal(supdr.LSDR(random_state=0).fit(X, masked).transform(X), expected.transform(X))


HEIGHTS = ["width", "height", "depth"]


def with_cell(X, value):
    X = X.copy()
    X[[2, 5], 1], X[7, 2] = value, value
    return X


def fractions(y):
    return y + np.where(np.arange(len(y)) == 3, 0.25, 0.0)


# What is wrong: rows and labels, the argument that is named, what came, and what is accepted or done.
BAD_INPUTS = {
    "missing cells": (
        lambda X, y: (with_cell(X, np.nan), y),
        r"^Input X contains NaN, cells of columns 'height' \(2\), 'depth' \(1\), the first in row 2: .*SimpleImputer",
    ),
    "infinite cells": (
        lambda X, y: (with_cell(X, -np.inf), y),
        r"^Input X contains infinity, cells of columns 'height' \(2\), 'depth' \(1\), the first in row 2: write",
    ),
    "numbers as labels": (
        lambda X, y: (X, fractions(y)),
        r"^Unknown label type: continuous\. Row 3 of y holds .*\.25, .* or whole numbers\. .*task='regression'",
    ),
    "fewer labels": (lambda X, y: (X, y[:-2]), "y must have one entry for each of the 24 rows of X; got 22"),
    "no label": (lambda X, y: (X, np.full(len(y), np.nan)), "^y has no labelled row: every value is missing"),
    "one class": (lambda X, y: (X, 0 * y), r"^classification needs at least two classes in y; got one class: 0\.0"),
    "infinite labels": (lambda X, y: (X, np.where(y == 1, np.inf, y)), "^Input y contains infinity"),
}


@pytest.mark.parametrize("kind", BAD_INPUTS)
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in BITS_ONLY])
def test_every_estimator_names_the_argument_what_came_and_what_is_accepted(name, kind):
    make, sentence = BAD_INPUTS[kind]
    X, y = make(*rows())
    model = ESTIMATORS[name]()
    task = getattr(model, "task", "classification")
    taken = (kind == "missing cells" and model.accepts_missing_cells) or (
        task == "regression" and kind in ("numbers as labels", "one class")
    )
    table = pd.DataFrame(X, columns=HEIGHTS)
    if taken:
        assert len(model.fit(table, y).embedding_) == len(X)
        return
    with pytest.raises(ValueError, match=sentence):
        model.fit(table, y)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in BITS_ONLY])
def test_a_unit_of_any_size_is_taken_or_x_is_what_the_error_speaks_of(name):
    X, y = rows()
    names = ESTIMATORS[name]().get_params()
    options = {"random_state": 0, **({"max_iter": 2} if "max_iter" in names else {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name != "Constant":  # which scales nothing
            made = ESTIMATORS[name](**options).fit(1e300 * X, y).transform(1e300 * X)
            assert np.isfinite(made).all()
        if "preprocessing" in names:
            model = ESTIMATORS[name](preprocessing="none", **options)
            with pytest.raises(ValueError, match=r"^X, once preprocessed, must hold numbers from .* to 1e\+150; got"):
                model.fit(1e300 * X, y)


DAYS = pd.date_range("2020-01-01", periods=24)
REFUSED = {
    "pandas, text": (lambda: pd.DataFrame({"a": ["x", "z"] * 12}), "column 'a' holds 'x'"),
    "pandas, levels": (lambda: pd.DataFrame({"a": pd.Categorical(["x", "z"] * 12)}), "column 'a' holds 'x'"),
    "polars, text": (lambda: polars.DataFrame({"a": ["x", "z"] * 12}), "column 'a' holds 'x'"),
    "Arrow, text": (lambda: pyarrow.table({"a": ["x", "z"] * 12}), "column 'a' holds 'x'"),
    "Arrow, lists": (lambda: pyarrow.table({"a": [[1.0, 2.0]] * 24}), "column 'a' holds array"),
    "pandas, dates": (lambda: pd.DataFrame({"a": DAYS}), "column 'a' holds datetime64"),
    "polars, dates": (lambda: polars.DataFrame({"a": DAYS.to_numpy()}), "column 'a' holds Datetime"),
    "Arrow, dates": (lambda: pyarrow.table({"a": DAYS}), r"column 'a' holds timestamp\[us\]"),
    "array, dates": (lambda: DAYS.to_numpy()[:, None], "it holds datetime64"),
    "not yet read": (lambda: polars.DataFrame({"a": np.arange(24)}).lazy(), "got a LazyFrame: call its collect"),
    "one dimension": (lambda: pd.Series(np.arange(24.0)), "Expected a 2-dimensional container"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_number_is_named(kind):
    table, sentence = REFUSED[kind]
    for cls in (supdr.LSDR, supdr.MAC, supdr.BASELINES["KNN"]):
        with pytest.raises(ValueError, match=sentence):
            cls().fit(table(), rows()[1])


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow"])
def test_names_of_columns_are_kept_and_maps_come_as_polars(kind):
    X, y = rows()
    model = supdr.LSDR(random_state=0).set_output(transform="polars").fit(TABLES[kind](X), y)
    assert model.feature_names_in_.tolist() == NAMES
    made = model.transform(TABLES[kind](X))
    assert isinstance(made, polars.DataFrame)
    assert made.columns == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(made.to_numpy(), supdr.LSDR(random_state=0).fit(X, y).transform(X))


@pytest.mark.parametrize("kind", TABLES)
def test_views_and_kernels_of_any_kind(kind):
    X = rows()[0][:4]
    stacked, sizes = supdr.stack_views([TABLES[kind](X), X])
    np.testing.assert_array_equal(stacked, np.hstack([X, X]))
    assert sizes == (3, 3)
    kernel = X[:3] @ X[:3].T
    expected = supdr.KernelViews().fit_transform([kernel])
    tolerance = 1e-3 if kind == "float16" else 1e-12  # products that float16 rounds
    np.testing.assert_allclose(supdr.KernelViews().fit_transform([TABLES[kind](kernel)]), expected, atol=tolerance)

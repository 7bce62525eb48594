"""Labels as they come: of several kinds, missing in several ways, -1; and scores and folds of partly labelled rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import supdr
from supdr.datasets import encode_labels, guess_task, hide_labels
from tests.core.inside import targets_of

X, Y = load_iris(return_X_y=True)
HIDDEN = np.arange(150) % 5 == 0
TEXT = np.array(["ash", "beech", "cedar"], dtype=object)[Y]


def masked(values, dtype):
    return pd.Series(values).astype(dtype).mask(HIDDEN)


PARTLY = {
    "float": np.where(HIDDEN, np.nan, Y),
    "list of floats": np.where(HIDDEN, np.nan, Y).tolist(),
    "objects with None": np.where(HIDDEN, None, Y.astype(object)),
    "objects with pandas.NA": np.where(HIDDEN, pd.NA, Y.astype(object)),
    "Int64": masked(Y, "Int64"),
    "array of Int64": masked(Y, "Int64").array,
    "Float64": masked(Y, "Float64"),
    "string": masked(TEXT, "string"),
    "category": masked(TEXT, "category"),
    "boolean": masked(Y == 1, "boolean"),
    "text with None": np.where(HIDDEN, None, TEXT),
    "list of text with NaN": [np.nan if hidden else label for hidden, label in zip(HIDDEN, TEXT)],
}


@pytest.mark.parametrize("name", list(PARTLY))
@pytest.mark.parametrize("method", ["LSDR", pytest.param("MAC", marks=pytest.mark.slow)])
def test_missing_labels_of_every_make(name, method):
    y = PARTLY[name]
    fitted = supdr.METHODS[method](max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(targets_of(fitted).labelled, ~HIDDEN)
    whole = {"boolean": Y == 1}.get(name, TEXT if "string" in name or "text" in name or name == "category" else Y)
    assert set(fitted.classes_) == set(whole)
    expected = np.mean(fitted.predict(X[~HIDDEN]) == whole[~HIDDEN])
    assert fitted.score(X, y) == pytest.approx(expected)
    assert expected > 0.7


def test_missing_values_of_a_regression():
    y = np.where(HIDDEN, np.nan, X[:, 2])
    for each in (y, pd.Series(y).astype("Float64"), y.tolist(), np.where(HIDDEN, None, X[:, 2].astype(object))):
        fitted = supdr.LSDR(task="regression", max_iter=5).fit(X[:, :2], each)
        assert fitted.score(X[:, :2], each) == fitted.score(X[~HIDDEN, :2], X[~HIDDEN, 2])


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([1, "a", 2.0], r"mixes numbers \(1\) and text \('a'\)"),
        (["a", True, "a"], r"mixes text \('a'\) and booleans \(True\)"),
        ([True, 2, 3], r"mixes booleans \(True\) and numbers \(2\)"),
        ([b"a", "b", "b"], r"mixes bytes \(b'a'\) and text"),
        (["a", None, 3], r"mixes text \('a'\) and numbers \(3\)"),
    ],
)
def test_labels_of_several_kinds_are_refused(labels, says):
    many = labels * 50
    for y in (many, np.array(many, dtype=object), pd.Series(many, dtype=object)):
        with pytest.raises(ValueError, match=says):
            supdr.LSDR().fit(X, y)
        with pytest.raises(ValueError, match=says):
            encode_labels(y)


@pytest.mark.parametrize("labels", [[1, 2.0, 3], [np.float32(1), 2, np.int8(3)], ["a", np.str_("b"), "c"]])
def test_labels_of_one_kind_are_taken(labels):
    assert len(supdr.LSDR(max_iter=2).fit(X, np.array(labels * 50, dtype=object)).classes_) == 3


@pytest.mark.parametrize("dtype", [int, float])
def test_minus_one_beside_classes_is_asked_about(dtype):
    y = np.where(HIDDEN, -1, Y).astype(dtype)
    with pytest.warns(UserWarning, match=r"y holds -1 beside 0.*missing_label=-1, else missing_label=None"):
        assert len(supdr.LSDR(max_iter=2).fit(X, y).classes_) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(supdr.LSDR(max_iter=2, missing_label=-1).fit(X, y).classes_) == 3
        assert len(supdr.LSDR(max_iter=2, missing_label=None).fit(X, y).classes_) == 4


@pytest.mark.parametrize("labels", [[-1, 1], [-1, 0], [-2, -1, 0], [-1.5, -1, 3], ["-1", "0", "1"]])
def test_minus_one_as_a_sign_is_not(labels):
    y = np.array(labels)[Y % len(labels)]
    if y.dtype.kind == "f":
        y = y * 2  # -3, -2, 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        supdr.LSDR(max_iter=2).fit(X, y)


@pytest.mark.parametrize("missing_label", [[], [1, 2], np.zeros(3)])
def test_a_mark_of_missing_labels_is_one_value(missing_label):
    with pytest.raises(ValueError, match="missing_label must be a single value"):
        supdr.LSDR(missing_label=missing_label).fit(X, Y)


@pytest.mark.parametrize("missing_label", [None, np.nan, pd.NA, -1, "?", 7.5])
def test_marks_that_do_not_occur(missing_label):
    assert supdr.LSDR(missing_label=missing_label, max_iter=2).fit(X, Y).score(X, Y) > 0.7


def test_a_mark_beside_missing_values():
    y = np.where(HIDDEN, pd.NA, Y.astype(object))
    y[1::5] = 2
    fitted = supdr.LSDR(missing_label=2, max_iter=2).fit(X, y)
    np.testing.assert_array_equal(targets_of(fitted).labelled, ~HIDDEN & (Y != 2) & (np.arange(150) % 5 != 1))


def test_missing_cells_of_every_make():
    table = pd.DataFrame(X, columns=list("abcd"))
    expected = table.copy()
    expected.iloc[3, 1] = np.nan
    expected = supdr.LSDR(max_iter=5).fit(expected, Y).transform(expected)
    for dtype, nothing in (("Float64", pd.NA), (object, pd.NA), (object, None)):
        given = table.astype(dtype)
        given.iloc[3, 1] = nothing
        np.testing.assert_array_equal(supdr.LSDR(max_iter=5).fit(given, Y).transform(given), expected)
        array = given.to_numpy(dtype=object)
        np.testing.assert_array_equal(supdr.LSDR(max_iter=5).fit(array, Y).transform(array), expected)
        with pytest.raises(ValueError, match="contains NaN"):
            supdr.MAC().fit(given, Y)


def test_helpers_know_every_missing_value():
    y = masked(Y, "Int64")
    assert guess_task(y) == "classification"
    codes, names = encode_labels(y)
    np.testing.assert_array_equal(codes, np.where(HIDDEN, np.nan, Y))
    assert names == ("0", "1", "2")
    np.testing.assert_array_equal(pd.isna(hide_labels(y, 1.0)), HIDDEN)


# --- scores and folds -------------------------------------------------------------------------------------------------


def test_a_score_of_no_labelled_row():
    fitted = supdr.LSDR(max_iter=2).fit(X, Y)
    with pytest.raises(ValueError, match="y has no labelled row"):
        fitted.score(X, np.full(150, np.nan))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        fitted.score(X, Y[:10])


def test_a_score_weighs_the_labelled_rows():
    y, weights = np.where(HIDDEN, np.nan, Y), np.random.default_rng(0).random(150)
    fitted = supdr.LSDR(max_iter=2).fit(X, y)
    right = fitted.predict(X)[~HIDDEN] == Y[~HIDDEN]
    assert fitted.score(X, y, sample_weight=weights) == pytest.approx(np.average(right, weights=weights[~HIDDEN]))
    assert supdr.LSDR(missing_label=-1).fit(X, Y).score(X, np.where(HIDDEN, -1, Y)) == pytest.approx(
        np.mean(supdr.LSDR().fit(X, Y).predict(X[~HIDDEN]) == Y[~HIDDEN])
    )


@pytest.mark.parametrize(
    "method", [pytest.param(each, marks=[] if each in ("LSDR", "MAC") else pytest.mark.slow) for each in supdr.METHODS]
)
def test_cross_validation_of_partly_labelled_rows(method):
    model = supdr.METHODS[method](random_state=0, max_iter=5)
    regression = method == "SNF"
    y = np.where(HIDDEN, np.nan, X[:, 2] if regression else Y)
    columns = X[:, :2] if regression else X
    for cv in (supdr.PartlyLabelledKFold(3, random_state=0), KFold(3, shuffle=True, random_state=0)):
        scores = cross_val_score(model, columns, y, cv=cv, error_score="raise")
        assert scores.shape == (3,)
        assert (scores > 0.5).all()


def test_grid_search_of_partly_labelled_rows():
    X, y = load_wine(return_X_y=True)
    y = np.where(np.arange(len(y)) % 3, np.nan, y)
    search = GridSearchCV(
        supdr.LSDR(max_iter=10), {"beta": [0.02, 1.0]}, cv=supdr.PartlyLabelledKFold(4, random_state=0)
    )
    assert search.fit(X, y).best_params_ == {"beta": 0.02}


@pytest.mark.parametrize("name", list(PARTLY))
def test_folds(name):
    folds = supdr.PartlyLabelledKFold(4, random_state=1)
    parts = list(folds.split(X, PARTLY[name]))
    assert len(parts) == folds.get_n_splits() == 4
    assert sorted(np.concatenate([test for _, test in parts])) == list(np.flatnonzero(~HIDDEN))
    labels = Y == 1 if name == "boolean" else Y
    for train, test in parts:
        assert set(np.flatnonzero(HIDDEN)) <= set(train)
        assert not set(train) & set(test)
        assert len(train) + len(test) == 150
        counts = np.unique(labels[test], return_counts=True)[1]
        assert counts.max() - counts.min() <= (1 if name != "boolean" else 12)
    again = list(folds.split(X, PARTLY[name]))
    assert all(np.array_equal(one[1], other[1]) for one, other in zip(parts, again))


def test_folds_of_values_are_not_stratified():
    parts = list(supdr.PartlyLabelledKFold(3, random_state=0).split(X, np.where(HIDDEN, np.nan, X[:, 0] + 0.01)))
    assert [len(test) for _, test in parts] == [40, 40, 40]
    targets = np.column_stack([X[:, 0], np.where(HIDDEN, np.nan, X[:, 1])])
    assert sum(len(test) for _, test in supdr.PartlyLabelledKFold(3).split(X, targets)) == 120
    plain = supdr.PartlyLabelledKFold(3, stratify=False, shuffle=False).split(X, Y)
    assert [set(Y[test]) for _, test in plain] == [{0}, {1}, {2}]
    marked = supdr.PartlyLabelledKFold(3, missing_label=-1).split(X, np.where(HIDDEN, -1, Y))
    assert sum(len(test) for _, test in marked) == 120


def test_bad_folds():
    for bad in ({"n_splits": 1}, {"n_splits": "x"}, {"shuffle": 3}, {"stratify": "yes"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            supdr.PartlyLabelledKFold(**bad)
    few = np.full(150, np.nan)
    few[:3] = 1.0
    with pytest.raises(ValueError, match=r"n_splits=5 needs as many labelled rows; y has 3"):
        next(supdr.PartlyLabelledKFold().split(X, few))
    assert repr(supdr.PartlyLabelledKFold(3)).startswith("PartlyLabelledKFold(")

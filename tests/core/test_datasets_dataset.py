"""The Dataset container and the handling of labels."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from supdr.datasets import Dataset, encode_labels, guess_task, hide_labels, load

X = np.arange(12.0).reshape(4, 3)
Y = [0, 1, 0, 1]


def test_arrays_are_float64_and_contiguous():
    dataset = Dataset(np.asfortranarray(X.astype(np.float32)), Y)
    for array in dataset.to_xy():
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (4, 3, 2)


def test_defaults_name_columns_and_classes():
    dataset = Dataset(X, Y)
    assert dataset.feature_names == ("x1", "x2", "x3")
    assert dataset.target_names == ("0", "1")
    assert dataset.labelled.all()


def test_labels_give_names_back():
    dataset = Dataset(X, [0, None, 1, np.nan], target_names=["no", "yes"])
    assert list(dataset.labels) == ["no", None, "yes", None]
    assert list(dataset.labelled) == [True, False, True, False]
    values = Dataset(X, [0.5, 1, 2, 3], task="regression", target_names=["price"])
    assert values.n_classes == 0
    np.testing.assert_array_equal(values.labels, values.y)


def test_is_frozen():
    with pytest.raises(AttributeError):
        Dataset(X, Y).name = "other"


def test_to_xy_suits_scikit_learn():
    features, targets = load("iris").to_xy()
    assert LogisticRegression(max_iter=1000).fit(features, targets).score(features, targets) > 0.9


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"X": X[0]}, "X must have two dimensions"),
        ({"X": X[:0], "y": []}, "X must have at least one row"),
        ({"X": [["a", "b"]] * 4}, "X must hold numbers"),
        ({"X": np.where(X == 4, np.inf, X)}, "X must be finite .* row 1, column 1"),
        ({"y": [0, 1]}, "y must have one entry per row"),
        ({"y": ["a", "b", "a", "b"]}, "y must hold numbers"),
        ({"y": [0, 1, np.inf, 1]}, "y must be finite"),
        ({"y": [-1, 1, -1, 1]}, "y must hold class numbers 0 to 1 .* got -1"),
        ({"y": [0, 0.5, 1, 1]}, "y must hold class numbers .* got 0.5"),
        ({"y": [0, 0, 0, 0]}, "target_names: classification needs at least 2 classes, got 1"),
        ({"target_names": ["a"]}, "target_names: classification needs at least 2"),
        ({"target_names": ["a", "a"]}, "target_names must be distinct"),
        ({"task": "regression", "target_names": ["a", "b"]}, "target_names: regression has one target"),
        ({"feature_names": ["a"]}, "feature_names must name 3 columns, got 1"),
        ({"feature_names": ["a", "b", "a"]}, "feature_names must be distinct, got 'a'"),
        ({"task": "clustering"}, "task must be"),
        ({"views": (1, 1)}, "views must be .* add up to 3"),
        ({"views": (3, 0)}, "views must be positive"),
        ({"views": ()}, "views must be positive"),
        ({"image_shape": (2, 2)}, "image_shape must be"),
        ({"image_shape": (3,)}, "image_shape must be"),
        ({"truth": [0, 1]}, "truth must have one entry per row"),
    ],
)
def test_each_field_is_checked(fields, words):
    with pytest.raises(ValueError, match=words):
        Dataset(**({"X": X, "y": Y} | fields))


def test_hide_labels_keeps_the_truth():
    dataset = load("wine")
    few = dataset.hide_labels(0.1, random_state=0)
    fewer = few.hide_labels(0.5, random_state=0)
    np.testing.assert_array_equal(few.truth, dataset.y)
    np.testing.assert_array_equal(fewer.truth, dataset.y)
    assert 0 < fewer.labelled.sum() < few.labelled.sum() < dataset.n_samples
    assert dataset.labelled.all()
    kept = few.labelled
    np.testing.assert_array_equal(few.y[kept], few.truth[kept])


LABELS = np.repeat([0, 1, 2], [100, 40, 3])


@pytest.mark.parametrize(
    "labels", [LABELS, LABELS.astype(float), LABELS.astype(str), LABELS.astype(str).astype(object)]
)
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_hidden_labels_are_stratified(labels, share):
    hidden = hide_labels(labels, share, random_state=1)
    kept = np.array([value is not None and value == value for value in hidden])
    assert hidden.dtype == (float if labels.dtype.kind in "if" else object)
    np.testing.assert_array_equal(hidden[kept], labels[kept])
    for label, size in zip(*np.unique(LABELS, return_counts=True)):
        n_kept = kept[label == LABELS].sum()
        assert n_kept >= 1
        assert abs(n_kept - share * size) <= 0.5 or n_kept == 1


def test_hide_labels_is_nested_seeded_and_does_not_write():
    before = LABELS.copy()
    kept = [~np.isnan(hide_labels(LABELS, share, random_state=3)) for share in (0.1, 0.3, 0.9)]
    assert np.all(kept[0] <= kept[1])
    assert np.all(kept[1] <= kept[2])
    again = ~np.isnan(hide_labels(LABELS, 0.3, random_state=3))
    other = ~np.isnan(hide_labels(LABELS, 0.3, random_state=4))
    np.testing.assert_array_equal(kept[1], again)
    assert np.any(other != again)
    np.testing.assert_array_equal(LABELS, before)


def test_hide_labels_leaves_unlabelled_rows_alone():
    y = np.where(np.arange(100) % 2, np.nan, np.linspace(0, 1, 100))
    hidden = hide_labels(y, 0.5, random_state=0)
    assert np.isnan(hidden[1::2]).all()
    assert (~np.isnan(hidden)).sum() == 25


@pytest.mark.parametrize(
    ("y", "share", "words"),
    [([0, 1], 0, "share must be in"), ([0, 1], 1.5, "share must be in"), ([0, 1], np.nan, "share must be in")]
    + [([[0, 1]], 0.5, "y must be a vector"), ([np.nan, np.nan], 0.5, "no label"), ([None, None], 0.5, "no label")],
)
def test_hide_labels_refuses(y, share, words):
    with pytest.raises(ValueError, match=words):
        hide_labels(y, share)


@pytest.mark.parametrize(
    ("labels", "codes", "names"),
    [
        (["b", "a", None, "b"], [1, 0, np.nan, 1], ("a", "b")),
        ([10, -1, 2, 10], [2, 0, 1, 2], ("-1", "2", "10")),
        ([1.0, np.nan, 0.5], [1, np.nan, 0], ("0.5", "1")),
        ([True, False], [1, 0], ("False", "True")),
        (np.array([2, None, 10], dtype=object), [0, np.nan, 1], ("2", "10")),
    ],
)
def test_encode_labels(labels, codes, names):
    y, target_names = encode_labels(labels)
    np.testing.assert_array_equal(y, codes)
    assert target_names == names


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([0, 1, 2, np.nan], "classification"),
        ([True, False], "classification"),
        (np.arange(20), "classification"),
        (np.arange(21), "regression"),
        ([0.0, 0.5], "regression"),
        (np.array([1, None, 2], dtype=object), "classification"),
        (np.array(["a", None], dtype=object), "classification"),
    ],
)
def test_guess_task(y, task):
    assert guess_task(y) == task


def test_metadata_are_numbers_or_texts_beside_the_features():
    columns = {
        "year": [2007, 2008, 2009, 2010],
        "note": ["a", None, float("nan"), 4],
        "right": [True, False, True, True],
    }
    dataset = Dataset(X, Y, metadata=columns, target_name="species")
    assert dataset.metadata["year"].dtype == dataset.metadata["right"].dtype == np.float64
    assert dataset.metadata["note"].tolist() == ["a", None, None, "4"]
    assert Dataset(X, Y).metadata == {}
    assert dataset.target_name == "species"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [({"note": ["a", "b"]}, "one entry per row"), ({"x2": ["a"] * 4}, "called as a feature"), ({"note": "a"}, "shape")],
)
def test_bad_metadata(metadata, words):
    with pytest.raises(ValueError, match=words):
        Dataset(X, Y, metadata=metadata)

"""Data in several views: the toys with local structure, digits in four views, column groups, precomputed kernels."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from supdr import SLDR
from supdr.datasets import load, load_digits, make_gauss4, make_multiview_digits, make_zigzag, read_file
from supdr.engine.column_groups import column_groups, stack_views
from supdr.kernel_views import KernelViews

# --- toys -------------------------------------------------------------------------------------------------------------


def test_zigzag_keeps_its_gap_on_both_sides():
    data = make_zigzag(2000, random_state=0)
    height = np.interp(data.X[:, 0], [-3, -1, 1, 3], [-1.5, 1.5, -1.5, 1.5])
    side = np.where(data.y == 1, 1, -1)
    distance = side * (data.X[:, 1] - height)
    assert distance.min() >= 0.2
    assert distance.mean() == pytest.approx(0.8, abs=0.05)  # 0.2 + Exp(0.6)
    assert np.abs(data.X[:, 0]).max() <= 3
    assert data.y.mean() == pytest.approx(0.5, abs=0.05)


def test_gauss4_has_the_stated_clouds_and_bayes_rate():
    data = make_gauss4(200_000, random_state=0)
    clouds = [
        ([-3.0, 1.0], [0.8, 2.0]),
        ([1.0, 1.0], [0.8, 2.0]),
        ([-1.0, -2.2], [0.8, 4.0]),
        ([3.0, -2.2], [0.8, 4.0]),
    ]

    def density(mean, variance):
        return np.exp(-0.5 * ((data.X - mean) ** 2 / variance).sum(axis=1)) / np.sqrt(np.prod(variance))

    densities = [density(mean, np.array(variance)) for mean, variance in clouds]
    best = (densities[2] + densities[3] > densities[0] + densities[1]).astype(int)
    assert np.mean(best == data.y) == pytest.approx(0.896, abs=0.004)
    upper = data.X[data.y == 0]
    np.testing.assert_allclose(upper.mean(axis=0), [-1.0, 1.0], atol=0.03)
    np.testing.assert_allclose(upper.var(axis=0), [0.8 + 4.0, 2.0], atol=0.06)


@pytest.mark.parametrize(("make", "least"), [(make_zigzag, 2), (make_gauss4, 4)])
def test_toys_are_seeded_and_named_in_the_catalogue(make, least):
    name = make.__name__.removeprefix("make_")
    np.testing.assert_array_equal(make(50, random_state=3).X, load(name, n_samples=50, random_state=3).X)
    assert (make(50, random_state=3).X != make(50, random_state=4).X).any()
    assert make(least, random_state=0).n_classes == 2
    assert len(np.unique(make(least, random_state=0).y)) == 2
    for bad in (least - 1, 10.0, True):
        with pytest.raises(ValueError, match="n_samples"):
            make(bad)


def test_multiview_digits_are_what_they_say():
    data = load("multiview_digits")
    pixels = load_digits().X
    assert data.views == (64, 16, 16, 12)
    assert sum(data.views) == data.n_features
    views = np.split(data.X, np.cumsum(data.views)[:-1], axis=1)
    np.testing.assert_array_equal(views[0], pixels)
    pictures = pixels.reshape(-1, 8, 8)
    np.testing.assert_array_equal(views[1], np.hstack([pictures.sum(axis=2), pictures.sum(axis=1)]))
    np.testing.assert_allclose(views[2][:, 0], pixels.sum(axis=1))  # frequency 0 is the sum
    variances = views[3].var(axis=0)
    assert (np.diff(variances) < 0).all()
    np.testing.assert_allclose(np.cov(views[3].T) - np.diag(np.diag(np.cov(views[3].T))), 0.0, atol=1e-8)
    assert {name.split(":")[0] for name in data.feature_names} == {"pixels", "profiles", "fourier", "components"}


def test_multiview_digits_can_be_thinned():
    some = make_multiview_digits(200, random_state=1)
    assert some.n_samples == 200
    np.testing.assert_array_equal(some.X, make_multiview_digits(200, random_state=1).X)
    for bad in (19, 1798, 50.0):
        with pytest.raises(ValueError, match="n_samples"):
            make_multiview_digits(bad)


def test_multiview_digits_come_in_two_classes_too():
    ten, two = make_multiview_digits(), make_multiview_digits(classes="halves")
    np.testing.assert_array_equal(two.X, ten.X)
    np.testing.assert_array_equal(two.y, ten.y >= 5)
    assert two.n_classes == len(two.target_names) == 2
    with pytest.raises(ValueError, match="classes must be 'digits' or 'halves'; got 'odd'"):
        make_multiview_digits(classes="odd")


# --- column groups ----------------------------------------------------------------------------------------------------


def test_stacked_views_come_apart_again():
    rng = np.random.default_rng(0)
    tables = [rng.standard_normal((7, width)) for width in (2, 1, 4)]
    X, sizes = stack_views(tables)
    assert sizes == (2, 1, 4)
    for table, columns in zip(tables, column_groups(sizes, X.shape[1])):
        np.testing.assert_array_equal(X[:, columns], table)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([], "at least one view"),
        ([np.zeros((3, 2)), np.zeros((4, 2))], "view 1 has 4 rows"),
        ([np.zeros(3)], "view 0 must have shape"),
        ([np.zeros((3, 0))], "view 0 must have shape"),
        (5, "arrays must be one list of tables"),
        ("views", "arrays must be one list of tables"),
        ({"a": np.zeros((3, 2))}, "arrays must be one list of tables"),
        ([np.zeros((3, 2)), [["a"], ["b"], ["c"]]], "view 1 must be a table of numbers"),
        ([np.zeros((1, 2)), [[pd.NA]]], "view 1 must be a table of numbers"),
        ([[[1.0, 2.0], [3.0]]], "view 0 must be a table of numbers"),
    ],
)
def test_views_that_cannot_be_stacked(arrays, message):
    with pytest.raises(ValueError, match=message):
        stack_views(arrays)


def test_views_come_as_one_list():
    with pytest.raises(ValueError, match=r"one list of tables, as in stack_views\(\[A, B\]\); got 2 arguments"):
        stack_views(np.zeros((3, 2)), np.zeros((3, 1)))


def test_column_groups():
    assert [list(group) for group in column_groups(None, 3)] == [[0, 1, 2]]
    assert [list(group) for group in column_groups((1, 2), 3)] == [[0], [1, 2]]
    assert [list(group) for group in column_groups([[0, 2], [2, 1]], 3)] == [[0, 2], [2, 1]]


@pytest.mark.parametrize(
    "views", [(2, 2), (3, 0), (), [[0], []], [[0, 3]], [[1, 1]], [[0.5]], [[-1]], (3.0,), [True, 2]]
)
def test_bad_column_groups(views):
    with pytest.raises(ValueError, match="views"):
        column_groups(views, 3)


def test_uploaded_views_are_those_of_the_methods():
    """Several arrays in an NPZ file, or columns called view:feature in a table, become `views` of SLDR."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    tables = {"shape": rng.standard_normal((40, 3)) + y[:, None], "colour": rng.standard_normal((40, 2))}
    packed = io.BytesIO()
    np.savez(packed, **tables, y=y)
    header = ",".join([f"{name}:{k}" for name, table in tables.items() for k in range(table.shape[1])] + ["y"])
    lines = [",".join(map(repr, map(float, row))) for row in np.column_stack([*tables.values(), y])]
    text = "\n".join([header, *lines]).encode()
    for content, name in ((packed.getvalue(), "two.npz"), (text, "two.csv")):
        data = read_file(content, name=name)
        assert sorted(data.views) == [2, 3]
        fitted = SLDR(views=data.views, max_iter=3, random_state=0).fit(*data.to_xy())
        assert fitted.gate(data.X).shape == (40, 2)
        assert {len(W) for W in fitted.projections_} == {2, 3}


# --- kernels ----------------------------------------------------------------------------------------------------------


def kernels(n_new=5):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((30, 4)), rng.standard_normal((n_new, 4))
    square = ((A[:, None] - A) ** 2).sum(axis=2), ((B[:, None] - A) ** 2).sum(axis=2)
    return A, B, [A @ A.T, np.exp(-square[0])], [B @ A.T, np.exp(-square[1])]


def test_features_reproduce_the_centred_kernels():
    A, B, train, new = kernels()
    front = KernelViews().fit(train)
    assert front.views_ == (4, 29)
    features, folded = front.transform(train), front.transform(new)
    H = np.eye(30) - 1 / 30
    for K, columns in zip(train, column_groups(front.views_, 33)):
        part = features[:, columns]
        np.testing.assert_allclose(part @ part.T, H @ K @ H, atol=1e-12)
    linear = folded[:, :4] @ features[:, :4].T  # against centred features
    np.testing.assert_allclose(linear, (B - A.mean(axis=0)) @ (A - A.mean(axis=0)).T, atol=1e-12)


def test_kernels_may_come_in_three_shapes():
    _, _, train, new = kernels()
    expected = KernelViews(3).fit(train).transform(new)
    assert expected.shape == (5, 6)
    for form in (np.stack, np.hstack):
        np.testing.assert_allclose(KernelViews(3).fit(form(train)).transform(form(new)), expected)
    np.testing.assert_allclose(clone(KernelViews(3)).fit_transform(train), KernelViews(3).fit(train).transform(train))


def test_the_empirical_kernel_map_is_the_kernel_matrix():
    _, _, train, new = kernels()
    front = KernelViews(method="empirical").fit(train)
    assert front.views_ == (30, 30)
    np.testing.assert_array_equal(front.transform(train), np.hstack(train))
    for form in (list, np.stack, np.hstack):
        np.testing.assert_array_equal(clone(front).fit(form(train)).transform(form(new)), np.hstack(new))
    indefinite = np.diag([1.0, 1.0, -1.0])
    np.testing.assert_array_equal(KernelViews(method="empirical").fit_transform([indefinite]), indefinite)


def test_a_linear_model_on_the_empirical_map_is_a_kernel_expansion():
    """Ridge on the rows of K against its closed form in the coefficients of f(x) = sum_i a_i k(x, x_i)."""
    A, _, (_, K), (_, folded) = kernels()
    y = np.sin(A[:, 0])
    front = KernelViews(method="empirical").fit([K])
    model = Ridge(alpha=0.1, fit_intercept=False, solver="svd").fit(front.transform([K]), y)
    expansion = np.linalg.solve(K @ K + 0.1 * np.eye(30), K @ y)
    np.testing.assert_allclose(model.predict(front.transform([folded])), folded @ expansion, rtol=1e-8)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([np.zeros((3, 2))], "kernel 0 must be square"),
        ([np.eye(3), np.triu(np.ones((3, 3)))], "kernel 1 must be symmetric"),
        ([-np.eye(3)], "kernel 0 (must not be constant|must be positive)"),
        ([np.diag([1.0, 1.0, -1.0])], "kernel 0 must be positive semi-definite"),
        ([np.full((3, 3), np.nan)], "kernel 0 contains NaN"),
        ([np.ones((3, 3))], "kernel 0 must not be constant"),
        ([np.eye(3), np.eye(4)], "same rows"),
        ([], "at least one kernel"),
        (np.ones((3, 4)), "side by side"),
    ],
)
def test_bad_kernels(bad, message):
    with pytest.raises(ValueError, match=message):
        KernelViews().fit(bad)


def test_kernels_of_new_rows_must_fit():
    _, _, train, new = kernels()
    for method in ("kpca", "empirical"):
        front = KernelViews(method=method).fit(train)
        with pytest.raises(ValueError, match="2 kernels"):
            front.transform(new[:1])
        with pytest.raises(ValueError, match="30 columns"):
            front.transform([table[:, :-1] for table in new])
        with pytest.raises(NotFittedError):
            KernelViews(method=method).transform(new)
    empirical = {"n_components": 3, "method": "empirical"}
    for settings in ({"n_components": 0}, {"tol": 1.0}, {"method": "nystroem"}, empirical):
        with pytest.raises(ValueError, match=next(iter(settings))):
            KernelViews(**settings).fit(train)
    with pytest.raises(ValueError, match="kernel 1 must be symmetric"):
        KernelViews(method="empirical").fit([np.eye(3), np.triu(np.ones((3, 3)))])

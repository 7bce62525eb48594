"""Kernels: values against their formula, derivatives against finite differences, from one list."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from supdr.functions import kernels
from supdr.functions.kernels import Kernel, poly_slope, rbf_value

EXAMPLES = [
    Kernel("linear"),
    Kernel("poly", degree=1, coef0=0.5),
    Kernel("poly", degree=2),
    Kernel("poly", degree=3),
    Kernel("poly", degree=4, coef0=0.0),
    Kernel("rbf", gamma=0.7),
    Kernel("rbf", gamma=30.0),
]


def value(kernel, a, b):
    """The formulas of the module's docstring, for one pair."""
    if kernel.name == "linear":
        return a @ b
    if kernel.name == "poly":
        return (a @ b + kernel.coef0) ** kernel.degree
    return np.exp(-kernel.gamma * ((a - b) ** 2).sum())


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(9, 3)), rng.normal(size=(5, 3))


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
def test_values_follow_the_formula(kernel, rows):
    A, B = rows
    expected = np.array([[value(kernel, a, b) for b in B] for a in A])
    np.testing.assert_allclose(kernel.matrix(A, B), expected, rtol=1e-12, atol=1e-13)
    assert kernel.matrix(A, B[:0]).shape == (9, 0)  # no support vectors yet


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
def test_square_matrix_is_symmetric_positive_and_has_the_diagonal(kernel, rows):
    A, _ = rows
    K = kernel.matrix(A)
    np.testing.assert_allclose(K, K.T, rtol=1e-13)
    np.testing.assert_allclose(np.diag(K), kernel.diagonal(A), rtol=1e-13)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def test_parity_with_scikit_learn(rows):
    A, B = rows
    np.testing.assert_allclose(Kernel("poly", degree=3).matrix(A, B), polynomial_kernel(A, B, 3, 1.0, 1.0), rtol=1e-12)
    np.testing.assert_allclose(Kernel("rbf", gamma=0.3).matrix(A, B), rbf_kernel(A, B, 0.3), rtol=1e-12)


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
@pytest.mark.parametrize("n_heads", [1, 3])
def test_gradient_matches_finite_differences(kernel, n_heads, rows):
    Z, _ = rows
    weights = np.random.default_rng(1).normal(size=(len(Z), n_heads))

    def form(Z):
        return 0.5 * np.einsum("ik,il,lk->", weights, kernel.matrix(Z), weights)

    numeric, step = np.zeros_like(Z), 1e-5
    for index in np.ndindex(*Z.shape):
        move = np.zeros_like(Z)
        move[index] = step
        numeric[index] = (form(Z + move) - form(Z - move)) / (2 * step)
    gradient = kernel.gradient(Z, weights)
    assert np.abs(gradient - numeric).max() <= 1e-7 * np.abs(numeric).max()


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
def test_blocks_do_not_show(kernel):
    """Of more than one block, the matrix is that of its rows one by one, and the gradient the same in any order."""
    rng = np.random.default_rng(2)
    A, B, weights = rng.normal(size=(450, 4)), rng.normal(size=(300, 4)), rng.normal(size=(450, 2))
    assert len(A) * len(B) > kernels.BLOCK
    for whole, others in ((kernel.matrix(A), A), (kernel.matrix(A, B), B)):
        rows = [kernel.matrix(A[i : i + 1], others)[0] for i in range(len(A))]
        np.testing.assert_allclose(whole, rows, rtol=1e-12, atol=1e-13)
    order = rng.permutation(len(A))
    expected = kernel.gradient(A, weights)[order]
    np.testing.assert_allclose(
        kernel.gradient(A[order], weights[order]), expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max()
    )


def test_distances_of_far_away_points_keep_their_digits(rows):
    A, B = rows
    kernel = Kernel("rbf", gamma=2.0)
    np.testing.assert_allclose(kernel.matrix(A + 1e4, B + 1e4), kernel.matrix(A, B), rtol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_scalar_forms(degree):
    step = 1e-6
    numeric = ((0.3 + step + 0.5) ** degree - (0.3 - step + 0.5) ** degree) / (2 * step)
    assert poly_slope(0.3, degree, 0.5) == pytest.approx(numeric, rel=1e-8)
    assert rbf_value(0.3, 2.0) == pytest.approx(np.exp(-0.6))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "gaussian"}, "kernel must be one of linear, poly, rbf; got 'gaussian'"),
        ({"name": "poly", "degree": 0}, "degree must be an integer of at least 1; got 0"),
        ({"name": "poly", "degree": 1.5}, "degree must be"),
        ({"gamma": 0.0}, "gamma must be a positive number; got 0.0"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"gamma": np.nan}, "gamma must be"),
        ({"coef0": -1}, "coef0 must be a number >= 0; got -1"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Kernel(**settings)


def test_a_matrix_too_large_is_refused_with_its_size():
    with pytest.raises(ValueError, match=r"20001 x 20001 numbers needs 3\.2 GB of memory; at most 20000 labelled rows"):
        Kernel().matrix(np.zeros((20_001, 2)))


def test_lack_of_memory_says_how_much_was_asked_for():
    many = np.broadcast_to(np.zeros((1, 2)), (10**8, 2))
    with pytest.raises(MemoryError, match=r"needs 80000000\.0 GB of memory"):
        Kernel().matrix(many, many)

"""The linear support vector machine: certificates, parity with LIBSVM, invariances, warm starts, errors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.solvers._linear_svm_kernels import _step_length
from supdr.solvers.linear_svm import solve_heads, solve_linear_svm
from supdr.solvers.sparse_svm import best_bias, solve_sparse_svm


def overlapping(n, d, seed=0, shift=1.28):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    Z = rng.standard_normal((n, d))
    Z[:, 0] += shift * y
    return Z, y


def primal(Z, y, C, coef, bias, offset=0.0):
    return 0.5 * coef @ coef + (C * np.maximum(0.0, 1.0 - y * (Z @ coef + bias + offset))).sum()


CASES = [
    (300, 1, 1.0),
    (300, 10, 1000.0),
    (1000, 2, 0.1),
    (1000, 5, 10.0),
    (2000, 2, 100.0),
    (60, 20, 0.01),
    (40, 60, 1.0),
]


@pytest.mark.parametrize(("n", "d", "C"), CASES)
def test_optimality_conditions_hold(n, d, C):
    Z, y = overlapping(n, d)
    solution = solve_linear_svm(Z, y, C, tol=1e-8)
    assert solution.converged
    value = primal(Z, y, C, solution.coef, solution.bias)
    assert value == pytest.approx(solution.objective + solution.gap, rel=1e-12)
    assert -1e-10 * value <= solution.gap <= 1e-8 * value
    assert ((solution.alpha >= 0.0) & (solution.alpha <= C)).all()
    assert abs(solution.alpha @ y) <= 1e-10 * C * n
    np.testing.assert_allclose(
        Z.T @ (solution.alpha * y), solution.coef, atol=1e-3 * (1.0 + np.abs(solution.coef).max())
    )
    dual = solution.alpha.sum() - 0.5 * ((Z.T @ (solution.alpha * y)) ** 2).sum()
    assert dual == pytest.approx(solution.objective, rel=1e-10)


@pytest.mark.parametrize(("n", "d", "C"), [case for case in CASES if case[2] <= 10.0])
def test_not_above_libsvm(n, d, C):
    Z, y = overlapping(n, d)
    peer = SVC(C=C, kernel="linear", tol=1e-6).fit(Z, y)
    solution = solve_linear_svm(Z, y, C)
    reference = primal(Z, y, C, peer.coef_[0], peer.intercept_[0])
    assert solution.objective + solution.gap <= reference * (1 + 1e-6)
    assert solution.objective <= reference * (1 + 1e-9)


@pytest.mark.parametrize(("n", "d", "C"), [(300, 5, 1.0), (300, 400, 0.01), (300, 400, 1.0), (900, 310, 0.1)])
def test_sparse_rows_have_the_same_machine(n, d, C):
    """Of few columns by Newton steps, of many by steps along the dual variables."""
    Z, y = overlapping(n, d)
    Z[np.random.default_rng(1).random(Z.shape) < 0.8] = 0.0
    dense, of_sparse = solve_linear_svm(Z, y, C, tol=1e-8), solve_sparse_svm(sparse.csr_array(Z), y, C)
    assert of_sparse.converged
    value = primal(Z, y, C, of_sparse.coef, of_sparse.bias)
    assert 0.0 <= value - dense.objective <= 1.1e-6 * value
    assert value - of_sparse.gap <= dense.objective + dense.gap
    assert ((of_sparse.alpha >= 0.0) & (of_sparse.alpha <= C)).all()
    assert abs(of_sparse.alpha @ y) <= 1e-10 * C * n
    np.testing.assert_allclose(Z.T @ (of_sparse.alpha * y), of_sparse.coef, atol=1e-10 * C * n)


def test_the_best_bias_is_a_minimum():
    margins, y = np.random.default_rng(0).normal(size=25), np.where(np.arange(25) % 3, 1.0, -1.0)
    best = best_bias(margins, y)
    losses = [np.maximum(0.0, 1.0 - y * (margins + bias)).sum() for bias in (best, *np.linspace(-4.0, 4.0, 801))]
    assert min(losses) == pytest.approx(losses[0])


def test_separable_rows_reach_the_hard_margin():
    Z = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    solution = solve_linear_svm(Z, y, 1e4)
    np.testing.assert_allclose(solution.coef, [1.0, 0.0], atol=1e-6)
    assert solution.bias == pytest.approx(-1.0, abs=1e-6)


def test_every_row_may_be_far_from_its_margin():
    Z = np.concatenate([np.full((20, 1), -1.0), np.full((20, 1), 1.0), [[1.0]], [[-1.0]]])
    y = np.concatenate([-np.ones(20), np.ones(20), [-1.0, 1.0]])
    for C in (1e-3, 1.0, 100.0):
        assert solve_linear_svm(1e-3 * Z, y, C).converged


def test_weights_stand_for_copies_of_rows():
    Z, y = overlapping(80, 3)
    copies = np.random.default_rng(1).integers(1, 5, 80)
    weighted = solve_linear_svm(Z, y, 0.7 * copies, tol=1e-9)
    repeated = solve_linear_svm(np.repeat(Z, copies, axis=0), np.repeat(y, copies), 0.7, tol=1e-9)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-7)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-4)


def test_offset_that_is_linear_in_a_free_bias_changes_nothing():
    Z, y = overlapping(200, 2)
    plain = solve_linear_svm(Z, y, 1.0, tol=1e-9)
    moved = solve_linear_svm(Z, y, 1.0, tol=1e-9, offset=np.full(200, 5.0))
    assert moved.bias == pytest.approx(plain.bias - 5.0, abs=1e-4)
    assert moved.objective == pytest.approx(plain.objective, rel=1e-7)


def test_general_offset_is_certified():
    Z, y = overlapping(200, 2)
    offset = np.random.default_rng(3).standard_normal(200)
    solution = solve_linear_svm(Z, y, 1.0, offset=offset)
    value = primal(Z, y, 1.0, solution.coef, solution.bias, offset)
    dual = solution.alpha @ (1.0 - y * offset) - 0.5 * ((Z.T @ (solution.alpha * y)) ** 2).sum()
    assert solution.objective == pytest.approx(dual, rel=1e-9)
    assert value - dual <= 1e-6 * value


def test_kept_bias():
    Z, y = overlapping(300, 3)
    free = solve_linear_svm(Z, y, 1.0, tol=1e-9)
    kept = solve_linear_svm(Z, y, 1.0, tol=1e-9, fit_bias=False, bias=free.bias)
    assert kept.bias == free.bias
    assert kept.converged
    assert kept.objective == pytest.approx(free.objective, rel=1e-6)
    elsewhere = solve_linear_svm(Z, y, 1.0, tol=1e-9, fit_bias=False, bias=1.0)
    assert elsewhere.converged
    assert elsewhere.objective > kept.objective
    # a constant column with a fixed bias stands for a bias that is regularised
    assert elsewhere.objective + elsewhere.gap == pytest.approx(primal(Z, y, 1.0, elsewhere.coef, 1.0), rel=1e-9)


def test_warm_start_is_shorter_and_ends_alike():
    Z, y = overlapping(4000, 5)
    cold = solve_linear_svm(Z, y, 1.0)
    nearby = Z + 1e-3 * np.random.default_rng(1).standard_normal(Z.shape)
    warm = solve_linear_svm(nearby, y, 1.0, alpha=cold.alpha, coef=cold.coef, bias=cold.bias)
    again = solve_linear_svm(nearby, y, 1.0)
    assert warm.converged
    assert warm.iterations < again.iterations
    assert warm.objective == pytest.approx(again.objective, rel=2e-6)


def test_capped_work_says_so_and_goes_on():
    Z, y = overlapping(500, 4)
    solution = solve_linear_svm(Z, y, 10.0, max_iter=3)
    assert not solution.converged
    assert solution.iterations <= 4
    for _ in range(20):
        solution = solve_linear_svm(
            Z, y, 10.0, alpha=solution.alpha, coef=solution.coef, bias=solution.bias, max_iter=10
        )
        if solution.converged:
            break
    assert solution.converged


def test_heads_skip_rows_with_sign_zero():
    Z, y = overlapping(300, 3)
    signs = np.column_stack([y, np.where(np.arange(300) < 200, y, 0.0), -y])
    heads = solve_heads(Z, signs, 1.0, tol=1e-9, n_jobs=2)
    part = solve_linear_svm(Z[:200], y[:200], 1.0, tol=1e-9)
    np.testing.assert_allclose(heads.coef[1], part.coef, rtol=1e-5)
    assert not heads.alpha[200:, 1].any()
    np.testing.assert_allclose(heads.coef[0], -heads.coef[2], atol=1e-5)
    serial = solve_heads(Z, signs, 1.0, tol=1e-9)
    np.testing.assert_array_equal(serial.coef, heads.coef)
    assert solve_heads(Z, signs, 1.0, heads, tol=1e-9).iterations < heads.iterations


def test_stops_when_asked():
    Z, y = overlapping(1000, 3)
    with run_context(stop_requested=lambda: True), pytest.raises(Interrupted):
        solve_linear_svm(Z, y, 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Z": np.ones(4)}, "Z must have shape"),
        ({"Z": np.full((4, 1), np.nan)}, "Z contains NaN"),
        ({"y": np.ones(3)}, "y must have shape"),
        ({"y": np.array([0.0, 1.0, 1.0, -1.0])}, "y must contain -1 and \\+1"),
        ({"y": np.ones(4)}, "one class only"),
        ({"C": 0.0}, "C must be positive"),
        ({"C": np.ones(3)}, "C must have shape"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"coef": np.ones(3)}, "coef must have shape"),
        ({"alpha": np.ones(3)}, "alpha must have shape"),
        ({"offset": np.full(4, np.inf)}, "offset contains NaN"),
        ({"bias": np.nan}, "bias must be finite"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"Z": np.arange(4.0)[:, None], "y": np.array([-1.0, -1.0, 1.0, 1.0]), "C": 1.0, **change}
    with pytest.raises(ValueError, match=message):
        solve_linear_svm(**given)


def test_no_scale_no_overlap_and_no_weight_keeps_it_from_its_optimum():
    """Hundreds of problems of every kind, cold and from the solution of a neighbouring one."""
    rng = np.random.default_rng(1)
    for number in range(400):
        n, d = int(rng.integers(5, 300)), int(rng.integers(1, 12))
        C, apart, scale = 10 ** rng.uniform(-4, 4), rng.uniform(0.0, 4.0), 10 ** rng.uniform(-2, 2)
        y = np.where(rng.random(n) < rng.uniform(0.2, 0.8), -1.0, 1.0)
        y[:2] = -1.0, 1.0
        Z = scale * rng.standard_normal((n, d))
        Z[:, 0] += apart * y
        if number % 5 == 0:  # few distinct rows
            Z = Z[rng.integers(0, max(2, n // 20), n)]
        cold = solve_linear_svm(Z, y, C)
        moved = Z * (1.0 + 0.02 * rng.standard_normal(Z.shape))
        warm = solve_linear_svm(moved, y, C, alpha=cold.alpha, coef=cold.coef, bias=cold.bias)
        for solution in (cold, warm):
            assert solution.converged, (number, n, d, C)


@pytest.mark.parametrize("C", [1e-10, 1e-8, 1e-6, 1e-4])
def test_small_weights_are_solved_as_well_as_large_ones(C):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, d = rng.integers(5, 120), rng.integers(1, 6)
        Z, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        solution = solve_linear_svm(Z, y, C)
        assert solution.converged
        peer = SVC(kernel="linear", C=C).fit(Z, y)
        theirs = primal(Z, y, C, peer.coef_[0], peer.intercept_[0])
        assert primal(Z, y, C, solution.coef, solution.bias) <= theirs * (1 + 2e-6)


@pytest.mark.parametrize(("scale", "C"), [(1e6, 1e4), (1e3, 1e13), (1e30, 1.0)])
def test_numbers_too_large_for_the_accuracy_give_finite_results(scale, C):
    rng = np.random.default_rng(0)
    for _ in range(20):
        Z, y = scale * rng.standard_normal((60, 3)), np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
        solution = solve_linear_svm(Z, y, C)
        assert np.isfinite(solution.coef).all()
        assert np.isfinite(solution.alpha).all()


@pytest.mark.parametrize("flat", [1e-40, 1e-33, 1e-10, 1.0])
def test_line_search_ends_at_the_foot_of_a_slope_however_flat(flat):
    # A light row falls for long; at s = 12.5 a heavy one comes to its margin.  Newton's first guess is 2.6e-3 / flat.
    t, d, weight, centre = np.array([1e6, -20.0]), np.array([1.0, -1.6]), np.array([2.6e-3, 1e3]), np.array([1.0, 0.0])
    s = _step_length(0.0, flat, t, d, weight, centre, 0.03)
    assert s == pytest.approx(12.5 if flat < 1.0 else 2.6e-3, rel=0.05)

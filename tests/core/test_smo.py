"""The kernel SVM solver: parity with LIBSVM, optimality conditions, certificates, warm starts, honesty."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.solvers.smo import minimising_bias, solve_svm
from supdr.solvers.svm_interior import interior_point
from tests.core.polls import longest_gap


def squared_distances(X):
    return ((X[:, None] - X[None]) ** 2).sum(-1)


KERNELS = {
    "linear": lambda X: X @ X.T,
    "poly": lambda X: (X @ X.T / X.shape[1] + 1.0) ** 3,
    "rbf": lambda X: np.exp(-squared_distances(X) / X.shape[1]),
    "narrow": lambda X: np.exp(-5.0 * squared_distances(X)),
}


def problem(n, kernel, seed=0, n_features=8):
    X, y = make_classification(n, n_features, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=seed)
    X = (X - X.mean(0)) / X.std(0)
    return KERNELS[kernel](X), 2.0 * y - 1.0


def perturbed(K, seed=0, size=0.01):
    scale = 1.0 + size * np.random.default_rng(seed).standard_normal(len(K))
    return K * scale[:, None] * scale


def libsvm(K, y, C, tol=1e-3, weights=None):
    """Return LIBSVM's dual value and bias."""
    model = SVC(kernel="precomputed", C=C, tol=tol).fit(K, y, sample_weight=weights)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    return y @ beta - 0.5 * beta @ K @ beta, float(model.intercept_[0])


def primal(K, y, C, alpha, bias, linear=1.0):
    beta = alpha * y
    return 0.5 * beta @ K @ beta + np.sum(C * np.maximum(0.0, linear - y * (K @ beta + bias)))


def assert_certified(K, y, C, solution, tol, linear=1.0):
    """Assert feasibility, the cached decision values, the optimality conditions and the duality gap from scratch."""
    C = np.broadcast_to(C, y.shape)
    alpha, f = solution.alpha, K @ (solution.alpha * y)
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= C)
    assert abs(np.sum(alpha * y)) <= 1e-10
    scale = 1.0 + 1e-3 * (np.abs(K) @ alpha).max()  # what cancels in K (alpha y)
    np.testing.assert_allclose(solution.decision, f, atol=1e-9 * scale)
    residual = y * linear - f  # -gradient
    may_rise = np.where(y > 0, alpha < C, alpha > 0)
    may_fall = np.where(y > 0, alpha > 0, alpha < C)
    assert residual[may_rise].max() - residual[may_fall].min() < tol + 1e-9 * scale
    dual = np.sum(linear * alpha) - 0.5 * (alpha * y) @ f
    assert solution.objective == pytest.approx(dual, rel=1e-9, abs=1e-9 * scale)
    assert solution.gap == pytest.approx(primal(K, y, C, alpha, solution.best_bias, linear) - dual, abs=1e-8 * scale)
    assert solution.gap >= 0.0
    assert solution.gap <= np.sum(C) * tol + 1e-9 * scale  # every loss is off by at most tol


class TestParity:
    @pytest.mark.parametrize("kernel", list(KERNELS))
    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    @pytest.mark.parametrize("n", [60, 400, pytest.param(900, marks=pytest.mark.slow)])
    def test_libsvm(self, n, C, kernel):
        K, y = problem(n, kernel)
        solution = solve_svm(K, y, C)
        reference, _ = libsvm(K, y, C)
        assert solution.converged
        assert_certified(K, y, C, solution, 1e-3)
        assert solution.objective == pytest.approx(reference, rel=1e-5)
        assert solution.bias == pytest.approx(libsvm(K, y, C, tol=1e-5)[1], abs=1e-3)

    @pytest.mark.parametrize("n", [200, 700])
    def test_weights_per_point(self, n):
        K, y = problem(n, "rbf")
        weights = np.random.default_rng(1).uniform(0.2, 5.0, n)
        solution = solve_svm(K, y, 2.0 * weights)
        reference, bias = libsvm(K, y, 2.0, weights=weights)
        assert solution.converged
        assert_certified(K, y, 2.0 * weights, solution, 1e-3)
        assert solution.objective == pytest.approx(reference, rel=1e-5)
        assert solution.bias == pytest.approx(bias, abs=2e-3)

    @pytest.mark.parametrize("tol", [1e-1, 1e-5, 1e-8, 1e-10])
    def test_tolerance_is_reached_and_tightens_the_gap(self, tol):
        K, y = problem(300, "rbf")
        solution = solve_svm(K, y, 10.0, tol=tol)
        assert solution.converged
        assert_certified(K, y, 10.0, solution, tol)

    @pytest.mark.parametrize("seed", range(6))
    def test_offsets_and_bounds_against_a_general_solver(self, seed):
        random = np.random.default_rng(seed)
        K, y = problem(24, "rbf", seed)
        linear, C = random.normal(0.5, 1.0, 24), random.uniform(0.3, 3.0, 24)
        Q = K * np.outer(y, y)
        reference = minimize(
            lambda a: 0.5 * a @ Q @ a - linear @ a,
            np.zeros(24),
            jac=lambda a: Q @ a - linear,
            method="SLSQP",
            bounds=list(zip(np.zeros(24), C)),
            constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
            options={"ftol": 1e-13, "maxiter": 500},
        )
        solution = solve_svm(K, y, C, tol=1e-8, linear=linear)
        assert solution.converged
        assert_certified(K, y, C, solution, 1e-8, linear)
        assert solution.objective == pytest.approx(-reference.fun, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(solution.alpha, reference.x, atol=1e-3)


class TestHardCases:
    @staticmethod
    def draw(random):
        """Ties, duplicates, imbalance, sorted classes, low rank, n = 4..300."""
        n = int(random.integers(4, 301))
        X = random.standard_normal((n, int(random.integers(1, 8)))) * 10.0 ** random.uniform(-1.0, 0.7)
        if random.random() < 0.3:
            X = np.round(X)
        if random.random() < 0.3:
            X[n // 2 :] = X[: n - n // 2]
        y = -np.ones(n)
        y[: max(1, int(n * random.choice([0.5, 0.1, 0.02])))] = 1.0
        if random.random() < 0.5:
            random.shuffle(y)
        X[:, 0] += y * random.choice([0.0, 1.0, 2.0])
        kernel = random.choice([*KERNELS, "constant"])
        K = np.ones((n, n)) if kernel == "constant" else KERNELS[kernel](X)
        return K, y, 10.0 ** random.uniform(-2.0, 2.0)

    def test_three_hundred_random_cases(self):
        random = np.random.default_rng(0)
        converged = 0
        for _ in range(300):
            K, y, C = self.draw(random)
            solution = solve_svm(K, y, C, max_iter=200_000)
            converged += solution.converged
            assert solution.gap >= 0.0
            assert abs(np.sum(solution.alpha * y)) <= 1e-10
            if solution.converged:
                assert_certified(K, y, C, solution, 1e-3)
        assert converged == 300

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    @pytest.mark.parametrize("n", [40, 800, 1500])
    def test_rows_sorted_by_class_cold(self, kernel, n):
        K, y = problem(n, kernel)
        order = np.argsort(y, kind="stable")
        plain, ordered = solve_svm(K, y, 1.0), solve_svm(K[np.ix_(order, order)], y[order], 1.0)
        assert ordered.converged
        assert ordered.alpha.any()
        assert ordered.objective == pytest.approx(plain.objective, rel=1e-5)

    def test_the_order_of_the_rows_does_not_matter(self):
        K, y = problem(600, "rbf")
        order = np.random.default_rng(0).permutation(600)
        a, b = solve_svm(K, y, 5.0, tol=1e-6), solve_svm(K[np.ix_(order, order)], y[order], 5.0, tol=1e-6)
        assert b.objective == pytest.approx(a.objective, rel=1e-8)
        np.testing.assert_allclose(b.decision, a.decision[order], atol=1e-4)

    def test_projected_kernel_of_rank_one(self):
        X, y = make_classification(300, 5, random_state=0)
        projected = X[:, :1]
        K = projected @ projected.T
        solution = solve_svm(K, 2.0 * y - 1.0, 10.0, max_iter=50_000)
        assert solution.converged
        assert_certified(K, 2.0 * y - 1.0, 10.0, solution, 1e-3)

    @pytest.mark.parametrize(("n", "scale", "C"), [(200, 5.0, 0.1), (250, 10.0, 10.0), (520, 3.0, 0.1)])
    def test_overlap_and_a_kernel_with_large_entries(self, n, scale, C):
        """LIBSVM does not finish these in three million steps; the interior-point method takes over."""
        X, y = make_classification(n, 3, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.6, random_state=0)
        Z = (X - X.mean(0)) / X.std(0) * scale
        K, y = (Z @ Z.T + 1.0) ** 3, 2.0 * y - 1.0
        solution = solve_svm(K, y, C, tol=1e-2)
        assert solution.converged
        assert_certified(K, y, C, solution, 1e-2)
        assert solution.gap <= 1e-3 * solution.objective

    def test_multipliers_add_to_zero_however_large_the_kernel(self):
        """A long step of the conjugate gradients leaves sum alpha y = 0 unless its direction adds to zero exactly."""
        random = np.random.default_rng(1)
        for _ in range(60):
            n = int(random.integers(4, 60))
            X = random.standard_normal((n, 2)) * 10.0 ** random.uniform(0, 3) + 10.0 ** random.uniform(2, 5)
            y, C = np.where(random.random(n) < 0.5, 1.0, -1.0), 10.0 ** random.uniform(-2, 5)
            y[:2] = 1.0, -1.0
            solution = solve_svm((X @ X.T + 1.0) ** 2, y, C, max_iter=2_000)
            assert abs(np.sum(solution.alpha * y)) <= 1e-14 * n * C
            assert solution.gap >= 0.0

    def test_interior_point_alone(self):
        K, y = problem(150, "rbf")
        lower, upper = np.minimum(0.0, 2.0 * y), np.maximum(0.0, 2.0 * y)
        beta = interior_point(K, y, lower, upper, 1e-3)
        assert np.all(beta > lower)
        assert np.all(beta < upper)
        assert abs(beta.sum()) < 1e-10
        solution = solve_svm(K, y, 2.0, tol=1e-8)
        np.testing.assert_allclose(beta, solution.alpha * y, atol=1e-3)
        assert y @ beta - 0.5 * beta @ K @ beta == pytest.approx(solution.objective, rel=1e-6)

    def test_contradicting_duplicates_reach_the_bound(self):
        K, y = np.ones((2, 2)), np.array([1.0, -1.0])
        solution = solve_svm(K, y, 3.0)
        np.testing.assert_array_equal(solution.alpha, [3.0, 3.0])
        assert solution.objective == pytest.approx(6.0)
        assert solution.gap == pytest.approx(0.0, abs=1e-12)


class TestWarmStart:
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    @pytest.mark.parametrize("n", [300, 900])
    def test_equals_cold_and_costs_less(self, n, kernel):
        K, y = problem(n, kernel)
        start = solve_svm(K, y, 5.0).alpha
        K = perturbed(K)
        cold, warm = solve_svm(K, y, 5.0), solve_svm(K, y, 5.0, alpha=start)
        assert warm.converged
        assert_certified(K, y, 5.0, warm, 1e-3)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
        assert warm.iterations < cold.iterations

    @pytest.mark.parametrize("n", [150, 600])
    def test_any_values_may_start(self, n):
        K, y = problem(n, "rbf")
        cold = solve_svm(K, y, 1.0)
        for start in (np.full(n, 7.0), np.random.default_rng(0).normal(0.0, 3.0, n), (y > 0) * 1.0, np.zeros(n)):
            warm = solve_svm(K, y, 1.0, alpha=start)
            assert_certified(K, y, 1.0, warm, 1e-3)
            assert warm.objective == pytest.approx(cold.objective, rel=1e-5)

    def test_the_start_is_not_written_to(self):
        K, y = problem(80, "rbf")
        start = np.full(80, 0.5)
        before = K.copy()
        solve_svm(K, y, 1.0, alpha=start)
        np.testing.assert_array_equal(start, 0.5)
        np.testing.assert_array_equal(K, before)

    def test_a_solution_is_left_alone(self):
        K, y = problem(700, "rbf")
        first = solve_svm(K, y, 1.0)
        again = solve_svm(K, y, 1.0, alpha=first.alpha)
        assert again.iterations == 0
        np.testing.assert_allclose(again.alpha, first.alpha, atol=1e-12)

    @pytest.mark.parametrize(("n", "cap"), [(200, 50), (200, 1), (900, 400)])
    def test_capped_calls_add_up(self, n, cap):
        K, y = problem(n, "rbf")
        reference = solve_svm(K, y, 5.0, tol=1e-2)
        alpha, objective = None, 0.0
        for _ in range(3000):
            part = solve_svm(K, y, 5.0, tol=1e-2, alpha=alpha, max_iter=cap)
            assert part.iterations <= cap
            assert part.objective >= objective - 1e-9
            assert abs(np.sum(part.alpha * y)) <= 1e-10
            alpha, objective = part.alpha, part.objective
            if part.converged:
                break
        assert part.converged
        assert objective == pytest.approx(reference.objective, rel=1e-3)

    def test_an_unfinished_solve_says_so(self):
        K, y = problem(400, "rbf")
        solution = solve_svm(K, y, 10.0, max_iter=20)
        assert not solution.converged
        assert solution.iterations == 20
        reference = solve_svm(K, y, 10.0, tol=1e-6)
        assert solution.objective < reference.objective
        assert solution.objective + solution.gap >= reference.objective


class TestBias:
    @pytest.mark.parametrize("seed", range(20))
    def test_minimises_the_primal(self, seed):
        """The primal is piecewise linear and convex in the bias: its minimum is at one of the kinks."""
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 40))
        y = np.where(random.random(n) < 0.4, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        C = random.uniform(0.1, 2.0, n) if seed % 2 else np.full(n, 0.1)
        f = np.round(random.standard_normal(n), seed % 3)  # ties
        linear = random.standard_normal(n)

        def losses(bias):
            return np.sum(C * np.maximum(0.0, linear - y * (f + bias)))

        best = losses(minimising_bias(f, y, C, linear))
        assert best <= min(losses(kink) for kink in y * linear - f) + 1e-12

    def test_middle_of_the_minimisers(self):
        f, y = np.array([-2.0, -1.0, 1.0, 3.0]), np.array([-1.0, -1.0, 1.0, 1.0])
        r = np.sort(y - f)
        assert minimising_bias(f, y, 0.7) == pytest.approx(0.5 * (r[1] + r[2]))

    def test_agrees_with_the_free_support_vectors_at_the_optimum(self):
        K, y = problem(200, "rbf")
        solution = solve_svm(K, y, 10.0, tol=1e-8)
        assert solution.best_bias == pytest.approx(solution.bias, abs=1e-6)

    def test_without_free_support_vectors(self):
        y = np.array([1.0, -1.0, 1.0, -1.0])
        K = np.eye(4)
        solution = solve_svm(K, y, 0.1)
        np.testing.assert_array_equal(solution.alpha, 0.1)
        assert solution.bias == pytest.approx(0.0, abs=1e-12)


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"K": np.ones((4, 3))}, "square"),
            ({"K": np.ones(4)}, "square"),
            ({"y": [1, -1, 1]}, "shape"),
            ({"y": [1, 1, 1, 1]}, "two classes"),
            ({"y": [-1, -1, -1, -1]}, "two classes"),
            ({"y": [0, 1, 0, 1]}, "-1 and \\+1"),
            ({"y": [1, -1, np.nan, 1]}, "NaN"),
            ({"C": 0.0}, "C must be positive"),
            ({"C": -1.0}, "C must be positive"),
            ({"C": [1.0, 1.0, 0.0, 1.0]}, "C must be positive"),
            ({"C": np.inf}, "C contains"),
            ({"C": [1.0, 2.0]}, "C must have shape"),
            ({"tol": 0.0}, "tol"),
            ({"tol": np.nan}, "tol"),
            ({"max_iter": 0}, "max_iter"),
            ({"alpha": np.ones(3)}, "alpha must have shape"),
            ({"alpha": [0, 0, np.inf, 0]}, "alpha contains"),
            ({"linear": np.ones((4, 1))}, "linear must have shape"),
            ({"linear": [1, 1, np.nan, 1]}, "linear contains"),
        ],
    )
    def test_bad_arguments(self, change, message):
        arguments = {"K": np.eye(4), "y": [1, -1, 1, -1], "C": 1.0} | change
        with pytest.raises(ValueError, match=message):
            solve_svm(**arguments)

    @pytest.mark.parametrize("n", [30, 600])
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("diagonal", [True, False])
    def test_kernel_must_be_finite(self, n, value, diagonal):
        K, y = problem(n, "rbf")
        K[3, 3 if diagonal else 5] = K[5 if not diagonal else 3, 3] = value
        with pytest.raises(ValueError, match="K contains NaN or infinity"):
            solve_svm(K, y, 100.0)

    @pytest.mark.parametrize("n", [500, 1500])
    def test_a_request_to_stop_is_honoured(self, n):
        random = np.random.default_rng(0)
        K, y = KERNELS["linear"](10.0 * random.standard_normal((n, 40))), np.sign(random.standard_normal(n))
        solve_svm(K, y, 100.0, max_iter=1)  # compiled

        def solve_again_and_again():
            while True:  # a fast machine may be done with one of them before it is asked
                solve_svm(K, y, 100.0, tol=1e-12, max_iter=10**9)

        def run(polls):
            polls.begin()
            with run_context(stop_requested=polls), pytest.raises(Interrupted):
                solve_again_and_again()

        assert longest_gap(run, 0.1) < 0.1


def test_accepts_lists_integers_and_other_layouts():
    K, y = problem(50, "rbf")
    reference = solve_svm(K, y, 1.0)
    for other in (K.tolist(), np.asfortranarray(K), np.repeat(K, 2, axis=1)[:, ::2]):
        solution = solve_svm(other, y.astype(int).tolist(), 1)
        assert solution.objective == pytest.approx(reference.objective, rel=1e-9)

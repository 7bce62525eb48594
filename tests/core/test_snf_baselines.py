"""The methods SNF is compared with: graphs and energies, and what each baseline promises."""

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import kneighbors_graph

from supdr import SNF
from supdr.baselines import LLR, LSSVM, PFR, Constant, GraphLaplacian, HessianEnergy, LapRLS
from supdr.datasets import make_curved_sheet
from supdr.functions.kernels import Kernel
from supdr.solvers.graphs import (
    hessian_energy,
    laplacian,
    neighbours,
    parallel_fields,
    similarity_graph,
    solve_labelled,
    tangents,
    unlabelled_rows,
)
from tests.core.conventions import check_conventions

DIRECT = [Constant, LSSVM, GraphLaplacian, LapRLS, HessianEnergy, PFR]
TASKS = ("regression", "classification")
every_direct = pytest.mark.parametrize("cls", DIRECT)


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")  # some checks have a single column
@check_conventions(
    LSSVM(task="regression"),
    others=[LSSVM(task="classification"), LLR(task="classification")]
    + [cls(task="regression") for cls in (*DIRECT, LLR) if cls is not LSSVM],
    rest=[cls(task="classification") for cls in DIRECT if cls is not LSSVM],
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def plane(n_rows=200, seed=0):
    """Points on a plane in six dimensions: X, and their coordinates u on it."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, (n_rows, 2))
    u[:4] = [[-0.9, -0.9], [-0.9, 0.9], [0.9, -0.9], [0.9, 0.9]]
    return u @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T, u


def few_labels(f, rows=(0, 1, 2, 3)):
    y = np.full(len(f), np.nan)
    y[list(rows)] = f[list(rows)]
    return y


# --- graphs and energies ----------------------------------------------------------------------------------------------


def test_similarity_graph():
    X, _ = plane(60)
    graph = similarity_graph(X, 5).toarray()
    edges = kneighbors_graph(X, 5).toarray()
    np.testing.assert_array_equal(graph > 0, (edges + edges.T) > 0)
    np.testing.assert_array_equal(graph, graph.T)
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    width = np.median(np.sort(distance, axis=1)[:, 5])
    np.testing.assert_allclose(graph[graph > 0], np.exp(-(distance[graph > 0] ** 2) / (2 * width**2)))


def test_laplacian_is_the_sum_over_edges():
    X, u = plane(60)
    graph = similarity_graph(X, 5)
    f, weights = u[:, 0] ** 3, graph.toarray()
    expected = 0.5 * (weights * (f[:, None] - f) ** 2).sum()
    assert f @ (laplacian(graph) @ f) == pytest.approx(expected)
    np.testing.assert_allclose(laplacian(graph) @ np.ones(60), 0.0, atol=1e-12)


def test_tangents_of_a_plane():
    X, _ = plane()
    bases = tangents(X, neighbours(X, 12)[0], 2)
    np.testing.assert_allclose(bases.transpose(0, 2, 1) @ bases, np.tile(np.eye(2), (200, 1, 1)), atol=1e-12)
    projected = np.einsum("iam,ibm,jb->ija", bases, bases, X)
    np.testing.assert_allclose(projected, np.tile(X, (200, 1, 1)), atol=1e-10)


def test_hessian_energy_of_polynomials():
    X, u = plane()
    index, _ = neighbours(X, 12)
    energy, gradients = hessian_energy(X, index, tangents(X, index, 2))
    linear = 3 * u[:, 0] - u[:, 1] + 2
    assert abs(linear @ (energy @ linear)) < 1e-8
    # |Hessian|^2 is 4 + 2 / 4 everywhere.
    quadratic = u[:, 0] ** 2 + u[:, 0] * u[:, 1] / 2
    assert quadratic @ (energy @ quadratic) == pytest.approx(4.5 * 200, rel=1e-9)
    slopes = (gradients @ (linear[index] - linear[:, None])[:, :, None])[:, :, 0]
    np.testing.assert_allclose(np.linalg.norm(slopes, axis=1), np.sqrt(10.0), rtol=1e-9)


def test_hessian_energy_knows_linear_functions_only():
    X, _ = plane()
    index, _ = neighbours(X, 12)
    values = np.linalg.eigvalsh(hessian_energy(X, index, tangents(X, index, 2))[0].toarray())
    assert (values[:3] < 1e-12 * values[-1]).all()  # dimension m + 1
    assert values[3] > 1e-8 * values[-1]


def test_parallel_fields_are_the_printed_sums():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 4))
    graph = similarity_graph(X, 5)
    T = tangents(X, neighbours(X, 5)[0], 2)
    f, v, W = rng.standard_normal(25), rng.standard_normal((25, 2)), graph.toarray()
    first = second = 0.0
    for i in range(25):
        for j in range(25):
            first += W[i, j] * ((X[j] - X[i]) @ T[i] @ v[i] - f[j] + f[i]) ** 2
            second += W[i, j] * ((T[i].T @ T[j] @ v[j] - v[i]) ** 2).sum()
    point = np.concatenate([f, v.ravel()])
    explained, parallel = parallel_fields(X, graph, T)
    assert point @ (explained @ point) == pytest.approx(first)
    assert point @ (parallel @ point) == pytest.approx(second)


def test_solve_labelled_minimises():
    X, _ = plane(60)
    energy, rows, values = laplacian(similarity_graph(X, 5)), np.array([3, 7, 9]), np.array([[1.0], [2.0], [-1.0]])
    f = solve_labelled(energy, rows, values)
    gradient = energy @ f
    gradient[rows] += f[rows] - values
    assert np.abs(gradient).max() < 1e-9


def test_parts_without_labels():
    X = np.concatenate([plane(30)[0], plane(30)[0] + 50.0])
    np.testing.assert_array_equal(unlabelled_rows(similarity_graph(X, 4), np.array([2, 5])), np.arange(60) >= 30)
    y = few_labels(np.arange(60.0), (2, 5))
    for cls in (GraphLaplacian, HessianEnergy, PFR):
        with pytest.warns(UserWarning, match="30 of 60 rows are in parts of the graph without a label"):
            model = cls(n_neighbors=6).fit(X, y)
        np.testing.assert_allclose(model.transduction_[30:], 3.5)
    np.testing.assert_allclose(LapRLS(n_neighbors=6, gamma=50.0).fit(X, y).transduction_[30:], 3.5, atol=1e-6)


# --- the baselines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [HessianEnergy, PFR])
def test_linear_functions_come_back_from_four_labels(cls):
    X, u = plane()
    f = 3 * u[:, 0] - u[:, 1] + 2
    model = cls(preprocessing="none").fit(X, few_labels(f))
    assert np.abs(model.transduction_ - f).max() < 6e-10
    new = np.random.default_rng(1).uniform(-1.5, 1.5, (20, 2))  # beyond the square too
    basis = np.linalg.lstsq(u, X, rcond=None)[0]
    assert np.abs(model.predict(new @ basis) - (3 * new[:, 0] - new[:, 1] + 2)).max() < 1e-7
    graph = GraphLaplacian(preprocessing="none").fit(X, few_labels(f))
    assert np.abs(graph.transduction_ - f).max() > 1.0


def test_ls_svm_is_kernel_ridge_with_a_bias():
    X, u = plane(60)
    y = np.sin(3 * u[:, 0]) + 5.0
    model = LSSVM(C=3.0, gamma=0.5, preprocessing="none").fit(X, y)
    K = Kernel("rbf", gamma=0.5).matrix(X)
    one = np.ones((60, 1))
    solution = np.linalg.solve(np.block([[K + np.eye(60) / 3, one], [one.T, np.zeros((1, 1))]]), np.append(y, 0.0))
    np.testing.assert_allclose(model.dual_coef_[0], solution[:-1], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, solution[-1], atol=1e-9)
    peer = KernelRidge(alpha=1 / 3, kernel="rbf", gamma=0.5).fit(X, y - model.intercept_)
    np.testing.assert_allclose(model.predict(X), peer.predict(X) + model.intercept_, atol=1e-8)
    np.testing.assert_allclose(model.label_pull_, np.abs(solution[:-1]) / np.abs(solution[:-1]).max(), atol=1e-9)


def test_lap_rls_is_stationary():
    X, u = plane(60)
    y = few_labels(u[:, 0] + u[:, 1] ** 2, range(0, 60, 5))
    model = LapRLS(1e-2, reg_intrinsic=5.0, gamma=0.7, preprocessing="none").fit(X, y)
    rows = np.flatnonzero(~np.isnan(y))
    K, L = Kernel("rbf", gamma=0.7).matrix(X), laplacian(similarity_graph(X, 6))
    f = model.transduction_ - y[rows].mean()
    a = np.linalg.solve(K + 1e-13 * np.eye(60), f)
    misfit = np.zeros(60)
    misfit[rows] = f[rows] - (y[rows] - y[rows].mean())
    gradient = K @ (misfit / len(rows) + 1e-2 * a + 5.0 / 60**2 * (L @ f))
    assert np.abs(gradient).max() < 1e-6


def test_lap_rls_takes_the_memory_of_two_kernel_matrices():
    X = np.random.default_rng(0).standard_normal((1000, 5))
    model = LapRLS().fit(X[:50], X[:50, 0])
    tracemalloc.start()
    model.fit(X, X[:, 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 8 * 1000**2


@pytest.mark.filterwarnings("ignore:Diagonal number")
def test_what_cannot_be_solved_is_said():
    X, u = plane(12)
    twice = np.repeat([0, 1, 2], [1, 1, 1]).repeat(2)
    with pytest.raises(ValueError, match="reg_ambient=1e-300"):
        LapRLS(1e-300, n_neighbors=1).fit(X[twice], u[twice, 0])


def test_a_large_weight_gives_the_mean():
    X, u = plane(60)
    y = few_labels(u[:, 0], range(0, 60, 5))
    for model in (GraphLaplacian(1e6), LapRLS(1e-3, reg_intrinsic=1e9), LSSVM(1e-9)):
        np.testing.assert_allclose(model.fit(X, y).transduction_, np.nanmean(y), atol=1e-3)


def test_constant():
    X, u = plane(60)
    y = few_labels(u[:, 0], range(0, 60, 5))
    np.testing.assert_allclose(Constant().fit(X, y).predict(X), np.nanmean(y))
    X, y = load_iris(return_X_y=True)
    y = y[30:].astype(float)  # 20 of the first class, 50 of the others
    y[70:80] = np.nan
    assert set(Constant(task="classification").fit(X[30:], y).predict(X)) == {1.0}


def test_llr_is_snf_of_degree_one():
    X, y = make_curved_sheet(n_samples=80, random_state=0).to_xy()
    llr, snf = LLR(max_iter=30).fit(X, y), SNF(degree=1, max_iter=30).fit(X, y)
    np.testing.assert_allclose(llr.predict(X), snf.predict(X), rtol=1e-6, atol=1e-8)
    assert llr.n_iter_ == snf.n_iter_


def test_llr_reaches_what_alternating_ridge_regressions_reach():
    X, y = make_curved_sheet(n_samples=50, n_features=6, label_share=0.3, random_state=0).to_xy()
    rows = ~np.isnan(y)
    Z = np.random.default_rng(0).standard_normal((50, 2))
    for _ in range(3000):
        value, maps = (Z**2).sum(), []
        for T, part, reg in ((X, np.ones(50, bool), 1.0), (y[:, None], rows, 0.1)):
            centred, mean = Z[part] - Z[part].mean(axis=0), T[part].mean(axis=0)
            V = np.linalg.solve(centred.T @ centred + reg * np.eye(2), centred.T @ (T[part] - mean))
            b = mean - Z[part].mean(axis=0) @ V
            value += ((T[part] - Z[part] @ V - b) ** 2).sum() + reg * (V**2).sum()
            maps.append((V, b))
        (V, b), (W, b0) = maps
        A, right = V @ V.T + np.eye(2), (X - b) @ V.T
        Z = np.linalg.solve(A, right.T).T
        Z[rows] = np.linalg.solve(A + W @ W.T, (right[rows] + (y[rows, None] - b0) @ W.T).T).T
    model = LLR(2, preprocessing="none", max_iter=2000, tol=0.0).fit(X, y)
    assert model.history_["objective"][-1] == pytest.approx(value, rel=1e-9)


@every_direct
def test_targets_may_be_several(cls):
    X, u = plane(60)
    y = u.copy()
    y[10:] = np.nan
    model = cls().fit(X, y)
    assert model.predict(X).shape == model.transduction_.shape == (60, 2)
    np.testing.assert_allclose(model.transduction_[:, 1], cls().fit(X, y[:, 1]).transduction_, atol=1e-8)


@every_direct
def test_predictions_shift_and_scale_with_the_targets(cls):
    X, u = plane(60)
    y = few_labels(u[:, 0] ** 2, range(0, 60, 5))
    first, second = (cls().fit(X, values).transduction_ for values in (y, 100.0 * y + 7.0))
    np.testing.assert_allclose(second, 100.0 * first + 7.0, rtol=1e-8)


@every_direct
def test_training_rows_are_predicted_as_in_training(cls):
    X, u = plane(60)
    model = cls().fit(X, few_labels(u[:, 0] ** 2, range(0, 60, 5)))
    np.testing.assert_allclose(model.predict(X), model.transduction_, atol=1e-9)
    np.testing.assert_array_equal(model.transduction_, model.embedding_[:, 0])
    (snapshot,) = model.iterate(X, few_labels(u[:, 0] ** 2, range(0, 60, 5)))
    assert snapshot.stop == "converged"
    assert set(snapshot.losses) == {"objective", "training_error"}


@pytest.mark.parametrize("cls", DIRECT[1:])
def test_classes(cls):
    X, y = load_iris(return_X_y=True)
    known = y.astype(float)
    known[np.arange(150) % 5 != 0] = np.nan
    model = cls(task="classification").fit(X, known)
    assert model.decision_function(X).shape == (150, 3)
    assert np.mean(model.transduction_ == y) > 0.85
    binary = cls(task="classification").fit(X[:100], known[:100])
    assert binary.decision_function(X[:100]).shape == (100,)
    assert (binary.transduction_ == y[:100]).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LSSVM(0.0), "C must be a number > 0; got 0.0"),
        (LSSVM(gamma="wide"), "gamma must be 'scale' or a number > 0; got 'wide'"),
        (LSSVM(kernel="cubic"), "kernel must be one of"),
        (GraphLaplacian(-1.0), "reg must be a number > 0"),
        (GraphLaplacian(n_neighbors=0), "n_neighbors must be an integer of at least 1"),
        (LapRLS(0.0), "reg_ambient must be a number > 0"),
        (LapRLS(reg_intrinsic=0.0), "reg_intrinsic must be a number > 0"),
        (HessianEnergy(n_neighbors=4), "n_neighbors must be at least 5 for dimension=2"),
        (HessianEnergy(dimension=0), "dimension must be an integer of at least 1"),
        (PFR(n_neighbors=1), "n_neighbors must be at least 2 for dimension=2"),
        (PFR(reg_parallel=0.0), "reg_parallel must be a number > 0"),
        (Constant(task="ranking"), "task must be"),
    ],
)
def test_bad_parameters_are_named(model, message):
    X, u = plane(30)
    with pytest.raises(ValueError, match=message):
        model.fit(X, u[:, 0])

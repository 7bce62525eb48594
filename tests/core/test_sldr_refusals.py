"""SLDR: what it refuses, reports and bears."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from supdr import SLDR
from supdr.methods.sldr.state import Candidate
from supdr.solvers.kernel_heads import heads_on_features
from tests.core.sldr_cases import three_views

# --- what it refuses --------------------------------------------------------------------------------------------------


NO_VIEWS = [4, "views", {"a": [0, 1]}, {4, 5}, pd.NA, 2.5, np.array(9)]
NO_COLUMNS = [[[0, 1], 2], [1.5, 7.5], ["a", "b"], [pd.NA, 9], [True, 8], [[0, [1]], [2]], [[0], []]]
NO_GATING_COLUMNS = [[], 3, "abc", [[0], [1, 2]], [0, None], [0.5], pd.NA]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": (2, 2)}, "n_components"),
        ({"n_components": (2, 0, 1)}, "n_components"),
        ({"n_gating": 0}, "n_gating"),
        ({"n_models": 0}, "n_models"),
        ({"n_components": "two"}, "n_components"),
        ({"n_components": [[1], [1, 2], [1]]}, "n_components"),
        ({"starts": "mean"}, "starts must"),
        *(({"views": views}, "views must be None, a list of sizes .* or a list of lists") for views in NO_VIEWS),
        *(({"views": views}, r"views\[\d\] must be a non-empty list of column indices") for views in NO_COLUMNS),
        ({"views": (4, 4)}, "views must be sizes"),
        ({"views": [[0, 9]]}, r"views\[0\] must hold distinct"),
        ({"gating_columns": [0, 0]}, "gating_columns must hold distinct"),
        *(({"gating_columns": columns}, "gating_columns must be a non-empty list") for columns in NO_GATING_COLUMNS),
        ({"C": 0.0}, "C must"),
        ({"C": np.inf}, "C must"),
        ({"kernel": "laplace"}, "kernel"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma"),
        ({"kernel": "poly", "degree": 0}, "degree"),
        ({"solver": "sgd"}, "solver"),
        *(
            ({"step_size": steps, "solver": solver}, "step_size must be a number > 0, three of them")
            for steps in (0.0, -1e-3, np.nan, np.inf, "fast", True, (), (0.1, 0.1), (0.1, 0.0, 0.1), (0.1, "a", 0.1))
            for solver in ("alternating", "lbfgs")
        ),
        ({"preprocessing": "whiten"}, "preprocessing"),
        ({"init": "pca"}, "init must"),
        ({"init_scale": 0.0}, "init_scale"),
        ({"n_init": 0}, "n_init"),
        ({"svm_tol": 1e-9}, "svm_tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y, _ = three_views()
    with pytest.raises(ValueError, match=message):
        SLDR(**settings).fit(X, y)


@pytest.mark.parametrize("solver", ["alternating", "lbfgs"])
def test_machines_that_are_not_solved_are_reported(solver, monkeypatch):
    """Refuse every third trial: the run goes on, and says so at its end; a start that cannot be solved is an error."""
    X, y, sizes = three_views()
    solve, calls = heads_on_features, []

    def unreliable(*arguments):
        calls.append(1)
        heads = solve(*arguments)
        return heads._replace(closed=False) if len(calls) % 3 == refused else heads

    monkeypatch.setattr("supdr.methods.sldr.problem.heads_on_features", unreliable)
    refused = 0
    with pytest.warns(ConvergenceWarning, match="trial steps were refused"):
        fitted = SLDR(views=sizes, solver=solver, n_init=1, max_iter=5, tol=0.0, random_state=0).fit(X, y)
    assert fitted.history_["svm_failures"].sum() > 0
    assert (np.diff(fitted.history_["objective"]) <= 0).all()
    calls.clear()
    refused = 1
    with pytest.raises(ValueError, match="svm_tol"):
        SLDR(views=sizes, solver=solver, random_state=0).fit(X, y)


def test_missing_cells_are_refused():
    X, y, sizes = three_views()
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SLDR(views=sizes).fit(X, y)


def test_dimensions_are_clipped_and_constant_columns_harmless():
    X, y, sizes = three_views()
    X[:, 4] = 7.0
    fitted = SLDR(5, n_gating=50, views=sizes, max_iter=3, random_state=0).fit(X, y)
    assert [W.shape for W in fitted.projections_] == [(3, 3), (4, 4), (2, 2)]
    assert fitted.gate_projection_.shape == (9, 9)
    assert np.isfinite(fitted.transform(X)).all()


def test_solvers_and_kernels_can_change_within_a_run():
    X, y, sizes = three_views()
    chain = [
        ("lbfgs", "linear"),
        ("alternating", "linear"),
        ("joint", "rbf"),
        ("alternating", "poly"),
        ("lbfgs", "linear"),
    ]
    snapshot = None
    for solver, kernel in chain:
        model = SLDR(2, views=sizes, solver=solver, kernel=kernel, n_init=1, max_iter=3, tol=0.0, random_state=0)
        snapshots = list(model.iterate(X, y, start=snapshot))
        if snapshot is not None:
            np.testing.assert_allclose(snapshots[0].state.best.gate, snapshot.state.best.gate)
        snapshot = snapshots[-1]
        assert snapshot.objective <= snapshots[0].objective
        assert isinstance(snapshot.state.best, Candidate)
        assert np.isfinite(model.at(snapshot).transform(X)).all()


@pytest.mark.parametrize("solver", ["alternating", "lbfgs", "joint"])
def test_a_gate_without_projection_sees_its_columns(solver):
    X, y = load_iris(return_X_y=True)
    fitted = SLDR(n_gating=None, gating_columns=(0, 3), solver=solver, max_iter=3, random_state=0).fit(X, y)
    assert fitted.gate_projection_ is None
    expected = StandardScaler().fit_transform(X)[:, [0, 3]]
    np.testing.assert_allclose(fitted.gating_transform(X), expected / 2.0, atol=1e-12)  # one view of four columns
    scores = fitted.gating_transform(X) @ fitted.gate_weights_.T + fitted.gate_offset_
    np.testing.assert_allclose(fitted.gate(X), softmax(scores, axis=1), atol=1e-12)

"""Sweeps: equal to a plain loop wherever they run, exact in what they share, honest about what fails."""

import itertools
import os
import signal
import sys
import warnings
from concurrent.futures import Future
from functools import partial

import cloudpickle
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from supdr import LSDR, MAC, NSDR, SDRGLM, SNF
from supdr.datasets import make_curved_sheet, make_wide_factors
from supdr.quality import cluster_reliability, label_permutation, model_quality, stability
from supdr.quality.summary import comparable_rows
from supdr.sensitivity import Sweep, SweepError, crew_of, linear, logarithmic
from supdr.sensitivity.axes import chosen_cells, visiting_order
from supdr.sensitivity.executors import InProcess
from supdr.sensitivity.splits import hide_labels, splits_of

cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = load_iris(return_X_y=True)
GRID = {"reg_u": [0.01, 0.1, 1.0], "beta": [0.1, 0.5]}


def plain_loop(estimator, grid, X, y, cv, seed, transductive=False):
    """What a sweep does, in ten lines."""
    (a, first), (b, second) = grid.items()
    table = np.zeros((len(first), len(second), cv))
    for i, u in enumerate(first):
        for j, v in enumerate(second):
            folds = StratifiedKFold(cv, shuffle=True, random_state=seed).split(X, y)
            for k, (train, test) in enumerate(folds):
                model = clone(estimator).set_params(**{a: u, b: v, "random_state": seed})
                if transductive:
                    known = y.astype(float)
                    known[test] = np.nan
                    predicted = model.fit(X, known).transduction_[test]
                else:
                    predicted = model.fit(X[train], y[train]).predict(X[test])
                table[i, j, k] = np.mean(predicted != y[test])
    return table


@pytest.mark.parametrize("transductive", [False, True])
@pytest.mark.parametrize("executor", ["in-process", "loky"])
def test_sweep_equals_a_plain_loop(executor, transductive):
    sweep = Sweep(LSDR(max_iter=8), GRID, cv=3, seeds=(3,), transductive=transductive)
    cells = list(sweep.run(X, Y, executor, workers=2 if executor == "loky" else None))
    assert sorted(cell.number for cell in cells) == list(range(6))
    with threadpool_limits(1):
        expected = plain_loop(LSDR(max_iter=8), GRID, X, Y, 3, 3, transductive)
    result = sweep.result(cells)
    np.testing.assert_array_equal(result.means(), expected.mean(axis=2))
    np.testing.assert_array_equal(result.deviations(), expected.std(axis=2))
    assert result.best().mean("error") == expected.mean(axis=2).min()


@pytest.mark.slow
def test_dask_cluster_gives_the_cells_of_loky(tmp_path):
    import distributed

    sweep = Sweep(NSDR(max_iter=4), {"C": [0.1, 1.0, 10.0]}, cv=3, scoring=["error", "objective"])
    loky = sweep.result(sweep.run(X, Y, "loky", workers=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, while it starts and ends
        dask = sweep.result(sweep.run(X, Y, "dask", workers=2))
        with distributed.Client(n_workers=1, processes=False, dashboard_address=None, set_as_default=False) as client:
            by_client = sweep.result(sweep.run(X, Y, client))
            by_executor = sweep.result(sweep.run(X, Y, client.get_executor(), workers=1))
            assert client.status == "running"
    for metric, result in itertools.product(("error", "objective"), (dask, by_client, by_executor)):
        np.testing.assert_array_equal(loky.means(metric), result.means(metric))


def test_several_seeds_metrics_and_a_table():
    sweep = Sweep(NSDR(max_iter=3), {"C": [0.1, 1.0]}, cv=0.3, seeds=(0, 1, 2), scoring=["error", "support_fraction"])
    result = sweep.result(sweep.run(X, Y, "in-process"))
    assert all(len(cell.outcomes) == 3 for cell in result.cells.values())
    table = result.table()
    assert list(table["C"]) == [0.1, 1.0]
    assert {"error", "error sd", "support_fraction", "stop", "message"} <= set(table)
    assert table["stop"].str.contains("max_iter 3|converged").all()
    assert sweep.progress.done == sweep.progress.total == 6


def test_scikit_learn_estimators_pipelines_and_scorers():
    pipeline = make_pipeline(StandardScaler(), SVC())
    sweep = Sweep(pipeline, {"svc__C": [0.1, 10.0]}, cv=KFold(3), scoring=["balanced_accuracy", "error"])
    result = sweep.result(sweep.run(X[::-1], Y[::-1], "in-process"))
    train, test = next(iter(KFold(3).split(X)))
    first = clone(pipeline).set_params(svc__C=0.1).fit(X[::-1][train], Y[::-1][train])
    assert result.cells[0].outcomes[0].scores["error"] == 1 - first.score(X[::-1][test], Y[::-1][test])
    assert result.cells[0].stops == {}


def test_text_labels_and_unlabelled_rows():
    names = np.array(["a", "b", "c"], dtype=object)[Y]
    names[::7] = None
    sweep = Sweep(LSDR(max_iter=3), {"beta": [0.1]}, cv=3, transductive=True)
    [cell] = sweep.run(X, names, "in-process")
    assert not cell.errors
    assert cell.mean("error") < 0.5
    for _, test in splits_of(3, X, names, 0, classification=True):
        assert not (test % 7 == 0).any()
    assert hide_labels(np.arange(3), np.array([1])).tolist()[::2] == [0.0, 2.0]


# --- exact shortcuts ------------------------------------------------------------------------------------------------


def both_ways(estimator, grid, X, y, scoring, **settings):
    with_, without = (
        Sweep(estimator, grid, scoring=scoring, shortcuts=shortcuts, **settings) for shortcuts in (True, False)
    )
    cells = list(with_.run(X, y, "in-process"))
    return with_.result(cells), without.result(without.run(X, y, "in-process")), {cell.shared for cell in cells}


def scores(fitted, X_test, y_test):
    """A number that every decision value moves."""
    values = fitted.decision_function(X_test) if hasattr(fitted, "decision_function") else fitted.predict(X_test)
    return float(np.ravel(values) @ np.cos(np.arange(np.size(values))))


@pytest.mark.parametrize("transductive", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_wide_sdr_glm_shares_the_row_space(transductive):
    data = make_wide_factors(40, 2000, random_state=0)
    scoring = {"error": "error", "objective": "objective"} | ({} if transductive else {"scores": scores})
    one, other, shared = both_ways(
        SDRGLM(3), {"recon_weight": logarithmic(1e-4, 1, 3)}, data.X, data.y, scoring, cv=3, transductive=transductive
    )
    assert shared == {"row space shared"}
    for metric in scoring:
        np.testing.assert_allclose(one.means(metric), other.means(metric), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("transductive", [pytest.param(False, marks=pytest.mark.slow), True])
def test_snf_without_labels_is_fitted_once(transductive):
    data = make_curved_sheet(80, random_state=2)
    scoring = {"mse": "mse", "objective": "objective"} | ({} if transductive else {"scores": scores})
    model = SNF(preprocessing="none", target_weight=0.0, max_iter=8)
    one, other, shared = both_ways(
        model, {"reg_w": [0.01, 1.0]}, data.X, data.truth, scoring, cv=3, transductive=transductive
    )
    assert shared == {"label-free fit shared"}
    for metric in scoring:
        np.testing.assert_allclose(one.means(metric), other.means(metric), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("bound", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_mac_keeps_centres_and_decompositions(bound):
    digits, y = load_digits(n_class=3, return_X_y=True)
    scoring = {"error": "error", "objective": "objective", "label": "label"} | ({"bound": "bound"} if bound else {})
    one, other, shared = both_ways(
        MAC(n_centers=20, max_iter=2), {"C": [0.1, 10.0]}, digits[:90], y[:90], scoring, cv=2
    )
    assert "features and decompositions kept" in shared
    for metric in scoring:
        np.testing.assert_allclose(one.means(metric), other.means(metric), rtol=1e-8, atol=1e-8)


# --- warm starts ----------------------------------------------------------------------------------------------------


def test_a_warm_path_starts_from_its_neighbour_and_says_so():
    grid = {"reg_u": [0.1, 1.0, 10.0]}
    sweep = Sweep(LSDR(max_iter=2, tol=-1.0), grid, cv=0.3, scoring="objective", warm_along="reg_u")
    cells = sorted(sweep.run(X, Y, "in-process"), key=lambda cell: cell.number)
    assert [cell.warm for cell in cells] == [False, True, True]
    [(train, _)] = splits_of(0.3, X, Y, 0, classification=True)
    with threadpool_limits(1):
        first = LSDR(max_iter=2, tol=-1.0, reg_u=0.1, random_state=0)
        start = list(first.iterate(X[train], Y[train]))[-1]
        second = LSDR(max_iter=2, tol=-1.0, reg_u=1.0, random_state=0).fit(X[train], Y[train], start=start)
    assert cells[1].mean("objective") == second.history_["objective"][-1]


# --- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path):
    settings = {"cv": 2, "store": tmp_path / "s.sqlite"}
    sweep = Sweep(LSDR(max_iter=2), {"beta": [0.5, -1.0, 0.9]}, **settings)
    cells = {cell.params["beta"]: cell for cell in sweep.run(X, Y, "in-process")}
    assert np.isnan(cells[-1.0].mean("error"))
    assert "beta" in cells[-1.0].errors[0]
    assert not cells[0.5].errors
    again = {cell.params["beta"]: cell for cell in sweep.run(X, Y, Refusing())}
    assert again[-1.0].errors == cells[-1.0].errors
    assert all(cell.stored for cell in again.values())
    retried = Sweep(LSDR(max_iter=2), {"beta": [0.5, -1.0]}, retry_failed=True, **settings)
    assert [cell.stored for cell in retried.run(X, Y, "in-process")] == [True, False]


class Refusing:
    """An executor that must not be asked."""

    def submit(self, *_args):
        raise AssertionError("nothing was left to compute")


def test_cells_are_found_again_in_another_grid(tmp_path):
    settings = {"cv": 2, "store": tmp_path / "s.sqlite"}
    list(Sweep(LSDR(max_iter=2), {"beta": [0.1, 0.5]}, **settings).run(X, Y, "in-process"))
    wider = Sweep(LSDR(max_iter=2, reg_u=9.0), {"beta": [0.1, 0.5, 0.9], "reg_u": [LSDR().reg_u, 1.0]}, **settings)
    assert sum(cell.stored for cell in wider.run(X, Y, "in-process")) == 2
    other = Sweep(LSDR(max_iter=2), {"beta": [0.1]}, **settings)
    assert not any(cell.stored for cell in other.run(X + 1.0, Y, "in-process"))


def deadly(fitted, X_test, y_test, *, flag):
    """A metric that kills its process whenever C is 1, and once when C is 0.3."""
    if fitted.C == 1.0 or (fitted.C == 0.3 and not os.path.exists(flag)):
        if fitted.C == 0.3:
            open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return fitted.C


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
def test_dead_workers_are_replaced_and_a_deadly_cell_is_given_up(tmp_path):
    scoring = partial(deadly, flag=str(tmp_path / "died"))
    grid = {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}
    sweep = Sweep(SVC(), grid, cv=0.5, scoring=scoring, store=tmp_path / "s.sqlite")
    result = sweep.result(sweep.run(X, Y, "loky", workers=2))
    assert (tmp_path / "died").exists()
    assert "died 3 times" in result.cells[2].errors[0]
    np.testing.assert_array_equal(np.delete(result.means(), 2), np.delete(grid["C"], 2))
    assert sum(len(cell.outcomes) for cell in result.cells.values()) == 5


class Forgetful(InProcess):
    """An executor that cancels its first jobs, as a Dask cluster does that has lost the rows they are for."""

    def __init__(self, losses):
        self.losses = losses

    def submit(self, fn, /, *args, **kwargs):
        if not self.losses:
            return super().submit(fn, *args, **kwargs)
        self.losses -= 1
        lost = Future()
        lost.cancel()
        lost.set_running_or_notify_cancel()
        return lost


def test_fits_that_a_cluster_has_lost_are_computed_again():
    grid = {"beta": [0.1, 0.5, 0.9]}
    sweep = Sweep(LSDR(max_iter=1), grid, cv=2)
    cells = list(sweep.run(X, Y, Forgetful(2), workers=1))
    assert sorted(cell.number for cell in cells) == [0, 1, 2]
    expected = Sweep(LSDR(max_iter=1), grid, cv=2).run(X, Y, "in-process")
    assert {cell.number: cell.mean("error") for cell in cells} == {cell.number: cell.mean("error") for cell in expected}
    with pytest.raises(SweepError, match="has lost its rows 4 times in a row; finished cells are in the store"):
        list(sweep.run(X, Y, Forgetful(1_000), workers=1))


def test_what_cannot_be_sent_is_explained():
    sweep = Sweep(SVC(), {"C": [1.0]}, cv=0.5, scoring={"x": Unsendable()})
    with pytest.raises(SweepError, match="in-process"):
        list(sweep.run(X, Y, "loky", workers=2))


class Unsendable:
    """A metric that holds what no process can get."""

    def __call__(self, fitted, X_test, y_test):
        return 0.0

    def __reduce__(self):
        raise TypeError("cannot pickle this")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {}}, "1 to 6 parameters"),
        ({"grid": {name: [1] for name in "abcdefg"}}, "1 to 6 parameters; got 7"),
        ({"design": "latin"}, "design must be one of grid, sobol, random; got 'latin'"),
        ({"grid": {"beta": [0.1, 0.5]}, "design": "sobol", "n_cells": 0}, "n_cells"),
        ({"grid": {"reg_u": [0.1, 1.0]}, "warm_along": "reg_u", "design": "random"}, "warm_along needs design='grid'"),
        ({"grid": {"nonsense": [1]}}, "no parameter 'nonsense'"),
        ({"grid": {"beta": []}}, "beta has no values"),
        ({"seeds": ()}, "seeds"),
        ({"scoring": []}, "scoring"),
        ({"warm_along": "C"}, "warm_along must be a parameter of the grid"),
        ({"grid": {"n_components": [1, 2]}, "warm_along": "n_components"}, "cannot change within a run"),
        ({"cv": "five"}, "cv must be"),
        ({"cv": 1}, "2 to 150 folds"),
        ({"cv": 1.5}, r"in \(0, 1\)"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    settings = {"grid": {"beta": [0.5]}, **arguments}
    with pytest.raises(ValueError, match=message):
        list(Sweep(LSDR(), settings.pop("grid"), **settings).run(X, Y, "in-process"))


def test_more_wrong_arguments():
    with pytest.raises(ValueError, match="transductive"):
        Sweep(SVC(), {"C": [1.0]}, transductive=True)
    with pytest.raises(ValueError, match="'wings'"):
        crew_of("wings")
    with pytest.raises(ValueError, match="workers"):
        crew_of("loky", 0)
    with pytest.raises(ValueError, match="low and high must be numbers > 0"):
        logarithmic(0.0, 1.0, 3)
    [cell] = Sweep(LSDR(max_iter=1), {"beta": [0.5]}, cv=0.5, scoring="wonder").run(X, Y, "in-process")
    assert "wonder" in cell.errors[0]


def test_ranges_and_the_order_of_visits():
    assert logarithmic(0.01, 100, 5) == [0.01, 0.1, 1.0, 10.0, 100.0]
    assert logarithmic(1, 9, 9, whole=True) == [1, 2, 3, 4, 5, 7, 9]
    assert linear(0, 1, 3) == [0.0, 0.5, 1.0]
    order = visiting_order({"a": range(9), "b": range(8)})
    assert sorted(order) == list(range(72))
    assert set(order[:4]) == {0, 7, 64, 71}  # the corners of the grid
    assert {number // 8 for number in order[:6]} == {0, 4, 8}


@pytest.mark.parametrize("design", ["sobol", "random"])
def test_a_design_visits_distinct_cells_that_cover_the_grid(design):
    grid = {"a": range(8), "b": range(8), "c": range(8)}
    numbers = chosen_cells(grid, design, 64, seed=3)
    assert len(set(numbers)) == len(numbers) == 64
    assert numbers == chosen_cells(grid, design, 64, seed=3) != chosen_cells(grid, design, 64, seed=4)
    counts = [np.bincount(places, minlength=8) for places in np.unravel_index(numbers, (8, 8, 8))]
    if design == "sobol":
        assert all((each == 8).all() for each in counts)  # every value of every parameter equally often
    assert sorted(chosen_cells(grid, design, 1000)) == list(range(512))


def test_a_design_gives_the_scores_of_the_full_grid_and_can_be_enlarged(tmp_path):
    grid = {**GRID, "loss": ["logistic", "smooth_hinge"]}
    full = Sweep(LSDR(max_iter=3), grid, cv=2)
    expected = full.result(full.run(X, Y, "in-process")).means()
    path = tmp_path / "s.sqlite"
    few = Sweep(LSDR(max_iter=3), grid, cv=2, design="sobol", n_cells=5, store=path)
    means = few.result(few.run(X, Y, "in-process")).means()
    assert np.isfinite(means).sum() == 5
    np.testing.assert_array_equal(means[np.isfinite(means)], expected[np.isfinite(means)])
    more = Sweep(LSDR(max_iter=3), grid, cv=2, store=path)
    np.testing.assert_array_equal(more.result(more.run(X, Y, "in-process")).means(), expected)
    assert more.progress.stored == 10


def test_cells_are_judged_by_how_true_their_map_is():
    names = ["error", "trustworthiness", "continuity", "knn_error"]
    sweep = Sweep(LSDR(max_iter=2, random_state=0), {"beta": [0.2, 0.9]}, cv=0.3, scoring=names, seeds=(0,))
    cells = list(sweep.run(X, Y, "in-process"))
    [(train, test)] = splits_of(0.3, X, Y, 0, classification=True)
    for cell in cells:
        model = LSDR(max_iter=2, random_state=0, **cell.params).fit(X[train], Y[train])
        expected = model_quality(model, X[test], Y[test], n_neighbors=min(10, (len(test) - 1) // 2))
        assert {name: cell.mean(name) for name in names[1:]} == {name: expected.numbers[name] for name in names[1:]}
    assert sweep.result(cells).best("trustworthiness").mean("trustworthiness") == max(
        cell.mean("trustworthiness") for cell in cells
    )


@pytest.mark.parametrize("transductive", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_metrics_of_belief_are_those_of_the_library(transductive):
    names = ["steadiness", "cohesiveness", "stability", "pvalue"]
    flowers, kinds = X[::2], Y[::2]
    sweep = Sweep(LSDR(max_iter=2), {"beta": [0.1, 0.5]}, cv=0.3, scoring=names, transductive=transductive)
    [(train, test)] = splits_of(0.3, flowers, kinds, 0, classification=True)
    rows, labels = (flowers, hide_labels(kinds, test)) if transductive else (flowers[train], kinds[train])
    cells = list(sweep.run(flowers, kinds, "in-process"))
    for cell in cells:
        unfitted = LSDR(max_iter=2, random_state=0, **cell.params)
        fitted = clone(unfitted).fit(rows, labels)
        clusters = cluster_reliability(comparable_rows(flowers[test]), fitted.transform(flowers[test]))
        expected = {
            "steadiness": clusters.steadiness,
            "cohesiveness": clusters.cohesiveness,
            "stability": stability(unfitted, rows, labels, resample="bootstrap", n=10).kept.mean(),
            "pvalue": label_permutation(unfitted, rows, labels, n_permutations=19).pvalue,
        }
        assert {name: cell.mean(name) for name in names} == pytest.approx(expected)
    result = sweep.result(cells)
    assert result.best("stability").mean("stability") == result.means("stability").max()
    assert result.best("pvalue").mean("pvalue") == result.means("pvalue").min()


def test_a_measure_that_two_classes_do_not_have_is_said_to_have_no_value():
    sweep = Sweep(LSDR(max_iter=1), {"beta": [0.5]}, cv=0.5, scoring="class_centre_correlation")
    [cell] = sweep.run(X[:100], Y[:100], "in-process")
    assert "it needs three classes" in cell.errors[0]

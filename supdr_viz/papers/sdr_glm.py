"""SDR-GLM: the tables and figures of Rish et al."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from supdr import SDRGLM
from supdr.baselines import SVDM, SVMUDR, ElasticNet, LogisticUDR
from supdr.datasets import make_latent_glm, make_wide_factors, make_wide_regression
from supdr.sensitivity import Result
from supdr_viz.papers.bench import Bench, Measurements, Row, at_least, at_most
from supdr_viz.papers.data import load_round_trips, load_table

Values = tuple[float, ...]

_RIDGES: dict[str, Any] = {"reg_u": 0.01, "reg_v": 0.01}
# The paper's ridges, which lam does not multiply, and its prediction.
_PAPER: dict[str, Any] = {**_RIDGES, "reg_w": 0.01, "reg_scaling": "none", "calibrate": False, "preprocessing": "none"}

_SWEEPS: dict[str, Any] = {"max_iter": 200, "tol": 1e-6}
# Of reduction without labels: beyond that the bits of few rows run away, and its error rises to a half.
_FEW_SWEEPS: dict[str, Any] = {"max_iter": 50, "tol": 1e-5, "preprocessing": "none"}

WEIGHTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
SMALL = 1e-4
ROUNDING = 1e-12
# Size of the loadings: errors grow with the number of columns, as in the paper.
SIZES = {"bernoulli": 3.0, "gaussian": 1.5}


def paper_model(family: str, weight: float = SMALL, **more: Any) -> SDRGLM:
    """Return SDR-GLM as the paper has it, run until J hardly rises: of its own sweeps that takes many hundred."""
    return SDRGLM(**{"n_components": 2, **_PAPER, **_SWEEPS, **more}, family_x=family, recon_weight=weight)


def svdm(**more: Any) -> SVDM:
    """Return SVDM with the same ridges and the same kind of prediction."""
    return SVDM(**{**_PAPER, **_SWEEPS, **more})


class Trials(NamedTuple):
    """Several data sets, one below the other, and the rows to train and to test on of each."""

    X: NDArray
    y: NDArray
    cv: list[tuple[NDArray, NDArray]]


def stacked(parts: Sequence[Trials]) -> Trials:
    """Put trials below each other: their fits are those of one sweep."""
    begins = np.cumsum([0, *(len(part.y) for part in parts[:-1])])
    cv = [(train + begin, test + begin) for part, begin in zip(parts, begins) for train, test in part.cv]
    return Trials(np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts]), cv)


def simulated(noise: str, n_columns: int, draws: int) -> Trials:
    """Draw data sets of 100 rows to train and 500 to test on."""
    part = [(np.arange(100), np.arange(100, 600))]
    drawn = (make_latent_glm(600, n_columns, SIZES[noise], noise, random_state=seed) for seed in range(draws))
    return stacked([Trials(data.X, np.asarray(data.y), part) for data in drawn])


def folded(X: NDArray, y: NDArray, n_folds: int) -> Trials:
    """Split rows into folds of equal shares of the classes."""
    return Trials(X, y, list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)))


def best_of(result: Result, size: str) -> dict[Any, Values]:
    """Return for every value of `size` the errors at the other parameter's value with the lowest mean."""
    found: dict[Any, Values] = {}
    for cell in result.cells.values():
        values = tuple(map(float, cell.values(result.metrics[0])))
        best = found.get(cell.params[size])
        if best is None or np.mean(values) < np.mean(best):
            found[cell.params[size]] = values
    return dict(sorted(found.items()))


# --- Fig. 1 -----------------------------------------------------------------------------------------------------------


def _errors(bench: Bench, noise: str, n_columns: int) -> dict[str, Values]:
    """Return the errors of every method of Fig. 1a or 1c."""
    trials = simulated(noise, n_columns, bench.either(2, 10))
    models: dict[str, Any] = {
        f"{name.capitalize()}-SDR": paper_model(name) for name in dict.fromkeys(("gaussian", noise))
    }
    models |= {
        "SVM": SVC(kernel="linear"),
        "Logistic-UDR": LogisticUDR(**_RIDGES, **_FEW_SWEEPS),
        "SVM-UDR": SVMUDR(**_RIDGES, **_FEW_SWEEPS),
    }
    errors = {name: bench.values(model, trials.X, trials.y, cv=trials.cv) for name, model in models.items()}
    chosen = bench.sweep(svdm(), trials.X, trials.y, {"n_components": [2], "recon_weight": WEIGHTS}, cv=trials.cv)
    return errors | {"SVDM, its best λ": best_of(chosen, "n_components")[2]}


def _against_rivals(errors: dict[str, Values], own: str, where: str) -> list[Row]:
    return [
        at_most(f"{where}: error of {own} minus {name}", np.subtract(errors[own], values), 0.0)
        for name, values in errors.items()
        if name != own
    ]


def glm_figure_1a(bench: Bench) -> list[Row]:
    """Bits: error against the number of columns."""
    rows = []
    for n_columns in bench.either((100, 300), (100, 300, 700, 1000)):
        errors, where = _errors(bench, "bernoulli", n_columns), f"D = {n_columns}"
        if n_columns >= 300:
            rows += [
                at_most(f"{where}: error of Bernoulli-SDR", errors["Bernoulli-SDR"], 0.05),
                at_least(f"{where}: error of the SVM", errors["SVM"], 0.14, about="rival"),
            ]
        rows += _against_rivals(errors, "Bernoulli-SDR", where)
    return rows


def glm_figure_1b(bench: Bench) -> list[Row]:
    """Bits: error against the weight of the reconstruction."""
    weights, rises, late = (SMALL, 1e-2, 1e-1, 1.0, 10.0), {}, {}
    widths = bench.either((100, 300), (200, 700, 1000))
    for n_columns in widths:
        X, y, cv = simulated("bernoulli", n_columns, bench.either(2, 10))
        result = bench.sweep(paper_model("bernoulli"), X, y, {"recon_weight": weights}, cv=cv)
        errors = {cell.params["recon_weight"]: cell.values(result.metrics[0]) for cell in result.cells.values()}
        rises[n_columns] = np.subtract(errors[10.0], errors[SMALL])
        late[n_columns] = np.subtract(errors[10.0], errors[1.0])
    few, many = widths[0], widths[-1]
    bounds = {n_columns: 0.0 if n_columns == few else 0.05 for n_columns in widths}
    return [
        *(
            at_least(f"D = {n_columns}: error at λ = 10 minus at λ = 1e-4", rise, bounds[n_columns])
            for n_columns, rise in rises.items()
        ),
        at_least(f"that rise at D = {many} minus at D = {few}", np.subtract(rises[many], rises[few]), 0.0),
        at_least(f"D = {many}: error at λ = 10 minus at λ = 1", late[many], 0.05),
    ]


def glm_figure_1c(bench: Bench) -> list[Row]:
    """Gaussian noise: error against the number of columns."""
    rows = []
    for n_columns in bench.either((100,), (100, 300, 700, 1000)):
        rows += _against_rivals(_errors(bench, "gaussian", n_columns), "Gaussian-SDR", f"D = {n_columns}")
    return rows


# --- the tables -------------------------------------------------------------------------------------------------------


def in_own_span(X: NDArray) -> NDArray:
    """Return rows (n, m) in an orthonormal basis of what they span, (n, n): all inner products stay what they are."""
    values, vectors = np.linalg.eigh(X @ X.T)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def in_unit_rows(X: NDArray) -> NDArray:
    """Return rows in their own span, divided by one number so that their mean squared length about the centre is 1."""
    return in_own_span(X) / np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())


def _compared(
    bench: Bench, trials: Trials, sizes: Sequence[int], families: Sequence[str], **settings: Any
) -> dict[str, dict[int, Values]]:
    """Return method → L → errors, each at the λ with the lowest mean where it has one; SDR has these settings."""
    X, y, cv = trials
    sweeps = {f"{name.capitalize()}-SDR": paper_model(name, **settings) for name in families}
    sweeps["SVDM"] = svdm()
    plain = {**_RIDGES, **_FEW_SWEEPS, "family_x": families[0]}
    reduced = {"Logistic-UDR": LogisticUDR(**plain), "SVM-UDR": SVMUDR(**plain)}
    grid = {"n_components": sizes, "recon_weight": bench.either(WEIGHTS[::3], WEIGHTS)}
    values = {
        name: best_of(bench.sweep(model, X, y, grid, cv=cv), "n_components") for name, model in sweeps.items()
    } | {
        name: best_of(bench.sweep(model, X, y, {"n_components": sizes}, cv=cv), "n_components")
        for name, model in reduced.items()
    }
    machine = bench.values(SVC(kernel="linear"), X, y, cv=cv)
    return values | {"SVM": dict.fromkeys(sizes, machine)}


def glm_table_2(bench: Bench) -> list[Row]:
    """Bits: whether a round trip is longer than the mean of its column."""
    times = load_round_trips(bench.data_dir)
    parts = []
    for seed in range(bench.either(1, 2)):
        nodes = np.random.default_rng(seed).permutation(len(times))[:169]
        bits = (times[np.ix_(nodes, nodes)] > times[np.ix_(nodes, nodes)].mean(axis=0)).astype(float)
        parts.append(folded(bits[:, 1:], bits[:, 0].astype(int), 5))
    sizes = bench.either((2,), (2, 5, 10))
    compared = _compared(bench, stacked(parts), sizes, ("bernoulli", "gaussian"), tol=1e-5)
    own = compared["Bernoulli-SDR"]
    least = min(sizes, key=lambda size: float(np.mean(own[size])))
    return [
        at_most(f"error of Bernoulli-SDR at its best L, {least}", own[least], 0.15),
        *(
            at_most(f"L = {size}: error of Bernoulli-SDR minus {name}", np.subtract(own[size], values[size]), 0.0)
            for size in sizes
            for name, values in compared.items()
            if name != "Bernoulli-SDR"
        ),
    ]


def _wide_rows(found: dict[str, dict[int, Values]], where: str, leads: dict[int, float]) -> list[Row]:
    """Return rows on Gaussian-SDR against each rival.

    `leads` are the paper's differences from the SVM where they are at hand; other L are taken together.
    """
    sizes = list(found["SVM"])
    rest = [size for size in sizes if size not in leads]
    groups = [(f"L = {size}", [size], leads[size]) for size in sizes if size in leads]
    groups += [(f"L = {', '.join(map(str, rest))}, mean", rest, 0.0)] if rest else []
    own, rows = found.pop("Gaussian-SDR"), []
    for label, chosen, lead in groups:
        for name, values in found.items():
            lost = np.mean([np.subtract(own[size], values[size]) for size in chosen], axis=0)
            bound = lead if name == "SVM" else 0.0
            rows.append(at_most(f"{where}, {label}: error of Gaussian-SDR minus {name}", lost, bound))
    return rows


def _factors(bench: Bench, n_rows: int, n_columns: int, amplitude: float) -> Trials:
    drawn = (
        make_wide_factors(n_rows, bench.either(500, n_columns), amplitude, random_state=seed)
        for seed in range(bench.either(1, 3))
    )
    return stacked([folded(in_unit_rows(data.X), np.asarray(data.y), 5) for data in drawn])


def glm_table_3(bench: Bench) -> list[Row]:
    """Mass spectra: 50 rows of 38,573 columns drawn, and ARCENE's 200 of 10,000."""
    sizes, leads = bench.either((2, 6), (2, 4, 6, 8, 10)), {2: 0.02, 4: 0.0, 6: 0.0}
    compared = _compared(bench, _factors(bench, 50, 38_573, 60.0), sizes, ("gaussian",))
    X, y = load_table("arcene", bench.data_dir)
    X = X[:, np.ptp(X, axis=0) > 0.0]
    X = in_unit_rows((X - X.mean(axis=0)) / X.std(axis=0))
    spectra = _compared(bench, folded(X, y, bench.either(2, 5)), bench.either((2,), sizes), ("gaussian",))
    return [*_wide_rows(compared, "six factors", leads), *_wide_rows(spectra, "ARCENE", leads)]


def glm_table_4(bench: Bench) -> list[Row]:
    """FMRI: 84 rows of 14,043 columns drawn."""
    sizes = bench.either((5,), (5, 10, 15, 20, 25))
    return _wide_rows(
        _compared(bench, _factors(bench, 84, 14_043, 14.0), sizes, ("gaussian",)), "six factors", {5: 0.0}
    )


def glm_figure_2(bench: Bench) -> list[Row]:
    """Wide regression over time: correlation against the number of components, and Elastic Net's."""
    sizes = bench.either((2, 5), (2, 5, 10, 20, 50))
    weights = bench.either((SMALL,), WEIGHTS[:5])
    rises, leads, beside_ridge = [], [], []
    for seed in range(bench.either(1, 3)):
        n_rows, n_columns = bench.either((200, 1000), (704, 33_000))
        X, y = make_wide_regression(n_rows, n_columns, 14.0, random_state=seed).to_xy()
        half = n_rows // 2
        split = {"cv": [(np.arange(half), np.arange(half, n_rows))], "scoring": "correlation"}
        model = paper_model("gaussian", task="regression")
        grid = {"n_components": sizes, "recon_weight": weights}
        best = bench.sweep(model, X, y, grid, **split).means().max(axis=1)
        peer = bench.sweep(ElasticNet(), X, y, {"alpha": [0.03, 0.1, 0.3]}, **split).means().max()
        rises.append(float(best[-1] - best[0]))
        leads.append(float(best.max() - peer))
        beside_ridge.append(float(best.max() - np.mean(bench.values(Ridge(1e3), X, y, **split))))
    return [
        at_least(f"correlation at L = {sizes[-1]} minus at L = 2", rises, 0.0),
        at_least("correlation at the best L minus Elastic Net's", leads, 0.0),
        at_least("correlation at the best L minus ridge regression's", beside_ridge, 0.0, about="question"),
    ]


# --- the updates ------------------------------------------------------------------------------------------------------


def _seconds(model: Any, X: NDArray, y: NDArray) -> float:
    began = time.process_time()
    model.fit(X, y)
    return (time.process_time() - began) / int(model.n_iter_)


def _times_as_long(model: Any, X: NDArray, y: NDArray, repeats: int) -> Values:
    """Return the seconds of a sweep as a share of SVDM's, both in this process, in turn."""
    peer = svdm(recon_weight=1e-2, max_iter=20, tol=0.0)
    for each in (model, peer):  # compiles
        each.fit(X[:50], y[:50])
    return tuple(_seconds(model, X, y) / _seconds(peer, X, y) for _ in range(repeats))


def _least_rise(model: Any, X: NDArray, y: NDArray) -> Values:
    """Return the smallest rise of J in a sweep as a share of the largest |J|."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of weights that leave no component, or no label
        objective = model.fit(X, y).history_["objective"]
    return (float(-np.diff(objective).max() / np.abs(objective).max()),)


def glm_updates(bench: Bench) -> list[Row]:
    """J rises in every sweep, and a sweep takes closed forms only."""
    literal = SDRGLM(2, **_PAPER, solver="literal", max_iter=bench.either(20, 200), tol=0.0)
    rises, times = [], []
    for noise, size in SIZES.items():
        X, y = make_latent_glm(100, 300, size, noise, random_state=0).to_xy()
        for weight in (SMALL, 1.0, 100.0):
            least = _least_rise(clone(literal).set_params(recon_weight=weight), X, y)
            rises.append(at_least(f"{noise}, λ = {weight:g}: least rise of J / |J|", least, -ROUNDING))
        n_rows = bench.either(200, 1000)
        X, y = make_latent_glm(n_rows, n_rows, size, noise, random_state=0).to_xy()
        for solver, about in (("literal", "method"), ("fast", "question")):
            model = clone(literal).set_params(solver=solver, recon_weight=1e-2, max_iter=20)
            share = _times_as_long(model, X, y, bench.either(2, 7))
            what = f'{noise}: seconds of a sweep, solver "{solver}" / SVDM'
            times.append(at_most(what, share, 1.0, about=about))
    return rises + times


MEASUREMENTS: Measurements = {
    "sdr-glm-figure-1a": glm_figure_1a,
    "sdr-glm-figure-1b": glm_figure_1b,
    "sdr-glm-figure-1c": glm_figure_1c,
    "sdr-glm-table-2": glm_table_2,
    "sdr-glm-table-3": glm_table_3,
    "sdr-glm-table-4": glm_table_4,
    "sdr-glm-figure-2": glm_figure_2,
    "sdr-glm-updates": glm_updates,
}

"""SDR-GLM against the project's targets.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/sdr_glm.py --data-dir DIR \
        [--only speed sweeps tables calibration wide simulated regression memory] [--draws 20]

Times are processor times on one thread, medians of interleaved runs in one process.  "step" is the time inside
`problem.step` within a run whose every iterate is evaluated; "with J" adds that evaluation.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import protocols as p
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.metrics import log_loss
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from supdr import SDRGLM
from supdr.baselines import SVMUDR, LogisticUDR
from supdr.datasets import make_latent_glm, make_wide_factors, make_wide_regression
from supdr.functions.families import BERNOULLI, GAUSSIAN, tanh_ratio
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.solvers import Fast
from supdr.methods.sdr_glm.targets import TargetSide

SIX_SETS = ("ionosphere", "sonar", "spect", "breast_cancer_w", "pi_diabetes", "wine")
CELLS = [
    (noise, scale, n_features)
    for noise, scales in (("bernoulli", (3.0, 4.0, 6.0)), ("gaussian", (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)))
    for scale in scales
    for n_features in (100, 300, 700, 1000)
]


# --- speed ------------------------------------------------------------------------------------------------------------


def literal_sweep(X: np.ndarray, y: np.ndarray, code: int, lam: float, blocks: tuple[np.ndarray, ...]) -> tuple:
    """Take the paper's sweep in plain NumPy, one bit as target: a solve per row and column, all ridges 0.01."""
    U, Vt, wt = blocks
    L, ridge = U.shape[1], 0.01

    def minorant(S: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if code == GAUSSIAN and S.ndim == 2:
            return np.full(S.shape, 2.0), 2.0 * S
        return tanh_ratio(theta) / 2.0, S - 0.5

    V, b, w = Vt[:L], Vt[L], wt[:L]
    A, G = minorant(X, U @ V + b)
    a, g = minorant(y, U @ w + wt[L])
    new = np.empty_like(U)
    for n in range(len(X)):
        H = lam * (V * A[n]) @ V.T + a[n] * np.outer(w, w) + ridge * np.eye(L)
        new[n] = np.linalg.solve(H, lam * V @ (G[n] - A[n] * b) + w * (g[n] - a[n] * wt[L]))
    Ua = np.concatenate([new, np.ones((len(X), 1))], axis=1)
    a, g = minorant(y, Ua @ wt)
    head = np.linalg.solve((Ua.T * a) @ Ua + ridge * np.eye(L + 1), Ua.T @ g)
    A, G = minorant(X, Ua @ Vt)
    loadings = np.empty_like(Vt)
    for d in range(X.shape[1]):
        loadings[:, d] = np.linalg.solve(lam * (Ua.T * A[:, d]) @ Ua + ridge * np.eye(L + 1), lam * Ua.T @ G[:, d])
    return new, loadings, head


def speed_problem(n_rows: int, n_columns: int, code: int) -> SDRGLMProblem:
    """Three true factors, one bit as target, L = 10, lam = 0.01."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((n_rows, 3))
    theta = U @ rng.standard_normal((3, n_columns)) / np.sqrt(3.0)
    X = theta + rng.standard_normal(theta.shape)
    if code == BERNOULLI:
        X = (rng.random(theta.shape) < 1.0 / (1.0 + np.exp(-theta))).astype(float)
    targets = TargetSide((U[:, :1] > 0).astype(float), np.zeros(1, dtype=np.int64), 1.0, "jj")
    return Fast(X, np.full(n_columns, code), targets, 10, 0.01, 0.01, 0.01, 0.01)


def clock(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return processor seconds and the result."""
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def sweep_times(problem: SDRGLMProblem, repeats: int) -> dict[str, float]:
    """Median seconds of a step, of a step with J, of a PCA with 10 components and of a literal sweep."""
    state = problem.step(problem.start(0))
    problem.losses(state)
    times: dict[str, list[float]] = {"step": [], "with J": [], "PCA": [], "literal": []}
    Vt = np.concatenate([state.components, state.intercept_x[None]])
    blocks = (state.latent, Vt @ problem.X if state.in_rows else Vt, np.append(state.coef, state.intercept))
    code, y = int(problem.codes[0]), problem.targets.Y[:, 0]

    def plain() -> tuple:
        return literal_sweep(problem.X, y, code, problem.weight, blocks)

    for count in range(repeats):
        for _ in range(3):
            step, state = clock(lambda state=state: problem.step(state))
            losses, _ = clock(lambda state=state: problem.losses(state))
            times["step"].append(step)
            times["with J"].append(step + losses)
        times["PCA"].append(clock(lambda: PCA(10, random_state=0).fit(problem.X))[0])
        if count < 2:
            times["literal"].append(clock(plain)[0])
    return {name: float(np.median(values)) for name, values in times.items()}


def speed(settings: argparse.Namespace) -> bool:
    """Sweeps and a whole fit against scikit-learn's PCA and against the plain sweep."""
    passed = True
    plans = (
        ("Gaussian 20,000 x 500", 20_000, 500, GAUSSIAN, 0.2, 20.0),
        ("Bernoulli 20,000 x 500", 20_000, 500, BERNOULLI, 0.6, 10.0),
        ("Gaussian 50 x 38,573", 50, 38_573, GAUSSIAN, None, 1000.0),
        ("Bernoulli 50 x 38,573", 50, 38_573, BERNOULLI, None, 5.0),
    )
    for name, n_rows, n_columns, code, share, factor in plans:
        problem = speed_problem(n_rows, n_columns, code)
        times = sweep_times(problem, 5)
        print(f"{name}: " + ", ".join(f"{key} {1e3 * value:.2f} ms" for key, value in times.items()))
        if share is not None:
            passed &= p.print_verdict(f"{name}, step / PCA", times["step"] / times["PCA"], share)
            print(f"  step with J / PCA: {times['with J'] / times['PCA']:.3f}")
        passed &= p.print_verdict(f"{name}, literal / step", times["literal"] / times["step"], factor, at_least=True)
    wide = speed_problem(50, 38_573, GAUSSIAN)
    y = wide.targets.Y[:, 0]
    fits, pcas = [], []
    for _ in range(7):
        fits.append(clock(lambda: SDRGLM(10, max_iter=100, tol=-1.0).fit(wide.X, y))[0])
        pcas.append(clock(lambda: PCA(10).fit(wide.X))[0])
    print(f"fit of 100 sweeps {1e3 * np.median(fits):.1f} ms, PCA {1e3 * np.median(pcas):.1f} ms")
    return passed & p.print_verdict("Gaussian 50 x 38,573, fit / PCA", float(np.median(fits) / np.median(pcas)), 2.0)


# --- sweeps to a gap --------------------------------------------------------------------------------------------------


def gap_problem(code: int, lam: float, **settings: Any) -> SDRGLMProblem:
    """60 rows, 30 columns, two bits as targets, two true factors, L = 3, ridges 0.01."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((60, 2))
    theta, scores = U @ rng.standard_normal((2, 30)), U @ rng.standard_normal((2, 2))
    X = theta + rng.standard_normal(theta.shape)
    if code == BERNOULLI:
        X = (rng.random(theta.shape) < 1.0 / (1.0 + np.exp(-theta))).astype(float)
    Y = (rng.random(scores.shape) < 1.0 / (1.0 + np.exp(-scores))).astype(float)
    targets = TargetSide(Y, np.zeros(2, dtype=np.int64), 1.0, "jj")
    return Fast(X, np.full(30, code), targets, 3, lam, 0.01, 0.01, 0.01, **settings)


def sweeps(settings: argparse.Namespace) -> bool:
    """Sweeps until J is within a relative gap of the best value found: inner steps and gauge against neither."""
    passed = True
    variants = {"plain": (1, False), "inner 3": (3, False), "gauge": (1, True), "inner 3 + gauge": (3, True)}
    for code, lam in ((BERNOULLI, 0.01), (GAUSSIAN, 1e-3)):
        curves = {}
        for name, (inner, gauge) in variants.items():
            problem = gap_problem(code, lam, inner=inner, gauge=gauge)
            state, curve = problem.start(0), []
            for _ in range(6000 if inner == 1 and not gauge else 3000):
                curve.append(problem.losses(state)["objective"])
                state = problem.step(state)
            curves[name] = np.array(curve)
        best = min(curve.min() for curve in curves.values())
        counts = {
            name: [int(np.argmax(curve <= best + gap * abs(best))) or len(curve) for gap in (1e-2, 1e-3)]
            for name, curve in curves.items()
        }
        label = "Bernoulli" if code == BERNOULLI else "Gaussian"
        print(f"{label}, lam {lam:g}, sweeps to a gap of 1e-2 / 1e-3: {counts}")
        ratio = counts["plain"][1] / counts["inner 3 + gauge"][1]
        passed &= p.print_verdict(f"{label}: plain / fast sweeps at 1e-3", ratio, 9.0, at_least=True)
    return passed


# --- errors -----------------------------------------------------------------------------------------------------------


def error(model: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Fit on `train`, return the error on `test`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X[train], y[train])
    return float(np.mean(model.predict(X[test]) != y[test]))


def simulated(settings: argparse.Namespace) -> bool:
    """Mean over draws of "calibrated SDR minus linear SVM (C = 1)", largest over the 36 cells: <= 0.01."""
    plain = {"preprocessing": "none", "max_iter": 50, "tol": 1e-5}
    unscaled = {**plain, "reg_u": 0.01, "reg_v": 0.01, "reg_scaling": "none"}  # the paper's
    models: dict[str, Callable[[], Any]] = {
        "SVM": lambda: SVC(kernel="linear"),
        "auto": lambda: SDRGLM(2, **plain),
        "lam 1e-4": lambda: SDRGLM(2, recon_weight=1e-4, **unscaled),
        "lam 1e-3": lambda: SDRGLM(2, recon_weight=1e-3, **unscaled),
        "lam 0.1": lambda: SDRGLM(2, recon_weight=0.1, **unscaled),
        "Logistic-UDR": lambda: LogisticUDR(**plain),
        "SVM-UDR": lambda: SVMUDR(**plain),
    }
    worst = dict.fromkeys(models, -1.0)
    train, test = np.arange(100), np.arange(100, 600)
    for noise, scale, n_features in CELLS:
        errors = {name: [] for name in models}
        for seed in range(settings.draws):
            data = make_latent_glm(600, n_features, scale, noise, random_state=seed)
            for name, make in models.items():
                errors[name].append(error(make(), data.X, data.y, train, test))
        mean = {name: float(np.mean(values)) for name, values in errors.items()}
        print(f"{noise} {scale:g}, D = {n_features}: " + ", ".join(f"{k} {v:.3f}" for k, v in mean.items()), flush=True)
        worst = {name: max(worst[name], mean[name] - mean["SVM"]) for name in models}
    print("largest mean difference to the SVM: " + ", ".join(f"{k} {v:+.4f}" for k, v in worst.items()))
    verdicts = [p.print_verdict(f"{k} minus SVM", worst[k], 0.01) for k in ("auto", "lam 1e-4", "lam 1e-3")]
    return all(verdicts)


def tables(settings: argparse.Namespace) -> bool:
    """Defaults at L = 2, 5 folds: mean error of six tables <= .18."""
    rows = {}
    for name in SIX_SETS:
        X, y = p.load(name, settings.data_dir)
        rows[name] = {
            str(L): float(np.mean([error(SDRGLM(L), X, y, *split) for split in p.folds(y, seeds=range(2))]))
            for L in (2, 5)
        }
    rows["mean"] = {L: float(np.mean([row[L] for row in rows.values()])) for L in ("2", "5")}
    p.print_table("SDR-GLM, defaults, inductive error at L", ("2", "5"), rows)
    return p.print_verdict("mean of the six tables at L = 2", rows["mean"]["2"], 0.18)


def calibration(settings: argparse.Namespace) -> bool:
    """Mean log loss on six tables: at most that of scikit-learn's calibration, which takes five more fits."""
    rows = {}
    for name in SIX_SETS:
        X, y = p.load(name, settings.data_dir)
        losses = []
        for train, test in p.folds(y):
            models = SDRGLM(), CalibratedClassifierCV(SDRGLM(), cv=5)
            losses.append([log_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test])) for model in models])
        rows[name] = dict(zip(("own", "scikit-learn"), np.mean(losses, axis=0).tolist()))
    rows["mean"] = {key: float(np.mean([row[key] for row in rows.values()])) for key in ("own", "scikit-learn")}
    p.print_table("log loss on new rows", ("own", "scikit-learn"), rows)
    return p.print_verdict("mean log loss beside calibration", rows["mean"]["own"], rows["mean"]["scikit-learn"])


def wide(settings: argparse.Namespace) -> bool:
    """Wide stand-ins, 5 draws of 5 folds, automatic weight."""
    passed = True
    for n_rows, n_columns, amplitude, target in ((50, 38_573, 60.0, 0.18), (84, 14_043, 14.0, 0.08)):
        errors: dict[str, list[float]] = {"2": [], "5": [], "Logistic-UDR 2": [], "SVM": []}
        for seed in range(5):
            data = make_wide_factors(n_rows, n_columns, amplitude, random_state=seed)
            for split in p.folds(data.y.astype(int), seeds=(seed,)):
                for L in (2, 5):
                    errors[str(L)].append(error(SDRGLM(L, preprocessing="none"), data.X, data.y, *split))
                errors["Logistic-UDR 2"].append(error(LogisticUDR(preprocessing="none"), data.X, data.y, *split))
                errors["SVM"].append(error(SVC(kernel="linear"), data.X, data.y, *split))
        mean = {name: float(np.mean(values)) for name, values in errors.items()}
        by_draw = np.reshape(errors["2"], (5, 5)).mean(axis=1)
        print(f"{n_rows} x {n_columns}: {mean}; L = 2 by draw {np.round(by_draw, 3)}")
        passed &= p.print_verdict(f"wide {n_rows} x {n_columns}, L = 2", mean["2"], target)
    return passed


def regression(settings: argparse.Namespace) -> bool:
    """Correlation on later rows of the wide regression; for the record, no target."""
    data = make_wide_regression(704, 33_000, 14.0, random_state=0)
    half = slice(0, 352), slice(352, 704)
    X, y = data.X - data.X[half[0]].mean(axis=0), data.y

    def correlation(model: Any) -> float:
        return float(np.corrcoef(model.fit(X[half[0]], y[half[0]]).predict(X[half[1]]), y[half[1]])[0, 1])

    for L in (2, 5, 10, 20):
        print(f"SDR-GLM, L = {L}: {correlation(SDRGLM(L, task='regression', preprocessing='none')):.3f}")
    print(f"ridge: {correlation(Ridge(1e3)):.3f}; Elastic Net: {correlation(ElasticNet(0.3, max_iter=200)):.3f}")
    return True


def errata(settings: argparse.Namespace) -> bool:
    """Repeat how often the printed bounds exceed the likelihood of a bit: 4,000 pairs of points, deviation 3."""
    t, s = 3.0 * np.random.default_rng(0).standard_normal((2, 4000))
    likelihood = -np.logaddexp(0.0, t)

    def excess(constant: float, curvature: np.ndarray) -> float:
        bound = constant - 0.5 * t - np.log(np.cosh(0.5 * s)) - 0.25 * curvature * (t**2 - s**2)
        return float(np.mean(bound > likelihood + 1e-12))

    right = np.tanh(0.5 * s) / s
    print(f"with + log 2: {excess(np.log(2.0), right):.0%}; T not divided: {excess(-np.log(2.0), right * s):.0%}")
    return p.print_verdict("share above, with both corrected", excess(-np.log(2.0), right), 0.0)


# --- memory -----------------------------------------------------------------------------------------------------------


def memory(settings: argparse.Namespace) -> bool:
    """100,000 x 1,000 bits in less than 4 GB; run alone, since the peak is that of the process."""
    rng = np.random.default_rng(0)
    X = np.empty((100_000, 1000))
    U, V = rng.standard_normal((len(X), 2)), rng.standard_normal((2, 1000)) / np.sqrt(2.0)
    for rows in np.array_split(np.arange(len(X)), 50):
        X[rows] = rng.random((len(rows), 1000)) < 1.0 / (1.0 + np.exp(-U[rows] @ V))
    y = (U[:, 0] > 0).astype(int)
    seconds, model = clock(lambda: SDRGLM(10, max_iter=3).fit(X, y))
    accuracy = model.score(X[:2000], y[:2000])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{seconds:.1f} s for 3 sweeps, start and calibration; accuracy {accuracy:.3f}")
    return p.print_verdict("100,000 x 1,000 bits, peak in GB", peak, 4.0)


PARTS = {
    part.__name__: part for part in (speed, sweeps, tables, calibration, wide, simulated, regression, errata, memory)
}


def main() -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the benchmark sets, for `tables` and `calibration`")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--draws", type=int, default=20, help="draws per simulated cell")
    settings = parser.parse_args()
    if {"tables", "calibration"} & set(settings.only) and settings.data_dir is None:
        parser.error("tables and calibration need --data-dir")
    with threadpool_limits(1):
        passed = [PARTS[name](settings) for name in settings.only]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

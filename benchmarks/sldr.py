"""SLDR against its targets: accuracy and support vectors on MULTIFEAT, where views pay, time per fit, the two toys.

    python benchmarks/sldr.py --data-dir DIR [--only multifeat views speed toys errata]

MULTIFEAT: digits 0-4 against 5-9 in six views; a third of the rows is the test set (seed 0), five times two-fold
cross-validation on the rest (seeds 0-4); C among 1, 10, 100 by mean validation accuracy.  Every fold starts from a seed
of its own, so that no lucky start decides a row.  Times are processor times of whole fits, one thread.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np
from protocols import print_verdict, run_protocols
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from supdr import SLDR, stack_views
from supdr.baselines import LMKL, MKL, AllViewsSVM
from supdr.datasets import make_gauss4, make_multiview_digits, make_zigzag
from supdr.methods.sldr import solvers as solvers_module
from supdr.methods.sldr.state import Solved
from supdr.solvers.kernel_heads import Heads
from supdr_viz.papers.data import load_multifeat

CS = (1.0, 10.0, 100.0)
PAPER = {"SVM (FAC)": (94.97, 17.93), "SVM (ALL)": (97.69, 23.34), "MKL": (97.40, 32.59), "LMKL": (97.73, 14.35)}
PAPER["SLDR, the paper's"] = (97.09, 2.89)
LOOP = {"n_components": 2, "solver": "alternating", "starts": "best"}
GATE = {"solver": "lbfgs", "n_init": 3, "starts": "best"}


def multifeat(data_dir: Path):
    """Return X, y, the sizes of the views, the (train, validation) folds and the test rows."""
    X, y, sizes = load_multifeat(data_dir)
    rows, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y)
    folds = []
    for seed in range(5):
        splitter = StratifiedKFold(2, shuffle=True, random_state=seed)
        folds += [(rows[train], rows[held]) for train, held in splitter.split(rows, y[rows])]
    return X, y, sizes, folds, test


def accuracy_table(data_dir: Path) -> bool:
    """Print the paper's table of MULTIFEAT; check the defaults and the paper's loop."""
    X, y, sizes, folds, test = multifeat(data_dir)
    methods = {
        "SVM (FAC)": lambda C, seed: AllViewsSVM(C, views=[list(range(sizes[0]))]),
        "SVM (ALL)": lambda C, seed: AllViewsSVM(C, views=sizes),
        "MKL": lambda C, seed: MKL(C, views=sizes),
        "LMKL": lambda C, seed: LMKL(C, views=sizes, random_state=seed),
        "SLDR": lambda C, seed: SLDR(C=C, views=sizes, random_state=seed),
        "SLDR, Algorithm 1": lambda C, seed: SLDR(C=C, views=sizes, n_init=3, random_state=seed, **LOOP),
        "SLDR, 1 start": lambda C, seed: SLDR(C=C, views=sizes, n_init=1, random_state=seed, **LOOP),
        "SLDR, the paper's": lambda C, seed: SLDR(
            C=C, views=sizes, n_gating=10, n_init=1, init="random", init_scale=0.01, random_state=seed, **LOOP
        ),
        "SLDR, held out": lambda C, seed: SLDR(
            C=C, views=sizes, n_init=3, early_stopping=True, random_state=seed, **LOOP
        ),
        "SLDR, lbfgs": lambda C, seed: SLDR(C=C, views=sizes, random_state=seed, **GATE),
        "SLDR, lbfgs, R_G=10": lambda C, seed: SLDR(C=C, views=sizes, n_gating=10, random_state=seed, **GATE),
    }
    print(f"{'MULTIFEAT':22}{'C':>5}{'test %':>16}{'raw SV %':>16}{'least SV %':>12}{'s a fit':>9}   paper")
    results = {}
    for name, make in methods.items():
        make(1.0, 0).fit(X[folds[0][0]], y[folds[0][0]])  # compiled
        by_C = {
            C: np.array([_one_fold(make(C, number), X, y, *fold, test) for number, fold in enumerate(folds)])
            for C in CS
        }
        C = max(CS, key=lambda value: by_C[value][:, 0].mean())
        _, accuracy, raw, least, seconds = by_C[C].mean(axis=0)
        spread = by_C[C].std(axis=0)
        slowest = max(each[:, 4].max() for each in by_C.values())
        results[name] = accuracy, raw, slowest
        paper = "{} / {}".format(*PAPER[name]) if name in PAPER else ""
        fewest = f"{least:12.2f}" if np.isfinite(least) else f"{'':12}"
        measured = f"{accuracy:9.2f} ± {spread[1]:.2f}{raw:9.2f} ± {spread[2]:.2f}{fewest}{seconds:9.2f}"
        print(f"{name:22}{C:5g}{measured}   {paper}", flush=True)
    accuracy, _, slowest = results["SLDR"]
    in_loop, raw, _ = results["SLDR, Algorithm 1"]
    return all(
        [
            print_verdict("defaults, test accuracy in %", accuracy, 98.0, at_least=True),
            print_verdict("defaults, slowest fit of all C in s", slowest, 3.0),
            print_verdict("Algorithm 1, test accuracy in %", in_loop, 98.0, at_least=True),
            print_verdict("Algorithm 1, raw support vectors in %", raw, 3.0),
        ]
    )


def _one_fold(model, X, y, train, held, test):
    began = time.process_time()
    model.fit(X[train], y[train])
    seconds = time.process_time() - began
    raw = 100.0 * model.support_fraction_
    least = 100.0 * getattr(model, "support_fraction_min_", np.nan)
    return 100.0 * model.score(X[held], y[held]), 100.0 * model.score(X[test], y[test]), raw, least, seconds


def several_views(data_dir: Path):
    """Yield sets of several views: name, X, y, sizes of the views."""
    for name in ("multifeat", "proteinfold_reduced"):
        arrays = np.load(data_dir / f"{name}.npz")
        tables = [arrays[view].astype(float) for view in arrays.files if view != "y"]
        y = arrays["y"].ravel()
        if name == "multifeat":
            yield "MULTIFEAT, 0-4 against 5-9", *stack_views(tables), y >= 5
        yield name, *stack_views(tables), y
    for classes in ("halves", "digits"):
        data = make_multiview_digits(classes=classes)
        yield f"bundled digits, {classes}", data.X, data.views, data.y
    for seed in range(2):
        yield f"words, draw {seed}", *words(seed)


def words(seed: int, n_rows: int = 900, n_topics: int = 6):
    """Draw counts of words in three vocabularies: each row mixes the words of its topic with those of all."""
    rng = np.random.default_rng(seed)
    topic, share = rng.integers(n_topics, size=n_rows), rng.beta(1.2, 2.5, n_rows)[:, None]
    tables = []
    for width, evenness, length in ((600, 0.06, 60), (200, 0.15, 12), (60, 0.9, 30)):
        own, common = rng.dirichlet(np.full(width, evenness), n_topics), rng.dirichlet(np.full(width, 0.5))
        frequencies = share * own[topic] + (1.0 - share) * common
        tables.append([rng.multinomial(1 + rng.poisson(length), row) for row in frequencies])
    return *stack_views(tables), topic


def views(data_dir: Path) -> bool:
    """Print the test error of SLDR and of one linear SVM on all views: half of the rows to train, three splits."""
    print(f"{'test error in %':30}{'SVM':>8}{'SLDR':>8}{'+ all':>8}{'most used view':>16}{'s a fit':>9}")
    ahead = []
    for name, X, sizes, y in several_views(data_dir):
        everything = np.arange(X.shape[1])
        groups = np.split(everything, np.cumsum(sizes)[:-1])
        rows = []
        for seed in range(3):
            train, test = train_test_split(np.arange(len(y)), train_size=0.5, random_state=seed, stratify=y)
            svm = AllViewsSVM(views=sizes).fit(X[train], y[train])
            began = time.process_time()
            gated = SLDR(views=groups, random_state=seed).fit(X[train], y[train])
            seconds = time.process_time() - began
            wider = SLDR(views=[*groups, everything], random_state=seed).fit(X[train], y[train])
            errors = [100.0 * (1.0 - model.score(X[test], y[test])) for model in (svm, gated, wider)]
            rows.append([*errors, 100.0 * gated.usage_.max(), seconds])
        line, ours, wide, used, seconds = np.mean(rows, axis=0)
        ahead.append(min(ours, wide) < line)
        print(f"{name:30}{line:8.1f}{ours:8.1f}{wide:8.1f}{used:14.0f} %{seconds:9.2f}", flush=True)
    return print_verdict("sets on which a gate is ahead of one SVM on all views", sum(ahead), 3, at_least=True)


class PrintedAlgorithm(solvers_module.Alternating):
    """Algorithm 1 with the SVM as the paper has it: on the kernel matrix of the projected rows, by LIBSVM."""

    def solve(self, point, start):
        """Solve at `point`; two classes."""
        gate, local = point.gate(self.gating), point.local(self.views)
        K = sum(np.outer(gate[:, m], gate[:, m]) * (Z @ Z.T) for m, Z in enumerate(local))
        y = self.signs[:, 0]
        svm = SVC(C=self.C, kernel="precomputed", tol=self.svm_tol).fit(K, y)
        duals = np.zeros(len(y))
        duals[svm.support_] = svm.dual_coef_[0]
        decision, bias = K @ duals, float(svm.intercept_[0])
        quadratic = float(duals @ decision)
        primal = 0.5 * quadratic + self.C * float(np.maximum(0.0, 1.0 - y * (decision + bias)).sum())
        dual = float(np.abs(duals).sum()) - 0.5 * quadratic
        alpha = np.abs(duals)[:, None]
        heads = Heads(alpha, np.array([bias]), primal, dual, int(svm.n_iter_[0]), math.isfinite(primal), False)
        return Solved(point, gate, local, np.empty((0, 0, 0)), heads)


def speed(data_dir: Path) -> bool:
    """Time whole fits of "lbfgs", of our Algorithm 1 and of Algorithm 1 with LIBSVM on kernel matrices."""
    X, y, sizes, folds, _ = multifeat(data_dir)
    train = folds[0][0]
    printed = {**solvers_module.SOLVERS, "alternating": PrintedAlgorithm}

    def fit(solver, n_gating, seed, init="closed_form"):
        settings = {**LOOP, "solver": solver, "n_init": 1, "init": init}
        model = SLDR(C=10.0, views=sizes, n_gating=n_gating, random_state=seed, **settings)
        began = time.process_time()
        model.fit(X[train], y[train])
        return time.process_time() - began

    def fit_printed(n_gating, seed):
        with mock.patch("supdr.methods.sldr.estimator.SOLVERS", printed):
            return fit("alternating", n_gating, seed, "random")

    for solver in ("lbfgs", "alternating"):
        fit(solver, 2, 0)  # compiled
    times = {"lbfgs": [], "alternating": [], "printed": []}
    for n_gating in (2, 10):
        for seed in range(3):
            for solver in ("lbfgs", "alternating"):
                times[solver].append(np.median([fit(solver, n_gating, seed) for _ in range(3)]))
            times["printed"].append(fit_printed(n_gating, seed))
    for name, values in times.items():
        print(f"{name:14}{np.median(values):8.3f} s (from {min(values):.3f} to {max(values):.3f})")
    fast = np.median(times["lbfgs"])
    print(f"Algorithm 1 in feature space / lbfgs: {np.median(times['alternating']) / fast:.2f}")
    return all(
        [
            print_verdict("lbfgs, median of seeds and R_G, s a fit", fast, 0.3),
            print_verdict("Algorithm 1 (LIBSVM) / lbfgs", np.median(times["printed"]) / fast, 20.0, at_least=True),
        ]
    )


def toys(data_dir: Path) -> bool:
    """Zigzag and four Gaussians: local lines against one line."""
    verdicts = []
    for make, n_train, target in ((make_zigzag, 200, 98.5), (make_gauss4, 400, 88.0)):
        rows = []
        for seed in range(4):
            X, y = make(random_state=seed).to_xy()
            model = SLDR(1, n_models=3, solver="lbfgs", n_init=5, starts="best", random_state=seed)
            model.fit(X[:n_train], y[:n_train])  # compiled
            began = time.process_time()
            model.fit(X[:n_train], y[:n_train])
            seconds = (time.process_time() - began) / 5
            line = SVC(C=10.0, kernel="linear").fit(X[:n_train], y[:n_train])
            numbers = [model.score(X[n_train:], y[n_train:]), line.score(X[n_train:], y[n_train:])]
            numbers += [model.support_fraction_, model.support_fraction_min_, model.usage_.min()]
            rows.append([100.0 * number for number in numbers] + [seconds])
        accuracy, one_line, raw, least, _, seconds = np.mean(rows, axis=0)
        print(
            f"{make.__name__:12} SLDR {accuracy:.2f} ± {np.std(rows, axis=0)[0]:.2f} %, one line {one_line:.1f} %, "
            f"support vectors raw {raw:.1f} %, least {least:.1f} %, {seconds:.3f} s a start"
        )
        verdicts.append(print_verdict(f"{make.__name__}, test accuracy in %", accuracy, target, at_least=True))
        if make is make_zigzag:
            smallest = min(row[4] for row in rows)
            verdicts.append(print_verdict("smallest region of any zigzag, % of rows", smallest, 5.0, at_least=True))
            verdicts.append(print_verdict("zigzag, s a start", seconds, 0.1))
    return all(verdicts)


def errata(data_dir: Path) -> bool:
    """Print what the scale of a random start of V decides: Algorithm 1, one start on each of the ten folds."""
    X, y, sizes, folds, test = multifeat(data_dir)
    ends = {}
    for n_gating in (2, 10):
        for scale in (0.01, 1.0):
            rows = []
            for seed, (train, _) in enumerate(folds):
                settings = {**LOOP, "n_init": 1, "init": "random", "init_scale": scale, "random_state": seed}
                fit = SLDR(views=sizes, n_gating=n_gating, **settings).fit(X[train], y[train])
                rows.append((fit.history_["objective"][-1], 100.0 * fit.score(X[test], y[test])))
            ends[n_gating, scale] = np.median(rows, axis=0)
            J, accuracy = ends[n_gating, scale]
            print(f"R_G = {n_gating}, scale {scale:g}: J = {J:.0f}, accuracy {accuracy:.1f} %, medians")
    return print_verdict("R_G = 10: J from scale .01 / J from scale 1", ends[10, 0.01][0] / ends[10, 1.0][0], 1.0)


PARTS = {"multifeat": accuracy_table, "views": views, "speed": speed, "toys": toys, "errata": errata}

if __name__ == "__main__":
    sys.exit(run_protocols(__doc__ or "", PARTS))

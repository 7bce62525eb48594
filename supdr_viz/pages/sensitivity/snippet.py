"""A sweep as Python: the same data, grid and protocol through the public library."""

from __future__ import annotations

from supdr.datasets import Dataset
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import estimator_arguments, has_gaps, imputation
from supdr_viz.experiment.methods import BASELINES_GROUP, MENU
from supdr_viz.experiment.snippet import call_text, data_lines
from supdr_viz.pages.sensitivity.settings import SweepSettings, metrics_of


def sweep_python(settings: SweepSettings, dataset: Dataset) -> str:
    """Write a program that repeats a sweep and prints its best cell.

    `dataset`: what `build_dataset` gave for the settings. Returns Python source.
    """
    base = settings.base
    body = data_lines(base, dataset)
    if base.label_share < 1:
        arguments = {"task": dataset.task, "random_state": base.seed}
        body.append(f"y = {call_text('hide_labels', arguments, f'y, {base.label_share!r}')}")
    arguments = estimator_arguments(base, dataset.task, gaps=has_gaps(dataset))
    options = {
        "cv": settings.folds if settings.folds > 1 else float(base.test_share),
        "scoring": metrics_of(settings, dataset.task),
        "seeds": list(range(base.seed, base.seed + settings.repeats)),
        **({"transductive": True} if settings.transductive else {}),
        **({"design": settings.design, "n_cells": settings.cells} if settings.design != "grid" else {}),
        **({"warm_along": settings.axes[0].name} if settings.warm else {}),
    }
    sweep = call_text("Sweep", options, "model, grid")
    strategy = imputation(base, dataset)
    if strategy:
        prepare = f"SimpleImputer(strategy={strategy!r}, keep_empty_features=True)"
        sweep = call_text("Sweep", options, f"model, grid, prepare={prepare}")
    body += [
        f"model = {call_text(base.method, arguments)}",
        f"grid = {settings.grid!r}",
        f"sweep = {sweep}",
        "",
        'if __name__ == "__main__":  # fits run in processes of their own',
        "    result = sweep.result(sweep.run(X, y))",
        f"    best = result.best({settings.metric!r})",
        f"    print(best.params, best.mean({settings.metric!r}))",
    ]
    return "\n".join([*_imports(settings, "\n".join(body)), "", *body]) + "\n"


def _imports(settings: SweepSettings, text: str) -> list[str]:
    method = settings.base.method
    module = "supdr.baselines" if MENU[method].group == BASELINES_GROUP else "supdr"
    names = [SOURCES[settings.base.data].loader, *(["hide_labels"] if "hide_labels(" in text else [])]
    imputer = ["from sklearn.impute import SimpleImputer", ""] if "SimpleImputer(" in text else []
    return [
        *imputer,
        f"from {module} import {method}",
        f"from supdr.datasets import {', '.join(sorted(names))}",
        "from supdr.sensitivity import Sweep",
    ]

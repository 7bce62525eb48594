"""Copy as Python for rows on disk: the same partitions, the same split, the same passes."""

from __future__ import annotations

from collections.abc import Sequence

from supdr_viz.data.rows_on_disk import RowsOnDisk, relative_reading
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings


def rows_on_disk(settings: Settings, dataset: RowsOnDisk) -> list[str]:
    """Return lines that read the rows, hold some out and hide labels."""
    path, target = relative_reading(settings.data_options["name"], settings.data_options["target"])
    lines = [
        "client = Client()  # a cluster on this machine, or Client('tcp://host:8786')",
        f"X, y = read_rows({path!r}, {target!r})",
    ]
    if settings.test_share <= 0:
        lines.append("X_train, y_train = X, y")
    else:
        arguments = f"X, y, {settings.test_share!r}, random_state={settings.seed!r}"
        lines.append(f"X_train, X_test, y_train, y_test = split_rows({arguments})")
    if settings.label_share < 1:
        if not _tells_training_error(settings):
            lines.append("truth = y_train")
        arguments = f"y_train, {settings.label_share!r}, random_state={settings.seed!r}"
        lines.append(f"y_train = hide_row_labels({arguments})")
    return lines


def report_on_disk(settings: Settings, dataset: RowsOnDisk) -> list[str]:
    """Return lines that print the errors of all rows."""
    from_snapshot, tested = _tells_training_error(settings), settings.test_share > 0
    lines = ["print('train error', model.snapshot_.diagnostics['training_error'])"] if from_snapshot else []
    if tested or not from_snapshot:
        lines.append("light = model.without_rows()  # what workers need for new rows")
    if not from_snapshot:
        lines += _measured("train", "X_train", "truth" if settings.label_share < 1 else "y_train", dataset)
    return [*lines, *(_measured("test", "X_test", "y_test", dataset) if tested else [])]


def _tells_training_error(settings: Settings) -> bool:
    """Whether a run tells the error of training rows where they stand; else they count as new ones."""
    own = MENU[settings.method].estimator.partition_support.latent is not None
    return own and settings.method_options.get("n_layers", 1) == 1


def _measured(part: str, X: str, y: str, dataset: RowsOnDisk) -> list[str]:
    """Return lines that print the error of a part of the rows, as new ones."""
    named, regression = dataset.all_kind == "O", dataset.task == "regression"
    error, losses = ("MSE", f"(predicted - {y}) ** 2") if regression else ("error", f"predicted != {y}")
    if dataset.has_gaps:
        losses = f"({losses})[{y}.map_blocks(pd.notna)]" if named else f"({losses})[~da.isnan({y})]"
    return [
        f"predicted = {X}.map_blocks(light.predict, drop_axis=1, dtype={'object' if named else 'float'})",
        f"print('{part} {error}', float(({losses}).mean().compute()))",
    ]


def imports_on_disk(method: str, body: Sequence[str]) -> list[str]:
    """Return the lines of imports that a body needs."""
    text = "\n".join(body)
    names = ", ".join(name for name in ("hide_row_labels", "read_rows", "split_rows") if f"{name}(" in text)
    lines = ["import dask.array as da"] if "da." in text else []
    lines += ["import numpy as np"] if "np." in text else []
    lines += ["import pandas as pd"] if "pd." in text else []
    lines += ["from dask.distributed import Client", ""]
    return [*lines, f"from supdr import {method}", f"from supdr.datasets import {names}"]

"""Copy as Python: the same data, split, method and steps through the public library, hence the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supdr.datasets import Dataset
from supdr_viz.data.columns import reading_options
from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.data.sources import SOURCES
from supdr_viz.data.split import Label, Split, known_targets
from supdr_viz.experiment.build import estimator_arguments, has_gaps, imputation, usable_drawn
from supdr_viz.experiment.methods import BASELINES_GROUP, MENU
from supdr_viz.experiment.settings import UNLABELLED, Settings
from supdr_viz.experiment.snippet_on_disk import imports_on_disk, report_on_disk, rows_on_disk
from supdr_viz.experiment.splitting import split

Segments = Sequence[tuple[Settings, int]]


def to_python(settings: Settings, segments: Segments, dataset: Dataset) -> str:
    """Write a program that repeats a run.

    `settings`: settings of the data and the split. `segments`: settings of the method and number of steps between
    two changes of the hyper-parameters. Empty: a whole fit under `settings`. `dataset`: what `build_dataset`
    gave for `settings`. Returns python source.
    """
    parts = split(dataset, settings)
    if isinstance(dataset, RowsOnDisk):
        model = _model(settings, segments, dataset, parts)
        body = [*rows_on_disk(settings, dataset), "", *model, "", *report_on_disk(settings, dataset)]
        return "\n".join([*imports_on_disk(settings.method, body), "", *body]) + "\n"
    body = [*data_lines(settings, dataset), "", *_split(settings, dataset), ""]
    body += _model(settings, segments, dataset, parts)
    body += ["", *_report(settings, dataset, parts)]
    return "\n".join([*_imports(body, settings), "", *body]) + "\n"


def _imports(body: list[str], settings: Settings) -> list[str]:
    text = "\n".join(body)
    lines = ["import numpy as np"] if "np." in text else []
    if "SimpleImputer(" in text:
        lines.append("from sklearn.impute import SimpleImputer")
    if "train_test_split(" in text:
        lines.append("from sklearn.model_selection import train_test_split")
    if lines:
        lines.append("")
    names = [SOURCES[settings.data].loader]
    if "hide_labels(" in text:
        names.append("hide_labels")
    module = "supdr.baselines" if MENU[settings.method].group == BASELINES_GROUP else "supdr"
    estimator = f"from {module} import {settings.method}"
    data = f"from supdr.datasets import {', '.join(sorted(names))}"
    return [*lines, *([estimator, data] if module == "supdr" else sorted([estimator, data]))]


def call_text(name: str, arguments: dict[str, Any], first: str = "") -> str:
    """Write one call, broken into lines if it is long."""
    parts = ([first] if first else []) + [f"{key}={_literal(value)}" for key, value in arguments.items()]
    line = f"{name}({', '.join(parts)})"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(parts) + ",\n)"


def _literal(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def data_lines(settings: Settings, dataset: Dataset) -> list[str]:
    """Write the lines that load the rows of these settings as ``X`` and ``y``."""
    source, options = SOURCES[settings.data], dict(settings.data_options)
    if source.at_hand:
        arguments = {**source.fixed, **{k: v for k, v in options.items() if v != _default(source, k)}}
        if source.labels:
            arguments[source.labels] = settings.label_share
        if source.seeded:
            arguments["random_state"] = settings.seed
        lines = [f"data = {call_text(source.loader, arguments)}"]
    else:
        name = options["name"]
        first = name if settings.data == "openml" and name.isdecimal() else _literal(name)
        lines = [f"data = {call_text(source.loader, reading_options(options), first)}"]
    return [*lines, "X, y = data.to_xy()"]


def _default(source: Any, name: str) -> Any:
    return next(spec.default for spec in source.form if spec.name == name)


def _split(settings: Settings, dataset: Dataset) -> list[str]:
    parts = split(dataset, settings)
    drawn = usable_drawn(settings, dataset) if SOURCES[settings.data].planar else np.empty((0, 3))
    if SOURCES[settings.data].labels:
        return _divided_with_truth(settings)
    lines = _divided(settings, dataset, parts) if settings.test_share > 0 else ["X_train, y_train = X, y"]
    if len(drawn):
        lines += _drawn_rows(drawn, dataset)
    if settings.label_share < 1:
        arguments = {"task": dataset.task, "random_state": settings.seed}
        lines.append("truth = y_train")
        lines.append(f"y_train = {call_text('hide_labels', arguments, f'y_train, {settings.label_share!r}')}")
    strategy = imputation(settings, dataset)
    if strategy:
        lines.append(f"imputer = SimpleImputer(strategy={strategy!r}, keep_empty_features=True)")
        lines.append("X_train = imputer.fit_transform(X_train)")
        lines += ["X_test = imputer.transform(X_test)"] if settings.test_share > 0 else []
    return lines


def _divided_with_truth(settings: Settings) -> list[str]:
    """Lines for data that withhold labels themselves."""
    if settings.test_share == 0:
        return ["X_train, y_train, truth = X, y, data.truth"]
    more = {"test_size": settings.test_share, "random_state": settings.seed}
    call = call_text("train_test_split", more, "X, y, data.truth")
    return [f"X_train, X_test, y_train, _, truth, y_test = {call}"]


def _divided(settings: Settings, dataset: Dataset, parts: Split) -> list[str]:
    more = {"test_size": settings.test_share, "random_state": settings.seed}
    if not len(parts.kept):
        call = call_text("train_test_split", more, "X, y" + (", stratify=y" if parts.stratified else ""))
        return [f"X_train, X_test, y_train, y_test = {call}"]
    if dataset.task == "classification":
        lines = [
            "# unlabelled rows and the only row of a class stay in the training part",
            "values, counts = np.unique(y, return_counts=True)",
            "divisible = np.isin(y, values[counts > 1])",
        ]
    else:
        lines = ["# unlabelled rows stay in the training part", "divisible = ~np.isnan(y)"]
    first = "np.flatnonzero(divisible)" + (", stratify=y[divisible]" if parts.stratified else "")
    return [
        *lines,
        f"train, test = {call_text('train_test_split', more, first)}",
        "train = np.concatenate([train, np.flatnonzero(~divisible)])",
        "X_train, X_test, y_train, y_test = X[train], X[test], y[train], y[test]",
    ]


def _drawn_rows(drawn: np.ndarray, dataset: Dataset) -> list[str]:
    """Lines that append drawn points; further columns of theirs are 0."""
    points = ", ".join(f"({x!r}, {y!r}, {int(code)})" for x, y, code in drawn.tolist())
    lines = [f"drawn = np.array([{points}])"]
    rows = "drawn[:, :2]"
    if dataset.n_features > 2:
        rows = f"np.pad({rows}, [(0, 0), (0, {dataset.n_features - 2})])"
    return [*lines, f"X_train = np.concatenate([X_train, {rows}])", "y_train = np.concatenate([y_train, drawn[:, 2]])"]


def _teaching(taught: Sequence[Label], parts: Split, name: str = "y_train", first: str = "labels") -> list[str]:
    """Lines that give training rows the labels that they were taught."""
    places = {int(row): place for place, row in enumerate(parts.train)}
    labels = [(places[row], code) for row, code in taught if row in places]
    rows = ", ".join(str(place) for place, _code in labels)
    codes = ", ".join("np.nan" if code == UNLABELLED else str(code) for _place, code in labels)
    lines = [f"{name} = {first}.copy()"]
    return [*lines, f"{name}[[{rows}]] = [{codes}]"] if labels else lines


def _model(settings: Settings, segments: Segments, dataset: Dataset, parts: Split) -> list[str]:
    facts = dataset.task, parts.n_train, dataset.views, has_gaps(dataset)
    iterates = MENU[settings.method].iterates
    teaches = settings.taught or any(segment.taught for segment, _steps in segments)
    begin = ["labels = y_train.astype(float)  # those that were taught come on top"] if teaches else []
    if not segments or not iterates:
        return [
            *begin,
            *(_teaching(settings.taught, parts) if teaches else []),
            f"model = {call_text(settings.method, estimator_arguments(settings, *facts))}",
            "model.fit(X_train, y_train)",
        ]
    lines: list[str] = begin
    previous: dict[str, Any] = {}
    taught: Sequence[Label] = ()
    for number, (segment, steps) in enumerate(segments):
        if segment.taught != taught:
            lines += _teaching(segment.taught, parts)
        taught = segment.taught
        arguments = estimator_arguments(segment, *facts)
        if number == 0:
            run = {"max_iter": max(steps, 1), "tol": -1}
            lines.append(f"model = {call_text(settings.method, {**arguments, **run})}")
            start = ""
        else:
            lines.append(
                call_text("model.set_params", {**_changed(previous, arguments, segment), "max_iter": max(steps, 1)})
            )
            start = ", start=snapshot"
        previous = arguments
        stream = f"model.iterate(X_train, y_train{start})"
        lines.append(f"snapshot = list({stream})[-1]" if steps > 0 else f"snapshot = next({stream})")
    return [*lines, "model = model.at(snapshot)"]


def _changed(before: dict[str, Any], now: dict[str, Any], segment: Settings) -> dict[str, Any]:
    """Return the constructor arguments that differ from those before; one that is not given has its default."""
    form = (spec for spec in MENU[segment.method].form if spec.name not in ("max_iter", "tol"))
    pairs = {spec.name: [each.get(spec.name, spec.library_default) for each in (before, now)] for spec in form}
    return {name: new for name, (old, new) in pairs.items() if old != new}


def _report(settings: Settings, dataset: Dataset, parts: Split) -> list[str]:
    own = "transduction_" if hasattr(MENU[settings.method].estimator, "transduction_") else ""
    predicted = f"model.{own}" if own else "model.predict(X_train)"
    lines = []
    # As in the explorer: rows whose label was only hidden count with their true one.
    own_labels = bool(SOURCES[settings.data].labels)
    actual = "truth" if settings.label_share < 1 or own_labels else "y_train"
    if settings.taught:  # what was taught counts as true
        labels = [(row, code) for row, code in settings.taught if code != UNLABELLED]
        first = "truth" if actual == "truth" else "labels"
        lines, actual = _teaching(labels, parts, "truth", first), "truth"
    if np.isnan(known_targets(dataset)).any():
        lines += [f"known = ~np.isnan({actual})"]
        predicted, actual = f"{predicted}[known]", f"{actual}[known]"
    if dataset.task == "classification":
        lines.append(f"print('train error', np.mean({predicted} != {actual}))")
        tested = "print('test error', 1 - model.score(X_test, y_test))"
    else:
        lines.append(f"print('train MSE', np.mean(({predicted} - {actual}) ** 2))")
        tested = "print('test MSE', np.mean((model.predict(X_test) - y_test) ** 2))"
    return [*lines, *([tested] if settings.test_share > 0 else [])]

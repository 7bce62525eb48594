"""Keys of fits in the store: digests of everything that a result depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn.base import BaseEstimator

from supdr.engine.reuse import fingerprint
from supdr.sensitivity.fitting import cell_estimator
from supdr.sensitivity.rows import Rows


def fit_keys(
    estimator: BaseEstimator,
    cells: Mapping[int, dict[str, Any]],
    paths: Sequence[Sequence[int]],
    rows: Rows,
    *,
    scoring: Mapping[str, Any],
    transductive: bool,
    warm: bool,
) -> dict[tuple[int, int, int], str]:
    """Return the key of every fit of a sweep, by cell, seed and fold; `paths` are the orders of visits."""
    try:
        release = version("supdr-viz")
    except PackageNotFoundError:
        release = ""
    metrics = {name: _named(metric) for name, metric in scoring.items()}
    common = fingerprint((release, _address(type(estimator)), rows.digest, metrics, transductive))
    parts = {seed: [fingerprint(list(split)) for split in splits] for seed, splits in rows.splits.items()}
    keys = {}
    for path in paths:
        for length, number in enumerate(path, start=1):
            visited = path[:length] if warm else [number]
            for seed, folds in parts.items():
                params = [
                    {name: _named(value) for name, value in each.get_params().items()}
                    for each in (cell_estimator(estimator, cells[cell], seed) for cell in visited)
                ]
                digest = fingerprint(params)
                for fold, part in enumerate(folds):
                    keys[number, seed, fold] = fingerprint((common, part, digest))
    return keys


def _address(kind: type) -> str:
    """Return the public address of a class: for a method its package, so that keys do not depend on its files."""
    return f"{kind.__module__.removesuffix('.estimator')}.{kind.__qualname__}"


def _named(value: Any) -> Any:
    """Return the representation of a parameter in a key; of an estimator its class: its parameters are listed, too."""
    if isinstance(value, BaseEstimator):
        return type(value).__qualname__
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    return value

"""The papers' data sets: from a folder of local copies, else from OpenML."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

OPENML = {
    "spect": "336",
    "sonar": "40",
    "ionosphere": "59",
    "breast_cancer_w": "15",
    "pi_diabetes": "37",
    "autoprice": "autoPrice",
    "bodyfat": "bodyfat",
    "boston_housing": "boston",
    "machine_cpu": "machine_cpu",
    "mpg": "autoMpg",
    "pyrimidines": "pyrim",
    "triazines": "triazines",
    "wisconsin_breast_cancer": "wisconsin",
}
"""Name of a set -> number or name on openml.org.  The others are read from local copies only."""

VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")

MOST_COLUMNS = 100_000
"""Of files in the user's own folder, which nobody uploads."""


class NoData(RuntimeError):
    """A data set is not at hand; the message says how to get it."""


def load_table(name: str, data_dir: Path | None, task: str = "classification") -> tuple[NDArray, NDArray]:
    """Return X (n, m) and y (n,) of a set; NaN where a cell is missing.

    Parameters
    ----------
    name : str
        ``NAME.csv.gz`` or ``NAME.csv`` in `data_dir`, target in the last column or in one called "target".
    data_dir : Path or None
    task : {"classification", "regression"}
        Classes are numbered from 0.

    Returns
    -------
    X, y : arrays

    Raises
    ------
    NoData
        If it is neither there nor on OpenML, or cannot be read.
    """
    from supdr.datasets import Limits, load_openml, read_file

    for path in [data_dir / f"{name}{ending}" for ending in (".csv.gz", ".csv")] if data_dir else []:
        if path.exists():
            import pandas as pd

            columns = pd.read_csv(path, nrows=1).columns
            target = "target" if "target" in columns else str(columns[-1])
            return read_file(path, target=target, task=task, limits=Limits(max_columns=MOST_COLUMNS)).to_xy()
    if name not in OPENML:
        raise NoData(f"{name} is not on OpenML: put {name}.csv.gz into a folder and name it by --data-dir")
    try:
        return load_openml(OPENML[name], task=task).to_xy()
    except (OSError, ValueError) as error:
        where = f"put {name}.csv.gz into a folder and name it by --data-dir"
        raise NoData(f"{name} could not be fetched from OpenML ({error}): {where}") from error


def filled(X: NDArray) -> NDArray:
    """Return X with column means in its missing cells."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def scaled(values: NDArray) -> NDArray:
    """Return the columns scaled to [-1, 1], without the constant ones."""
    low, high = values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)
    varies = high > low
    return 2.0 * (values[:, varies] - low[varies]) / (high - low)[varies] - 1.0


def load_scaled(name: str, data_dir: Path | None) -> tuple[NDArray, NDArray]:
    """Return X and y of a set, both scaled to [-1, 1]; rows with missing cells are dropped."""
    X, y = load_table(name, data_dir, "regression")
    whole = ~np.isnan(X).any(axis=1)
    return scaled(X[whole]), scaled(y[whole][:, None])[:, 0]


def load_multifeat(data_dir: Path | None) -> tuple[NDArray, NDArray, tuple[int, ...]]:
    """Return X, y (digits 5 to 9 are class 1) and the sizes of the six views.

    Raises
    ------
    NoData
        If there is no ``multifeat.npz`` in `data_dir`.
    """
    path = (data_dir or Path()) / "multifeat.npz"
    if data_dir is None or not path.exists():
        raise NoData("MULTIFEAT is read from multifeat.npz, one array per view and y: name its folder by --data-dir")
    with np.load(path, allow_pickle=False) as data:
        X = np.hstack([data[name] for name in VIEWS])
        sizes = tuple(data[name].shape[1] for name in VIEWS)
        return X.astype(float), (data["y"].ravel() >= 5).astype(int), sizes


def load_round_trips(data_dir: Path | None) -> NDArray:
    """Return the median round-trip times between PlanetLab nodes in ms, (n, n).

    Raises
    ------
    NoData
        If there is no ``planetlab_rtt.npz`` in `data_dir`.
    """
    path = (data_dir or Path()) / "planetlab_rtt.npz"
    if data_dir is None or not path.exists():
        raise NoData(
            "round-trip times are read from planetlab_rtt.npz, array rtt_median: name its folder by --data-dir; the "
            "data are PlanetLabData of github.com/uofa-rzhu3/NetLatency-Data"
        )
    with np.load(path, allow_pickle=False) as data:
        return data["rtt_median"].astype(float)

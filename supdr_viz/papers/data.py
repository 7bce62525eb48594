"""The papers' data sets: from a folder of local copies, else from OpenML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supdr.datasets import Dataset, Limits, load_openml, read_file

# Name of a set -> number or name on openml.org. The others are read from local copies only.
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

# Array in ``multifeat.npz`` -> name or number on openml.org, number of columns.
MULTIFEAT = {
    "fac": ("mfeat-factors", 216),
    "fou": ("mfeat-fourier", 76),
    "kar": ("mfeat-karhunen", 64),
    "mor": ("mfeat-morphological", 6),
    "pix": ("40979", 240),  # mfeat-pixel with numbers; its oldest version has levels
    "zer": ("mfeat-zernike", 47),
}

# Of files in the user's own folder: no limits of uploads apply.
MOST_COLUMNS = 100_000


PC_OR_MAC = ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")
WORDS = 3289


class NoData(RuntimeError):
    """A data set is not at hand; the message says how to get it."""


def load_table(name: str, data_dir: Path | None, task: str = "classification") -> tuple[NDArray, NDArray]:
    """Return X (n, m) and y (n,) of a set; NaN where a cell is missing.

    `name`: ``NAME.csv.gz`` or ``NAME.csv`` in `data_dir`, target in the last column or in one called "target"; `task`
    (one of "classification", "regression"): classes are numbered from 0. Returns `X, y`. Raises NoData if it is neither
    there nor on OpenML, or cannot be read.
    """
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


def _arrays(file: str, data_dir: Path | None) -> dict[str, NDArray]:
    """Return the arrays of a local copy by name; none where there is no such file."""
    if data_dir is None or not (data_dir / file).exists():
        return {}
    with np.load(data_dir / file, allow_pickle=False) as data:
        return dict(data)


def load_multifeat(
    data_dir: Path | None, fetch: Callable[..., Dataset] = load_openml
) -> tuple[NDArray, NDArray, tuple[int, ...]]:
    """Return X, y (digits 5 to 9 are class 1) and the sizes of the six views.

    From ``multifeat.npz`` in `data_dir`, one array per view and y; else from OpenML, one table per view.

    `fetch`: as `supdr.datasets.load_openml`.

    Raises NoData if there is no such file and OpenML does not give the six tables in the order of the UCI files.
    """
    data = _arrays("multifeat.npz", data_dir)
    if not data:
        return _multifeat_of_openml(fetch)
    X, sizes = np.hstack([data[name] for name in MULTIFEAT]), tuple(data[name].shape[1] for name in MULTIFEAT)
    return X.astype(float), (data["y"].ravel() >= 5).astype(int), sizes


def _multifeat_of_openml(fetch: Callable[..., Dataset]) -> tuple[NDArray, NDArray, tuple[int, ...]]:
    """Fetch the six tables.  Nothing in them says which rows belong together but their order: 200 of each digit."""
    where = "name a folder with multifeat.npz (one array per view and y) by --data-dir"
    digits = np.repeat(np.arange(10), 200)
    tables = []
    for view, (name, width) in MULTIFEAT.items():
        try:
            X, y = fetch(name, task="classification").to_xy()
        except (OSError, ValueError) as error:
            raise NoData(f"MULTIFEAT's view {view} could not be fetched from OpenML ({error}): {where}") from error
        blocks = len({(code, digit) for code, digit in zip(y, digits)})
        if X.shape != (len(digits), width) or len(y) != len(digits) or blocks != 10 or len(set(y)) != 10:
            raise NoData(
                f"MULTIFEAT's view {view} on OpenML ({name}) must have {len(digits)} rows, 200 of each digit in the "
                f"order of the UCI files, and {width} columns; it has shape {X.shape} or another order: {where}"
            )
        tables.append(X)
    return np.hstack(tables), (digits >= 5).astype(int), tuple(width for _, width in MULTIFEAT.values())


def load_proteinfold(data_dir: Path | None) -> tuple[NDArray, NDArray, tuple[int, ...]]:
    """Return X, y and the sizes of the twelve views of PROTEIN, each reduced to 27 columns.

    Of the 27 folds in their usual order the first 15 (all alpha, all beta) are class 0, the others (alpha/beta,
    alpha+beta) class 1.

    Raises NoData if there is no ``proteinfold_reduced.npz`` in `data_dir`.
    """
    data = _arrays("proteinfold_reduced.npz", data_dir)
    if not data:
        raise NoData(
            "PROTEIN is read from proteinfold_reduced.npz, one array per view and y (folds 0 to 26): name its folder "
            "by --data-dir"
        )
    tables = [data[name].astype(float) for name in data if name != "y"]
    return np.hstack(tables), (data["y"].ravel() >= 15).astype(int), tuple(table.shape[1] for table in tables)


def load_mnist(data_dir: Path | None) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return the images of digits and their classes: 60,000 to train, 10,000 to test.

    `data_dir`: folder of ``mnist.npz``; where there is none, OpenML's "mnist_784". Returns `X_train, y_train, X_test,
    y_test`: grey values (n, 784) of type uint8, classes (n,) from 0 to 9. Raises NoData if they are neither there nor
    on OpenML.
    """
    if data := _arrays("mnist.npz", data_dir):
        images = [data[name].reshape(-1, 784) for name in ("X_train", "X_test")]
        return images[0], data["y_train"].ravel().astype(int), images[1], data["y_test"].ravel().astype(int)
    from sklearn.datasets import fetch_openml

    try:
        X, y = fetch_openml("mnist_784", version=1, as_frame=False, return_X_y=True)
    except (OSError, ValueError) as error:
        where = "put mnist.npz (X_train, y_train, X_test, y_test) into a folder and name it by --data-dir"
        raise NoData(f"MNIST could not be fetched from OpenML ({error}): {where}") from error
    X, y = X.astype(np.uint8), y.astype(int)
    return X[:60_000], y[:60_000], X[60_000:], y[60_000:]


def load_pc_or_mac(data_dir: Path | None) -> tuple[NDArray, NDArray]:
    """Return the counts of words (n, 3289) in messages on PCs (0) and Macs (1) of 20 newsgroups, and their classes.

    `data_dir`: folder of ``pcmac.npz``; where there is none, scikit-learn fetches the messages. Raises NoData if they
    are neither there nor can be fetched.
    """
    if data := _arrays("pcmac.npz", data_dir):
        return data["X"].astype(float), data["y"].ravel().astype(int)
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        messages = fetch_20newsgroups(subset="all", categories=PC_OR_MAC, remove=("headers",))
    except OSError as error:
        where = "put pcmac.npz (X, y) into a folder and name it by --data-dir"
        raise NoData(f"20 newsgroups could not be fetched ({error}): {where}") from error
    counts = CountVectorizer(max_features=WORDS).fit_transform(messages.data)
    return counts.toarray().astype(float), np.asarray(messages.target)


def load_round_trips(data_dir: Path | None) -> NDArray:
    """Return the median round-trip times between PlanetLab nodes in ms, (n, n).

    Raises NoData if there is no ``planetlab_rtt.npz`` in `data_dir`.
    """
    data = _arrays("planetlab_rtt.npz", data_dir)
    if not data:
        raise NoData(
            "round-trip times are read from planetlab_rtt.npz, array rtt_median: name its folder by --data-dir; the "
            "data are PlanetLabData of github.com/uofa-rzhu3/NetLatency-Data"
        )
    return data["rtt_median"].astype(float)

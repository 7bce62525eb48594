"""Data sets of openml.org, through scikit-learn and its cache."""

from __future__ import annotations

import errno
import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from supdr.datasets._tables import Table, check_names, to_dataset
from supdr.datasets.dataset import TASKS, Dataset
from supdr.datasets.limits import FileProblem, Limits, check_shape, reason_of, shown
from supdr.engine.optional import require

API = "https://www.openml.org/api/v1/json/data"
# what OpenML answers when it knows no such data set
NOT_FOUND = 412
# names go into URLs and into the paths of the cache
NAME = re.compile(r"[\w.()+,-]+")
UNREACHABLE = (OSError, TimeoutError)
# Of a disk that takes no more.
FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def load_openml(
    name: str | int,
    *,
    version: int | None = None,
    target: str | None = None,
    task: str | None = None,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
    timeout: float = 60.0,
) -> Dataset:
    """Download a data set of openml.org, or take it from scikit-learn's cache.

    Nominal features become 0/1 columns: one for two levels, one per level for up to 20. Columns that cannot become
    numbers (free text, dates, nominal features of more levels, empty columns) are left out. The description names them
    all.

    Parameters
    ----------
    name : str or int
        Name or id. What is in the cache already can be had by its id without a network.
    version : int, optional
        Version of the name; default the oldest active one.
    target : str, optional
        Column to predict; default the one OpenML names.
    task : {"classification", "regression"}, optional
        Default: by the target, see `read_file`.
    limits : Limits
        Sizes beyond which the data set is refused, before it is downloaded.
    timeout : float
        Seconds after which to give up.

    Returns
    -------
    Dataset

    Raises
    ------
    FileProblem
        If OpenML cannot be reached or knows no such data set, or the data set is too large or unusable.
    ValueError
        If a parameter is out of range.
    PackageMissing
        Without pandas; the message says what to install.
    """
    require("Reading from OpenML", "pandas", extra="files")
    text = str(name).strip()
    if not NAME.fullmatch(text):
        raise ValueError(f"name must be the name or id of an OpenML data set, got {name!r}")
    if task not in (None, *TASKS):
        raise ValueError(f"task must be 'classification' or 'regression', got {task!r}")
    if not timeout > 0:
        raise ValueError(f"timeout must be greater than 0, got {timeout!r}")
    if text.isdecimal() and version is not None:
        raise ValueError(f"version goes with a name, an id has none; got name={name!r} and version={version!r}")
    try:
        return _within(timeout, lambda: _load(text, version, target, task, limits, timeout))
    except FileProblem:
        raise
    except UNREACHABLE as error:
        on_disk = not isinstance(error, urllib.error.URLError) and error.filename is not None
        if on_disk or error.errno in FULL:
            raise FileProblem(f"OpenML's {shown(text)} could not be kept on this disk: {error.strerror}.") from error
        reason = getattr(error, "reason", None) or error
        raise FileProblem(f"OpenML could not be reached ({reason}); check the network connection.") from error
    except Exception as error:
        raise FileProblem(f"OpenML's data set {shown(text)} could not be read: {reason_of(error)}.") from error


def _load(
    name: str, version: int | None, target: str | None, task: str | None, limits: Limits, timeout: float
) -> Dataset:
    import pandas as pd

    data_id = int(name) if name.isdecimal() else _find(name, version, timeout)
    if not _is_cached(data_id):
        _check_size(name, data_id, limits, timeout)
    bunch = _fetch(name, data_id)
    frame, targets = bunch.data, bunch.target
    check_shape(limits, name, *frame.shape)
    if not isinstance(frame, pd.DataFrame):
        # sparse data come as a matrix
        columns = [str(column) for column in bunch.feature_names]
        frame = pd.DataFrame(frame.toarray(), columns=columns)
    if targets is not None:
        targets = pd.DataFrame(targets)
        targets.columns = [str(column) for column in bunch.target_names or targets.columns]
        # further targets would give the first away
        frame = pd.concat([frame, targets.iloc[:, :1]], axis=1)
    frame.columns = [str(column) for column in frame.columns]
    check_names(frame.columns)
    default = None if targets is None else str(targets.columns[0])
    table = Table(frame, format=f"OpenML, id {data_id}", target=default)
    title = bunch.details.get("name", name)
    return to_dataset(table, name=title, target=target, task=task, limits=limits, tolerated=FileProblem)


def _find(name: str, version: int | None, timeout: float) -> int:
    """Find the id of a name: of its oldest active version unless one is given."""
    which = "status/active" if version is None else f"data_version/{int(version)}"
    answer = _ask(f"{API}/list/data_name/{name.lower()}/limit/2/{which}", timeout)
    if answer is None:
        suffix = "" if version is None else f" in version {version}"
        raise FileProblem(f"OpenML has no data set called {shown(name)}{suffix}.")
    return int(answer["data"]["dataset"][0]["did"])


def _check_size(name: str, data_id: int, limits: Limits, timeout: float) -> None:
    """Ask for the number of rows and columns before downloading; not every data set tells."""
    answer = _ask(f"{API}/qualities/{data_id}", timeout)
    if answer is None:
        return
    qualities = {quality["name"]: quality["value"] for quality in answer["data_qualities"]["quality"]}
    rows, columns = (int(float(qualities.get(key) or 0)) for key in ("NumberOfInstances", "NumberOfFeatures"))
    check_shape(limits, f"OpenML's {name}", rows, max(0, columns - 1))


def _ask(url: str, timeout: float) -> Any:
    """Get a JSON answer of OpenML, None if it knows no such data set."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == NOT_FOUND:
            return None
        raise


def _fetch(name: str, data_id: int) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        return fetch_openml(data_id=data_id, as_frame="auto", parser="auto", n_retries=1)
    except ValueError as error:
        # scikit-learn's OpenMLError, which it does not export
        if "not found" in str(error):
            raise FileProblem(f"OpenML has no data set {shown(name)}.") from None
        raise


def _is_cached(data_id: int) -> bool:
    """Whether scikit-learn has this data set on disk: it was small enough once, and no network is needed."""
    from sklearn.datasets import get_data_home

    return any(Path(get_data_home(), "openml").glob(f"*/api/v1/json/data/{data_id}.gz"))


def _within(seconds: float, work: Callable[[], Dataset]) -> Dataset:
    """Run `work` in a thread and give up after a while: a download that hangs cannot be stopped from here."""
    result: list[Dataset] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # handed over to the caller
            failure.append(error)

    thread = threading.Thread(target=run, name="openml", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not result:
        raise FileProblem(f"OpenML did not answer within {seconds:g} seconds; try again later.")
    return result[0]

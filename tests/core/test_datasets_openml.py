"""OpenML: lookups, encoding, and every way in which it can fail. The server is simulated throughout."""

import io
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.datasets
from sklearn.utils import Bunch

from supdr.datasets import FileProblem, Limits, load, load_openml

CARS = pd.DataFrame(
    {
        "weight": pd.array([1.0, 2.0, None, 4.0, 5.0, 6.0], dtype="Float64"),
        "fuel": pd.Categorical(["gas", "diesel", "gas", "gas", "diesel", "gas"]),
        "origin": pd.Categorical(["jp", "us", "eu", "jp", "us", "eu"], categories=["us", "eu", "jp", "mars"]),
        "doors": [2, 4, 4, 2, 4, 2],
    }
)
PRICE = pd.Series([1.5, 2.5, 3.5, 4.5, 5.5, 6.5], name="price")
KIND = pd.Series(pd.Categorical(["slow", "fast", "slow", None, "fast", "slow"]), name="kind")


class OpenML:
    """Answers lookups like the server, and downloads like scikit-learn."""

    def __init__(self):
        self.frame, self.target = CARS, PRICE
        self.rows, self.columns = 6, 5
        self.asked, self.downloads = [], []

    def urlopen(self, url, timeout):
        self.asked.append(url)
        if "/data_name/cars/" in url:
            return answer({"data": {"dataset": [{"did": 7, "version": 1}, {"did": 9, "version": 2}]}})
        if url.endswith("/qualities/7"):
            sizes = {"NumberOfInstances": float(self.rows), "NumberOfFeatures": str(self.columns), "Other": None}
            return answer({"data_qualities": {"quality": [{"name": k, "value": v} for k, v in sizes.items()]}})
        raise urllib.error.HTTPError(url, 412, "Precondition failed", {}, io.BytesIO())

    def fetch_openml(self, *, data_id, as_frame, parser, n_retries):
        self.downloads.append(data_id)
        if data_id != 7:
            raise ValueError(f"Dataset with data_id {data_id} not found.")
        names = None if self.target is None else [self.target.name]
        feature_names = list(getattr(self.frame, "columns", range(self.frame.shape[1])))
        return Bunch(
            data=self.frame,
            target=self.target,
            feature_names=feature_names,
            target_names=names,
            details={"name": "cars"},
        )


def answer(content):
    return io.BytesIO(json.dumps(content).encode())


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    fake = OpenML()
    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: fake.urlopen(url, timeout))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: fake.fetch_openml(**options))
    return fake


@pytest.mark.parametrize("name", ["cars", "Cars", "7", 7])
def test_by_name_and_by_id(server, name):
    dataset = load(f"openml:{name}")
    assert dataset.name == "cars"
    assert server.downloads == [7]
    assert dataset.task == "regression"
    np.testing.assert_array_equal(dataset.y, PRICE)


def test_nominal_features_are_encoded(server):
    dataset = load_openml("cars")
    assert dataset.feature_names == ("weight", "fuel=gas", "origin=us", "origin=eu", "origin=jp", "doors")
    np.testing.assert_array_equal(dataset.X[:, 0], [1, 2, np.nan, 4, 5, 6])
    np.testing.assert_array_equal(dataset.X[:, 1], [1, 0, 1, 1, 0, 1])
    np.testing.assert_array_equal(dataset.X[:, 2:5].sum(axis=1), 1)
    for words in ("one-hot encoded", "fuel, origin", "Missing cells: 1, in weight", "OpenML, id 7"):
        assert words in dataset.description


def test_classification_with_unlabelled_rows(server):
    server.target = KIND
    dataset = load_openml("cars")
    assert dataset.target_names == ("fast", "slow")
    np.testing.assert_array_equal(dataset.y, [1, 0, 1, np.nan, 0, 1])


def test_another_target(server):
    dataset = load_openml("cars", target="fuel")
    assert dataset.task == "classification"
    assert "price" in dataset.feature_names
    assert load_openml("cars", target="doors", task="regression").task == "regression"
    with pytest.raises(FileProblem, match="no column 'wheels' to predict; the columns are weight, fuel"):
        load_openml("cars", target="wheels")


def test_unusable_columns_are_left_out_and_named(server):
    names = [f"car number {row}" for row in range(25)]
    numbers = np.arange(25.0)
    server.frame = pd.DataFrame({"model": names, "a": numbers, "empty": np.full(25, np.nan)})
    server.target = pd.Series(numbers + 0.5, name="price")
    dataset = load_openml("cars")
    assert dataset.feature_names == ("a",)
    assert "Left out" in dataset.description
    assert "model, empty" in dataset.description
    server.frame = server.frame[["model"]]
    with pytest.raises(FileProblem, match="None of the columns"):
        load_openml("cars")


def test_sparse_data(server):
    server.frame = scipy.sparse.csr_matrix(np.diag([1.0, 2, 3, 4, 5, 6]))
    dataset = load_openml("cars")
    np.testing.assert_array_equal(dataset.X, np.diag([1, 2, 3, 4, 5, 6]))


def test_without_a_target_the_last_column_is_taken(server):
    server.target = None
    assert "target 'doors'" in load_openml("cars").description


def test_versions(server):
    load_openml("cars", version=2)
    assert server.asked[0].endswith("/data_version/2")
    with pytest.raises(FileProblem, match="no data set called 'boats' in version 2"):
        load_openml("boats", version=2)


def test_too_large_is_refused_before_the_download(server):
    server.rows = 10**7
    with pytest.raises(FileProblem, match=r"OpenML's cars has 10,000,000 rows; at most 100,000"):
        load_openml("cars")
    assert not server.downloads
    server.rows = 6
    with pytest.raises(FileProblem, match="4 columns; at most 3"):
        load_openml("cars", limits=Limits(max_columns=3))


def test_too_large_is_refused_if_the_server_did_not_tell(server):
    server.rows = server.columns = 0
    with pytest.raises(FileProblem, match="6 rows; at most 5"):
        load_openml("cars", limits=Limits(max_rows=5))


@pytest.mark.parametrize("name", ["boats", "8"])
def test_unknown(server, name):
    with pytest.raises(FileProblem, match=f"^OpenML has no data set (called )?'{name}'.$"):
        load(f"openml:{name}")


@pytest.mark.parametrize("name", ["", "a b", "../../etc/passwd", "a/b", "a?b=c", "a%2f"])
def test_names_cannot_reach_other_urls_or_files(server, name):
    with pytest.raises(ValueError, match="name must be the name or id"):
        load(f"openml:{name}")
    assert not server.asked


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "sorting"}, "task must be"),
        ({"timeout": 0}, "timeout must be"),
        ({"name": "7", "version": 1}, "version goes with a name"),
    ],
)
def test_parameters_are_checked(server, options, words):
    with pytest.raises(ValueError, match=words):
        load_openml(**({"name": "cars"} | options))


@pytest.fixture
def own_proxies():
    """Have urllib read the addresses of proxies anew: its first request keeps them for the whole process."""
    urllib.request.install_opener(None)
    yield
    urllib.request.install_opener(None)


@pytest.mark.usefixtures("own_proxies")
@pytest.mark.parametrize("name", ["cars", "7"])
def test_offline_fails_quickly_and_plainly(monkeypatch, name):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setenv("https_proxy", nowhere)
    monkeypatch.setenv("no_proxy", "")
    began = time.monotonic()
    with pytest.raises(FileProblem, match=r"^OpenML could not be reached .*refused.*network"):
        load(f"openml:{name}")  # after its timeout it would say something else
    assert time.monotonic() - began < 5.0  # one retry, after a second


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            urllib.error.HTTPError("u", 503, "Service Unavailable", {}, None),
            "could not be reached .Service Unavailable",
        ),
        (TimeoutError("timed out"), "could not be reached .timed out"),
        (ConnectionResetError("reset by peer"), "could not be reached .reset by peer"),
        (ValueError("md5 checksum does not match\ntwo"), "'cars' could not be read: md5 checksum does not match.$"),
        (KeyError("data_features"), "'cars' could not be read"),
    ],
)
def test_a_failing_download(server, error, words):
    def fail(**options):
        raise error

    server.fetch_openml = fail
    with pytest.raises(FileProblem, match=words):
        load_openml("cars")


def test_an_answer_that_is_not_json(server):
    server.urlopen = lambda url, timeout: io.BytesIO(b"<html>sign in</html>")
    with pytest.raises(FileProblem, match="'cars' could not be read"):
        load_openml("cars")


def test_a_hanging_download_is_given_up(server):
    release, ended = threading.Event(), []
    server.fetch_openml = lambda **options: ended.append(release.wait(200))
    with pytest.raises(FileProblem, match=r"did not answer within 0.1 seconds"):
        load_openml("cars", timeout=0.1)
    assert not ended  # the download hangs still
    release.set()


def test_what_is_cached_needs_no_lookup(server, empty_cache):
    folder = empty_cache / "openml" / "api.openml.org" / "api" / "v1" / "json" / "data"
    folder.mkdir(parents=True)
    (folder / "7.gz").write_bytes(b"")
    load_openml(7)
    assert not server.asked

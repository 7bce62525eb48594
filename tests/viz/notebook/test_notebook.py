"""`watch` in a real kernel and without one: the estimator is fitted as by `fit`, and the output stays."""

import base64
import io
import queue

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import supdr
import supdr_viz
from supdr_viz.notebook import live_fit as notebook
from supdr_viz.notebook.channel import Channel
from supdr_viz.notebook.stages import Staged

DATA = supdr.datasets.make_spirals(2, 30, random_state=0)
NAMES = np.array(["left", "right"])[DATA.y.astype(int)]


class Screen:
    """What IPython's `display` is told."""

    def __init__(self):
        self.bundles = []

    def __call__(self, shown, **options):
        if isinstance(shown, Channel):
            self.channel = shown
            return self
        assert options == {"raw": True, "display_id": True}
        self.bundles.append(shown)
        return self

    def update(self, bundle, raw):
        assert raw
        self.bundles.append(bundle)


@pytest.fixture
def screen(monkeypatch):
    made = Screen()
    monkeypatch.setattr(notebook, "_screen", lambda: made)
    monkeypatch.setattr(notebook, "INTERVAL", 0.0)
    return made


class Counted(supdr.LSDR):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y):
        """Fit, and count it."""
        type(self).fits += 1
        return super().fit(X, y)


@pytest.mark.parametrize(
    "y",
    [
        NAMES,
        *(pytest.param(y, marks=pytest.mark.slow) for y in (1 + DATA.y.astype(int), DATA.y == 1)),
    ],
    ids=["names", "from one", "bool"],
)
def test_labels_of_any_kind_are_fitted_once_and_drawn_like_class_numbers(screen, y):
    supdr_viz.watch(supdr.LSDR(max_iter=2, random_state=0), DATA.X, DATA.y, X_test=DATA.X[:9], y_test=DATA.y[:9])
    numbers = [bundle["image/png"] for bundle in screen.bundles]
    screen.bundles.clear()
    Counted.fits = 0
    watched = supdr_viz.watch(Counted(max_iter=2, random_state=0), DATA.X, y, X_test=DATA.X[:9], y_test=y[:9])
    assert Counted.fits == 1
    assert set(watched.estimator.predict(DATA.X)) <= set(y)
    assert len(screen.bundles) == len(numbers)
    pictures = [np.asarray(Image.open(io.BytesIO(each))) for each in (numbers[0], screen.bundles[0]["image/png"])]
    first, second = (picture[44:344, 16:316] for picture in pictures)  # the rows: the legend has other names
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "y", [DATA.y, NAMES, np.where(np.arange(60) % 3, DATA.y, np.nan)], ids=["codes", "names", "few"]
)
def test_the_estimator_is_fitted_as_by_fit(screen, y):
    watched = supdr_viz.watch(supdr.LSDR(max_iter=4, random_state=0), DATA.X, y).estimator
    plain = supdr.LSDR(max_iter=4, random_state=0).fit(DATA.X, y)
    np.testing.assert_array_equal(watched.embedding_, plain.embedding_)
    np.testing.assert_array_equal(watched.predict(DATA.X), plain.predict(DATA.X))
    np.testing.assert_array_equal(watched.history_["objective"], plain.history_["objective"])
    assert "iterate" not in vars(watched)
    assert len(screen.bundles) == watched.n_iter_ + 2  # the start, every step, the report
    first, last = screen.bundles[0], screen.bundles[-1]
    assert Image.open(io.BytesIO(first["image/png"])).size[0] > 500
    assert "srcdoc" in last["text/html"]
    assert "objective" in last["text/plain"]


def test_test_rows_and_regression(screen):
    X, y = supdr.datasets.load("diabetes").to_xy()
    supdr_viz.watch(supdr.SNF(max_iter=2, random_state=0), X[:60], y[:60], X_test=X[60:80], y_test=y[60:80])
    assert "20 test rows" in screen.bundles[-1]["text/html"]
    assert "test " in screen.bundles[-1]["text/plain"]


def frame(rows=DATA.X):
    """The rows with names, with a gap and a column of text."""
    table = pd.DataFrame(rows, columns=["east", "north"])
    table["side"] = np.where(rows[:, 0] > 0, "right", "left")
    table.iloc[3, 0] = np.nan
    return table


def stages():
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["east", "north"]), (OneHotEncoder(), ["side"])
    )
    return make_pipeline(columns, supdr.LSDR(max_iter=3, random_state=0))


@pytest.mark.parametrize(
    ("made", "X", "y"),
    [
        (supdr.LSDR(max_iter=3, random_state=0), frame()[["east", "north"]].fillna(0.0), NAMES),
        (make_pipeline(StandardScaler(), supdr.LSDR(max_iter=3, random_state=0)), DATA.X, DATA.y),
        (make_pipeline(supdr.LSDR(max_iter=3, random_state=0)), DATA.X, NAMES),
        (stages(), frame(), DATA.y),
    ],
    ids=["frame", "pipeline", "one step", "pipeline of columns"],
)
def test_tables_and_pipelines_are_watched_as_they_are(screen, made, X, y):
    """Warnings are errors here: the estimator is asked by the names that it learnt."""
    watched = supdr_viz.watch(clone(made), X, y, X_test=X[:10], y_test=y[:10]).estimator
    plain = clone(made).fit(X, y)
    np.testing.assert_array_equal(watched.transform(X), plain.transform(X))
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))
    last = screen.bundles[-1]
    error = 100 * np.mean(plain.predict(X[:10]) != y[:10])
    assert f"test {error:.4g}," in last["text/plain"] + ","
    assert "LSDR: the recorded run" in last["text/html"]


def test_a_pipeline_is_shown_in_the_space_of_its_input(screen):
    """A step that swaps the axes does not swap those of the picture."""
    shown = []
    for before in (None, np.fliplr):
        steps = make_pipeline(FunctionTransformer(before), supdr.LSDR(max_iter=1, random_state=0))
        supdr_viz.watch(steps, DATA.X, DATA.y)
        picture = Image.open(io.BytesIO(screen.bundles[-1]["image/png"])).convert("RGB")
        shown.append(np.asarray(picture.crop((16, 44, 316, 344)))[..., 0])
    plain, piped = shown
    assert (plain == piped).mean() > 0.99
    assert (plain == plain.T).mean() < 0.9


def test_without_a_notebook_it_only_fits():
    assert notebook._screen() is None
    assert supdr_viz.watch(supdr.LSDR(max_iter=2), DATA.X, DATA.y).estimator.n_iter_ == 2


FOLLOWED = [
    LogisticRegression(max_iter=20),
    NeighborhoodComponentsAnalysis(n_components=1, max_iter=3, random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
    AdaBoostClassifier(n_estimators=3, random_state=0),
    RandomForestClassifier(n_estimators=3, random_state=0),
    BaggingClassifier(n_estimators=3, max_features=1, random_state=0),
]


@pytest.mark.parametrize("made", FOLLOWED, ids=lambda made: type(made).__name__)
def test_estimators_of_scikit_learn_are_followed_to_what_fit_gives(screen, made):
    watched = supdr_viz.watch(make_pipeline(StandardScaler(), clone(made)), DATA.X, NAMES)
    plain = make_pipeline(StandardScaler(), clone(made)).fit(DATA.X, NAMES)
    shown = Staged(plain[-1])
    rows = plain[:-1].transform(DATA.X)
    shown.follow(rows, NAMES, lambda: plain[-1].fit(rows, NAMES), lambda _snapshot: None)
    asked = shown.at(watched.snapshot)
    if hasattr(plain, "predict"):
        np.testing.assert_array_equal(watched.estimator.predict(DATA.X), plain.predict(DATA.X))
        np.testing.assert_array_equal(asked.predict(rows), plain.predict(DATA.X))  # the last stage is the whole
    else:
        np.testing.assert_allclose(watched.estimator.transform(DATA.X), plain.transform(DATA.X))
        np.testing.assert_allclose(asked.transform(rows), plain.transform(DATA.X))
    assert watched.snapshot.iteration > 1
    assert watched.estimator[-1].get_params() == made.get_params()  # callbacks are taken off again
    assert f"{type(made).__name__}: the recorded run" in screen.bundles[-1]["text/html"]


@pytest.mark.parametrize("made", [GradientBoostingRegressor(n_estimators=3), RandomForestRegressor(n_estimators=3)])
def test_regression_of_scikit_learn(screen, made):
    X, y = supdr.datasets.load("diabetes").to_xy()
    watched = supdr_viz.watch(made, X[:60], y[:60])
    assert watched.snapshot.objective == pytest.approx(np.mean((watched.estimator.predict(X[:60]) - y[:60]) ** 2))


def test_what_the_report_tells_comes_back(screen):
    watched = supdr_viz.watch(supdr.LSDR(max_iter=4, beta=0.25, random_state=0), DATA.X, DATA.y)
    assert f"data-report=&quot;{screen.channel.name}&quot;" in screen.bundles[-1]["text/html"]
    assert watched.selected.tolist() == []
    assert watched.snapshot.iteration == watched.estimator.n_iter_
    screen.channel.rows, screen.channel.iteration = [7, 3], 2
    assert watched.selected.tolist() == [3, 7]
    assert watched.snapshot.iteration == 2
    assert watched.settings["method"] == "LSDR"
    assert watched.settings["beta"] == 0.25
    assert repr(watched) == "<Watched LSDR: 4 iterations, 2 rows selected>"
    screen.channel.heard = True
    assert screen.bundles[-1] == {"text/plain": ""}  # loaded: nothing of it stays in the notebook


def test_without_a_channel_the_report_is_played(screen, monkeypatch):
    monkeypatch.setattr(notebook, "_channel", lambda: None)
    watched = supdr_viz.watch(supdr.LSDR(max_iter=2, random_state=0), DATA.X, DATA.y)
    assert "data-report" not in screen.bundles[-1]["text/html"]
    assert watched.selected.tolist() == []


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"whose fit can be followed.*; SVC has none of these"):
        supdr_viz.watch(SVC(), DATA.X, DATA.y)
    with pytest.raises(ValueError, match="StandardScaler has none of these"):
        supdr_viz.watch(make_pipeline(StandardScaler(), StandardScaler()), DATA.X, DATA.y)
    asked = pytest.raises(ValueError, match="LogisticRegression showed none of its iterates")
    with asked, pytest.warns(UserWarning, match="only supported in LogisticRegression for solver='lbfgs'"):
        supdr_viz.watch(LogisticRegression(solver="liblinear"), DATA.X, DATA.y)
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        supdr_viz.watch(supdr.LSDR(), DATA.X, DATA.y, X_test=DATA.X)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the client's own
def test_in_a_real_kernel():
    from jupyter_client.manager import start_new_kernel

    code = (
        "import supdr, supdr_viz\n"
        "data = supdr.datasets.make_spirals(2, 30, random_state=0)\n"
        "model = supdr_viz.watch(supdr.LSDR(max_iter=3, random_state=0), data.X, data.y)\n"
        "print(model.estimator.n_iter_)"
    )
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60)
    outputs, printed = [], ""
    try:
        asked = client.execute(code)
        while True:
            try:
                message = client.get_iopub_msg(timeout=120)
            except queue.Empty:
                pytest.fail(f"the kernel fell silent after {outputs}")
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            assert kind != "error", "\n".join(content.get("traceback", []))
            if kind in ("display_data", "update_display_data"):
                outputs.append((kind, content))
            if kind == "stream" and content["name"] == "stdout":
                printed += content["text"]
            if kind == "status" and content["execution_state"] == "idle":
                break
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert printed.strip() == "3"
    assert outputs[0][0] == "display_data"
    *outputs, (kind, channel) = outputs
    assert (kind, "application/vnd.jupyter.widget-view+json" in channel["data"]) == ("display_data", True)
    assert {kind for kind, _ in outputs[1:]} == {"update_display_data"}
    assert len({content["transient"]["display_id"] for _, content in outputs}) == 1  # one output, brought up to date
    Image.open(io.BytesIO(base64.b64decode(outputs[0][1]["data"]["image/png"])))
    assert "srcdoc" in outputs[-1][1]["data"]["text/html"]

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
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import supdr
import supdr_viz
from supdr_viz import notebook

DATA = supdr.datasets.make_spirals(2, 30, random_state=0)
NAMES = np.array(["left", "right"])[DATA.y.astype(int)]


class Screen:
    """What IPython's `display` is told."""

    def __init__(self):
        self.bundles = []

    def __call__(self, bundle, **options):
        assert options == {"raw": True, "display_id": True}
        self.bundles.append(bundle)
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


@pytest.mark.parametrize("y", [NAMES, 1 + DATA.y.astype(int), DATA.y == 1], ids=["names", "from one", "bool"])
def test_labels_of_any_kind_are_fitted_once_and_drawn_like_class_numbers(screen, y):
    supdr_viz.watch(supdr.LSDR(max_iter=2, random_state=0), DATA.X, DATA.y, X_test=DATA.X[:9], y_test=DATA.y[:9])
    numbers = [bundle["image/png"] for bundle in screen.bundles]
    screen.bundles.clear()
    Counted.fits = 0
    watched = supdr_viz.watch(Counted(max_iter=2, random_state=0), DATA.X, y, X_test=DATA.X[:9], y_test=y[:9])
    assert Counted.fits == 1
    assert set(watched.predict(DATA.X)) <= set(y)
    assert len(screen.bundles) == len(numbers)
    pictures = [np.asarray(Image.open(io.BytesIO(each))) for each in (numbers[0], screen.bundles[0]["image/png"])]
    first, second = (picture[44:344, 16:316] for picture in pictures)  # the rows: the legend has other names
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "y", [DATA.y, NAMES, np.where(np.arange(60) % 3, DATA.y, np.nan)], ids=["codes", "names", "few"]
)
def test_the_estimator_is_fitted_as_by_fit(screen, y):
    watched = supdr_viz.watch(supdr.LSDR(max_iter=4, random_state=0), DATA.X, y)
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


@pytest.mark.parametrize("y", [DATA.y, NAMES], ids=["codes", "names"])
@pytest.mark.parametrize(
    ("made", "X"),
    [
        (supdr.LSDR(max_iter=3, random_state=0), frame()[["east", "north"]].fillna(0.0)),
        (make_pipeline(StandardScaler(), supdr.LSDR(max_iter=3, random_state=0)), DATA.X),
        (make_pipeline(supdr.LSDR(max_iter=3, random_state=0)), DATA.X),
        (stages(), frame()),
    ],
    ids=["frame", "pipeline", "one step", "pipeline of columns"],
)
def test_tables_and_pipelines_are_watched_as_they_are(screen, made, X, y):
    """Warnings are errors here: the estimator is asked by the names that it learnt."""
    watched = supdr_viz.watch(clone(made), X, y, X_test=X[:10], y_test=y[:10])
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
    assert supdr_viz.watch(supdr.LSDR(max_iter=2), DATA.X, DATA.y).n_iter_ == 2


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="needs an estimator that iterates; LogisticRegression has only fit"):
        supdr_viz.watch(LogisticRegression(), DATA.X, DATA.y)
    with pytest.raises(ValueError, match="needs an estimator that iterates; LogisticRegression has only fit"):
        supdr_viz.watch(make_pipeline(StandardScaler(), LogisticRegression()), DATA.X, DATA.y)
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
        "print(model.n_iter_)"
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
    assert {kind for kind, _ in outputs[1:]} == {"update_display_data"}
    assert len({content["transient"]["display_id"] for _, content in outputs}) == 1  # one output, brought up to date
    Image.open(io.BytesIO(base64.b64decode(outputs[0][1]["data"]["image/png"])))
    assert "srcdoc" in outputs[-1][1]["data"]["text/html"]

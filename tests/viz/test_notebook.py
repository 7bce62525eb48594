"""`watch` in a real kernel and without one: the estimator is fitted as by `fit`, and the output stays."""

import base64
import io
import queue

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression

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


def test_without_a_notebook_it_only_fits():
    assert notebook._screen() is None
    assert supdr_viz.watch(supdr.LSDR(max_iter=2), DATA.X, DATA.y).n_iter_ == 2


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="needs an estimator that iterates; LogisticRegression has only fit"):
        supdr_viz.watch(LogisticRegression(), DATA.X, DATA.y)
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

"""Snippets: the code that is shown repeats the run, and names only what differs."""

import numpy as np
import pytest

from supdr import datasets
from supdr_viz.experiment import build as building
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, from_json, to_json, to_query
from supdr_viz.experiment.snippet import to_python
from supdr_viz.experiment.splitting import split
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from tests.viz.programs import execute, run_through_library
from tests.viz.setting_cases import read, suited

# --- snippets -------------------------------------------------------------------------------------------------------


SMALL = {"n_per_class": 40}
CASES = {
    "one segment": (Settings(data_options=SMALL), [({}, 5)]),
    "two segments": (Settings(data_options=SMALL), [({}, 4), ({"C": 10.0, "beta": 0.5}, 3)]),
    "nothing run yet": (Settings(data_options=SMALL), [({}, 0)]),
    "few labels": (Settings(data="moons", label_share=0.2, seed=3), [({}, 4)]),
    "drawn": (Settings(data="moons", drawn=((0.1, 0.2, 1), (0.3, -0.5, 0))), [({"kernel": "poly"}, 4)]),
    "no test rows": (Settings(data="disc", test_share=0.0), [({"init": "random"}, 3)]),
    "regression": (Settings(data="diabetes", method="LSDR"), [({}, 3), ({"reg_u": 1.0}, 2)]),
    "views": (Settings(data="multiview_digits", data_options={"n_samples": 150}, method="SLDR"), [({}, 2)]),
    "sheet": (Settings(data="curved_sheet", method="SNF", test_share=0.0, label_share=0.05, seed=2), [({}, 3)]),
    "sheet, test rows": (Settings(data="curved_sheet", method="SNF", label_share=0.2), [({}, 2)]),
    "perceptron": (
        Settings(data="moons", method="MAC"),
        [({"mapping": "perceptron"}, 3), ({"mapping": "rbf", "solver": "lbfgs"}, 2), ({"mapping": "perceptron"}, 2)],
    ),
    "paper's loop": (Settings(data="xor", method="LSDR"), [({"solver": "sgd", "init": "random"}, 3)]),
}


@pytest.mark.parametrize("case", CASES)
def test_snippet_repeats_the_run(case, tmp_path):
    settings, steps = CASES[case]
    segments, current = [], settings
    for changes, count in steps:
        current = current.with_options(**changes)
        segments.append((current, count))
    dataset = build_dataset(settings)
    expected, parts = run_through_library(settings, segments, dataset)
    names, printed = execute(to_python(settings, segments, dataset), tmp_path)
    np.testing.assert_array_equal(names["model"].embedding_, expected.embedding_)
    np.testing.assert_array_equal(names["model"].predict(parts.X_train), expected.predict(parts.X_train))
    if settings.test_share:
        np.testing.assert_array_equal(names["X_test"], parts.X_test)
        score = expected.score(parts.X_test, parts.y_test)
        if dataset.task == "classification":
            assert f"test error {1 - score}" in printed
    assert "train" in printed


OF_AN_EXTRA = ("UMAP", "PaCMAP")  # whose first fit compiles for seconds


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=pytest.mark.slow if name in OF_AN_EXTRA else ())
        for name in MENU
        if name not in ("NSDR", "LSDR")
    ],
)
def test_snippet_of_every_other_method(method, tmp_path):
    settings = Settings(data=suited(method), method=method)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    expected = build_estimator(settings, dataset.task)
    if MENU[method].iterates:
        expected.set_params(max_iter=1, tol=-1)
        expected = expected.at(list(expected.iterate(parts.X_train, parts.y_train))[-1])
    else:
        expected.fit(parts.X_train, parts.y_train)
    names, _ = execute(to_python(settings, [(settings, 1)], dataset), tmp_path)
    np.testing.assert_array_equal(names["model"].predict(parts.X_test), expected.predict(parts.X_test))


def test_snippet_of_a_file_with_unlabelled_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(rng.normal(size=(60, 2)), ["u", "v", ""] * 20)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,kind", *rows, "0,0,w"]))
    dataset = datasets.read_file(tmp_path / "mine.csv", target="kind")
    settings = Settings(data="file", data_options={"name": "mine.csv", "target": "kind"})
    parts = split(dataset, settings)
    names, _ = execute(to_python(settings, [(settings, 2)], dataset), tmp_path)
    np.testing.assert_array_equal(names["X_train"], parts.X_train)
    np.testing.assert_array_equal(names["y_train"], parts.y_train)


def test_snippet_quotes_names_from_outside():
    name = "x');import os;('.csv"
    settings = Settings(data="file", data_options={"name": name})
    code = to_python(settings, [], build_dataset(Settings(data="moons")))
    assert f"read_file({name!r})" in code
    compile(code, "snippet.py", "exec")


def test_openml_numbers_and_names():
    dataset = build_dataset(Settings(data="moons"))
    for name, call in (("59", "load_openml(59)"), ("ionosphere", "load_openml('ionosphere')")):
        settings = Settings(data="openml", data_options={"name": name})
        assert call in to_python(settings, [], dataset)


@pytest.mark.parametrize("method", ["SLDR", "LMKL", "MKL", "BestViewSVM", "AllViewsSVM"])
def test_methods_that_tell_views_apart_get_those_of_the_data(method):
    settings = Settings(data="multiview_digits", method=method)
    arguments = building.estimator_arguments(settings, "classification", views=(64, 16, 16, 12))
    assert arguments["views"] == (64, 16, 16, 12)
    assert "views" not in building.estimator_arguments(settings, "classification")
    assert "views" not in building.estimator_arguments(Settings(method="LSDR"), "classification", views=(1, 1))


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_views_of_a_file_reach_the_method(kind, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    first, second = rng.normal(size=(60, 3)) + y[:, None], rng.normal(size=(60, 2))
    file = tmp_path / f"mine.{kind}"
    if kind == "csv":
        names = "shape:a,colour:b,shape:c,shape:d,colour:e,class"
        rows = [
            ",".join(map(str, row))
            for row in np.column_stack([first[:, 0], second[:, 0], first[:, 1:], second[:, 1], y])
        ]
        file.write_text("\n".join([names, *rows]))
    else:
        np.savez(file, shape=first, colour=second, y=y)
    dataset = datasets.read_file(file)
    session = Session(Pool(1), lambda: None)
    settings = Settings(data="file", data_options={"name": file.name}, method="SLDR")
    session.apply(Experiment(settings, dataset))
    assert session.estimator.views == (3, 2)
    assert session.scene.view_names == ("shape", "colour")
    session.close()


def test_estimator_arguments_name_only_what_differs():
    settings = Settings(method_options={"C": 5.0})
    arguments = {"n_components": 2, "C": 5.0, "random_state": 0}  # the library would choose more dimensions
    assert building.estimator_arguments(settings, "classification") == arguments
    automatic = settings.with_options(n_components=None)
    assert building.estimator_arguments(automatic, "classification") == {"C": 5.0, "random_state": 0}


def test_the_library_s_choice_of_dimensions_travels_in_links_and_files():
    settings = Settings(method_options={"n_components": None})
    assert "method.n_components=auto" in to_query(settings)
    assert read(to_query(settings)) == (settings, [])
    assert from_json(to_json(settings)) == (settings, [])

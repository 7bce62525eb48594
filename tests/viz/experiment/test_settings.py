"""Settings: round trips, junk, data, split, and snippets that repeat the run."""

import inspect
import json
import random
import string
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_regressor

from supdr import datasets
from supdr.datasets import Dataset
from supdr.engine.parameters import TASK
from supdr_viz.data.sources import DATA_FORMS, SOURCES
from supdr_viz.experiment import settings as state
from supdr_viz.experiment.build import NotAtHand, Unusable, build_dataset, build_estimator, check_columns
from supdr_viz.experiment.methods import MENU, METHOD_FORMS
from supdr_viz.experiment.settings import Settings, from_json, parse_query, to_json, to_query
from supdr_viz.experiment.splitting import split
from tests.viz.setting_cases import read


def other_value(spec):
    """An admissible value that is not the default."""
    if spec.kind == "bool":
        return not spec.default
    if spec.kind == "choice":
        return next(value for value, _ in spec.choices if value != spec.default)
    if spec.kind == "text":
        return "some name & more=x"
    value = spec.high if spec.high != spec.default else spec.low
    return int(value) if spec.kind == "int" else float(value)


def every_setting(data, method):
    return Settings(
        data=data,
        data_options={spec.name: other_value(spec) for spec in DATA_FORMS[data]},
        method=method,
        method_options={spec.name: other_value(spec) for spec in METHOD_FORMS[method]},
        test_share=0.45,
        label_share=0.25,
        seed=17,
        latent_axes=(1, 0),
        latent_shown="transform",
        input_plane="pca",
        speed="fast",
        drawn=((0.25, -1.5, 1), (1e-3, 2.0, 0)) if SOURCES[data].planar else (),
    )


# --- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHOD_FORMS)
def test_defaults_of_methods_are_those_of_their_signatures(name):
    signature = inspect.signature(MENU[name].estimator).parameters
    for spec in METHOD_FORMS[name]:
        library = signature[spec.name].default
        assert spec.library_default == library or spec.library_default is library
        # The explorer's own defaults: a picture has two dimensions, what is seen is what decides, and passes are seen.
        own = [("n_components", None, 2), ("starts", "average", "best"), ("early_stopping", "loo", False)]
        own += [("calibrate", True, False)] if name == "MAC" else []
        pictured = (spec.name, library, spec.default) in own
        assert spec.default == library or spec.default is library or pictured
    restart = getattr(MENU[name].estimator, "restart_parameters", frozenset())
    assert restart <= set(signature)


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.at_hand])
def test_defaults_of_data_are_those_of_their_signatures(name):
    source = SOURCES[name]
    signature = inspect.signature(getattr(datasets, source.loader)).parameters
    for spec in source.form:
        assert spec.default == signature[spec.name].default
    assert set(source.fixed) <= set(signature)


@pytest.mark.parametrize("specs", [*DATA_FORMS.values(), *METHOD_FORMS.values(), state.SPLIT_FORM])
def test_specs_are_consistent(specs):
    names = [spec.name for spec in specs]
    assert len(set(names)) == len(names)
    for spec in specs:
        assert spec.help
        assert spec.help.endswith(".")
        if spec.kind in ("int", "float"):
            assert spec.low < spec.high
            assert spec.step > 0
            assert spec.low > 0 or not spec.log
            if not spec.automatic:
                assert spec.low <= spec.default <= spec.high
        if spec.kind == "choice":
            assert spec.default in [value for value, _ in spec.choices]
        assert set(spec.shown_when) - {TASK} <= set(names)


def test_every_method_has_a_form():
    import supdr

    assert set(MENU) == {*supdr.METHODS, *supdr.BASELINES, "LogisticPCA"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ("UMAP", "PaCMAP") else ()) for n in METHOD_FORMS]
)
@pytest.mark.parametrize("end", ["low", "high"])
def test_extreme_values_still_run(name, end):
    options = {}
    for spec in METHOD_FORMS[name]:
        if spec.kind in ("int", "float"):
            options[spec.name] = type(spec.low)(getattr(spec, end)) if spec.kind == "float" else int(getattr(spec, end))
    options |= {"max_iter": 2} if "max_iter" in options else {}
    options |= {"n_components": 2} if "n_components" in options else {}
    if MENU[name].bits_only:
        settings = Settings(data="digits_bits", method=name, method_options=options)
    elif "classification" in MENU[name].tasks():
        settings = Settings(data="moons", data_options={"n_samples": 150}, method=name, method_options=options)
    else:
        settings = Settings(data="diabetes", method=name, method_options=options)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    estimator = build_estimator(settings, dataset.task, len(parts.train))
    snapshots = list(estimator.iterate(parts.X_train, parts.y_train))
    assert np.isfinite(estimator.at(snapshots[-1]).transform(parts.X_test)).all()


def test_options_are_completed_and_unknown_ones_refused():
    settings = Settings(method="NSDR", method_options={"C": 3.0})
    assert set(settings.method_options) == {spec.name for spec in METHOD_FORMS["NSDR"]}
    with pytest.raises(ValueError, match="unknown options: sigma"):
        Settings(method_options={"sigma": 1})


def test_restarts_follow_the_estimator():
    settings = Settings(method="NSDR")
    assert not settings.needs_restart(settings)
    assert not settings.needs_restart(settings.with_options(C=3.0))
    assert settings.needs_restart(settings.with_options(n_components=3))
    assert settings.needs_restart(replace(settings, seed=1))
    assert settings.needs_restart(replace(settings, method="LSDR", method_options={}))
    assert not settings.needs_restart(replace(settings, latent_shown="transform", speed="slow"))


def test_an_option_under_which_the_run_goes_on_only_steers():
    settings = Settings(method="NSDR")
    assert settings.with_options(C=3.0).only_steers(settings)
    assert not settings.with_options(n_components=3).only_steers(settings)
    assert not Settings(method="LSDR").only_steers(settings)
    for other in ({"speed": "slow"}, {"latent_shown": "transform"}, {"colour_by": "truth"}, {"seed": 1}):
        assert not replace(settings.with_options(C=3.0), **other).only_steers(settings)


# --- links and files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHOD_FORMS)
def test_links_and_files_return_every_setting(method):
    for data in DATA_FORMS:
        settings = every_setting(data, method)
        assert read(to_query(settings)) == (settings, [])
        assert from_json(to_json(settings)) == (settings, [])


def test_link_reads_well_and_has_a_stable_order():
    settings = Settings(data_options={"noise": 0.1}, method_options={"C": 10.0})
    expected = "data=spirals&data.noise=0.1&method=NSDR&method.C=10&test=0.3&labels=1&seed=0"
    assert to_query(settings) == expected
    shuffled = "&".join(reversed(expected.split("&")))
    assert to_query(read(shuffled)[0]) == expected


@pytest.mark.parametrize(
    ("query", "field", "value", "says"),
    [
        ("data.noise=nan", ("data_options", "noise"), 0.02, "Noise must be a number"),
        ("data.noise=7", ("data_options", "noise"), 0.3, "between 0 and 0.3"),
        ("data.n_classes=2.5", ("data_options", "n_classes"), 2, "whole number"),
        ("method.C=-1", ("method_options", "C"), 1e-3, "between 0.001 and 1000"),
        ("method.kernel=tanh", ("method_options", "kernel"), "rbf", "must be one of linear, poly, rbf"),
        ("method.calibrate=perhaps", ("method_options", "calibrate"), True, "on (1) or off (0)"),
        ("method.gamma=auto", ("method_options", "gamma"), None, ""),
        ("method.class_weight=balanced", ("method_options", "class_weight"), "balanced", ""),
        ("method.class_weight=none", ("method_options", "class_weight"), None, ""),
        ("method.class_weight=3", ("method_options", "class_weight"), None, "must be one of none, balanced"),
        ("method=SVM2", ("method",), "NSDR", "no method 'SVM2'"),
        ("data=../../etc", ("data",), "spirals", "no data set"),
        ("seed=1e99", ("seed",), 99_999, "between 0 and 99999"),
        ("view.latent=1,1", ("latent_axes",), "auto", "two column numbers"),
        ("drawn=1,2,0;x", ("drawn",), ((1.0, 2.0, 0),), "1 drawn points"),
        ("junk=<script>", ("data",), "spirals", "'junk' is unknown"),
    ],
)
def test_bad_values_are_replaced_with_a_sentence(query, field, value, says):
    settings, problems = read(query)
    found = getattr(settings, field[0])
    assert (found[field[1]] if len(field) > 1 else found) == value
    assert len(problems) == bool(says)
    assert all(says in problem and problem.endswith(".") for problem in problems)


def test_what_a_form_hides_does_not_reach_the_method():
    """Class weights belong to one layer: two layers would refuse them."""
    for layers, expected in ((1, "balanced"), (2, None)):
        settings = Settings(method="MAC", method_options={"class_weight": "balanced", "n_layers": layers})
        assert build_estimator(settings).class_weight == expected
    settings = Settings(method="LSDR", method_options={"class_weight": "balanced"})
    assert build_estimator(settings, "regression").class_weight is None


def test_junk_never_raises():
    rng = random.Random(0)
    names = ["data", "method", "test", "labels", "seed", "speed", "drawn", "view.latent", "view.shown", "view.plane"]
    names += [f"data.{spec.name}" for form in DATA_FORMS.values() for spec in form]
    names += [f"method.{spec.name}" for form in METHOD_FORMS.values() for spec in form]
    values = [
        "",
        "nan",
        "-inf",
        "1e999",
        "null",
        "[]",
        "0x10",
        "٣",
        "٣,٤",
        "\x00",
        "🦆" * 300,
        "1;2;3",
        "True",
        "-0",
        "1_0",
    ]
    for _ in range(400):
        arguments = {}
        for name in rng.sample(names, 8):
            text = rng.choice([*values, *SOURCES, *MENU, "".join(rng.choices(string.printable, k=12))])
            arguments[name] = [text.encode("utf-8"), *([bytes([255, 254])] if rng.random() < 0.1 else [])]
        settings, problems = parse_query(arguments)
        assert read(to_query(settings)) == (settings, [])
        assert all(isinstance(problem, str) and problem for problem in problems)


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "{}", b"\xff\xfe", "[" * 100_000, '{"supdr": 1, "data": [1]}'])
def test_files_that_hold_no_settings_give_the_defaults_and_a_sentence(text):
    settings, problems = from_json(text)
    assert settings == Settings()
    assert problems


def test_a_file_is_checked_like_a_link():
    document = json.loads(to_json(Settings())) | {"method.C": 1e9, "seed": True, "drawn": [[0, 0, 0.5]]}
    settings, problems = from_json(json.dumps(document))
    assert settings == Settings().with_options(C=1000.0)
    assert len(problems) == 3


# --- data and split -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.at_hand])
def test_every_source_at_hand_builds_and_splits(name):
    settings = Settings(data=name)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    assert sorted([*parts.train, *parts.test]) == list(range(dataset.n_samples))
    assert len(parts.test) == pytest.approx(0.3 * dataset.n_samples, abs=1)
    again = split(build_dataset(settings), settings)
    np.testing.assert_array_equal(parts.train, again.train)
    if dataset.task == "classification":
        shares = [np.mean(dataset.y[rows] == 0) for rows in (parts.train, parts.test)]
        assert abs(shares[0] - shares[1]) < 0.02


def test_the_seed_decides_data_split_and_hidden_labels():
    first = split(build_dataset(Settings(label_share=0.3)), Settings(label_share=0.3))
    settings = Settings(label_share=0.3, seed=1)
    second = split(build_dataset(settings), settings)
    assert not np.array_equal(first.train, second.train)
    assert np.isnan(first.y_train).mean() == pytest.approx(0.7, abs=0.01)
    assert not np.isnan(first.truth_train).any()


def test_drawn_points_train_and_points_of_missing_classes_are_left_out():
    settings = Settings(data="moons", drawn=((0.5, 0.25, 1), (9.0, 9.0, 5)), test_share=0.8)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    assert dataset.n_samples == 201
    assert parts.train[-1] == 200
    np.testing.assert_array_equal(dataset.X[-1], [0.5, 0.25, 0.0])
    assert dataset.y[-1] == 1


def test_rows_without_label_and_single_rows_of_a_class_train():
    y = np.array([0.0] * 20 + [1.0] * 20 + [2.0] + [np.nan] * 5)
    dataset = Dataset(np.arange(46.0)[:, None], y)
    settings = Settings(data="file", data_options={"name": "x.csv"})
    parts = split(dataset, settings)
    assert set(range(40, 46)) <= set(parts.train)
    assert len(parts.notes) == 2
    assert not np.isnan(parts.y_test).any()


@pytest.mark.parametrize(
    ("y", "share", "says"),
    [
        ([np.nan] * 6, 0.3, "None of the rows"),
        ([0, 0, 0, 0, 1, 1], 0.8, r"has only \d rows and none is left"),
        ([0, 0, 0, 0, np.nan, np.nan], 0.3, "Only one class"),
        ([0, 1, np.nan, np.nan], 0.5, "too few labelled rows"),
    ],
)
def test_data_that_cannot_be_split_say_so(y, share, says):
    dataset = Dataset(np.arange(float(len(y)))[:, None], y, target_names=("0", "1"))
    settings = Settings(data="file", data_options={"name": "x.csv"}, test_share=share)
    with pytest.raises(Unusable, match=says):
        split(dataset, settings)


def test_data_not_at_hand_say_how_to_get_them():
    for data, word in (("openml", "Load"), ("file", "choose it")):
        with pytest.raises(NotAtHand, match=word):
            build_dataset(Settings(data=data, data_options={"name": "ionosphere"}))
    dataset = build_dataset(Settings())
    assert build_dataset(Settings(data="file"), dataset) is dataset


@pytest.mark.parametrize("method", METHOD_FORMS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_data_go_to_methods_that_know_their_task(method, task):
    settings = Settings(method=method)
    if task in MENU[method].tasks():
        estimator = build_estimator(settings, task)
        assert getattr(estimator, "task", "classification") == task
        assert is_regressor(estimator) == (task == "regression")
    else:
        others = "LSDR, SDR-GLM or SNF" if task == "regression" else "LSDR, MAC, SDR-GLM, SLDR, SNF or ClassAtlas"
        with pytest.raises(
            Unusable, match=f"but this target is {'numeric' if task == 'regression' else 'a class'}. Try .*{others}.$"
        ):
            build_estimator(settings, task)


def test_a_method_for_bits_says_which_column_is_none():
    settings = Settings(data="iris", method="LogisticPCA")
    with pytest.raises(Unusable, match=r"columns of 0 and 1 only; sepal length \(cm\) is 5.1 in row 0: choose Unsup"):
        check_columns(settings, build_dataset(settings))
    check_columns(Settings(data="iris", method="SDRGLM"), build_dataset(settings))
    bits = Settings(data="latent_bits", method="LogisticPCA")
    dataset = build_dataset(bits)
    dataset.X[0, 0] = np.nan  # a missing cell is no other value
    check_columns(bits, dataset)


@pytest.mark.parametrize("method", [name for name in METHOD_FORMS if "regression" in MENU[name].tasks()])
def test_regression_is_learnt(method):
    settings = Settings(data="diabetes", method=method)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    model = build_estimator(settings, dataset.task, len(parts.train)).fit(parts.X_train, parts.y_train)
    assert np.isfinite(model.predict(parts.X_test)).all()
    # Better than the mean where the labels are known; the mean itself has a score of 0.
    assert model.score(parts.X_train, parts.y_train) > (-1e-9 if method == "Constant" else 0.2)

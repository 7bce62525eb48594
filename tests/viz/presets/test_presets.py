"""Prepared settings: all of them can be read, and those whose data are at hand run."""

import re

import numpy as np
import pytest

from supdr.datasets import Dataset
from supdr_viz.experiment.build import NotAtHand, build_dataset, build_estimator
from supdr_viz.experiment.methods import MENU, METHOD_FORMS
from supdr_viz.experiment.settings import Settings, from_json, parse_query, read_table, to_json, to_query
from supdr_viz.experiment.splitting import split
from supdr_viz.lessons.claims import read_claim
from supdr_viz.lessons.model import Lesson, Step
from supdr_viz.lessons.recorded import ends
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pictures.methods import modes_of
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.reading import examples
from tests.viz.presets.preset_claims import CLAIMS, QUICK


def as_arguments(query):
    return {name: [value.encode()] for name, value in (part.split("=", 1) for part in query.split("&"))}


def data_of(preset):
    """The preset's data, or random rows of the size it needs."""
    if preset.needs is None:
        return build_dataset(preset.settings)
    rng = np.random.default_rng(0)
    task = MENU[preset.settings.method].tasks()[0]
    y = np.arange(preset.needs.rows) % 2.0
    X = rng.normal(size=(preset.needs.rows, preset.needs.columns)) + y[:, None]
    return Dataset(X, y if task == "classification" else X[:, 0], task=task)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_survive_links_and_files(preset):
    assert parse_query(as_arguments(to_query(preset.settings))) == (preset.settings, [])
    assert from_json(to_json(preset.settings)) == (preset.settings, [])


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_lie_within_the_forms(preset):
    for spec in METHOD_FORMS[preset.settings.method]:
        value = preset.settings.method_options[spec.name]
        assert spec.clean(value) == (value, ""), spec.name


FIRST_OF_METHODS = {preset.settings.method: name for name, preset in reversed(list(PRESETS.items()))}.values()


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(preset, id=name, marks=[] if name in FIRST_OF_METHODS else [pytest.mark.slow])
        for name, preset in PRESETS.items()
    ],
)
def test_presets_run(preset):
    dataset = data_of(preset)
    parts = split(dataset, preset.settings)
    estimator = build_estimator(preset.settings, dataset.task, views=dataset.views)
    iterates = MENU[preset.settings.method].iterates
    if iterates:
        estimator.set_params(max_iter=2)
    snapshots = list(estimator.iterate(parts.X_train, parts.y_train))
    assert len(snapshots) == (3 if iterates else 1)
    assert np.isfinite(estimator.at(snapshots[-1]).transform(dataset.X)).all()


@pytest.mark.parametrize("preset", [p for p in PRESETS.values() if p.mode], ids=lambda preset: preset.name)
def test_presets_begin_with_a_picture_that_their_method_has(preset):
    dataset = data_of(preset)
    estimator = build_estimator(preset.settings, dataset.task, views=dataset.views)
    images = dataset.image_shape is not None
    assert preset.mode in [mode.name for mode in modes_of(estimator, dataset.task, images=images)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in CLAIMS]
)
def test_what_a_note_says_is_so(name):
    """Every claim, against the end that a visitor sees."""
    step = Step(PRESETS[name].label, PRESETS[name].note, PRESETS[name].settings, play="start")
    (numbers,) = ends(Lesson(name, step.title, "", 1, (step,)))
    claims = [read_claim(text) for text in CLAIMS[name]]
    assert None not in claims
    false = [f"{claim}, but it is {numbers.get(claim.name)}" for claim in claims if not claim.holds(numbers)]
    assert not false, "\n".join(false)


def test_every_note_on_data_at_hand_has_claims():
    assert set(CLAIMS) == {name for name, preset in PRESETS.items() if preset.needs is None}


@pytest.mark.parametrize("presets", [PRESETS, COMPARISON_PRESETS, SWEEP_PRESETS], ids=["runs", "comparisons", "sweeps"])
def test_presets_have_notes_and_names(presets):
    assert presets.opening.needs is None
    for name, preset in presets.items():
        assert preset.name == name
        assert presets[presets.name_of(preset.settings)].settings == preset.settings
        assert preset.note.endswith((".", "?"))
        assert preset.more == "" or preset.more.endswith(".")
        assert len(preset.note.split()) <= 25


@pytest.mark.parametrize("preset", [p for p in PRESETS.values() if p.needs], ids=lambda preset: preset.name)
def test_presets_without_data_say_how_to_get_them(preset):
    assert preset.needs.openml in preset.needs.how
    assert str(preset.needs.rows) in preset.needs.how
    with pytest.raises(NotAtHand):
        build_dataset(preset.settings)


@pytest.mark.papers
@pytest.mark.parametrize("preset", [p for p in PRESETS.values() if p.needs], ids=lambda preset: preset.name)
def test_sizes_fit_the_papers_sets(preset, data_dir):
    from supdr.datasets import read_file

    files = {"59": "ionosphere", "40": "sonar", "336": "spect", "15": "breast_cancer_w", "37": "pi_diabetes"}
    files |= {"207": "autoprice", "560": "bodyfat", "531": "boston_housing", "230": "machine_cpu", "196": "mpg"}
    files = {number: f"{name}.csv.gz" for number, name in files.items()} | {"": "multifeat.npz"}
    by_title = {"Wisconsin breast cancer (prognostic)": "wisconsin_breast_cancer.csv.gz"}
    by_title |= {
        title: f"{title.lower().replace(' ', '')}.csv.gz"
        for title in ("Baseball", "Bears", "Forest fires", "Pyrimidines", "Triazines")
    }
    dataset = read_file(data_dir / by_title.get(preset.needs.title, files[preset.needs.openml]))
    assert dataset.X.shape == (preset.needs.rows, preset.needs.columns)


TABLE = {"name": "a", "label": "A", "note": "Look.", "data": {"name": "moons"}, "method": {"name": "LSDR", "beta": 0.5}}


def read(**changes):
    """Read one example with some other keys."""
    return list(examples({"group": [{"title": "T", "example": [{**TABLE, **changes}]}]}, read_table))


def test_an_example_is_read_as_its_table_says():
    (preset,) = read(needs="spect", test=0.5, note="One\nline.", slow_start=3)
    assert preset.settings == Settings(data="moons", method="LSDR", method_options={"beta": 0.5}, test_share=0.5)
    assert (preset.name, preset.group, preset.note, preset.slow_start) == ("a", "T", "One line.", 3)
    assert preset.needs.title == "SPECT"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": {"name": "LSDR", "betta": 0.5}}, "a: The setting 'method.betta' is unknown"),
        ({"method": {"name": "LSD"}}, "a: There is no method 'LSD'"),
        ({"tets": 0.5}, "a: The setting 'tets' is unknown"),
        ({"note": 3}, "a: note must be text; got '3'"),
        ({"slow_start": -1}, "a: slow_start must be a whole number"),
        ({"needs": "spectt"}, "a: there are no data 'spectt'"),
    ],
)
def test_a_wrong_example_is_named(changes, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        read(**changes)


def test_an_example_may_depend_on_what_is_installed():
    tables = [{**TABLE, "label": "with", "installed": "UMAP"}, {**TABLE, "label": "without", "missing": "UMAP"}]
    content = {"group": [{"example": tables}]}
    assert [preset.label for preset in examples(content, read_table, ["UMAP"])] == ["with"]
    assert [preset.label for preset in examples(content, read_table, [])] == ["without"]

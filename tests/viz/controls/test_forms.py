"""Widgets and forms: every action of the user is reported once."""

import re

import numpy as np
import pytest

from supdr.engine.parameters import TASK
from supdr_viz.controls import Controls
from supdr_viz.controls.forms import Form, NumberField
from supdr_viz.experiment.methods import METHOD_FORMS
from supdr_viz.experiment.settings import SPLIT_FORM, Settings
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.ui import widgets
from supdr_viz.ui.visitor import Visit
from supdr_viz.views.figures import LegendEntry
from tests.viz.control_cases import knob, let_go, shown

# --- widgets --------------------------------------------------------------------------------------------------------


def test_slider_reports_values_once_and_rounds():
    seen = []
    slider = widgets.Slider("C", 1.0, 1e-3, 1e3, 0.1, log=True, on_change=seen.append)
    let_go(slider, 1.0)
    let_go(slider, 1.0)
    let_go(slider, np.log10(7.94321))
    slider.show(1.0)
    let_go(slider, np.log10(7.94321))
    assert seen == [10.0, 7.94, 7.94]


def test_a_slider_that_moves_on_is_not_called_back_to_where_it_was():
    slider = widgets.Slider("share", 0.1, 0.01, 1.0, 0.01)
    let_go(slider, 0.15000000000000002)  # as a browser adds up steps
    slider.widget.value = 0.16000000000000003
    slider.show(0.15)  # the page now shows the settings that it was given first
    assert slider.widget.value == 0.16000000000000003
    slider.show(0.3)
    assert slider.widget.value == 0.3


def test_slider_notch_stands_for_another_value():
    seen = []
    slider = widgets.Slider("γ", None, 0.01, 10, 0.1, log=True, notch="auto", notch_value=None, on_change=seen.append)
    assert slider.widget.value == slider.widget.start
    let_go(slider, -1.0)
    let_go(slider, -2.0)
    let_go(slider, slider.widget.start)
    assert seen == [0.1, 0.01, None]


@pytest.mark.parametrize(("stands_for", "begins"), [(0.04321, 0.0432), (7e6, 10), (None, 0.316)])
def test_a_first_step_from_auto_goes_to_the_number_that_it_stands_for(stands_for, begins):
    seen = []
    options = {"log": True, "notch": "auto", "notch_value": "scale", "stands_for": lambda: stands_for}
    slider = widgets.Slider("γ", "scale", 0.01, 10, 0.1, on_change=seen.append, **options)
    let_go(slider, slider.widget.start + 0.1)
    assert seen == [begins]
    assert slider.widget.value == pytest.approx(np.log10(begins))
    let_go(slider, -2.0)  # the low end can be had all the same
    assert seen == [begins, 0.01]


def test_a_step_from_a_notch_that_is_zero_goes_to_the_low_end():
    seen = []
    options = {"log": True, "notch": "0", "notch_value": 0.0}
    slider = widgets.Slider("λ", 0.0, 0.01, 10, 0.1, on_change=seen.append, **options)
    let_go(slider, -2.0)
    assert seen == [0.01]


def test_whole_sliders_give_integers():
    seen = []
    slider = widgets.Slider("d", 2, 1, 64, 1, whole=True, on_change=seen.append)
    let_go(slider, 5.0)
    assert seen == [5]
    assert isinstance(seen[0], int)


def test_every_input_is_named():
    controls = Controls(Visit(), Settings())
    for fold in (controls.split.fold, controls.planes.fold, controls.method.form.fold, controls.data.form.fold):
        fold.view.active = [0]
    named = ("Slider", "Select", "Switch", "TextInput", "Button")
    inputs = controls.view.select(lambda part: type(part).__name__.endswith(named))
    assert len(inputs) > 20
    assert all(part.label for part in inputs)
    assert not controls.view.select(lambda part: "Editable" in type(part).__name__)


def test_few_components_are_built_at_the_start():
    controls = Controls(Visit(), PRESETS.opening.settings, PRESETS.opening.name)
    kit = controls.view.select(lambda part: type(part).__module__.startswith("panel_material_ui"))
    assert len(kit) <= 25


def test_exceptions_of_callbacks_are_not_lost_where_there_is_no_page():
    call = widgets.guarded(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call()


def test_text_from_outside_is_escaped():
    pane = widgets.html()
    widgets.message(pane, "<script>alert(1)</script>", "error")
    assert "<script>" not in pane.object
    for kind in ("line", "point", "scale"):
        made = widgets.legend([LegendEntry("<b>", '"><x', kind=kind, help='"><u>', pick=1)], picks=True)
        assert not {"<b>", "<u>", "<x"} & {made[place : place + 3] for place in range(len(made))}
        assert "&quot;&gt;&lt;x" in made


# --- forms ----------------------------------------------------------------------------------------------------------


def test_form_builds_knobs_once_they_matter_and_folded_ones_when_opened():
    changes = []
    defaults = {spec.name: spec.default for spec in METHOD_FORMS["NSDR"]}

    def changed(name, value):
        changes.append((name, value))
        form.show({name: value})

    form = Form(METHOD_FORMS["NSDR"], defaults, changed)

    def wanted(main):
        values = {TASK: "classification", **form.values}
        return [spec.name for spec in METHOD_FORMS["NSDR"] if spec.main == main and spec.applies(values)]

    assert list(form.knobs) == shown(form) == wanted(True)
    assert "degree" not in form.knobs
    knob(form, "kernel").widget.value = "poly"
    assert shown(form) == wanted(True)
    assert "degree" in shown(form)
    assert "gamma" not in shown(form)
    form.show({"reg_u": 0.01})
    form.fold.view.active = [0]
    assert shown(form) == wanted(True) + wanted(False)
    assert knob(form, "reg_u").value == 0.01
    assert changes == [("kernel", "poly")]


def explained(form):
    return next(part.object for part in form.fold.content if "<dl" in getattr(part, "object", ""))


def test_a_form_explains_the_knobs_that_apply_and_no_others():
    specs = METHOD_FORMS["NSDR"]
    form = Form(specs, {spec.name: spec.default for spec in specs}, lambda name, value: None)
    form.fold.view.active = [0]
    for kernel in ("poly", "rbf", "linear"):
        form.show({"kernel": kernel})
        values = {TASK: "classification", **form.values}
        titles = {spec.title for spec in specs if spec.help and spec.applies(values)}
        assert set(re.findall("<dt>(.*?)</dt>", explained(form))) == {widgets.symbols(title) for title in titles}
    assert titles < {spec.title for spec in specs if spec.help}


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=[] if name in ("NSDR", "SNF", "RBFSVM") else [pytest.mark.slow])
        for name in METHOD_FORMS
    ],
)
def test_a_form_shows_the_knobs_that_matter_whichever_way_it_came_there(method):
    specs = METHOD_FORMS[method]
    defaults = {spec.name: spec.default for spec in specs}
    form = Form(specs, defaults, lambda name, value: None)
    if form.fold is not None:
        form.fold.view.active = [0]
    for spec in specs:
        for choice, _text in spec.choices:
            form.show({**defaults, spec.name: choice})
            fresh = Form(specs, form.values, lambda name, value: None)
            if fresh.fold is not None:
                fresh.fold.view.active = [0]
            assert shown(form) == shown(fresh)


def test_knobs_that_a_task_ignores_are_hidden():
    settings = Settings(method="LSDR")
    controls = Controls(Visit(), settings)
    form = controls.method.form
    assert "loss" in shown(form)
    controls.describe(("a", "b"), 2, "regression")  # the squared loss, whatever is chosen
    assert "loss" not in shown(form)
    assert "beta" in shown(form)
    controls.method.apply(Settings(method="SNF"))
    controls.method.apply(settings)
    assert "loss" not in shown(controls.method.form)
    controls.describe(("a", "b"), 2)
    assert "loss" in shown(controls.method.form)


def test_number_field_refuses_words_and_clamps():
    changes = []
    seed = next(spec for spec in SPLIT_FORM if spec.name == "seed")
    field = NumberField(seed, 0, lambda name, value: changes.append(value))
    field.widget.value = "abc"
    assert field.widget.error_state
    field.widget.value = "7"
    assert not field.widget.error_state
    field.widget.value = "-3"
    assert "between 0" in field.widget.helper_text
    assert changes == [7, 0]


def test_what_was_said_of_a_number_stays_until_another_is_shown():
    seed = next(spec for spec in SPLIT_FORM if spec.name == "seed")
    field = NumberField(seed, 5, lambda name, value: field.show(value))
    field.widget.value = "-3"
    assert (field.widget.value, "between 0" in field.widget.helper_text) == ("0", True)
    field.show(4)
    assert (field.widget.value, field.widget.helper_text) == ("4", "")
    field.widget.value = "four"
    assert field.widget.error_state
    field.show(4)
    assert (field.widget.value, field.widget.error_state) == ("4", False)

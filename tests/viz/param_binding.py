"""What binding a form with `param` takes, beside `Bound`: ``python -m tests.viz.param_binding [method]``."""

import statistics
import sys
import time

import panel as pn
import panel_material_ui as pmui
import param

from supdr_viz.controls.forms import Form
from supdr_viz.experiment.methods import METHOD_FORMS

REPEATS = 9


def parameter(spec):
    """Make a declaration a parameter; `param` knows neither a logarithm nor a lowest notch: the slider shows places."""
    if spec.kind in ("float", "int"):
        return param.Number(default=spec.default if isinstance(spec.default, (int, float)) else spec.low)
    if spec.kind == "choice":
        return param.Selector(default=spec.default, objects={text: value for value, text in spec.choices})
    return param.Boolean(default=spec.default) if spec.kind == "bool" else param.String(default=spec.default)


def widget(spec):
    """Options of the widget that `pn.Param` makes."""
    if spec.kind in ("float", "int"):
        ends = {"start": spec.low, "end": max(spec.high, spec.default if isinstance(spec.default, (int, float)) else 0)}
        return {"widget_type": pmui.FloatSlider, "step": spec.step, "throttled": True, **ends}
    kinds = {"choice": pmui.Select, "bool": pmui.Switch, "text": pmui.TextInput}
    return {"widget_type": kinds[spec.kind]}


def with_param(specs):
    """Make a form by `pn.Param`, and count what it reports."""
    view = type("View", (param.Parameterized,), {spec.name: parameter(spec) for spec in specs})()
    pane = pn.Param(view, widgets={spec.name: widget(spec) for spec in specs}, show_name=False)
    reported = []
    view.param.watch(lambda *events: reported.extend(events), [spec.name for spec in specs])
    return reported, {spec.name: pane.widget(spec.name) for spec in specs}, lambda values: view.param.update(**values)


def with_bound(specs):
    """Make the form of the page, and count what it reports."""
    reported = []

    def changed(name, value):
        reported.append(name)
        form.show({name: value})

    form = Form(specs, {spec.name: spec.default for spec in specs}, changed)
    return reported, {name: knob.widget for name, knob in form.knobs.items()}, form.show


def reports(made, choice):
    """Count what a form reports as it shows a value, another, gets the first sent back, and as a visitor chooses."""
    reported, widgets, show = made
    first, second = [value for value, _ in choice.choices if value != choice.default][:2]
    menu = widgets[choice.name]
    texts = menu.options if isinstance(menu.options, dict) else {}
    value_of = {value: texts.get(text, value) for value, text in choice.choices}
    steps = (
        lambda: show({choice.name: first}),
        lambda: show({choice.name: second}),
        lambda: menu.param.update(value=value_of[first]),
        lambda: menu.param.update(value=value_of[choice.default]),
    )
    counts = []
    for step in steps:
        del reported[:]
        step()
        counts.append(len(reported))
    return counts


def main(method="NSDR"):
    """Print a row for each way."""
    specs = METHOD_FORMS[method]
    choice = next(spec for spec in specs if spec.kind == "choice" and spec.main and len(spec.choices) > 2)
    print(f"{method}, {len(specs)} knobs")
    print(f"{'':10}{'widgets':>9}{'ms':>7}{'shown':>7}{'another':>9}{'sent back':>11}{'chosen':>8}")
    for name, make in (("pn.Param", with_param), ("Bound", with_bound)):
        times = []
        for _ in range(REPEATS):
            began = time.process_time()
            made = make(specs)
            times.append(1000 * (time.process_time() - began))
        shown, another, back, chosen = reports(made, choice)
        row = f"{name:10}{len(made[1]):>9}{statistics.median(times):>7.0f}"
        print(f"{row}{shown:>7}{another:>9}{back:>11}{chosen:>8}")


if __name__ == "__main__":
    main(*sys.argv[1:])

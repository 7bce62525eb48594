"""Controls of the method: which one, and its knobs."""

from __future__ import annotations

from functools import partial
from typing import Any

import panel as pn

from supdr_viz.controls.forms import Chosen, Form
from supdr_viz.controls.part import Part
from supdr_viz.experiment.methods import MENU, METHOD_FORMS, WORDS, method_menu
from supdr_viz.experiment.settings import Settings
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound


class MethodControls(Part):
    """The method and its knobs; what the user set stays when the method changes and the knob exists there too.

    form: the knobs of the method that is chosen.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._task, self._unable, self._exchange = "classification", False, ""
        self._numbers: Chosen | None = None
        self.menu = widgets.select("Method", method_menu(), settings.method)
        self._method = Bound(self.menu, self._chosen)
        self._about = widgets.caption(MENU[settings.method].help)
        self._body = pn.Column(margin=0, **widgets.WIDE)
        self.view = pn.Column(widgets.section("Method"), self.menu, self._about, self._body, margin=0, **widgets.WIDE)
        self._show_form(settings)

    def describe(self, task: str, *, on_disk: bool = False, numbers: Chosen | None = None) -> None:
        """Say which task the data have: knobs that it ignores are hidden.

        `task`: one of "classification", "regression"; `on_disk`: whether rows are never all in memory: methods that
        need that, or do not learn the task, cannot be chosen; `numbers`: returns what the method has chosen for a
        hyper-parameter that is left to it, where a slider begins that leaves "auto".
        """
        self._numbers = numbers
        able = (lambda each: each.learns_on_disk(task)) if on_disk else (lambda each: task in each.tasks())
        # The kit takes no value that cannot be chosen: the method in force stays one that can.
        unable = [name for name, each in MENU.items() if not able(each) and name != self._settings.method]
        self._task = task
        if self.menu.disabled_options != unable:
            self.menu.disabled_options = unable
            self._unable = bool(unable) and on_disk
            self._say_about()
        self.form.set_task(task)

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        other_method = settings.method != self._settings.method
        self._settings = settings
        if settings.method in self.menu.disabled_options:
            self.menu.disabled_options = [name for name in self.menu.disabled_options if name != settings.method]
        self._method.show(settings.method)
        if other_method:
            self._show_form(settings)
        else:
            self.form.show(settings.method_options)

    def explain(self, exchange: str) -> None:
        """Say why another method was chosen than the user did; empty: it was not."""
        if exchange != self._exchange:
            self._exchange = exchange
            self._say_about()

    def _chosen(self, name: str) -> None:
        self._report({"method": name, "method_options": carried_options(self._settings, name)})

    def _show_form(self, settings: Settings) -> None:
        method = MENU[settings.method]
        # Without a run there is nothing that a mark could speak of.
        marked = method.restarts if method.iterates else (lambda _name: False)
        changed = partial(self._knob_changed, settings.method)
        self.form = Form(method.form, settings.method_options, changed, marked, self._task, self._number)
        self._say_about()
        self._body[:] = [self.form.view]

    def _say_about(self) -> None:
        words = MENU[self._settings.method].help
        if self._unable:
            words += f" Methods in grey do not learn {WORDS[self._task]} of rows on disk."
        if self._exchange:
            words = f"{self._exchange} {words}"
        self._about.object = f'<p class="quiet small">{widgets.escape(words)}</p>'

    def _number(self, name: str) -> float | None:
        return None if self._numbers is None else self._numbers(name)

    def _knob_changed(self, method: str, name: str, value: Any) -> None:
        if method == self._settings.method:  # not a knob of a form that has just been replaced
            self._report({"method_options": {**self._settings.method_options, name: value}})


def carried_options(settings: Settings, name: str) -> dict[str, Any]:
    """Options for another method: values that differ from the old method's defaults, where the new one has the knob.

    `name`: the new method.
    """
    defaults = {spec.name: spec.default for spec in METHOD_FORMS[settings.method]}
    carried = {}
    for spec in METHOD_FORMS[name]:
        value = settings.method_options.get(spec.name)
        if spec.name in defaults and value != defaults[spec.name]:
            cleaned, problem = spec.clean(value)
            if not problem:
                carried[spec.name] = cleaned
    return carried

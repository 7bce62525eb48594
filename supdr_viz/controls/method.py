"""Controls of the method: which one, and its knobs."""

from __future__ import annotations

from typing import Any

import panel as pn

from supdr_viz.controls.forms import Form
from supdr_viz.controls.part import Part
from supdr_viz.experiment.methods import MENU, METHOD_FORMS, WORDS, method_menu
from supdr_viz.experiment.settings import Settings
from supdr_viz.ui import widgets
from supdr_viz.ui.programmatic_update import ProgrammaticUpdate


class MethodControls(Part):
    """The method and its knobs; what the user set stays when the method changes and the knob exists there too."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._silence = ProgrammaticUpdate()
        self._task, self._unable, self._exchange = "classification", False, ""
        self.menu = widgets.select("Method", method_menu(), settings.method, self._chosen)
        self._about = widgets.caption(MENU[settings.method].help)
        self._body = pn.Column(margin=0, **widgets.WIDE)
        self.view = pn.Column(widgets.section("Method"), self.menu, self._about, self._body, margin=0, **widgets.WIDE)
        self._show_form(settings)

    @property
    def settings(self) -> dict[str, Any]:
        """Fields of `Settings` that belong to these controls."""
        return {"method": self._settings.method, "method_options": self._settings.method_options}

    def describe(self, task: str, *, on_disk: bool = False) -> None:
        """Say which task the data have: knobs that it ignores are hidden.

        `task`: one of "classification", "regression"; `on_disk`: whether rows are never all in memory: methods that
        need that, or do not learn the task, cannot be chosen.
        """
        unable = [name for name, each in MENU.items() if on_disk and not each.learns_on_disk(task)]
        self._task = task
        if self.menu.disabled_options != unable:
            self.menu.disabled_options = unable
            self._unable = bool(unable)
            self._say_about()
        self._form.set_task(task)

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        other_method = settings.method != self._settings.method
        self._settings = settings
        if other_method:
            with self._silence:
                self.menu.value = settings.method
            self._show_form(settings)
        else:
            self._form.set(settings.method_options)

    def explain(self, exchange: str) -> None:
        """Say why another method was chosen than the user did; empty: it was not."""
        if exchange != self._exchange:
            self._exchange = exchange
            self._say_about()

    def _chosen(self, name: str) -> None:
        if self._silence or name == self._settings.method:
            return
        self._report({"method": name, "method_options": carried_options(self._settings, name)})

    def _show_form(self, settings: Settings) -> None:
        method = MENU[settings.method]
        # Without a run there is nothing that a mark could speak of.
        marked = method.restarts if method.iterates else (lambda _name: False)
        self._form = Form(method.form, settings.method_options, self._knob_changed, marked, self._task)
        self._say_about()
        self._body[:] = [self._form.view]

    def _say_about(self) -> None:
        words = MENU[self._settings.method].help
        if self._unable:
            words += f" Methods in grey do not learn {WORDS[self._task]} of rows on disk."
        if self._exchange:
            words = f"{self._exchange} {words}"
        self._about.object = f'<p class="quiet small">{widgets.escape(words)}</p>'

    def _knob_changed(self, _name: str, _value: Any) -> None:
        self._report({"method_options": dict(self._form.values)})


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

"""A form made from a table of knobs: the main ones at once, the rest folded away; built is what matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import panel as pn

from supdr.engine.parameters import TASK, Parameter, quoted, to_number
from supdr_viz.ui import widgets
from supdr_viz.ui.lazy import Fold
from supdr_viz.ui.programmatic_update import ProgrammaticUpdate

# Marks knobs that start the run again.
RESTARTS = "↻"


class Knob:
    """The widget of one knob.

    `on_change`: ``on_change(name, value)`` after a user's change; `restarts`: mark it.
    """

    def __init__(
        self, spec: Parameter, value: Any, on_change: Callable[[str, Any], Any], restarts: bool = False
    ) -> None:
        self.spec = spec
        self._silence = ProgrammaticUpdate()
        self._on_change = on_change
        label = f"{spec.title} {RESTARTS}" if restarts else spec.title
        help = f"{spec.help} A change restarts the run." if restarts else spec.help
        self._slider: widgets.Slider | None = None
        self._texts = dict(spec.choices) if spec.kind == "choice" else {}
        if spec.kind in ("float", "int"):
            self._slider = widgets.Slider(
                label,
                value,
                spec.low,
                spec.high,
                spec.step,
                log=spec.log,
                whole=spec.kind == "int",
                notch="auto" if spec.automatic else "0" if spec.zero else "",
                notch_value=spec.library_default if spec.automatic else 0.0,
                unit=spec.unit,
                help=help,
                on_change=self._changed,
            )
            self.view: Any = self._slider.widget
        elif spec.kind == "choice":
            # A menu holds texts: the kit draws a menu whose first value is None without it.
            options = {text: text for text in self._texts.values()}
            chosen = {text: choice for choice, text in self._texts.items()}
            self.view = widgets.select(
                label, options, self._texts.get(value), lambda text: self._changed(chosen[text]), description=help
            )
        elif spec.kind == "bool":
            self.view = widgets.switch(label, value, self._changed, description=help)
        else:
            self.view = widgets.text_field(label, value, self._changed, description=help)

    def set(self, value: Any) -> None:
        """Show another value without reporting it."""
        if self._slider is not None:
            self._slider.set(value)
        else:
            shown = self._texts.get(value, value)
            if self.view.value != shown:
                with self._silence:
                    self.view.value = shown

    def _changed(self, value: Any) -> None:
        if not self._silence:
            self._on_change(self.spec.name, value)


class Form:
    """All knobs of a table.

    `values`: current values, folded knobs included.

    values: value of each.
    on_change: ``on_change(name, value)`` after a user's change.
    restarts: tells by name whether a knob restarts the run and is marked.
    task (one of "classification", "regression"): of the data: some knobs matter for one of them only.
    """

    def __init__(
        self,
        specs: Iterable[Parameter],
        values: Mapping[str, Any],
        on_change: Callable[[str, Any], Any],
        restarts: Callable[[str], bool] = lambda name: False,
        task: str = "classification",
    ) -> None:
        self.specs = tuple(specs)
        self.values = dict(values)
        self._task = task
        self._on_change, self._restarts = on_change, restarts
        self._knobs: dict[str, Knob] = {}
        main = [spec for spec in self.specs if spec.main]
        self._folded = [spec for spec in self.specs if not spec.main]
        self.fold = Fold("More", self._rest) if self._folded else None
        fold = [self.fold.view] if self.fold else []
        self.view = pn.Column(*self._knobs_of(main), *fold, margin=0, **widgets.WIDE)
        self._shown = [(main, self.view)]

    def set(self, values: Mapping[str, Any]) -> None:
        """Show other values without reporting them."""
        for name, value in values.items():
            if self.values[name] != value:
                self.values[name] = value
                if name in self._knobs:
                    self._knobs[name].set(value)
        self._show_applicable()

    def set_task(self, task: str) -> None:
        """Show the knobs that matter for a task."""
        if task != self._task:
            self._task = task
            self._show_applicable()

    def _rest(self) -> list[Any]:
        assert self.fold is not None
        self._shown.append((self._folded, self.fold.content))
        return [*self._knobs_of(self._folded), widgets.html(glossary(self.specs), margin=(8, 8, 4, 8))]

    def _knobs_of(self, specs: Iterable[Parameter]) -> list[Any]:
        return [self._knob(spec) for spec in specs if self._applies(spec)]

    def _applies(self, spec: Parameter) -> bool:
        return spec.applies({TASK: self._task, **self.values})

    def _knob(self, spec: Parameter) -> Any:
        knob = self._knobs[spec.name] = Knob(spec, self.values[spec.name], self._changed, self._restarts(spec.name))
        return knob.view

    def _changed(self, name: str, value: Any) -> None:
        if self.values[name] == value:
            return
        self.values[name] = value
        self._show_applicable()
        self._on_change(name, value)

    def _show_applicable(self) -> None:
        """Show the knobs that matter now, hide the others; what never mattered is not built."""
        for specs, column in self._shown:
            place = 0
            for spec in specs:
                applies, knob = self._applies(spec), self._knobs.get(spec.name)
                if knob is not None:
                    place += 1
                    if knob.view.visible != applies:
                        knob.view.visible = applies
                elif applies:
                    column.insert(place, self._knob(spec))
                    place += 1


def glossary(specs: Iterable[Parameter]) -> str:
    """HTML that says what each knob means, for those who cannot hover."""
    entries = "".join(
        f"<dt>{widgets.escape(spec.title)}</dt><dd>{widgets.escape(spec.help)}</dd>" for spec in specs if spec.help
    )
    return f'<dl class="small">{entries}</dl>'


class NumberField:
    """A field for a number that is too exact for a slider.

    The kit's own number fields ignore typing after Enter and have nameless buttons.

    `on_change`: ``on_change(name, value)``.
    """

    def __init__(
        self, spec: Parameter, value: Any, on_change: Callable[[str, Any], Any], restarts: bool = False
    ) -> None:
        self.spec, self.value = spec, value
        self._on_change = on_change
        label = f"{spec.title} {RESTARTS}" if restarts else spec.title
        self.view = widgets.text_field(label, spec.shown(value), self._entered)

    def set(self, value: Any) -> None:
        """Show another value without reporting it."""
        self.value = value
        self.view.param.update(value=self.spec.shown(value), error_state=False, helper_text="")

    def _entered(self, text: str) -> None:
        if text == self.spec.shown(self.value):
            self.view.param.update(error_state=False, helper_text="")
            return
        value, problem = self.spec.clean(text.strip())
        if to_number(text.strip()) is None:
            problem = f"Type a number; got {quoted(text)}."
            self.view.param.update(error_state=True, helper_text=problem)
            return
        changed = value != self.value
        self.value = value
        self.view.value = self.spec.shown(value)
        self.view.param.update(error_state=False, helper_text=problem)
        if changed:
            self._on_change(self.spec.name, value)

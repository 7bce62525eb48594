"""A form made from a table of knobs: the main ones at once, the rest folded away and built when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import panel as pn

from supdr.engine.parameters import TASK, Parameter, quoted, to_number
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound, BoundChoice
from supdr_viz.ui.lazy import Fold

# Marks knobs that start the run again.
RESTARTS = "↻"
# Returns the number that a method has chosen for a hyper-parameter that is left to it, None if it has not yet.
Chosen = Callable[[str], float | None]


def _nothing_chosen(_name: str) -> float | None:
    """Know of no number that a method has chosen."""
    return None


def make_knob(
    spec: Parameter,
    value: Any,
    on_change: Callable[[str, Any], Any],
    restarts: bool = False,
    chosen: Chosen = _nothing_chosen,
) -> Bound:
    """Make the widget of one knob.

    `on_change`: ``on_change(name, value)`` after a visitor's change; `restarts`: mark it; `chosen`: returns the number
    at which a slider begins that leaves "auto".
    """
    label = f"{spec.label} {RESTARTS}" if restarts else spec.label
    help = f"{spec.help} Changing this restarts the run." if restarts else spec.help
    report = partial(on_change, spec.name)
    if spec.kind in ("float", "int"):
        return _slider(spec, value, help, report, partial(chosen, spec.name), RESTARTS if restarts else "")
    if spec.kind == "choice":
        # A menu holds texts: the kit draws a menu whose first value is None without it.
        choices = {text: choice for choice, text in spec.choices}
        options = {text: text for text in choices}
        shown = dict(spec.choices).get(value)
        return BoundChoice(widgets.select(label, options, shown, description=help), choices, report)
    make: Callable[..., Any] = widgets.switch if spec.kind == "bool" else widgets.text_field
    return Bound(make(label, value, description=help), report)


def _slider(
    spec: Parameter,
    value: Any,
    help: str,
    report: Callable[[Any], Any],
    stands_for: Callable[[], float | None],
    mark: str,
) -> widgets.Slider:
    return widgets.Slider(
        spec.label,
        value,
        spec.low,
        spec.high,
        spec.step,
        log=spec.log,
        whole=spec.kind == "int",
        notch="auto" if spec.automatic else "0" if spec.zero else "",
        notch_value=spec.library_default if spec.automatic else 0.0,
        stands_for=stands_for,
        unit=spec.unit,
        help=help,
        on_change=report,
        symbol=spec.symbol,
        mark=mark,
    )


class Form:
    """All knobs of a table: it shows the values that it is given, and reports what the visitor changes.

    values: value of each knob on display, folded ones included.
    knobs: those that were built, by name.
    on_change: ``on_change(name, value)`` after a visitor's change; the form adapts once it is shown the new values.
    restarts: tells by name whether a knob restarts the run and is marked.
    task (one of "classification", "regression"): of the data: some knobs matter for one of them only.
    chosen: as for `make_knob`.
    """

    def __init__(
        self,
        specs: Iterable[Parameter],
        values: Mapping[str, Any],
        on_change: Callable[[str, Any], Any],
        restarts: Callable[[str], bool] = lambda name: False,
        task: str = "classification",
        chosen: Chosen = _nothing_chosen,
    ) -> None:
        self.specs = tuple(specs)
        self.values = dict(values)
        self._task = task
        self._on_change, self._restarts, self._chosen = on_change, restarts, chosen
        self.knobs: dict[str, Bound] = {}
        main = [spec for spec in self.specs if spec.main]
        self._folded = [spec for spec in self.specs if not spec.main]
        self.fold = Fold("More", self._rest) if self._folded else None
        self._glossary: pn.pane.HTML | None = None
        fold = [self.fold.view] if self.fold else []
        self.view = pn.Column(*self._knobs_of(main), *fold, margin=0, **widgets.WIDE)
        self._shown = [(main, self.view)]

    def show(self, values: Mapping[str, Any]) -> None:
        """Show other values, of all knobs or of some."""
        self.values.update(values)
        for name, knob in self.knobs.items():
            knob.show(self.values[name])
        self._show_applicable()

    def set_task(self, task: str) -> None:
        """Show the knobs that matter for a task."""
        if task != self._task:
            self._task = task
            self._show_applicable()

    def _rest(self) -> list[Any]:
        assert self.fold is not None
        self._shown.append((self._folded, self.fold.content))
        self._glossary = widgets.html(self._meanings(), margin=(8, 8, 4, 8))
        return [*self._knobs_of(self._folded), self._glossary]

    def _knobs_of(self, specs: Iterable[Parameter]) -> list[Any]:
        return [self._knob(spec) for spec in specs if self._applies(spec)]

    def _applies(self, spec: Parameter) -> bool:
        return spec.applies({TASK: self._task, **self.values})

    def _knob(self, spec: Parameter) -> Any:
        value, restarts = self.values[spec.name], self._restarts(spec.name)
        knob = self.knobs[spec.name] = make_knob(spec, value, self._on_change, restarts, self._chosen)
        return knob.widget

    def _show_applicable(self) -> None:
        """Show the knobs that matter now, hide the others; what never mattered is not built."""
        for specs, column in self._shown:
            place = 0
            for spec in specs:
                applies, knob = self._applies(spec), self.knobs.get(spec.name)
                if knob is not None:
                    place += 1
                    if knob.widget.visible != applies:
                        knob.widget.visible = applies
                elif applies:
                    column.insert(place, self._knob(spec))
                    place += 1
        if self._glossary is not None:
            self._glossary.object = self._meanings()

    def _meanings(self) -> str:
        return glossary(spec for spec in self.specs if self._applies(spec))


def glossary(specs: Iterable[Parameter]) -> str:
    """HTML that says what each knob means, for those who cannot hover."""
    entries = "".join(
        f"<dt>{widgets.symbols(spec.title)}</dt><dd>{widgets.escape(spec.help)}</dd>" for spec in specs if spec.help
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
        label = f"{spec.label} {RESTARTS}" if restarts else spec.label
        self.widget = widgets.text_field(label, spec.shown(value))
        self._text = Bound(self.widget, self._entered)

    def show(self, value: Any) -> None:
        """Show a value; what was said of this one as it was typed stays."""
        if value != self.value or self.widget.error_state:
            self.value = value
            self._text.show(self.spec.shown(value), error_state=False, helper_text="")

    def _entered(self, text: str) -> None:
        value, problem = self.spec.clean(text.strip())
        if to_number(text.strip()) is None:
            self.widget.param.update(error_state=True, helper_text=f"Type a number; got {quoted(text)}.")
            return
        self._text.show(self.spec.shown(value), error_state=False, helper_text=problem)
        if value != self.value:
            self.value = value
            self._on_change(self.spec.name, value)

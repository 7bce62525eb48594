"""Controls of a sweep: which parameters over which ranges, judged how."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import panel as pn

from supdr.engine.parameters import to_number
from supdr_viz.controls.forms import glossary, make_knob
from supdr_viz.pages.sensitivity.settings import (
    AXES,
    FOR_TASK,
    METRICS,
    MOST_VALUES,
    PROTOCOL_FORM,
    SPACINGS,
    Axis,
    SweepSettings,
    checked_axis,
    default_axis,
    parse_values,
    sweepable,
    usual_axes,
)
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.lazy import Fold

NONE = ""


def _end(value: float) -> str:
    """Write an end of an axis as its ticks are written: 1e-6."""
    return f"{value:g}".replace("e-0", "e-")


class AxisControl:
    """One axis: parameter, spacing, ends and number of values, or a list.

    `optional`: whether there may be no such axis; `on_change`: ``on_change(axis or None)`` after a visitor's change,
    which is shown once `show` is given that axis.
    """

    def __init__(self, label: str, optional: bool, on_change: Callable[[Axis | None], Any]) -> None:
        self._optional, self._on_change = optional, on_change
        self._method = ""
        self.axis: Axis | None = None
        self.name = widgets.select(label, {NONE: NONE}, NONE)
        spacings = {text: key for key, text in SPACINGS.items()}
        self.spacing = widgets.select(f"{label}: spacing", spacings, "log")
        self.low = widgets.text_field("From", min_width=0)
        self.high = widgets.text_field("To", min_width=0)
        self.count = widgets.text_field("Values", min_width=0)
        self.listed = widgets.text_field("Values, separated by commas", visible=False)
        self._name = Bound(self.name, self._named)
        self._spacing, self._low, self._high, self._count, self._listed = (
            Bound(widget, self._changed) for widget in (self.spacing, self.low, self.high, self.count, self.listed)
        )
        self.message = widgets.html()
        self._range = pn.Row(self.low, self.high, self.count, margin=0, **widgets.WIDE)
        self.view = pn.Column(self.name, self.spacing, self._range, self.listed, self.message, margin=0, **widgets.WIDE)

    def show(self, method: str, axis: Axis | None) -> None:
        """Show an axis without reporting it."""
        names: dict[str, Any] = {}
        if method != self._method:
            self._method = method
            none = {"none": NONE} if self._optional else {}
            names["options"] = none | {spec.label: spec.name for spec in sweepable(method)}
        self.axis = axis
        self._name.show(axis.name if axis else NONE, **names)
        listed = axis is not None and axis.spacing == "list"
        if axis is not None:
            self._spacing.show(axis.spacing)
            self._low.show(_end(axis.low))
            self._high.show(_end(axis.high))
            self._count.show(str(axis.count))
            self._listed.show(axis.text().split(":", 2)[2] if listed else "")
        self.spacing.visible = axis is not None
        self._range.visible = axis is not None and not listed
        self.listed.visible = listed
        widgets.message(self.message)

    def _named(self, name: str) -> None:
        self._on_change(default_axis(self._method, name) if name else None)

    def _changed(self, _value: Any) -> None:
        if self.axis is None:
            return
        axis, problem = self._read()
        widgets.message(self.message, problem, "error" if problem else "quiet")
        if axis is not None and axis != self.axis:
            self._on_change(axis)

    def _read(self) -> tuple[Axis | None, str]:
        assert self.axis is not None
        name, spacing = self.axis.name, self._spacing.value
        if spacing == "list":
            if self.axis.spacing != "list":
                whole = any(spec.name == name and spec.kind == "int" for spec in sweepable(self._method))
                return checked_axis(Axis(name, "list", listed=tuple(self.axis.values(whole=whole))))
            values, problem = parse_values(self._method, name, self._listed.value)
            return (None, problem) if problem else checked_axis(Axis(name, "list", listed=tuple(values)))
        numbers = [to_number(field.value) for field in (self._low, self._high, self._count)]
        if any(number is None for number in numbers):
            return None, f"Type numbers: two ends, and how many values (1 to {MOST_VALUES})."
        low, high, count = (float(number) for number in numbers if number is not None)
        return checked_axis(Axis(name, spacing, low, high, round(count)))


class SweepControls:
    """Axes, metric and protocol.

    `on_change`: ``on_change(settings)`` after each action of the user, which is shown once `show` is given them.
    """

    def __init__(self, settings: SweepSettings, on_change: Callable[[SweepSettings], Any]) -> None:
        self._on_change = on_change
        self.settings = settings
        self.axes = [
            AxisControl("Horizontal axis", False, functools.partial(self._axis_changed, 0)),
            AxisControl("Vertical axis", True, functools.partial(self._axis_changed, 1)),
        ]
        self.more = Fold("More parameters", self._more_axes)
        self._task = "classification"
        self.metric = widgets.select("Metric", self._metrics(), settings.metric)
        self._metric = Bound(self.metric, self._metric_chosen)
        self._knobs: dict[str, Bound] = {}
        self.fold = Fold("Folds, repetitions, starts", self._protocol)
        self.view = pn.Column(
            widgets.section("Sweep"),
            *(axis.view for axis in self.axes),
            self.more.view,
            self.metric,
            self.fold.view,
            margin=0,
            **widgets.WIDE,
        )
        self.show(settings)

    def show(self, settings: SweepSettings) -> None:
        """Show other settings without reporting them."""
        self.settings = settings
        for number, control in enumerate(self.axes):
            axis = settings.axes[number] if number < len(settings.axes) else None
            control.show(settings.base.method, axis)
        self._metric.show(settings.metric, options=self._metrics())
        for name, knob in self._knobs.items():
            knob.show(getattr(settings, name))

    def _more_axes(self) -> list[Any]:
        """Return the controls of further parameters."""
        first = len(self.axes)
        self.axes += [
            AxisControl(f"Parameter {number + 1}", True, functools.partial(self._axis_changed, number))
            for number in range(first, len(AXES))
        ]
        self.show(self.settings)
        return [axis.view for axis in self.axes[first:]]

    def set_task(self, task: str) -> None:
        """Offer the metrics of a task once settings are shown."""
        self._task = task

    def _metrics(self) -> dict[str, str]:
        names = list(dict.fromkeys([*FOR_TASK[self._task], self.settings.metric]))
        return {METRICS[name]: name for name in names}

    def _protocol(self) -> list[Any]:
        self._knobs = {
            spec.name: make_knob(spec, getattr(self.settings, spec.name), self._knob_changed)
            for spec in PROTOCOL_FORM
            if spec.name != "metric"
        }
        meanings = glossary(spec for spec in PROTOCOL_FORM if spec.name in self._knobs)
        return [*(knob.widget for knob in self._knobs.values()), widgets.html(meanings, margin=8)]

    def _axis_changed(self, number: int, axis: Axis | None) -> None:
        axes = list(self.settings.axes)
        axes[number : number + 1] = [] if axis is None else [axis]
        self._on_change(with_axes(self.settings, axes, axis))

    def _metric_chosen(self, name: str) -> None:
        self._on_change(replace(self.settings, metric=name))

    def _knob_changed(self, name: str, value: Any) -> None:
        self._on_change(replace(self.settings, **{name: value}))


def with_axes(settings: SweepSettings, axes: Sequence[Axis], changed: Axis | None) -> SweepSettings:
    """Return settings with these axes; another one of the parameter of `changed` takes one that has no axis yet.

    From three parameters on the cells are those of a Sobol sequence, unless another design was chosen.
    """
    method, names = settings.base.method, {axis.name for axis in axes}
    free = list(dict.fromkeys([*usual_axes(method), *(spec.name for spec in sweepable(method))]))
    free = [name for name in free if name not in names]
    distinct = []
    for axis in axes:
        twice = changed is not None and axis is not changed and axis.name == changed.name
        distinct += [default_axis(method, free.pop(0))] if twice and free else [] if twice else [axis]
    design = "sobol" if len(distinct) > 2 and settings.design == "grid" else settings.design
    return replace(settings, axes=tuple(distinct), design=design if len(distinct) > 2 else "grid")

"""Sliders that are not the kit's own: logarithmic ones, and such with a notch that means something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from supdr_viz.ui.feedback import guarded
from supdr_viz.ui.panel_workarounds import heard_at_once
from supdr_viz.ui.programmatic_update import ProgrammaticUpdate

MARGIN = (2, 8)
# Room around a widget, and the width that it takes: those of all widgets.
WIDE = {"sizing_mode": "stretch_width"}

_LOG_CODE = """
if (tick <= lowest - 1e-9) return notch
const value = 10 ** tick
const text = whole ? value.toFixed(0) : value >= 100 ? value.toFixed(0) : String(+value.toPrecision(digits))
return text + unit
"""
_PLAIN_CODE = """
if (tick <= lowest - 1e-9) return notch
return (whole ? tick.toFixed(0) : String(+tick.toPrecision(6))) + unit
"""


class Slider:
    """A slider over numbers: linear or logarithmic, whole or not, optionally with a lowest notch of another meaning.

    low, high: ends, in values.
    step: grain; of log10 of the value if `log`.
    notch: text of the lowest notch (below `low`), which stands for `notch_value`; empty: there is none.
    on_change: called with the value when the slider is let go of.
    """

    def __init__(
        self,
        label: str,
        value: Any,
        low: float,
        high: float,
        step: float,
        *,
        log: bool = False,
        whole: bool = False,
        notch: str = "",
        notch_value: Any = None,
        unit: str = "",
        help: str = "",
        on_change: Callable[[Any], Any] | None = None,
        **more: Any,
    ) -> None:
        self.log, self.whole, self.notch, self.notch_value = log, whole, notch, notch_value
        self.low, self.high = low, high
        start, end = (math.log10(low), math.log10(high)) if log else (low, high)
        self._lowest = start
        self._on_change = None if on_change is None else guarded(on_change)
        self._silence = ProgrammaticUpdate()
        if notch:
            start -= step
        self._start = start
        formatter = CustomJSTickFormatter(
            code=_LOG_CODE if log else _PLAIN_CODE,
            args={
                "lowest": self._lowest,
                "notch": notch,
                "whole": whole,
                "unit": f" {unit}" if unit else "",
                "digits": 3,
            },
        )
        slider = pmui.FloatSlider(
            label=label,
            start=start,
            end=end,
            step=step,
            value=self._position(value),
            format=formatter,
            **({"description": help} if help else {}),
            **{"size": "small", "margin": MARGIN, **WIDE, **more},
        )
        self.widget = heard_at_once(slider)
        self.value = value
        self.widget.param.watch(self._released, "value_throttled")

    def set(self, value: Any) -> None:
        """Move the slider without calling back."""
        if value == self.value:
            return  # it is there, but for rounding, or already on its way to where the user wants it next
        self.value = value
        position = self._position(value)
        with self._silence:
            self.widget.param.update(value=position, value_throttled=position)

    def _position(self, value: Any) -> float:
        if self.notch and (value == self.notch_value or not isinstance(value, (int, float))):
            return self._start
        number = min(max(float(value), self.low), self.high)
        return math.log10(number) if self.log else number

    def _released(self, event: Any) -> None:
        if self._silence or event.new is None:
            return
        value = self._value_at(float(event.new))
        if value != self.value:
            self.value = value
            if self._on_change is not None:
                self._on_change(value)

    def _value_at(self, position: float) -> Any:
        if self.notch and position < self._lowest - 1e-9:
            return self.notch_value
        value = float(f"{10**position:.3g}") if self.log else float(f"{position:.10g}")
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

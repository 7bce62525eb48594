"""Sliders that are not the kit's own: logarithmic ones, and such with a notch that means something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from supdr_viz.ui.binding import NO_VALUE, Bound
from supdr_viz.ui.panel_workarounds import heard_at_once

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


# The track begins and ends with the words above it: the kit insets it by half a thumb.
_FLUSH = {"& .MuiSlider-root": {"width": "100%", "marginLeft": 0, "marginRight": 0}}


def _look(symbol: str, mark: str) -> dict[str, Any]:
    """Return the style of a slider whose label, "name: value", has a symbol before the value and a mark behind it.

    The label is plain text, in which no subscript can stand.
    """
    label, value = "& .MuiFormLabel-root", "& .MuiFormLabel-root > strong"
    look: dict[str, Any] = dict(_FLUSH)
    if mark:
        look[f"{value}::after"] = {"content": f'" {mark}"', "fontWeight": 400}
    if not symbol:
        return look
    letter, _, subscript = symbol.partition("_")
    look[label] = {"display": "flex", "alignItems": "last baseline"}
    look[f"{label}::before"] = {"content": f'"{letter}"', "order": 1, "marginLeft": "4px"}
    look[f"{label}::after"] = {"content": f'"{subscript}"', "order": 2, "fontSize": "75%", "position": "relative"}
    look[f"{label}::after"]["top"] = "0.3em"
    look[value] = {"order": 3}
    look[f"{value}::before"] = {"content": '"\u00a0=\u00a0"', "fontWeight": 400}
    look[f"{label} > svg"] = {"order": 4}
    return look


class Slider(Bound):
    """A slider over numbers: linear or logarithmic, whole or not, optionally with a lowest notch of another meaning.

    A first step away from a notch that is no number goes to the number that it stands for.

    low, high: ends, in values.
    step: grain; of log10 of the value if `log`.
    notch: text of the lowest notch (below `low`), which stands for `notch_value`; empty: there is none.
    symbol: letter of the value, "λ" or "λ_U": "Ridge: λ = 0.1".
    mark: sign behind the value.
    stands_for: returns the number for which the notch stands now, None if it is not known: then the middle is taken.
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
        stands_for: Callable[[], float | None] = lambda: None,
        unit: str = "",
        help: str = "",
        symbol: str = "",
        mark: str = "",
        on_change: Callable[[Any], Any] | None = None,
        **more: Any,
    ) -> None:
        self.log, self.whole, self.notch, self.notch_value = log, whole, notch, notch_value
        self.low, self.high = low, high
        self._stands_for, self._on_change = stands_for, on_change
        self._lowest, end = (math.log10(low), math.log10(high)) if log else (low, high)
        self._start = self._lowest - step if notch else self._lowest
        args = {
            "lowest": self._lowest,
            "notch": notch,
            "whole": whole,
            "unit": f" {unit}" if unit else "",
            "digits": 3,
        }
        slider = pmui.FloatSlider(
            label=label,
            start=self._start,
            end=end,
            step=step,
            value=self._written(value),
            format=CustomJSTickFormatter(code=_LOG_CODE if log else _PLAIN_CODE, args=args),
            **({"description": help} if help else {}),
            sx=_look(symbol, mark),
            **{"size": "small", "margin": MARGIN, **WIDE, **more},
        )
        super().__init__(heard_at_once(slider), self._let_go, ("value_throttled", "value"))
        self.value = value

    def _let_go(self, value: Any) -> None:
        leaves_notch = self.notch and not _is_number(self.notch_value) and self.previous == self.notch_value
        if leaves_notch and value == self.low:
            value = self._first_number()
            self.show(value)
        if self._on_change is not None:
            self._on_change(value)

    def _first_number(self) -> float:
        """Return the number at which the slider begins once it leaves its notch."""
        value = self._stands_for()
        if not _is_number(value):
            value = math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        return self._offered(float(f"{value:.3g}"))

    def _offered(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def _written(self, value: Any) -> float:
        if self.notch and (value == self.notch_value or not _is_number(value)):
            return self._start
        number = min(max(float(value), self.low), self.high)
        return math.log10(number) if self.log else number

    def _read(self, displayed: Any) -> Any:
        if displayed is None:
            return NO_VALUE
        position = float(displayed)
        if self.notch and position < self._lowest - 1e-9:
            return self.notch_value
        return self._offered(float(f"{10**position:.3g}") if self.log else float(f"{position:.10g}"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

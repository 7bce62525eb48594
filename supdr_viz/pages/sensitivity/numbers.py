"""How sweeps write values of parameters."""

from __future__ import annotations

from typing import Any


def tick_text(value: Any) -> str:
    """Write a value of a parameter beside an axis."""
    if isinstance(value, float):
        mantissa, _, power = f"{value:.2e}".partition("e")
        if abs(int(power)) > 3:
            return f"{float(mantissa):g}e{int(power)}"
        return f"{value:.3g}"
    return "auto" if value is None else str(value)

"""How sweeps write numbers: values of parameters, and means with what they vary by."""

from __future__ import annotations

import math
from typing import Any

# Of a deviation; its mean ends at the same place.
DIGITS = 2

# Behind the point: smaller deviations are as good as none.
MOST_PLACES = 6


def tick_text(value: Any) -> str:
    """Write a value of a parameter beside an axis."""
    if isinstance(value, float):
        mantissa, _, power = f"{value:.2e}".partition("e")
        if abs(int(power)) > 3:
            return f"{float(mantissa):g}e{int(power)}"
        return f"{value:.3g}"
    return "auto" if value is None else str(value)


def mean_text(mean: float, deviation: float) -> str:
    """Write a mean to the place at which its deviation ends, as in 0.037 ± 0.020.

    `deviation`: not finite, as of a single number: the mean alone.
    """
    if not math.isfinite(deviation):
        return f"{mean:.4g}"
    if deviation < 10.0**-MOST_PLACES:
        return f"{mean:.4g} ± 0"
    last = int(f"{deviation:.{DIGITS - 1}e}".partition("e")[2])  # of the deviation as it is rounded
    places = min(max(DIGITS - 1 - last, 0), MOST_PLACES)
    return f"{mean:.{places}f} ± {deviation:.{places}f}"

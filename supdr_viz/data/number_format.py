"""Numbers as text: as many digits as tell values apart, and durations in the unit that suits them."""

from __future__ import annotations

import math


def numeral(value: float, span: float, digits: int = 3) -> str:
    """Write a value with so many digits, and as many more as tell apart values of a range far from zero.

    `span`: length of the range.
    """
    if value and span > 0.0:
        digits += max(math.floor(math.log10(abs(value))) - math.floor(math.log10(span)), 0)
    return f"{value:.{min(digits, 17)}g}"


def duration(seconds: float) -> str:
    """Write how long something takes, in the unit that suits it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

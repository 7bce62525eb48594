"""Numbers as text: as many digits as tell values apart, and durations in the unit that suits them."""

from __future__ import annotations

import math

# Of a deviation; its mean ends at the same place.
DIGITS = 2

# Behind the point: smaller deviations are as good as none.
MOST_PLACES = 6


# Digits of powers.
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def readable(number: str) -> str:
    """Write a number for readers: −0.32 with a minus sign, and 2.8·10⁻⁶ for 2.8e-06."""
    value, _, power = number.partition("e")
    raised = f"·10{str(int(power)).translate(RAISED)}" if power else ""
    return value.replace("-", "\N{MINUS SIGN}") + raised


def numeral(value: float, span: float, digits: int = 3) -> str:
    """Write a value with so many digits, and as many more as tell apart values of a range far from zero.

    `span`: length of the range.
    """
    if value and span > 0.0:
        digits += max(math.floor(math.log10(abs(value))) - math.floor(math.log10(span)), 0)
    return f"{value:.{min(digits, 17)}g}"


def figure(value: float, digits: int) -> str:
    """Write a value with so many digits; a large one as 21,330, with no power of ten."""
    large = 10.0**digits <= abs(value) < 1e12
    return readable(f"{float(f'{value:.{digits}g}'):,.0f}" if large else f"{value:.{digits}g}")


def alike(*values: float, digits: int = 3) -> list[str]:
    """Write values that stand beside each other with as many places as the largest needs for so many digits."""
    largest = max((abs(each) for each in values if math.isfinite(each)), default=0.0)
    if not 1e-3 <= largest < 1e6:
        return [readable(f"{each:.{digits}g}") for each in values]
    places = max(digits - 1 - math.floor(math.log10(largest)), 0)
    return [readable(f"{each:,.{places}f}") for each in values]


def end_words(low: float, high: float) -> list[str]:
    """Write the ends of a scale, round: −1 and 1 instead of −1 and 1.01."""
    span = high - low
    if not (span > 0.0 and 1e-3 <= max(abs(low), abs(high)) < 1e6):
        return [readable(numeral(end, span)) for end in (low, high)]
    places = max(1 - math.floor(math.log10(span)), 0)
    ends = [round(end, places) + 0.0 for end in (low, high)]  # no −0
    return [readable(f"{end:,.{0 if end.is_integer() else places}f}") for end in ends]


def per_cent(share: float) -> str:
    """Write a share in whole per cents, as in 12 %; 0 and 100 stand for none and all, and nothing that is near them."""
    percent = 100.0 * share
    if 0.0 < percent < 0.05 or 99.95 <= percent < 100.0:
        return "under 0.1\u00a0%" if percent < 50.0 else "over 99.9\u00a0%"
    digits = 1 if 0.0 < percent < 1.0 or 99.0 < percent < 100.0 else 0
    return f"{readable(f'{percent:.{digits}f}')}\u00a0%"


def rows_text(n_train: int, n_test: int) -> str:
    """Write how many rows there are, as in 120 training and 30 test rows."""
    return f"{n_train:,} training and {n_test:,} test rows" if n_test else f"{n_train:,} training rows, no test rows"


def duration(seconds: float) -> str:
    """Write how long something takes, in the unit that suits it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def mean_text(mean: float, deviation: float) -> str:
    """Write a mean to the place at which its deviation ends, as in 0.037 ± 0.020.

    `deviation`: not finite, as of a single number: the mean alone.
    """
    if not math.isfinite(deviation):
        return readable(f"{mean:.4g}")
    if deviation < 10.0**-MOST_PLACES:
        return f"{readable(f'{mean:.4g}')} ± 0"
    last = int(f"{deviation:.{DIGITS - 1}e}".partition("e")[2])  # of the deviation as it is rounded
    places = min(max(DIGITS - 1 - last, 0), MOST_PLACES)
    return f"{readable(f'{mean:.{places}f}')} ± {deviation:.{places}f}"

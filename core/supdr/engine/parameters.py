"""Declarations of hyper-parameters: accepted values, values that a form offers, and whether a change restarts a run.

Constructor checks, restart sets, forms, links, saved settings, programs and sweep axes follow from the declaration.
The default is in the constructor's signature, for editors and `inspect`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

# Key of ``shown_when`` for the task of the data, in forms without a parameter of this name.
TASK = "task"


@dataclass(frozen=True)
class Interval:
    """Finite numbers between two ends; an end is accepted unless it is open or infinite."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            return False
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return bool(np.isfinite(value) and above and below)

    def __str__(self) -> str:
        if math.isinf(self.high):
            bound = "" if math.isinf(self.low) else f" {'>' if self.open_low else '>='} {self.low:g}"
            return f"a number{bound}" if bound else "a finite number"
        return f"a number in {'(['[not self.open_low]}{self.low:g}, {self.high:g}{')]'[not self.open_high]}"


@dataclass(frozen=True)
class Whole:
    """Whole numbers from `low` to `high`, both accepted."""

    low: int = 1
    high: float = math.inf

    def __contains__(self, value: Any) -> bool:
        integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return integer and self.low <= value <= self.high

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"an integer of at least {self.low}"
        return f"an integer from {self.low} to {self.high:g}"


POSITIVE = Interval(0.0, open_low=True)
NONNEGATIVE = Interval(0.0)
SHARE = Interval(0.0, 1.0, open_low=True, open_high=True)
POSITIVE_SHARE = Interval(0.0, 1.0, open_low=True)


@dataclass(frozen=True)
class Parameter:
    """One hyper-parameter of an estimator, or argument of a generator.

    name: of the constructor's argument.
    label, symbol: its name in a form, and the paper's letter.  Without a label no form shows it.
    kind (one of "float", "int", "choice", "bool", "text", "object"): type of the value.
    accepts: values that the constructor accepts: `Interval`, `Whole`, a class whose instances are accepted, or single
        values.  Empty: the estimator checks the value together with the data.
    low, high, step: range of a slider, and its step (of log10 of the value if `log`).
    log: whether the slider is logarithmic.
    choices: (value, label) pairs of a choice.
    help: one sentence.
    main: whether the form shows it at once, or in its folded part.
    unit: text behind the value.
    shown_when: name of another parameter, or `TASK` -> values of it with which this parameter has an effect.
    restart: whether a change restarts the run; else it acts on the current run.
    zero: whether the lowest value of a logarithmic slider is 0.
    longest: largest number of characters of a text.
    default: first value of a form: the constructor's default, unless the form declares another one.
    library_default: the constructor's default.
    automatic: whether that default is no number (``None``, ``"scale"``), so that the method chooses one; the slider's
        lowest value stands for it.
    """

    name: str
    label: str = ""
    kind: str = "float"
    low: float = 0.0
    high: float = 1.0
    step: float = 0.0
    symbol: str = ""
    log: bool = False
    choices: tuple[tuple[Any, str], ...] = ()
    help: str = ""
    main: bool = False
    unit: str = ""
    shown_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    accepts: tuple[Any, ...] = ()
    restart: bool = False
    zero: bool = False
    longest: int = 200
    default: Any = None
    library_default: Any = None
    automatic: bool = False

    @property
    def title(self) -> str:
        """Label with the paper's symbol."""
        return f"{self.label} {self.symbol}" if self.symbol else self.label

    @property
    def accepted(self) -> str:
        """The accepted values, in words."""
        if all(isinstance(option, str) for option in self.accepts):
            return f"one of {', '.join(self.accepts)}"
        words = [_in_words(option) for option in self.accepts]
        if len(words) == 2 and self.accepts[1] is None:
            return f"{words[0]}, or None"
        return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]

    @property
    def bounds(self) -> str:
        """The range of a slider, in words."""
        return f"{'0, or ' if self.zero else ''}{_typeset(self.low)} and {_typeset(self.high)}"

    def check(self, value: Any) -> None:
        """Raise ValueError unless the constructor accepts `value`."""
        if self.accepts and not any(_matches(value, option) for option in self.accepts):
            raise ValueError(f"{self.name} must be {self.accepted}; got {value!r}")

    def applies(self, values: Mapping[str, Any]) -> bool:
        """Whether the parameter has an effect with these values of the other ones."""
        return all(values.get(name) in accepted for name, accepted in self.shown_when.items())

    def clean(self, raw: Any) -> tuple[Any, str]:
        """Turn text or JSON into a value that a form offers, clamped or the default, with a sentence on any change."""
        if self.kind == "text":
            text = str(raw).strip()
            cut = "" if len(text) <= self.longest else f"{self.label} was cut to {self.longest:,} characters."
            return text[: self.longest], cut
        if self.kind == "bool":
            return self._clean_bool(raw)
        if self.kind == "choice":
            for value, _ in self.choices:
                if raw == value or str(raw) == self.shown(value):
                    return value, ""
            return self.default, (
                f"{self.label} must be one of {', '.join(self.shown(value) for value, _ in self.choices)}; "
                f"got {quoted(raw)}, so {self.shown(self.default)} is used."
            )
        return self._clean_number(raw)

    def shown(self, value: Any) -> str:
        """Return a value as text, for links and messages."""
        if isinstance(value, bool):
            return "1" if value else "0"
        if value is None:
            return "none" if self.kind == "choice" else "auto"
        return f"{value:.10g}" if isinstance(value, float) else str(value)

    def _clean_bool(self, raw: Any) -> tuple[Any, str]:
        text = str(raw).strip().lower()
        if text in ("1", "true", "yes", "on"):
            return True, ""
        if text in ("0", "false", "no", "off"):
            return False, ""
        return self.default, f"{self.label} is on (1) or off (0); got {quoted(raw)}."

    def _clean_number(self, raw: Any) -> tuple[Any, str]:
        if self.automatic and (raw == self.library_default or str(raw) in ("auto", str(self.library_default))):
            return self.library_default, ""
        number = to_number(raw)
        if number is None:
            return self.default, (
                f"{self.label} must be a number; got {quoted(raw)}, so {self.shown(self.default)} is used."
            )
        value = round(number) if self.kind == "int" else number
        clamped = min(max(value, self.low), self.high)
        if self.zero and value <= 0:
            clamped = 0.0
        if self.kind == "int":
            clamped = int(clamped)
        if clamped == number or (self.zero and number == 0):
            return clamped, ""
        if clamped != value:
            said = f"got {_typeset(number)}, so {_typeset(clamped)} is used."
            return clamped, f"{self.label} must lie between {self.bounds}; {said}"
        return clamped, f"{self.label} must be a whole number; got {_typeset(number)}, so {_typeset(clamped)} is used."


def _typeset(number: float) -> str:
    """Write a number with the minus sign of print."""
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")


def _in_words(option: Any) -> str:
    if isinstance(option, type):
        return f"a {option.__name__}"
    return str(option) if isinstance(option, (Interval, Whole)) else repr(option)


def _matches(value: Any, option: Any) -> bool:
    if isinstance(option, (Interval, Whole)):
        return value in option
    if isinstance(option, type):
        return isinstance(value, option)
    if isinstance(option, bool):
        return isinstance(value, (bool, np.bool_)) and bool(value) == option
    same_kind = isinstance(value, type(option)) and not isinstance(value, bool)
    return same_kind and bool(value == option)


# --- constructors of declarations -------------------------------------------------------------------------------------


def choices(*pairs: str | tuple[Any, str]) -> tuple[tuple[Any, str], ...]:
    """Return choices as (value, label) pairs; a text is both."""
    return tuple((pair, pair) if isinstance(pair, str) else pair for pair in pairs)


def choice(name: str, label: str, *pairs: str | tuple[Any, str], help: str = "", **more: Any) -> Parameter:
    """Declare one of several values; the constructor accepts these unless `accepts` is given."""
    offered = choices(*pairs)
    more.setdefault("accepts", tuple(value for value, _ in offered))
    return Parameter(name, label, "choice", choices=offered, help=help, **more)


def flag(name: str, label: str, help: str, **more: Any) -> Parameter:
    """Declare a switch."""
    return Parameter(name, label, "bool", help=help, accepts=(True, False), **more)


def count(name: str, label: str, low: int, high: int, help: str, **more: Any) -> Parameter:
    """Declare a whole number on a slider; the constructor accepts integers >= 1 unless `accepts` is given."""
    more.setdefault("accepts", (Whole(),))
    return Parameter(name, label, "int", low, high, more.pop("step", 1), help=help, **more)


def scale(name: str, label: str, low: float, high: float, help: str, **more: Any) -> Parameter:
    """Declare a number > 0 (>= 0 with `zero`) on a logarithmic slider of ten values per decade."""
    more.setdefault("accepts", (NONNEGATIVE if more.get("zero") else POSITIVE,))
    return Parameter(name, label, "float", low, high, more.pop("step", 0.1), log=True, help=help, **more)


def share(name: str, label: str, low: float, high: float, step: float, help: str, **more: Any) -> Parameter:
    """Declare a number on a linear slider; the constructor accepts numbers in (0, 1) unless `accepts` is given."""
    more.setdefault("accepts", (SHARE,))
    return Parameter(name, label, "float", low, high, step, help=help, **more)


def of_run(name: str, *accepts: Any, restart: bool = False) -> Parameter:
    """Declare a hyper-parameter that no form shows."""
    return Parameter(name, kind="object", accepts=accepts, restart=restart)


def with_defaults(function: Callable[..., Any], parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters with the defaults of a function or class; `default` is kept where it is declared."""
    signature = inspect.signature(function).parameters
    filled = []
    for parameter in parameters:
        library = signature[parameter.name].default
        automatic = parameter.kind in ("int", "float") and not isinstance(library, (int, float))
        default = library if parameter.default is None else parameter.default
        filled.append(replace(parameter, default=default, library_default=library, automatic=automatic))
    return tuple(filled)


def subset(parameters: Iterable[Parameter], *names: str, **changes: Any) -> tuple[Parameter, ...]:
    """Return the parameters of these names, without conditions on other parameters."""
    return tuple(
        replace(
            parameter,
            shown_when={name: values for name, values in parameter.shown_when.items() if name in names},
            **changes,
        )
        for parameter in parameters
        if parameter.name in names
    )


def without(parameters: Iterable[Parameter], *names: str) -> tuple[Parameter, ...]:
    """Return the parameters except those of these names."""
    return tuple(parameter for parameter in parameters if parameter.name not in names)


def to_number(raw: Any) -> float | None:
    """Return a finite number, or None for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        number = float(raw)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def quoted(raw: Any) -> str:
    """Return the text of a value in quotes, on one line, of at most 40 characters."""
    text = " ".join(str(raw).split())
    return repr(text if len(text) <= 40 else text[:37] + "...")

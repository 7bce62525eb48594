"""How a knob is described: `ParameterSpec`, and short ways of writing one.

Defaults are read off the signatures of the library, so that they cannot drift.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

TASK = "task"
"""In ``shown_when``: the task of the data, where the form has no knob of this name."""


@dataclass(frozen=True)
class ParameterSpec:
    """One knob.

    Attributes
    ----------
    name : str
        Name of the argument in the library.
    label, symbol : str
        What the form says, and the paper's letter for it.
    kind : {"float", "int", "choice", "bool", "text"}
        Type of the value.
    default : object
        Where the knob begins: the library's default, unless the form has a reason of its own.
    library_default : object
        What the argument of the library defaults to; None on a slider: the method chooses.
    low, high, step : float
        Bounds, and the grain of the slider (of log10 of the value if `log`).
    log : bool
        Slide over the logarithm.
    choices : tuple of (value, label)
        Of a choice.
    help : str
        One sentence.
    main : bool
        Shown at once; else folded away.
    unit : str
        Appended to the value.
    shown_when : mapping
        Name of another knob, or `TASK` -> values for which this one matters.
    automatic : bool
        The library's default is no number (``None``, ``"scale"``): the method chooses, and the slider's lowest notch
        says so.
    zero : bool
        A logarithmic slider whose lowest notch is 0.
    longest : int
        Most characters of a text.
    """

    name: str
    label: str
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
    default: Any = None
    library_default: Any = None
    automatic: bool = False
    zero: bool = False
    longest: int = 200

    @property
    def title(self) -> str:
        """Label with the paper's symbol."""
        return f"{self.label} {self.symbol}" if self.symbol else self.label

    def applies(self, values: Mapping[str, Any]) -> bool:
        """Whether the knob matters beside these values of the others."""
        return all(values.get(name) in accepted for name, accepted in self.shown_when.items())

    def clean(self, raw: Any) -> tuple[Any, str]:
        """Turn text or a JSON value into an admissible value.

        Parameters
        ----------
        raw : object
            What came, from anywhere.

        Returns
        -------
        value : object
            Clamped to the bounds, or the default if `raw` is of the wrong type.
        problem : str
            A sentence; empty if nothing was wrong.
        """
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
        """Text of a value, as links and messages print it."""
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
            return clamped, f"{self.label} must lie between {self.bounds}; got {number:g}, so {clamped:g} is used."
        return clamped, f"{self.label} must be a whole number; got {number:g}, so {clamped} is used."

    @property
    def bounds(self) -> str:
        """The range in words."""
        return f"{'0, or ' if self.zero else ''}{self.low:g} and {self.high:g}"


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
    """Quote anything, on one line, shortened."""
    text = " ".join(str(raw).split())
    return repr(text if len(text) <= 40 else text[:37] + "...")


def choices(*pairs: str | tuple[Any, str]) -> tuple[tuple[Any, str], ...]:
    """Choices as (value, label) pairs; a text stands for both."""
    return tuple((pair, pair) if isinstance(pair, str) else pair for pair in pairs)


class Entry(Protocol):
    """What a menu offers: a data set, a method, a preset."""

    @property
    def name(self) -> str:
        """Its key."""
        ...

    @property
    def label(self) -> str:
        """Text in the menu."""
        ...

    @property
    def group(self) -> str:
        """Heading in the menu."""
        ...


def by_heading(entries: Iterable[Entry]) -> dict[str, dict[str, str]]:
    """Return a menu: heading -> text -> name, in the order of the entries."""
    groups: dict[str, dict[str, str]] = {}
    for entry in entries:
        groups.setdefault(entry.group, {})[entry.label] = entry.name
    return groups


def count(name: str, label: str, low: int, high: int, help: str, **more: Any) -> ParameterSpec:
    """Whole number on a linear slider."""
    return ParameterSpec(name, label, "int", low, high, more.pop("step", 1), help=help, **more)


def scale(name: str, label: str, low: float, high: float, help: str, **more: Any) -> ParameterSpec:
    """Log slider with ten notches a decade unless told otherwise."""
    return ParameterSpec(name, label, "float", low, high, more.pop("step", 0.1), log=True, help=help, **more)


def with_defaults(function: Callable[..., Any], specs: tuple[ParameterSpec, ...]) -> tuple[ParameterSpec, ...]:
    """Fill in the defaults of a function or class.

    Parameters
    ----------
    function : callable
        Its signature has an argument for each spec.
    specs : tuple of ParameterSpec
        Those with a default keep it.

    Returns
    -------
    tuple of ParameterSpec
    """
    signature = inspect.signature(function).parameters
    filled = []
    for spec in specs:
        library = signature[spec.name].default
        automatic = spec.kind in ("int", "float") and not isinstance(library, (int, float))
        default = library if spec.default is None else spec.default
        filled.append(replace(spec, default=default, library_default=library, automatic=automatic))
    return tuple(filled)

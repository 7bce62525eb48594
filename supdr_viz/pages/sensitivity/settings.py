"""The settings of a sweep: data and method as in the explorer, one or two axes, the metric and the protocol.

A link reads ``data=…&method=…&sweep.x=reg_u:log:1e-06:10:20&sweep.y=C:list:0.1,1,10&sweep.metric=error``; a TOML file
holds the same as tables, see `supdr_viz.pages.sensitivity.files`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from supdr.datasets.limits import listed
from supdr.engine.parameters import Parameter, choices, count, quoted, to_number
from supdr.quality.summary import MEASURES
from supdr.sensitivity import Sweep, linear, logarithmic
from supdr.sensitivity.scoring import CLUSTERS, FURTHER_FITS, PREDICTIONS
from supdr_viz.experiment.build import build_estimator, check_columns, has_gaps, imputer
from supdr_viz.experiment.codec import Entry, arguments_entries, form_table, link_query
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.reader import Reader
from supdr_viz.experiment.settings import Settings, read_settings, settings_table

SPACINGS = {"log": "logarithmic", "linear": "linear", "list": "listed values"}
MOST_VALUES = 60

# Names of the axes in links.
AXES = "xyzuvw"
MOST_FITS = 20_000

METRICS = {
    "error": "error",
    "accuracy": "accuracy",
    "mse": "mean squared error",
    "r2": "R²",
    "correlation": "correlation",
    "trustworthiness": "trustworthiness of the map",
    "continuity": "continuity of the map",
    "neighbourhood_overlap": "kept neighbours",
    "knn_error": "error of neighbours on the map",
    "distance_correlation": "correlation of distances",
    "class_centre_correlation": "correlation of class centres",
    "steadiness": "steadiness of the map's clusters",
    "cohesiveness": "cohesiveness of the map's clusters",
    "stability": "neighbours that stay (10 more fits)",
    "pvalue": "p of shuffled labels (19 more fits)",
    "support_fraction": "share of support vectors",
    "objective": "objective on training rows",
    "n_iter": "iterations",
    "fit_seconds": "seconds of a fit",
}
OF_RUN, OF_BELIEF = ("objective", "n_iter", "fit_seconds"), (*CLUSTERS, *FURTHER_FITS)
FOR_TASK = {
    "classification": ("error", "accuracy", "support_fraction", *OF_RUN, *MEASURES, *OF_BELIEF),
    "regression": ("mse", "r2", "correlation", *OF_RUN, *MEASURES[:-1], *OF_BELIEF),
}

PROTOCOL_FORM = (
    Parameter(
        "metric",
        "Metric",
        "choice",
        choices=choices(*((name, text) for name, text in METRICS.items())),
        default="error",
    ),
    count(
        "folds", "Folds", 1, 20, "Number of cross-validation folds. With 1, the test share is held out once.", default=5
    ),
    count(
        "repeats",
        "Repetitions",
        1,
        20,
        "Number of times the cross-validation is repeated, each with another seed.",
        default=1,
    ),
    Parameter(
        "transductive",
        "Include test rows without their labels",
        "bool",
        default=False,
        help="The fit sees the test rows without their labels, as in the papers on NSDR and SNF.",
    ),
    Parameter(
        "warm",
        "Warm starts",
        "bool",
        default=False,
        help="Each fit along the first parameter starts from the previous solution. It may end in another optimum.",
    ),
    Parameter(
        "design",
        "Design",
        "choice",
        choices=choices(("grid", "every cell"), ("sobol", "Sobol sequence"), ("random", "random cells")),
        default="grid",
        help="A Sobol sequence spreads a number of cells evenly over many parameters.",
    ),
    Parameter(
        "versus",
        "Compare with",
        "choice",
        choices=choices(("", "no other method"), *((name, entry.label) for name, entry in MENU.items())),
        default="",
        help="Another method that has the same parameters runs on the same grid; the differences are shown.",
    ),
    count("cells", "Cells of a design", 2, 1000, "Number of cells that a design visits.", default=64),
)


@dataclass(frozen=True)
class Axis:
    """Values of one parameter.

    `name`: of the parameter; `spacing`: one of "log", "linear", "list"; `listed`: values of "list".
    """

    name: str
    spacing: str = "log"
    low: float = 0.01
    high: float = 100.0
    count: int = 9
    listed: tuple[Any, ...] = ()

    def values(self, *, whole: bool = False) -> list[Any]:
        """Return the values; whole numbers if the parameter takes no others."""
        if self.spacing == "list":
            return list(dict.fromkeys(self.listed))
        make = logarithmic if self.spacing == "log" else linear
        return make(self.low, self.high, self.count, whole=whole)

    def text(self) -> str:
        """Write the axis as links have it."""
        if self.spacing == "list":
            return f"{self.name}:list:{','.join(_shown(value) for value in self.listed)}"
        return f"{self.name}:{self.spacing}:{self.low:g}:{self.high:g}:{self.count}"


@dataclass(frozen=True)
class SweepSettings:
    """Everything that determines a sweep.

    `base`: data, split, seed, method and its other hyper-parameters; `axes`: one to six; `design`: the cells that are
    visited, see `supdr.sensitivity.Sweep`; `cells`: how many of a design; `versus`: a method that is swept over the
    same grid, to be compared; empty: none.
    """

    base: Settings = field(default_factory=lambda: Settings(data="moons"))
    axes: tuple[Axis, ...] = (Axis("reg_u"), Axis("C", "log", 0.01, 100.0, 9))
    metric: str = "error"
    folds: int = 5
    repeats: int = 1
    transductive: bool = False
    warm: bool = False
    design: str = "grid"
    cells: int = 64
    versus: str = ""

    @property
    def grid(self) -> dict[str, list[Any]]:
        """Parameter -> values, the first axis across."""
        return {axis.name: axis.values(whole=is_whole(self.base.method, axis.name)) for axis in self.axes}

    @property
    def n_cells(self) -> int:
        """Number of settings that are tried."""
        count = math.prod(map(len, self.grid.values()))
        return count if self.design == "grid" else min(self.cells, count)

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return self.n_cells * self.folds * self.repeats

    def at(self, params: Mapping[str, Any]) -> Settings:
        """Return the explorer's settings of one cell: one split of about the same size."""
        share = 1.0 / self.folds if self.folds > 1 else self.base.test_share
        options = {name: value for name, value in params.items() if name in self.base.method_options}
        return replace(self.base.with_options(**options), test_share=round(share, 3))


def rival_of(settings: SweepSettings) -> SweepSettings:
    """Return the sweep of the method that settings compare with, which has its own options but as many dimensions."""
    rival = replace(settings.base, method=settings.versus, method_options={})
    if {"n_components"} <= set(settings.base.method_options) & set(rival.method_options):
        rival = rival.with_options(n_components=settings.base.method_options["n_components"])
    return replace(settings, base=rival, versus="")


def within_rows(settings: SweepSettings, n_samples: int) -> SweepSettings:
    """Return a sweep whose usual range of basis functions ends at the number of rows of a fit; typed ones stay."""
    most = _rows_of_fit(settings, n_samples)
    axes = [
        replace(axis, high=float(most))
        if axis.name == "n_centers"
        and axis == default_axis(settings.base.method, axis.name)
        and axis.low < most < axis.high
        else axis
        for axis in settings.axes
    ]
    return replace(settings, axes=tuple(axes))


def _rows_of_fit(settings: SweepSettings, n_samples: int) -> int:
    share = 1.0 / settings.folds if settings.folds > 1 else settings.base.test_share
    return n_samples - math.ceil(n_samples * share)


def goes_on(settings: SweepSettings, shape: tuple[int, int] | None, name: str, direction: int) -> bool:
    """Whether a parameter has values above (`direction` 1) or below (-1) those of its axis.

    `shape`: of the rows, which limit the numbers of dimensions and of basis functions; None: unknown.
    """
    spec = next(spec for spec in MENU[settings.base.method].form if spec.name == name)
    if spec.kind == "choice":
        return False
    values = settings.grid[name]
    end = max(values) if direction > 0 else min(values)
    beyond = end + direction if spec.kind == "int" else math.nextafter(end, direction * math.inf)
    if shape is not None and name in ("n_components", "n_centers"):
        most = _rows_of_fit(settings, shape[0]) if name == "n_centers" else shape[1]
        if beyond > most:
            return False
    try:
        spec.check(beyond)
    except ValueError:
        return False
    return bool(spec.accepts) or spec.low <= beyond <= spec.high


def is_whole(method: str, name: str) -> bool:
    """Whether a parameter takes whole numbers only."""
    return any(spec.name == name and spec.kind == "int" for spec in MENU[method].form)


def build_sweep(
    settings: SweepSettings, dataset: Any, store: Any = None, *, maps: bool = False
) -> tuple[Sweep, Any, Any]:
    """Return the sweep with the rows it is for.

    `store`, `maps`: see `supdr.sensitivity.Sweep`. Returns `sweep`; `X, y`. Raises ValueError if settings and data do
    not go together; the message says why.
    """
    base = settings.base
    if settings.n_fits > MOST_FITS:
        raise ValueError(f"This sweep has {settings.n_fits:,} fits; {MOST_FITS:,} are allowed: take fewer values.")
    if settings.folds == 1 and base.test_share == 0:
        raise ValueError("With one fold the test share is held out, and it is 0: raise it, or take more folds.")
    wrong = {"error", "accuracy"} if dataset.task == "regression" else {"mse", "rmse", "mae", "r2", "correlation"}
    if settings.metric in wrong & set(PREDICTIONS):
        raise ValueError(f"The metric {METRICS.get(settings.metric, settings.metric)} is not for {dataset.task}.")
    check_columns(base, dataset)
    estimator = build_estimator(base, dataset.task, gaps=has_gaps(dataset))
    if settings.transductive and not hasattr(type(estimator), "transduction_"):
        raise ValueError(f"{MENU[base.method].label} does not take test rows along: switch that off.")
    X, y = dataset.to_xy()
    if base.label_share < 1:
        y = dataset.hide_labels(base.label_share, random_state=base.seed).y
    sweep = Sweep(
        estimator,
        settings.grid,
        cv=settings.folds if settings.folds > 1 else float(base.test_share),
        scoring=metrics_of(settings, dataset.task),
        seeds=range(base.seed, base.seed + settings.repeats),
        transductive=settings.transductive,
        warm_along=settings.axes[0].name if settings.warm else None,
        prepare=imputer(base, dataset),
        maps=maps,
        design=settings.design,
        n_cells=settings.cells,
        store=store,
    )
    return sweep, X, y


def metrics_of(settings: SweepSettings, task: str) -> list[str]:
    """Return what is measured of every fit, the metric of the sweep first."""
    return list(dict.fromkeys([settings.metric, "error" if task == "classification" else "mse", "fit_seconds"]))


# --- links ------------------------------------------------------------------------------------------------------------


def sweep_query(settings: SweepSettings) -> str:
    """Write settings as the query of a link."""
    protocol = {spec.name: getattr(settings, spec.name) for spec in PROTOCOL_FORM}
    axes = {f"sweep.{key}": Entry(axis, axis.text()) for key, axis in zip(AXES, settings.axes)}
    return link_query({**settings_table(settings.base), **axes, **form_table("sweep.", PROTOCOL_FORM, protocol)})


def parse_sweep_query(arguments: Mapping[str, Any]) -> tuple[SweepSettings, list[str]]:
    """Read what `sweep_query` wrote.

    `arguments`: as a web server gives them. Returns `settings`; `problems`: one sentence for each value that was not
    taken as it is; never an exception.
    """
    return parse_sweep(arguments_entries(arguments))


def parse_sweep(entries: Mapping[str, Any], *, refuses: bool = False) -> tuple[SweepSettings, list[str]]:
    """Read the entries of a sweep's link, or of a file that is refused as a whole.

    Returns `settings`; `problems`: one sentence for each value that was not taken as it is; never an exception.
    """
    base = Reader(entries, refuses=refuses)
    reader = Reader(base.take_all("sweep."), problems=base.problems)
    settings = read_settings(base)
    axes = []
    for key in AXES:
        if text := str(reader.take(key, "")):
            axis, problem = _parse_axis(text, settings.method)
            reader.say(problem)
            axes += [axis] if axis is not None else []
    for number, axis in reversed(list(enumerate(axes))):
        if axis.name in [other.name for other in axes[:number]]:
            reader.say(f"Two axes are {axis.name}; the second one is left out.")
            del axes[number]
    if not axes:
        axes = [default_axis(settings.method, name) for name in usual_axes(settings.method)]
    return SweepSettings(settings, tuple(axes), **reader.options(PROTOCOL_FORM)), reader.problems


def _parse_axis(text: str, method: str) -> tuple[Axis | None, str]:
    """Read ``name:spacing:low:high:count`` or ``name:list:values``; what is empty is the parameter's own."""
    name, colon, rest = text.partition(":")
    spacing, _, rest = rest.partition(":")
    offered = [spec.name for spec in sweepable(method)]
    if name not in offered:
        label = MENU[method].label
        return None, f"{label} has no parameter {quoted(name)} to sweep; it has {listed(offered, most=20)}."
    usual = default_axis(method, name)
    spacing = spacing or usual.spacing
    if spacing not in SPACINGS:
        return None, f"{name}: spacing must be one of {', '.join(SPACINGS)}; got {quoted(spacing)}."
    if spacing == "list":
        values, problem = parse_values(method, name, rest)
        return (None, problem) if problem else checked_axis(Axis(name, "list", listed=tuple(values)))
    texts = rest.split(":") if rest else [""] * 3
    numbers = [to_number(part or own) for part, own in zip(texts, (usual.low, usual.high, usual.count))]
    if not colon or len(texts) != 3 or any(number is None for number in numbers):
        return None, f"The axis {quoted(text)} needs a lower end, an upper end and a number of values."
    low, high, size = (float(number) for number in numbers if number is not None)
    return checked_axis(Axis(name, spacing, low, high, round(size)))


def checked_axis(axis: Axis) -> tuple[Axis | None, str]:
    """Return an axis and, where it is unusable, None and a sentence."""
    if axis.spacing != "list":
        if axis.spacing == "log" and not (axis.low > 0 and axis.high > 0):
            return None, f"{axis.name}: a logarithmic range needs ends above 0."
        if not axis.low < axis.high:
            return None, f"{axis.name}: the lower end must be below the upper end."
        if not 1 <= axis.count <= MOST_VALUES:
            return None, f"{axis.name}: 1 to {MOST_VALUES} values are allowed."
    elif not 1 <= len(axis.listed) <= MOST_VALUES:
        return None, f"{axis.name}: list 1 to {MOST_VALUES} values."
    return axis, ""


def parse_values(method: str, name: str, text: str) -> tuple[list[Any], str]:
    """Read listed values: numbers, or the choices of a parameter; ``"auto"`` where it has that.

    Returns `values`; `problem`: empty if nothing is wrong.
    """
    spec = next(spec for spec in MENU[method].form if spec.name == name)
    values = []
    for part in (part.strip() for part in text.split(",") if part.strip()):
        value = to_number(part)
        if spec.kind in ("choice", "bool") or value is None:
            value, problem = spec.clean(part)
            if problem:
                return [], problem
        elif spec.kind == "int":
            value = round(value)
        values.append(value)
    return (values, "") if values else ([], f"{spec.label}: list some values, separated by commas.")


def _shown(value: Any) -> str:
    return "1" if value is True else "0" if value is False else f"{value:g}" if isinstance(value, float) else str(value)


# --- what can be swept ------------------------------------------------------------------------------------------------


def sweepable(method: str) -> tuple[Parameter, ...]:
    """Return the knobs of a method that a sweep can vary."""
    return tuple(spec for spec in MENU[method].form if spec.kind in ("float", "int", "choice"))


def usual_axes(method: str) -> list[str]:
    """Return the first two numbers among the main knobs."""
    numbers = [spec for spec in sweepable(method) if spec.kind != "choice"]
    ranked = sorted(numbers, key=lambda spec: (not (spec.main and spec.log), not spec.main))
    return [spec.name for spec in ranked[:2]]


def default_axis(method: str, name: str) -> Axis:
    """Return the whole range of a knob's slider, or all its choices."""
    spec = next(spec for spec in MENU[method].form if spec.name == name)
    if spec.kind == "choice":
        return Axis(name, "list", listed=tuple(value for value, _ in spec.choices))
    if spec.log:
        return Axis(name, "log", spec.low, spec.high, 7)
    if spec.kind == "int":
        size = int(min(spec.high - spec.low + 1, 7))
        return Axis(name, "linear", spec.low, min(spec.high, spec.low + 11), size)
    return Axis(name, "linear", spec.low, spec.high, 6)

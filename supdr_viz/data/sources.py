"""The data menu: where data come from, and the knobs of each source.  All of them restart the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from supdr import datasets
from supdr.engine.parameters import Parameter, choices, count, scale, with_defaults


@dataclass(frozen=True)
class Source:
    """One entry of the data menu.

    name, label, group: name in links, text in the menu, heading in the menu.
    form: its knobs.
    loader: name of the function in `supdr.datasets`.
    fixed: arguments of the function that this entry fixes.
    seeded: the function takes ``random_state``.
    planar: the classes live in the first two columns, so that points can be drawn.
    labels: argument of the function that takes the share of labels, where the data withhold labels themselves; else
        they are hidden afterwards.
    at_hand: False where something must be loaded by the user first.
    task (one of "classification", "regression"): what is to be learnt, where the data are at hand.
    """

    name: str
    label: str
    group: str
    form: tuple[Parameter, ...] = ()
    loader: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    planar: bool = False
    labels: str = ""
    at_hand: bool = True
    task: str = "classification"


GENERATORS, BUNDLED, ELSEWHERE = "Generators", "Bundled sets", "Load data"

# Characters of a list of columns in a link: names of thousands of them.
LONGEST_LIST = 60_000

# Of Gaussian clouds, and of tables that methods whose steps grow with the rows take.
MOST_ROWS = 1_000_000

_NOISE_FEATURES = count(
    "n_noise_features", "Noise features", 0, 50, "Columns of pure noise beside the two that matter."
)

_PLANE_FORM = with_defaults(
    datasets.make_noisy_plane,
    (
        count("n_samples", "Points", 4, 4000, "Rows; half of them in each class.", step=2, main=True),
        Parameter("noise", "Noise", "float", 0, 0.5, 0.01, main=True, help="Standard deviation of the random scatter."),
        replace(_NOISE_FEATURES, main=True),
    ),
)
_SPIRALS_FORM = with_defaults(
    datasets.make_spirals,
    (
        count("n_classes", "Arms", 2, 8, "Spiral arms, one class each.", symbol="K", main=True),
        count("n_per_class", "Points per arm", 5, 1500, "Points on each arm.", step=5, main=True),
        Parameter(
            "noise", "Noise", "float", 0, 0.3, 0.005, main=True, help="Standard deviation of the random scatter."
        ),
        Parameter("turns", "Turns", "float", 0.25, 4, 0.25, help="How often an arm winds around the centre."),
        _NOISE_FEATURES,
    ),
)
_BLOBS_FORM = with_defaults(
    datasets.make_blobs,
    (
        count("n_classes", "Clouds", 2, 8, "Gaussian clouds, one class each.", symbol="K", main=True),
        replace(scale("n_samples", "Points", 10, MOST_ROWS, "Rows, shared out evenly.", main=True), kind="int"),
        Parameter("noise", "Spread", "float", 0, 1, 0.01, main=True, help="Standard deviation of each cloud."),
        count("n_features", "Dimensions", 2, 50, "Dimension of the clouds.", symbol="m"),
        _NOISE_FEATURES,
    ),
)
_NOISE_FORM = with_defaults(
    datasets.make_noise,
    (
        count("n_classes", "Classes", 2, 8, "They have nothing to do with the columns.", symbol="K", main=True),
        count("n_samples", "Points", 10, 4000, "Rows, shared out evenly.", step=10, main=True),
        count("n_features", "Features", 2, 1000, "All of noise.", symbol="D", main=True),
    ),
)
_ZIGZAG_FORM = with_defaults(
    datasets.make_zigzag, (count("n_samples", "Points", 10, 4000, "Rows.", step=10, main=True),)
)
_GAUSS4_FORM = with_defaults(
    datasets.make_gauss4,
    (count("n_samples", "Points", 20, 4000, "Rows, shared out evenly among the clouds.", step=20, main=True),),
)
_VIEWS_FORM = with_defaults(
    datasets.make_multiview_digits,
    (
        count("n_samples", "Digits", 100, 1797, "Number of digits drawn at random. Automatic: all of them.", main=True),
        Parameter(
            "classes",
            "Classes",
            "choice",
            choices=choices(("digits", "ten digits"), ("halves", "0–4 or 5–9")),
            help="Ten, or the two of the SLDR paper.",
            main=True,
        ),
    ),
)
_SHEET_FORM = with_defaults(
    datasets.make_curved_sheet,
    (
        count("n_samples", "Points", 20, 2000, "Rows.", step=10, main=True),
        count("n_features", "Features", 5, 200, "Columns into which the sheet is bent.", symbol="m", main=True),
        Parameter("noise", "Noise", "float", 0, 3, 0.05, main=True, help="Standard deviation on every column."),
    ),
)
_COLUMNS = replace(
    scale(
        "n_features", "Features", 10, 5000, "Number of features. The signal of a row does not depend on it.", symbol="D"
    ),
    kind="int",
    main=True,
)
_LATENT_FORM = with_defaults(
    datasets.make_latent_glm,
    (
        count("n_samples", "Rows", 20, 2000, "Half of them in each class.", step=20, main=True),
        _COLUMNS,
        Parameter(
            "scale",
            "Signal",
            "float",
            1,
            8,
            0.5,
            main=True,
            help="Size of the loadings. With 3 the classes are hard to separate.",
        ),
    ),
)
_AMPLITUDE = Parameter("amplitude", "Signal", "float", 1, 100, 1, main=True, help="Size of the loadings.")
_CELL_NOISE = Parameter("noise", "Noise", "float", 0, 5, 0.1, help="Standard deviation of the features' own noise.")
_FACTORS_FORM = with_defaults(
    datasets.make_wide_factors,
    (
        count("n_samples", "Rows", 20, 1000, "Half of them in each class.", step=2, main=True),
        _COLUMNS,
        _AMPLITUDE,
        _CELL_NOISE,
    ),
)
_SLOW_FORM = with_defaults(
    datasets.make_wide_regression,
    (
        count("n_samples", "Rows", 40, 1500, "Number of rows, in the order of time.", step=2, main=True),
        _COLUMNS,
        _AMPLITUDE,
        _CELL_NOISE,
    ),
)
_BITS_FORM = with_defaults(
    datasets.load_digits_bits,
    (
        count("first", "First digit", 0, 9, "Digit of the first class.", main=True),
        count("second", "Second digit", 0, 9, "Digit of the second class.", main=True),
        Parameter("threshold", "Threshold", "float", 0, 15, 1, help="Pixels darker than this are 1."),
    ),
)
_TARGET = Parameter("target", "Target", "text", help="Column that is to be predicted.", default="")
IMPUTE = Parameter(
    "impute",
    "Missing cells",
    "choice",
    choices=choices(("median", "fill with medians"), ("mean", "fill with means"), ("none", "leave missing")),
    default="median",
    help="For methods that need every cell: fill with a value from the training rows of the column.",
)
_OPENML_FORM = (
    Parameter(
        "name", "Name or number", "text", help="Name or number of the data set on openml.org.", default="", main=True
    ),
    _TARGET,
    IMPUTE,
)
_TASK = Parameter(
    "task",
    "Task",
    "choice",
    choices=choices(("auto", "automatic"), "classification", "regression"),
    default="auto",
    help="Whether the target is a class or a number.",
)


def _list(name: str, label: str, what: str) -> Parameter:
    return Parameter(name, label, "text", default="", longest=LONGEST_LIST, help=f"{what}, separated by commas.")


_FILE_FORM = (
    Parameter("name", "File", "text", help="Name of the file.", default="", main=True),
    Parameter(
        "sheet", "Sheet", "text", help="Sheet of the workbook. If empty, the first sheet with data is used.", default=""
    ),
    _TARGET,
    _TASK,
    _list("ignore", "Left out", "Names of columns to leave out"),
    _list("groups", "Views", "Pairs view:column"),
    _list("accept", "Accepted", "Proposals that you accept"),
    _list("decline", "Declined", "Proposals that you decline"),
    Parameter(
        "missing",
        "Written for a missing cell",
        "text",
        default="",
        help="Texts that mark a missing cell, separated by commas.",
    ),
    IMPUTE,
)
_ROWS_FORM = (
    Parameter("name", "Rows", "text", help="A table that this server offers.", default="", main=True),
    _TARGET,
    _TASK,
)


def _plane(kind: str, label: str) -> Source:
    return Source(kind, label, GENERATORS, _PLANE_FORM, "make_noisy_plane", {"kind": kind}, seeded=True, planar=True)


def _latent(name: str, label: str, noise: str) -> Source:
    return Source(name, label, GENERATORS, _LATENT_FORM, "make_latent_glm", {"noise": noise}, seeded=True)


def _bundled(name: str, label: str, task: str = "classification") -> Source:
    return Source(name, label, BUNDLED, loader=f"load_{name}", task=task)


# Name -> entry of the data menu, in its order.
SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("spirals", "K spirals", GENERATORS, _SPIRALS_FORM, "make_spirals", seeded=True, planar=True),
        _plane("moons", "Two moons"),
        _plane("disc", "Disc in a ring"),
        _plane("xor", "Four squares (XOR)"),
        _plane("linear", "Two bands"),
        Source("blobs", "Gaussian clouds", GENERATORS, _BLOBS_FORM, "make_blobs", seeded=True, planar=True),
        Source("noise", "Pure noise", GENERATORS, _NOISE_FORM, "make_noise", seeded=True),
        Source("zigzag", "Zigzag", GENERATORS, _ZIGZAG_FORM, "make_zigzag", seeded=True, planar=True),
        Source("gauss4", "Four Gaussians", GENERATORS, _GAUSS4_FORM, "make_gauss4", seeded=True, planar=True),
        Source(
            "curved_sheet",
            "Curved sheet (regression)",
            GENERATORS,
            _SHEET_FORM,
            "make_curved_sheet",
            seeded=True,
            labels="label_share",
            task="regression",
        ),
        _latent("latent_bits", "Latent factors, bits", "bernoulli"),
        _latent("latent_counts", "Latent factors, counts", "poisson"),
        _latent("latent_gaussian", "Latent factors, Gaussian noise", "gaussian"),
        Source("wide_factors", "Six factors, wide", GENERATORS, _FACTORS_FORM, "make_wide_factors", seeded=True),
        Source(
            "wide_regression",
            "Slow factors (regression)",
            GENERATORS,
            _SLOW_FORM,
            "make_wide_regression",
            seeded=True,
            task="regression",
        ),
        _bundled("breast_cancer", "Breast cancer"),
        _bundled("wine", "Wine"),
        _bundled("iris", "Iris"),
        _bundled("digits", "Digits"),
        _bundled("digits_odd_even", "Digits, odd or even"),
        Source(
            "multiview_digits",
            "Digits in four views",
            BUNDLED,
            _VIEWS_FORM,
            "make_multiview_digits",
            seeded=True,
        ),
        Source("digits_bits", "Two digits as bits", BUNDLED, _BITS_FORM, "load_digits_bits"),
        _bundled("diabetes", "Diabetes (regression)", task="regression"),
        Source("openml", "OpenML …", ELSEWHERE, _OPENML_FORM, "load_openml", at_hand=False),
        Source("file", "A file …", ELSEWHERE, _FILE_FORM, "read_file", at_hand=False),
        Source("rows", "Rows on disk …", ELSEWHERE, _ROWS_FORM, "read_rows", at_hand=False),
    )
}

# Name of a data source -> its knobs.
DATA_FORMS: dict[str, tuple[Parameter, ...]] = {name: source.form for name, source in SOURCES.items()}

"""A plane with points on decision regions: what the input and the latent view have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.number_format import end_words
from supdr_viz.pictures.fitted_values import LATENT
from supdr_viz.pictures.row_colours import (
    CHANCE,
    COLUMN,
    LABELS,
    OF_TARGET,
    categories,
    hidden_rows,
    largest_error,
    meaning_of,
    meaning_text,
    scale_ends,
    shown_column,
    trust_range,
)
from supdr_viz.pictures.scene import Extent
from supdr_viz.pictures.types import Density, Frame, Scene, Sheet, Surface
from supdr_viz.ui.theme import palette
from supdr_viz.views.colours import (
    LARGE_SPREAD,
    PICK_ERRORS,
    PICK_MISPLACED,
    SHADES,
    TRUSTS,
    layer_colours,
    tells_doubt,
)
from supdr_viz.views.figures import LegendEntry, css, joined
from supdr_viz.views.marker_shapes import SHAPES
from supdr_viz.views.points import MANY, RINGS, Points, ring_role
from supdr_viz.views.stage.wire import plain_extent

REGION_ALPHA = 0.17
# Opacity of a field of values: regression has no boundary that would carry the picture.
FIELD_ALPHA = 0.32


# Scores of a surface are sent as whole numbers from minus this to this, times a scale.
LEVELS = 32767


class SquareView:
    """One square of a stage.

    `points`: shared by all views of a run.  It must see a scene, frame or surface before the views do. `name`: one of
    "input", "latent", "method".
    """

    def __init__(self, points: Points, name: str) -> None:
        self.points, self.name = points, name
        self.put(extent=[-1.0, 1.0, -1.0, 1.0], label=self.title, words_inside=points.small)

    @property
    def title(self) -> str:
        """Title of the card."""
        raise NotImplementedError

    def put(self, **values: Any) -> bool:
        """Tell the stage what has changed in this view."""
        return self.points.stage.put("planes", self.name, **values)

    def hold(self, extent: Extent) -> None:
        """Show (x_low, x_high, y_low, y_high).  A user who has zoomed keeps the zoom."""
        self.put(extent=plain_extent(extent))


class PlaneView(SquareView):
    """Regions, boundary, margins, points and rings over one plane.

    `name` (one of "input", "latent"): which one.
    """

    def __init__(self, points: Points, name: str) -> None:
        super().__init__(points, name)
        self.sheet: Sheet | None = None

    def show_scene(self, scene: Scene) -> None:
        """Forget the surface."""
        self.sheet = None
        self.put(region=None, boundary=None, margin=None, relief=None)
        self._show_density(scene.density if self.name == "input" else None)

    def show_frame(self, frame: Frame) -> None:
        """Points move by themselves: see `Points.show_frame`."""

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface of this plane."""
        raise NotImplementedError

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        raise NotImplementedError

    def _show_sheet(self, sheet: Sheet | None) -> None:
        sheet = None if self.points.data_only else sheet
        if sheet is self.sheet:
            return
        self.sheet = sheet
        if sheet is None:
            self.put(region=None, boundary=None, margin=None, relief=None)
            return
        alpha = FIELD_ALPHA if self.points.is_regression else REGION_ALPHA
        self.put(
            region={"image": sheet.image.astype("uint8"), "extent": plain_extent(sheet.extent), "alpha": alpha},
            boundary=joined(sheet.boundary),
            margin=None if self.points.plain else joined(sheet.margin),
            relief=_plain_relief(sheet),
        )

    def _show_density(self, density: Density | None) -> None:
        """Draw how densely all rows lie, in the colours by which they are counted."""
        scene = self.points.scene
        if density is None or scene is None:
            self.put(density=None)
            return
        themes = [layer_colours(scene, len(density.levels), dark, density.colour_by) for dark in (False, True)]
        self.put(density={"levels": density.levels, "extent": plain_extent(density.extent), "colours": themes})


def _plain_relief(sheet: Sheet) -> dict[str, Any] | None:
    """Write the scores of a sheet as 16-bit numbers times a scale."""
    if sheet.relief is None:
        return None
    scores, classes = sheet.relief.scores, sheet.relief.classes
    scale = float(np.abs(scores).max()) / LEVELS or 1.0
    levels = np.rint(scores / scale).astype(np.int16)
    codes = None if classes is None else [int(code) for code in classes]
    return {"levels": levels, "scale": scale, "codes": codes, "extent": plain_extent(sheet.extent)}


def points_legend(points: Points, *others: Points, views: Sequence[str] = ("input", "latent")) -> list[LegendEntry]:
    """Return the meaning of the marks of rows that all planes of a run have, and of other runs on the same rows.

    `views`: the planes that are seen.
    """
    assert points.scene is not None
    entries = class_legend(points.scene, points.colour_by, points.values)
    if not any(each.has_errors for each in (points, *others)):
        entries = [each for each in entries if each.pick != PICK_ERRORS]
    margins = (each.stage.get("planes", view, "margin") for each in (points, *others) for view in views)
    if any(margin is not None and len(margin) for margin in margins):  # lines of two kinds
        lines = (("boundary", "solid"), ("margin", "dashed"))
        entries += [LegendEntry(name, css("boundary"), dash) for name, dash in lines]
    return entries


def class_legend(scene: Scene, colour_by: str = "label", values: NDArray | None = None) -> list[LegendEntry]:
    """Return what colours mean, categories or a scale of values, and what hollow, grey and ringed points are.

    `colour_by`: see `row_colours.row_colours`, or "spread". `values` (n,): what colours stand for, as far as it is
    known.
    """
    hidden, many = hidden_rows(scene), len(scene.code) > MANY  # too many to count by eye
    regression, few = scene.task == "regression", bool(hidden.any())
    colour_by = colour_by if colour_by == "spread" else meaning_of(scene, colour_by)
    named = None if colour_by == "spread" else categories(scene, colour_by)
    if colour_by == "trust":
        some = "" if scene.looked_at is None else f" of {len(scene.looked_at):,} rows"
        entries = [_trust_scale(values, some)]
    elif colour_by == "spread":
        ends = "0", f"{LARGE_SPREAD:g} of the map's size"
        entries = [_scale_entry("spread", ends, colour_by)]
    elif named is None:
        entries = [_value_scale(scene, colour_by, values)]
        if colour_by.startswith(COLUMN) and values is not None and np.isnan(values).any():
            entries.append(LegendEntry("missing", css("muted"), kind="point"))
    elif colour_by == "error":
        none = len(named)
        entries = [
            LegendEntry("wrong", css("error"), kind="point", pick=none + 1),
            LegendEntry("right", css("muted"), kind="point", pick=none),
        ]
    elif colour_by in LABELS:
        shown = scene.code[np.isfinite(scene.target) & ~(hidden & (colour_by == "label"))]
        # a mark's shape says what its row is
        entries = _category_entries(named, shown, many and colour_by != "prediction", colour_by != "prediction")
    else:
        column = shown_column(scene, colour_by)
        assert column is not None
        entries = _category_entries(named, column.values, True, True)
        if np.isnan(column.values).any():
            entries.append(LegendEntry("missing", css("muted"), kind="point", pick=len(named)))
    if colour_by == "trust":
        entries.append(ring_entry("misplaced", colour_by, PICK_MISPLACED))
    elif few and regression:
        entries.append(ring_entry("labelled", colour_by))
    elif not regression:
        entries.append(ring_entry("error", colour_by, PICK_ERRORS))
    if scene.is_test.any():
        entries.append(LegendEntry("test", css("secondary"), kind="hollow"))
    if few and colour_by == "label":
        entries.append(LegendEntry(_counted("label hidden", hidden, many), css("muted"), kind="point"))
    return entries


def ring_entry(ring: str, colour_by: str, pick: int | None = None) -> LegendEntry:
    """Return the entry of rings, a key of `RINGS`."""
    look = RINGS[ring]
    return LegendEntry(look.name, css(ring_role(ring, colour_by)), kind="ring", help=look.help, pick=pick)


def _category_entries(names: Sequence[str], codes: NDArray, counts: bool, shapes: bool) -> list[LegendEntry]:
    """Return the entries of categories; `codes`: of the rows; `counts`: whether they are counted."""
    n_colours = len(palette(False).classes)
    return [
        LegendEntry(
            _counted(name, codes == code, counts),
            css(f"class {code % n_colours}"),
            kind="point",
            shape=code % SHAPES if shapes else 0,
            pick=code,
        )
        for code, name in enumerate(names)
    ]


def _counted(name: str, rows: NDArray, shows_count: bool) -> str:
    """Say how many rows bear a name, where that is wanted."""
    return f"{name} · {int(rows.sum()):,}" if shows_count else name


def _value_scale(scene: Scene, colour_by: str, values: NDArray | None) -> LegendEntry:
    ends = scale_ends(scene, colour_by, values)
    assert ends is not None
    low, high = ends
    name = {"label": "target", "truth": "target"}.get(colour_by, meaning_text(colour_by))
    words = end_words(low, high)
    if colour_by == "error":
        words = ["0", f"{largest_error(scene):.3g} and more"]
    robust = colour_by.startswith((COLUMN, LATENT)) or meaning_of(scene, colour_by) in OF_TARGET
    help = "The colours end at the 2nd and at the 98th percentile." if robust else ""
    return replace(_scale_entry(name, words, colour_by), help=help)


def _trust_scale(trust: NDArray | None, some: str) -> LegendEntry:
    """Return the scale of trust, which says more of what it means on being pointed at."""
    low, high = trust_range(trust)
    help = (
        "Trust of a row: 1 if all who stand near it on the map are near it in the data, too; the less the farther "
        f"away those are who are not. By chance it is {CHANCE:g}. The least trusted 2 % of the rows look alike."
    )
    return replace(_scale_entry(f"trust{some}", (f"{low:g} or less", f"{high:g}"), "trust"), help=help)


def _scale_entry(name: str, ends: Sequence[str], colour_by: str) -> LegendEntry:
    """Return the entry of a scale; its colours follow the theme where the rows' do."""
    shades = [SHADES[round(share * (len(SHADES) - 1))] for share in np.linspace(0.0, 1.0, 7)]
    if tells_doubt(colour_by):
        shades = [css(f"doubt {number}") for number in range(len(palette(False).doubts))]
        shades = shades[::-1] if colour_by in TRUSTS else shades
    stops = ", ".join(shades)
    return LegendEntry(name, f"linear-gradient(90deg, {stops})", kind="scale", ends=tuple(ends))

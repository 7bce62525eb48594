"""A plane with points on decision regions: what the input and the latent view have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supdr_viz.frames.scene import Extent
from supdr_viz.frames.types import Density, Frame, Scene, Sheet, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.stage.wire import plain_extent
from supdr_viz.views.colours import (
    CHANCE,
    ERROR_SHADES,
    SHADES,
    TRUST_SHADES,
    hidden_rows,
    largest_error,
    layer_colours,
)
from supdr_viz.views.figures import LegendEntry, css, joined
from supdr_viz.views.points import MANY, Points

REGION_ALPHA = 0.17
FIELD_ALPHA = 0.32
"""Opacity of a field of values: regression has no boundary that would carry the picture."""


class Ring(NamedTuple):
    """Look of the rings around some rows.

    Attributes
    ----------
    name : str
        For the legend.
    role : str
        Colour.
    width, alpha : float
    """

    name: str
    role: str
    width: float
    alpha: float


RINGS = {
    "error": Ring("errors", "error", 1.7, 1.0),
    "support": Ring("support vectors", "support", 1.1, 0.8),
    "labelled": Ring("labelled", "text", 1.5, 0.9),
}


class SquareView:
    """One square of a stage.

    Parameters
    ----------
    points : Points
        Shared by all views of a run.  It must see a scene, frame or surface before the views do.
    name : {"input", "latent", "method"}
    """

    def __init__(self, points: Points, name: str) -> None:
        self.points, self.name = points, name
        self.put(extent=[-1.0, 1.0, -1.0, 1.0], label=self.title)

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

    Parameters
    ----------
    points : Points
    name : {"input", "latent"}
        Which one, see `Points.ringed`.
    """

    def __init__(self, points: Points, name: str) -> None:
        super().__init__(points, name)
        self.sheet: Sheet | None = None

    def show_scene(self, scene: Scene) -> None:
        """Forget the surface."""
        self.sheet = None
        ring = RINGS[self.points.ringed(self.name)]
        self.put(region=None, boundary=None, margin=None, relief=None)
        self._show_density(scene.density if self.name == "input" else None)
        self.put(ring={"role": ring.role, "width": ring.width, "alpha": ring.alpha})

    def show_frame(self, frame: Frame) -> None:
        """Points move by themselves: see `Points.show_frame`."""

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface of this plane."""
        raise NotImplementedError

    @property
    def legend(self) -> list[LegendEntry]:
        """What the marks mean; classes have their own legend, see `class_legend`."""
        ring = RINGS[self.points.ringed(self.name)]
        return [LegendEntry(ring.name, css(ring.role), kind="ring")]

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        raise NotImplementedError

    def _show_sheet(self, sheet: Sheet | None) -> None:
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
            margin=joined(sheet.margin),
            relief=_plain_relief(sheet),
        )

    def _show_density(self, density: Density | None) -> None:
        """Draw how densely all rows lie, in the colours of their labels."""
        if density is None or self.points.scene is None:
            self.put(density=None)
            return
        themes = [layer_colours(self.points.scene, len(density.levels), dark) for dark in (False, True)]
        self.put(density={"levels": density.levels, "extent": plain_extent(density.extent), "colours": themes})


def _plain_relief(sheet: Sheet) -> dict[str, Any] | None:
    """Write the scores of a sheet as the stage knows them."""
    if sheet.relief is None:
        return None
    levels, scale, classes = sheet.relief.levels, sheet.relief.scale, sheet.relief.classes
    codes = None if classes is None else [int(code) for code in classes]
    return {"levels": levels, "scale": scale, "codes": codes, "extent": plain_extent(sheet.extent)}


def class_legend(scene: Scene, colour_by: str = "label") -> list[LegendEntry]:
    """Return the classes of a scene, or its scale of values, and what hollow, grey and ringed points are.

    Parameters
    ----------
    scene : Scene
    colour_by : {"label", "truth", "prediction", "error", "trust"}

    Returns
    -------
    list of LegendEntry
    """
    regression, few = scene.task == "regression", bool(hidden_rows(scene).any())
    if colour_by == "trust":
        entries = [
            _scale_entry(f"trust {CHANCE:g} (chance) to 1", TRUST_SHADES),
            LegendEntry("lost neighbour", css("error")),
            LegendEntry("false neighbour", css("secondary"), "dotted"),
        ]
    elif regression:
        entries = [_value_scale(scene, colour_by)]
    elif colour_by == "error":
        entries = [LegendEntry("wrong", css("error"), kind="point"), LegendEntry("right", css("muted"), kind="point")]
    else:
        n_colours = len(palette(False).classes)
        known = scene.code[np.isfinite(scene.target)]

        def counted(code: int) -> str:
            """Say how many rows of a class there are, where nobody can count them."""
            return f" · {int((known == code).sum()):,}" if len(scene.code) > MANY else ""

        entries = [
            LegendEntry(f"{name}{counted(code)}", css(f"class {code % n_colours}"), kind="point")
            for code, name in enumerate(scene.class_names)
        ]
    if scene.is_test.any():
        entries.append(LegendEntry("test", css("secondary"), kind="ring"))
    if few and regression:
        entries.append(LegendEntry(RINGS["labelled"].name, css(RINGS["labelled"].role), kind="ring"))
    if few and colour_by == "label":
        entries.append(LegendEntry("label hidden", css("muted"), kind="point"))
    return entries


def _value_scale(scene: Scene, colour_by: str) -> LegendEntry:
    shades, name = SHADES, "{:.3g} to {:.3g}".format(*scene.value_range)
    if colour_by == "error":
        shades, name = ERROR_SHADES, f"error 0 to {largest_error(scene):.3g} and more"
    return _scale_entry(name, shades)


def _scale_entry(name: str, shades: Sequence[str]) -> LegendEntry:
    stops = ", ".join(shades[:: len(shades) // 6])
    return LegendEntry(name, f"linear-gradient(90deg, {stops})", kind="scale")

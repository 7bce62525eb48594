"""The rows of a run: where they stand in each view, and the colours, rings and tooltips that all views share."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.picture import Picture, RowValue, some_rows
from supdr_viz.pictures.row_colours import (
    categories,
    hidden_rows,
    meaning_of,
    row_colours,
    row_shapes,
    row_sizes,
    scale_ends,
    shows_target,
)
from supdr_viz.pictures.types import Frame, MapQuality, Scene, Surface
from supdr_viz.ui.theme import palette
from supdr_viz.views.colours import (
    LARGE_SPREAD,
    SHADES,
    TRUSTS,
    UNKNOWN,
    misplaced_rows,
    scale,
    tells_doubt,
)
from supdr_viz.views.marker_shapes import SHAPES
from supdr_viz.views.stage.constants import DRAWN
from supdr_viz.views.stage.packed_positions import Places, packed_places, unpacked_places
from supdr_viz.views.stage.stage import Selection, Stage
from supdr_viz.views.stage.wire import packed_bits

# Kinds of rows: filled, hollow, small and grey.
TRAIN, TEST, HIDDEN = range(3)

# Of more rows, only the hollow ones have an outline.
MAX_OUTLINED = 500

# Curves of the shares of rows that are predicted wrong.
PREDICTED = ("train", "unlabelled", "test")

# Size of rows that are misplaced, beside the usual one.
GROW = 1.5

# More rows shine through each other, the legend counts them, and of rings only some are drawn.
MANY = 2000

MOST_RINGS = 120
# Of more rings each is drawn fainter, down to this share.
EASY_RINGS, LEAST_EASE = 300, 0.5

# Of more than this share of the rows, unless they are few, rings would hide the map: they are faint, thin, close to
# their marks, and lie under all marks then, whose colours and shapes stay to be seen.
CROWD, FEW_RINGS = 0.1, 8
FAINT_RING, THIN_RING, CLOSE_RING = 0.58, 1.0, 3.0
# Where the rows' colour says the same.
FAINTER_RING = 0.35
# Of more than this share of the labelled rows, support vectors have no rings.
MOST_SUPPORT = 0.25

# Width of rings on small planes, which are compared: there it does not depend on how many there are.
SMALL_RING = 1.0

FAINTEST = 0.15
# Opacity of the rows of a sample: the density of all shines through.
OVER_DENSITY = 0.75

MAX_NAME_LENGTH = 40
MAX_PICTURE_ROWS = 3000
MAX_PICTURE_PIXELS = 32 * 32


class Ring(NamedTuple):
    """Look of the rings around some rows.

    `name`: for the legend; `role`: colour; `one`: what one such row is called; `help`: what the name means; `edge`:
    width of edges in the colour of the card on both sides, which set it off from rows of its own colour; `gap`: by how
    many pixels it is wider than the mark in it; `under`: whether it lies under the marks of all rows.
    """

    name: str
    role: str
    width: float
    alpha: float
    one: str
    help: str
    edge: float = 0.0
    gap: float = DRAWN["rows"]["ring_gap"]
    under: bool = False


RINGS = {
    "error": Ring(
        "errors",
        "error",
        1.7,
        1.0,
        "error",
        "Rows that are predicted wrong. In the input space, training rows are predicted without their labels.",
        1.0,
    ),
    "support": Ring("support vectors", "support", 1.1, 1.0, "support vector", ""),
    "labelled": Ring("labelled", "text", 1.5, 0.9, "labelled row", "Rows whose label the method sees."),
    "misplaced": Ring(
        "misplaced",
        "text",
        1.7,
        1.0,
        "misplaced row",
        "Rows whose trust is nearer to chance, 0.5, than to 1.",
    ),
}


def ring_role(ring: str, colour_by: str) -> str:
    """Return the colour of rings, a key of `RINGS`, where colours of rows mean `colour_by`."""
    role = RINGS[ring].role
    return "text" if role == "error" and tells_doubt(colour_by) else role  # points may have its colour


class Points:
    """All rows of a scene on a stage.

    `stage`: where they are shown; `selection`: to be shared with other runs on the same rows of the same page;
    `small`: whether the planes are small: then support vectors have no rings, and all other rings look alike.

    selection: ``selection.indices`` are the selected rows of the scene, whichever view they were selected in.
    drawn (n,): which rows of the scene are drawn: the browser knows no others, and numbers them in this order.
    pulled: whether the places by `transform` are wanted.
    colour_by, size_by: what the colours and the sizes of rows mean, see `row_colours.row_colours`; they may mean
        "spread", too, and sizes "", nothing.
    truth: how true the latent plane was when it was last measured.
    data_only: whether nothing is shown that a method makes of the rows.
    plain: whether planes have no margins, and little is said of how regions are drawn.
    """

    def __init__(self, stage: Stage | None = None, selection: Selection | None = None, *, small: bool = False) -> None:
        self.stage = Stage() if stage is None else stage
        self.small = small
        self.scene: Scene | None = None
        self.frame: Frame | None = None
        self.surface: Surface | None = None
        self.truth: MapQuality | None = None
        self.spread: NDArray | None = None
        self.drawn: NDArray = np.arange(0)
        self.pulled = False
        self.colour_by, self.size_by = "label", ""
        self._mode: str | None = None
        self._tokens = itertools.count(1)
        self._surface_range = (0.0, 1.0)
        self._as_new = self._only_training = False
        self._ringed: dict[str, tuple[int, int]] = {}
        self.data_only = self.plain = False
        self._loops: list[Callable[[str, NDArray | None], Any]] = []
        self._facts_shown: tuple[Surface | None, RowValue | None] | None = None
        self._prepared: tuple[tuple[Any, ...], dict[str, dict[str, Places]]] | None = None
        self.selection = Selection() if selection is None else selection
        self.selection.on_change(self._show_selection)
        self.stage.on("select", self._select)

    def close(self) -> None:
        """Let go of the selection, which others may share."""
        self.selection.forget(self._show_selection)

    def on_loop(self, listener: Callable[[str, NDArray | None], Any]) -> None:
        """Call ``listener(view, corners)`` after the user selected rows; corners (k, 2) None: not by a lasso."""
        self._loops.append(listener)

    @property
    def n_rows(self) -> int:
        """Number of rows that are drawn."""
        return len(self.drawn)

    @property
    def size(self) -> float:
        """Size of the marks of labelled rows in pixels."""
        return point_size(0 if self.scene is None else len(self.scene.position))

    @property
    def is_regression(self) -> bool:
        """Whether colours stand for values instead of classes."""
        return self.scene is not None and self.scene.task == "regression"

    @property
    def has_hidden(self) -> bool:
        """Whether the method does not see the labels of some training rows."""
        return self.scene is not None and bool(hidden_rows(self.scene).any())

    @property
    def ring(self) -> str:
        """What the rings mean that both planes have: a key of `RINGS`."""
        if self.colour_by == "trust":
            return "misplaced"
        return "labelled" if self.is_regression and self.has_hidden else "error"

    @property
    def support_share(self) -> float:
        """Share of the labelled training rows that are support vectors."""
        if self.frame is None or self.scene is None:
            return 0.0
        return float(self.frame.support.sum() / max(int(self.scene.is_labelled.sum()), 1))

    @property
    def rings_support(self) -> bool:
        """Whether support vectors have rings in the latent plane: not where nearly all rows would have one."""
        return not self.small and self.ring == "error" and 0.0 < self.support_share <= MOST_SUPPORT

    def places(self, view: str) -> NDArray:
        """Return where the rows stand in a view, (n, 2), as the browser was told; NaN: they are not shown."""
        place = self.stage.get("planes", view, "place")
        return np.full((self.n_rows, 2), np.nan) if place is None else unpacked_places(place)

    def show_scene(self, scene: Scene) -> None:
        """Replace all rows.  The selection goes with them: its indices belong to the old rows."""
        with self.stage:
            self.selection.indices = []
            self.scene, self.frame, self.surface, self.truth, self._facts_shown = scene, None, None, None, None
            self.spread = None
            self.drawn = np.arange(len(scene.position)) if scene.drawn is None else scene.drawn
            nowhere = np.full((self.n_rows, 2), np.nan)
            self._put_rows(scene)
            for view in ("input", "latent", "method"):
                place = scene.position[self.drawn] if view == "input" else nowhere
                blank = packed_bits(np.zeros(self.n_rows, dtype=bool))
                self._put(view, token=next(self._tokens), place=packed_places(place), ends=packed_places(nowhere))
                self._put(view, ring={"rows": blank, **_look(RINGS["error"])}, support=None)
            self._ring()
            self._colour()

    def show_labels(self, scene: Scene) -> None:
        """Show other labels of the same rows: they stay where they are, and so does the selection."""
        with self.stage:
            self.scene, self.surface, self.truth, self._facts_shown = scene, None, None, None
            self._put_rows(scene)
            self._colour()

    def _put_rows(self, scene: Scene) -> None:
        self.stage.put(rows=_rows(scene, self.drawn, self.colour_by), facts=_facts(scene, self.drawn), links=None)
        self._show_sizes()

    def prepare(self, frame: Frame) -> None:
        """Pack where the rows stand in a frame that may be shown next; callable from any thread."""
        scene = self.scene
        if scene is not None and len(frame.latent) == len(scene.position):
            key = frame, scene, self.pulled, self._mode
            self._prepared = key, _packed(*key)

    def show_frame(self, frame: Frame) -> None:
        """Show where the rows stand."""
        self.frame = frame
        self._show()
        self._say_facts()
        if frame.truth is not self.truth:
            self.truth = frame.truth
            self._show_colours()
            if self.colour_by == "trust":
                self._colour()
                self._ring()
            if self.size_by == "trust":
                self._show_sizes()
        self._link()

    def show_surface(self, surface: Surface) -> None:
        """Ring the rows on the wrong side; refresh what the tooltip says."""
        self.surface = surface
        if self.is_regression and surface.value_range != self._surface_range:
            self._surface_range = surface.value_range
            self._scale_surface()
        self._say_facts()
        self._ring()
        self._show_colours()
        if self.colour_by in surface.values:
            self._colour()
        if self.size_by in surface.values:
            self._show_sizes()

    def show_pulled(self, on: bool) -> None:
        """Show, or show no more, where `transform` puts the training rows."""
        self.pulled = on
        self._show()

    def show_mode(self, mode: str | None) -> None:
        """Choose what the method's view shows: the name of a mode, or None."""
        self._mode = mode
        self._show()

    def show_spread(self, spread: NDArray | None) -> None:
        """Note how far the places of each row lie apart in other fits (n,), for the meaning "spread"; None: unknown."""
        self.spread = spread
        if self.colour_by == "spread":
            self._show_colours()
        if self.size_by == "spread":
            self._show_sizes()

    def show_colours(self, colour_by: str, size_by: str | None = None) -> None:
        """Choose what the colours of rows mean, and their sizes; None: what they mean already."""
        if size_by is not None and size_by != self.size_by:
            self.size_by = size_by
            self._show_sizes()
        if colour_by != self.colour_by:
            self.colour_by = colour_by
            with self.stage:
                self._show_colours()
                self._show_shapes()
                self._colour()
                self._link()
                self._ring()
                self._ring_support()

    def _of(self, values: NDArray) -> NDArray:
        return values if self.scene is None else _drawn(values, self.scene)

    def _put(self, view: str, **values: Any) -> bool:
        return self.stage.put("planes", view, **values)

    def _show(self) -> None:
        frame, scene, prepared = self.frame, self.scene, self._prepared
        if frame is None or scene is None:
            return
        key = frame, scene, self.pulled, self._mode
        packed = prepared[1] if prepared is not None and prepared[0] == key else _packed(*key)
        with self.stage:
            for view, places in packed.items():
                self._put(view, **places)
            self._ring_support()
            if (frame.as_new, frame.only_training) != (self._as_new, self._only_training):
                self._as_new, self._only_training = frame.as_new, frame.only_training
                self._ring()

    def _say_facts(self) -> None:
        """Say what the tooltip says, as far as it changed."""
        now = (self.surface, self._row_value)
        if self.scene is None or (self._facts_shown is not None and all(map(operator.is_, self._facts_shown, now))):
            return
        self._facts_shown = now
        facts: dict[str, Any] = {"measure": "" if self._row_value is None else self._row_value.name}
        if self.surface is not None:
            predicted = self._of(self.surface.judged)
            facts["predicted"] = predicted.astype(float if self.is_regression else np.uint8)
        if self._row_value is not None:
            facts["value"] = np.asarray(self._row_value.values, dtype=float)[self.drawn]
        self.stage.put("facts", **facts)

    def _show_colours(self) -> None:
        if self.scene is not None:
            colour = self._of(self._values(self.scene, self.colour_by))
            self.stage.put("rows", colour=colour, above=_above(self.scene, self.colour_by))

    def _show_shapes(self) -> None:
        if self.scene is not None:
            self.stage.put("rows", shape=_shapes(self.scene, self.colour_by)[self.drawn])

    def _show_sizes(self) -> None:
        """Draw rows larger or smaller by what their sizes mean; rows are equally large where that is no number."""
        scene, sizes = self.scene, None
        if scene is None:
            return
        if self.size_by and (self.size_by == "spread" or meaning_of(scene, self.size_by) == self.size_by):
            values = self._values(scene, self.size_by)
            ends = scale_ends(scene, self.size_by, values) or (0.0, max(float(np.max(values, initial=1.0)), 1.0))
            ends = (0.0, LARGE_SPREAD) if self.size_by == "spread" else ends
            sizes = row_sizes(self._of(values), ends)
        self.stage.put("rows", sizes=sizes)

    def _values(self, scene: Scene, key: str) -> NDArray:
        """Return what colours or sizes of all rows stand for now, (n,): see `row_colours`."""
        if key == "spread":
            return np.full(len(scene.code), np.nan) if self.spread is None else self.spread
        return row_colours(scene, self.surface, key, self.truth)

    @property
    def computed(self) -> tuple[str, ...]:
        """What colours and sizes stand for that comes with a surface."""
        return () if self.surface is None else tuple(self.surface.values)

    @property
    def values(self) -> NDArray | None:
        """What the colours of all rows stand for now, (n,): see `row_colours`."""
        return None if self.scene is None else self._values(self.scene, self.colour_by)

    def _link(self) -> None:
        """Tell which rows are to be joined to the one under the pointer, while that is known of what is on display."""
        frame, truth = self.frame, self.truth
        current = frame is not None and truth is not None and truth.iteration == frame.iteration
        links = None
        if truth is not None and current and self.colour_by == "trust":
            lost, false = (self._numbered(each[self.drawn]) for each in (truth.lost, truth.false))
            links = {"lost": lost, "false": false, "trust": truth.trust[self.drawn]}
        self.stage.put(links=links)

    def _ring(self) -> None:
        """Ring the same kind of rows in both planes."""
        if self.scene is None:
            return
        for view in ("input", "latent"):
            marked = self._of(self._marked(view))
            shown = self._some(marked)
            self._ringed[view] = int(np.count_nonzero(marked)), int(np.count_nonzero(shown))
            look, grow = RINGS[self.ring], GROW if self.ring == "misplaced" and not self.small else 1.0
            if self.small:
                look = look._replace(width=SMALL_RING, edge=0.0)
            if np.count_nonzero(shown) > max(CROWD * self.n_rows, FEW_RINGS):
                faint = FAINTER_RING if self.ring == "misplaced" else FAINT_RING
                look, grow = look._replace(width=THIN_RING, alpha=faint, edge=0.0, gap=CLOSE_RING, under=True), 1.0
            ease = 1.0 if self.ring == "misplaced" else _ease(shown)
            role = ring_role(self.ring, self.colour_by)
            self._put(view, ring={"rows": packed_bits(shown), **_look(look, role, ease, grow)})

    def _marked(self, view: str) -> NDArray:
        """Return which rows (n,) of the scene have the rings of both planes, if there is room for all."""
        scene, surface = self.scene, self.surface
        assert scene is not None
        if self.ring == "misplaced":
            return misplaced_rows(self.truth, len(scene.code))
        if self.ring == "labelled":
            return scene.is_labelled
        if surface is None or self.data_only:
            return np.zeros(len(scene.code), dtype=bool)
        # Each plane has a boundary of its own: over the input space it is that of new rows.
        if view == "input" or self._as_new:
            return surface.beyond
        return surface.wrong & ~scene.is_test if self._only_training else surface.wrong

    def _ring_support(self) -> None:
        """Ring the support vectors in the latent plane, unless they are most of the rows."""
        if self.frame is None or not self.rings_support:
            self._ringed.pop("support", None)
            self._put("latent", support=None)
            return
        marked = self._of(self.frame.support)
        shown, look = self._some(marked), RINGS["support"]
        self._ringed["support"] = int(np.count_nonzero(marked)), int(np.count_nonzero(shown))
        self._put("latent", support={"rows": packed_bits(shown), **_look(look, ease=_ease(shown))})

    @property
    def errors(self) -> NDArray | None:
        """Which rows (n,) are misclassified; None: that is not known."""
        return None if self.surface is None else self.surface.errors

    @property
    def has_errors(self) -> bool:
        """Whether rows are predicted wrong, or were in this run; they may be as long as that is not known."""
        if self.data_only or self.surface is None:
            return not self.data_only
        curves = {} if self.frame is None else self.frame.errors.values
        ringed = any(self._ringed.get(view, (0, 0))[0] for view in ("input", "latent"))
        return ringed or any(np.nanmax(curves[name], initial=0.0) > 0.0 for name in PREDICTED if name in curves)

    @property
    def misplaced(self) -> NDArray | None:
        """Which rows (n,) are misplaced on the map; None: that was not measured."""
        return None if self.truth is None or self.scene is None else misplaced_rows(self.truth, len(self.scene.code))

    def some_ringed(self, rings: str) -> str:
        """Say which of the rows have rings where not all of them have.

        `rings`: "input" or "latent", those of both planes, or "support".
        """
        marked, shown = self._ringed.get(rings, (0, 0))
        one = RINGS["support" if rings == "support" else self.ring].one
        return f"every {marked / shown:.0f}th {one} ringed" if 0 < shown < 0.7 * marked else ""

    def _some(self, marked: NDArray) -> NDArray:
        """Choose some of the marked rows of a large set, so that a row keeps its ring while there are about as many."""
        count = int(np.count_nonzero(marked))
        if self.scene is None or len(self.scene.position) <= MANY or count <= MOST_RINGS:
            return marked
        chance = np.random.default_rng(0).random(len(marked))
        return marked & (chance < MOST_RINGS / count)

    @property
    def _picture(self) -> Picture | None:
        return None if self.frame is None else _picture_of(self.frame, self._mode)

    @property
    def _row_value(self) -> RowValue | None:
        return self._picture.row_value if self._picture is not None else None

    def _colour(self) -> None:
        if self.scene is None:
            return
        self.stage.put(scale={theme: self._scale(self.colour_by, theme) for theme in ("light", "dark")})
        self._scale_surface()

    def _scale(self, colour_by: str, theme: str) -> dict[str, Any]:
        assert self.scene is not None
        mapper = scale(self.scene, colour_by, theme == "dark", self.values)
        muted = mapper.pop("nan_color", mapper["palette"][-1])
        return {**mapper, "nan": muted}

    def _scale_surface(self) -> None:
        """Give each image level the colour that points of the same value have."""
        assert self.scene is not None
        if not shows_target(self.scene, self.colour_by):  # regions in other colours than the rows' have no legend
            cards = {theme: palette(theme == "dark").card for theme in ("light", "dark")}
            blank = {theme: {"palette": [card], "low": 0.0, "high": 1.0, "nan": card} for theme, card in cards.items()}
            self.stage.put(surface_scale=blank)
            return
        if not self.is_regression:
            self.stage.put(surface_scale={theme: self._scale("label", theme) for theme in ("light", "dark")})
            return
        (low, high), (first, last) = self.scene.colour_range, self._surface_range
        span = (last - first) or 1.0
        ends = {"low": 255.0 * (low - first) / span, "high": 255.0 * (high - first) / span}
        shades = {"palette": list(SHADES), "nan": SHADES[0], **ends}
        self.stage.put(surface_scale={"light": shades, "dark": shades})

    def show_current(self, row: int) -> None:
        """Point at a row of the scene in every square; -1: at none."""
        self.stage.put(current=int(self._numbered(np.array([row], dtype=np.int32))[0]))

    def numbers(self, n_rows: int) -> NDArray:
        """Return the numbers by which the browser knows the rows of the scene, (n_rows,); -1: it does not."""
        return self._numbered(np.arange(n_rows))

    def _show_selection(self) -> None:
        chosen = self._numbered(np.array(self.selection.indices, dtype=np.int32))
        self.stage.put(selected=chosen[chosen >= 0])

    def _numbered(self, rows: NDArray) -> NDArray:
        """Return the numbers by which the browser knows rows; -1 for those that are not drawn, and for -1."""
        if self.scene is None or self.scene.drawn is None:
            return rows
        number = np.full(len(self.scene.position) + 1, -1, dtype=np.int32)  # the last one is that of row -1
        number[self.drawn] = np.arange(len(self.drawn))
        return number[rows]

    def _select(self, message: dict[str, Any]) -> None:
        rows = message.get("rows")
        if isinstance(rows, list) and all(isinstance(row, int) and 0 <= row < self.n_rows for row in rows):
            self.selection.indices = [int(self.drawn[row]) for row in rows]
            for listener in self._loops:
                listener(*usable_loop(message.get("loop")))


def _drawn(values: NDArray, scene: Scene) -> NDArray:
    """Return those of the values of all rows of a scene that belong to rows that are drawn; often it is all."""
    return values if scene.drawn is None else values[scene.drawn]


def _picture_of(frame: Frame, mode: str | None) -> Picture | None:
    """Return a frame's picture, if it is of the mode on display."""
    return frame.picture if frame.picture is not None and frame.picture.mode == mode else None


def _packed(frame: Frame, scene: Scene, pulled: bool, mode: str | None) -> dict[str, dict[str, Places]]:
    """Return where the rows that are drawn stand, by view: their places, and the ends of lines from there."""
    picture = _picture_of(frame, mode)
    packed = {"latent": {"place": packed_places(_drawn(frame.latent, scene))}}
    if pulled and frame.pulled is not None:
        packed["latent"]["ends"] = packed_places(some_rows(_drawn(frame.pulled, scene)))
    if picture is not None and picture.rows is not None:
        packed["method"] = {"place": packed_places(_drawn(picture.rows, scene))}
    if picture is not None and picture.tips is not None:
        packed.setdefault("method", {})["ends"] = packed_places(some_rows(_drawn(picture.tips, scene)))
    return packed


def _look(ring: Ring, role: str = "", ease: float = 1.0, grow: float = 1.0) -> dict[str, Any]:
    """Return how rings look, as the stage has it; `ease`: how faint they are, `grow`: how large marks in them are."""
    alpha = ease * ring.alpha
    look = {"width": ring.width, "edge": ring.edge, "gap": ring.gap, "alpha": alpha, "grow": grow}
    return {"role": role or ring.role, "under": ring.under, **look}


def _ease(ringed: NDArray) -> float:
    """Return by which factor the rings of these rows (n,) are drawn fainter."""
    return float(np.clip((EASY_RINGS / max(int(np.count_nonzero(ringed)), 1)) ** 0.5, LEAST_EASE, 1.0))


def shorten(text: str) -> str:
    """Cut a name to what fits into a tooltip."""
    text = " ".join(str(text).split())
    return text if len(text) <= MAX_NAME_LENGTH else text[: MAX_NAME_LENGTH - 1] + "…"


def point_size(n_rows: int) -> float:
    """Return the size of marks in pixels: 9 up to 200 rows, 5 at 2,000, 4 up to 20,000, 2.5 at 200,000, never below."""
    if n_rows > 20_000:
        return float(max(4.0 - 1.5 * np.log10(n_rows / 20_000.0), 2.5))
    return float(np.clip(9.0 - 4.0 * np.log10(max(n_rows, 1) / 200.0), 4.0, 9.0))


def point_opacity(n_rows: int) -> float:
    """Return the opacity of marks: 1 up to `MANY` rows, less where they would lie on top of each other."""
    return float(np.clip((MANY / max(n_rows, 1)) ** 0.6, FAINTEST, 1.0))


def _shapes(scene: Scene, colour_by: str) -> NDArray:
    return (row_shapes(scene, colour_by) % SHAPES).astype(np.uint8)


def _above(scene: Scene, colour_by: str) -> str:
    """Return which rows are drawn last, so that no others cover them: those of "low" or "high" values; empty: mixed."""
    if categories(scene, colour_by) is not None or not tells_doubt(colour_by):
        return ""
    return "low" if colour_by in TRUSTS else "high"


def _rows(scene: Scene, drawn: NDArray, colour_by: str) -> dict[str, Any]:
    hidden = hidden_rows(scene)
    return {
        "colour": row_colours(scene, None, colour_by)[drawn],
        "above": _above(scene, colour_by),
        "shape": _shapes(scene, colour_by)[drawn],
        "kind": np.where(scene.is_test, TEST, np.where(hidden, HIDDEN, TRAIN)).astype(np.uint8)[drawn],
        "size": point_size(len(scene.position)),
        "outlined": len(drawn) <= MAX_OUTLINED,
        "opacity": point_opacity(len(drawn)) if scene.drawn is None else OVER_DENSITY,
    }


def _facts(scene: Scene, drawn: NDArray) -> dict[str, Any]:
    regression = scene.task == "regression"
    return {
        "names": [shorten(name) for name in scene.class_names],
        "row": scene.row[drawn].astype(np.int32),
        "truth": (scene.target if regression else scene.code.astype(np.uint8))[drawn],
        "split": np.where(scene.is_test, 1, np.where(hidden_rows(scene), 2, 0))[drawn].astype(np.uint8),
        "predicted": np.full(len(drawn), np.nan if regression else UNKNOWN).astype(float if regression else np.uint8),
        "span": scene.value_range[1] - scene.value_range[0] if regression else 0.0,
        "value": None,
        "measure": "",
        "images": np.asarray(scene.images, dtype=np.uint8)[drawn] if shows_pictures(scene) else None,
    }


def shows_pictures(scene: Scene) -> bool:
    """Whether the browser gets the pictures that the rows of a scene are."""
    images = scene.images
    return images is not None and 0 < len(images) <= MAX_PICTURE_ROWS and images[0].size <= MAX_PICTURE_PIXELS


def usable_loop(loop: Any) -> tuple[str, NDArray | None]:
    """Read what the browser says of a lasso: the view, and its corners (k, 2); None: there is none that can be used."""
    if not isinstance(loop, dict) or loop.get("view") not in ("input", "latent"):
        return "", None
    corners = loop.get("corners")
    if not isinstance(corners, list) or not 6 <= len(corners) <= 1000 or len(corners) % 2:
        return "", None
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in corners):
        return "", None
    points = np.array(corners, dtype=float).reshape(-1, 2)
    return (str(loop["view"]), points) if np.isfinite(points).all() else ("", None)

"""The method's own view: the picture of a frame, in one of the modes that the method has."""

from __future__ import annotations

from numpy.typing import NDArray

from supdr_viz.pictures.methods import Mode
from supdr_viz.pictures.picture import Number, Picture
from supdr_viz.pictures.row_colours import shows_target
from supdr_viz.pictures.types import Frame, Scene, Surface
from supdr_viz.views.figures import LegendEntry, colour_of, css
from supdr_viz.views.plane import SquareView
from supdr_viz.views.points import Points
from supdr_viz.views.stage.wire import Tree


class MethodView(SquareView):
    """One square with several modes: it draws the `Picture` of the frame, see `supdr_viz.pictures.methods`.

    `mode`: name of the mode shown; None when the method has none. `modes`: the modes the method has; None before
    `set_method`. `picture`: what is shown, once there is a frame in this mode.
    """

    def __init__(self, points: Points) -> None:
        self.mode: str | None = None
        self.modes: tuple[Mode, ...] | None = None
        self.picture: Picture | None = None
        self.method_name = "This method"
        super().__init__(points, "method")
        self._arrange()

    @property
    def title(self) -> str:
        """Title of the card."""
        mode = self._current
        return mode.title if mode is not None else "Method"

    @property
    def _current(self) -> Mode | None:
        return next((mode for mode in self.modes or () if mode.name == self.mode), None)

    def set_method(self, name: str, modes: tuple[Mode, ...]) -> None:
        """Name the method and what it has to show.

        `name`: for the sentence that stands in an empty view.
        """
        self.method_name, self.modes = name, modes
        self.set_mode(self.mode if self._current is not None else None)

    def set_mode(self, mode: str | None) -> None:
        """Show a mode; None: the first one the method has.

        Raises ValueError if there is no such mode.
        """
        names = [each.name for each in self.modes or ()]
        if mode is not None and mode not in names:
            raise ValueError(f"mode must be one of {', '.join(names)}, or None; got {mode!r}")
        self.mode = mode if mode is not None else next(iter(names), None)
        self._arrange()

    def show_scene(self, scene: Scene) -> None:
        """Forget the picture."""
        self.picture = None
        self._arrange()

    def show_frame(self, frame: Frame) -> None:
        """Draw the frame's picture; the points themselves move by `Points.show_frame`."""
        if frame.picture is not None and frame.picture.mode == self.mode:
            self.show_picture(frame.picture)

    def show_picture(self, picture: Picture) -> None:
        """Draw a picture of the mode shown."""
        self.picture = picture
        self.put(picture=_drawable(picture, self.points.drawn, in_colour=self._in_colour))
        self.hold(picture.extent)

    def show_colours(self) -> None:
        """Draw the picture in the colours of classes if rows have them, too; else in grey."""
        if self.picture is not None:
            self.show_picture(self.picture)

    @property
    def _in_colour(self) -> bool:
        scene = self.points.scene
        return scene is None or shows_target(scene, self.points.colour_by)

    def show_surface(self, surface: Surface) -> None:
        """Nothing here depends on the decision surface."""

    @property
    def empty_text(self) -> str:
        """The sentence that stands in an empty view."""
        return f"{self.method_name} has no reconstruction\nand no margins."

    @property
    def legend(self) -> list[LegendEntry]:
        """The meaning of marks and lines in this mode."""
        keys = self.picture.keys if self.picture is not None else ()
        return [LegendEntry(key.name, css(key.role), key.dash, key.kind) for key in keys]

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of the picture."""
        return self.picture.numbers if self.picture is not None else ()

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        mode = self._current
        caption = self.picture.caption if self.picture is not None else ""
        if self.picture is not None and self.picture.image is not None and self._greyed(self.picture):
            return caption
        return caption or (mode.caption if mode is not None else "")

    def _greyed(self, picture: Picture) -> bool:
        """Whether classes are drawn in grey: rows do not have their colours either."""
        return not self._in_colour and _shown_roles(picture, in_colour=False) != [*picture.roles]

    def _arrange(self) -> None:
        """Show what belongs to the mode, hide the rest."""
        if self.picture is not None and self.picture.mode != self.mode:
            self.picture = None
        self.points.show_mode(self.mode)
        self.put(empty=self.empty_text if self.mode is None and self.modes is not None else "", label=self.title)
        if self.picture is None:
            self.put(picture=None)


# Fields of a picture that its canvas does not get: the card says them in words, or their rows move by themselves.
NOT_DRAWN = {"mode", "row_value", "panels", "axis_labels", "keys", "numbers", "caption"}


def _drawable(picture: Picture, drawn: NDArray, *, in_colour: bool) -> Tree:
    """Return what the canvas draws: the picture's own fields, colours of both themes, the roles of the rows `drawn`.

    `in_colour`: whether classes have their colours; else only what the picture's own legend names has one.
    """
    roles = _shown_roles(picture, in_colour=in_colour)
    return {
        **{name: value for name, value in vars(picture).items() if name not in NOT_DRAWN},
        "image": picture.image if roles == [*picture.roles] else None,  # tints of classes without colours say nothing
        "roles": [[colour_of(role, dark) for dark in (False, True)] for role in roles],
        "rows": picture.rows is not None,
        "row_role": None if picture.row_role is None else picture.row_role[drawn],
        "tips": picture.tips is not None,
        "small": picture.has_small_rows,
        "axes": picture.axis_labels,
    }


def _shown_roles(picture: Picture, *, in_colour: bool) -> list[str]:
    """Return the colours that the picture is drawn in: those of classes are grey unless rows have them, too."""
    named = {key.role for key in picture.keys}
    return [role if in_colour or role in named or not role.startswith("class ") else "muted" for role in picture.roles]

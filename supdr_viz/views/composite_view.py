"""Views that hear of every piece of news together."""

from __future__ import annotations

from typing import Any

from supdr_viz.pictures.types import Frame, Scene, Surface
from supdr_viz.views.stage.stage import Stage


class CompositeView:
    """Passes scenes, frames and surfaces on to all its parts, and what comes of it to the browser in one piece."""

    stage: Stage

    @property
    def parts(self) -> tuple[Any, ...]:
        """The points, then every view: in the order in which they must learn of news."""
        raise NotImplementedError

    def show_scene(self, scene: Scene) -> None:
        """Show another data set or split."""
        with self.stage:
            for part in self.parts:
                part.show_scene(scene)

    def show_frame(self, frame: Frame) -> None:
        """Show one iteration."""
        with self.stage:
            for part in self.parts:
                part.show_frame(frame)

    def show_surface(self, surface: Surface) -> None:
        """Show decision surfaces and errors."""
        with self.stage:
            for part in self.parts:
                part.show_surface(surface)

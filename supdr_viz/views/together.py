"""Views that hear of every piece of news together."""

from __future__ import annotations

from typing import Any

from supdr_viz.frames.types import Frame, Scene, Surface


class Together:
    """Passes scenes, frames, surfaces and themes on to all its parts."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """The points, then every view: in the order in which they must learn of news."""
        raise NotImplementedError

    def show_scene(self, scene: Scene) -> None:
        """Show another data set or split."""
        for part in self.parts:
            part.show_scene(scene)

    def show_frame(self, frame: Frame) -> None:
        """Show one iteration."""
        for part in self.parts:
            part.show_frame(frame)

    def show_surface(self, surface: Surface) -> None:
        """Show decision surfaces and errors."""
        for part in self.parts:
            part.show_surface(surface)

    def set_theme(self, dark: bool) -> None:
        """Change the colours; no data is sent again."""
        for part in self.parts:
            part.set_theme(dark)

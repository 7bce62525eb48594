"""The example of ClassAtlas, a method of this library."""

from __future__ import annotations

from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.preset import Preset


def atlas_of_digits() -> Preset:
    """Return the preset of the map with one chart per class."""
    return Preset(
        "digits-atlas",
        "Ten digits, a chart for each",
        "To start with",
        Settings(data="digits", method="ClassAtlas", test_share=0.3),
        "Every class has a chart of its own; a gate places doubtful digits near the border to the class they could be. "
        "Colour by trust to see where the map lies.",
    )

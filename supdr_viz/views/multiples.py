"""Small multiples: one run's two planes among those of others on the same rows, with one selection and one hover."""

from __future__ import annotations

from bokeh.models import CustomJS, HoverTool, Selection

from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import find_tool
from supdr_viz.views.input_space import InputPlane
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.sources import Points
from supdr_viz.views.together import Together

POINTED = 15
"""Size in pixels of the row under the pointer, in every figure."""

# A figure repaints the row that its source calls inspected; the others are told through their own sources.
_FOLLOW = """
const row = cb_data.index.indices.slice(0, 1)
for (const source of sources) {
  const known = source.inspected.indices
  if (source === cb_data.renderer.data_source || (known.length === row.length && known[0] === row[0])) continue
  source.inspected.indices = row
  source.inspect.emit([cb_data.renderer, {geometry: cb_data.geometry}])
}
"""


class Pair(Together):
    """Input and latent plane of one run.

    Parameters
    ----------
    selection : Selection
        Shared by all runs of the page: brushing is linked by row.
    dark, touch : bool
        See `supdr_viz.views.Board`.

    Attributes
    ----------
    points : Points
    input, latent
        The views.
    """

    def __init__(self, selection: Selection, *, dark: bool = False, touch: bool = False) -> None:
        self.points = Points(dark, selection)
        self.input = InputPlane(self.points, touch=touch)
        self.latent = LatentSpace(self.points, touch=touch)
        self._renderers = []
        for view in (self.latent, self.input):
            renderer = find_tool(view.figure, HoverTool).renderers[0]
            renderer.hover_glyph = renderer.glyph.clone(size=POINTED, fill_alpha=1.0, line_width=2.0)
            self._renderers.append(renderer)
        self.set_theme(dark)

    @property
    def parts(self) -> tuple:
        """The points, then the views: in the order in which they must learn of news."""
        return self.points, self.input, self.latent

    def set_theme(self, dark: bool) -> None:
        """Change the colours; no data is sent again."""
        super().set_theme(dark)
        for renderer in self._renderers:
            renderer.hover_glyph.line_color = palette(dark).boundary

    def name_models(self, letter: str) -> None:
        """Name figures and sources, so that the page can be asked about them: see the tests."""
        for name in ("input", "latent"):
            getattr(self, name).figure.name = f"{letter} {name}"
            getattr(self.points, name).name = f"{letter} {name} points"

    def follow(self, hover: CustomJS) -> None:
        """Tell the other runs of the page which row the pointer is on; see `link_hover`."""
        for view in (self.input, self.latent):
            find_tool(view.figure, HoverTool).callback = hover


def hover_link() -> CustomJS:
    """Make the link that `Pair.follow` takes; see `link_hover`."""
    return CustomJS(args={"sources": []}, code=_FOLLOW)


def link_hover(hover: CustomJS, pairs: list[Pair]) -> None:
    """Let the pointer on a row of one run mark the row in all figures of all runs.

    Parameters
    ----------
    hover : CustomJS
        Of `hover_link`.
    pairs : list of Pair
        All runs of the page.
    """
    for pair in pairs:
        pair.follow(hover)
    hover.args = {"sources": [source for pair in pairs for source in (pair.points.input, pair.points.latent)]}

"""Pictures of prepared sweeps: their heatmaps and curves, small, for the cards on the page of sweeps.

``python -m supdr_viz.pages.sensitivity.pictures`` runs the sweeps and draws all, with names of sweeps only those.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from supdr_viz.experiment.build import build_dataset
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import SweepSettings, build_sweep
from supdr_viz.papers.terminal import followed
from supdr_viz.presets.pictures import draw_all
from supdr_viz.presets.preset import Preset
from supdr_viz.ui.theme import palette

# Where the pictures are kept, one for every prepared sweep whose data are included.
PICTURES = Path(__file__).parents[2] / "assets" / "sweeps"

SIZE = (372, 181)
# Factor by which a picture is drawn larger before it is made smooth.
FINER = 4

QUALITY = 70


def drawn(means: NDArray[np.float64]) -> bytes:
    """Draw a grid of means as a heatmap, one row of them as a curve; what is empty lets the card shine through.

    `means` (a,) or (a, b): the first parameter goes across; NaN where a cell failed. Returns webP of `SIZE` pixels.
    Raises ValueError if no cell has a number.
    """
    known = means[np.isfinite(means)]
    if not known.size:
        raise ValueError("no cell of the sweep has a number: there is nothing to draw")
    canvas = Image.new("RGBA", (SIZE[0] * FINER, SIZE[1] * FINER))
    pen, colours = ImageDraw.Draw(canvas), palette(False).regions
    span = float(known.max() - known.min()) or 1.0
    level = (means - known.min()) / span
    if means.ndim == 1:
        _curve(pen, level, canvas.size)
    else:
        width, height = canvas.size[0] / means.shape[0], canvas.size[1] / means.shape[1]
        for (across, up), share in np.ndenumerate(level):
            if np.isfinite(share):
                left, top = across * width, canvas.size[1] - (up + 1) * height
                box = (left + FINER, top + FINER, left + width - FINER, top + height - FINER)
                pen.rectangle(box, fill=colours[round(float(share) * (len(colours) - 1))])
    out = io.BytesIO()
    canvas.resize(SIZE, Image.Resampling.LANCZOS).save(out, "WEBP", quality=QUALITY, method=6)
    return out.getvalue()


def _curve(pen: ImageDraw.ImageDraw, level: NDArray[np.float64], size: tuple[int, int]) -> None:
    """Draw a line with dots over the places 0, 1, …, from 0 at the lower to 1 at the upper edge."""
    edge, colour = 16 * FINER, palette(False).classes[0]  # seen on both themes' cards
    places = np.flatnonzero(np.isfinite(level))
    across = edge + places / max(len(level) - 1, 1) * (size[0] - 2 * edge)
    up = size[1] - edge - level[places] * (size[1] - 2 * edge)
    points = list(zip(across.tolist(), up.tolist()))
    pen.line(points, fill=colour, width=3 * FINER, joint="curve")
    for x, y in points:
        pen.ellipse((x - 5 * FINER, y - 5 * FINER, x + 5 * FINER, y + 5 * FINER), fill=colour)


def picture(preset: Preset[SweepSettings]) -> bytes:
    """Run a prepared sweep and draw what comes of it.

    `preset`: one whose data are included. Returns webP.
    """
    sweep, X, y = build_sweep(preset.settings, build_dataset(preset.settings.base), None)
    result = sweep.result(followed(sweep, sweep.run(X, y), preset.name))
    return drawn(result.means(preset.settings.metric))


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw pictures of prepared sweeps into the folder from which the page takes them.

    `arguments`: of the command line.
    """
    draw_all("sweep", SWEEP_PRESETS, PICTURES, picture, arguments)


if __name__ == "__main__":
    main()

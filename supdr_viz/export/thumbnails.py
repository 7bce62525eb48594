"""Runs examples and draws two plots of each, side by side, for the gallery.

A picture is drawn twice, for a light page and, at its right, for a dark one: the gallery shows the half that fits.

``python -m supdr_viz.export.thumbnails`` draws all, with names of examples only those.
"""

from __future__ import annotations

import functools
import io
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
from PIL import Image

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.export.film import squares
from supdr_viz.export.work import filming
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.gallery import PICTURES
from supdr_viz.presets.pictures import draw_all
from supdr_viz.presets.preset import Preset
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase

# Of each half.
SIZE = (372, 181)

# Of WebP, at which a half takes about four kilobytes.
QUALITY = 50

# Seconds for which an example runs; what it shows then is drawn.
LONGEST = 60

OVER = (Phase.finished, Phase.diverged, Phase.failed)


def thumbnail(pool: Pool, preset: Preset[Settings]) -> bytes:
    """Run an example and draw where it ends.

    `preset`: one whose data are at hand. Returns webP. Raises RuntimeError if nothing came of it.
    """
    with closing(Session(pool, lambda: None)) as session:
        settings = replace(preset.settings, speed="fast")
        session.apply(Experiment(settings))
        session.set_display(settings, method_mode=preset.mode if "method" in preset.look else "none")
        session.player.run()
        until = time.monotonic() + LONGEST
        while session.player.status.phase not in OVER and time.monotonic() < until:
            time.sleep(0.02)
        session.player.pause()
        draw = filming(session, moments=2)
        if draw is None:
            raise RuntimeError(f"the example {preset.name!r} shows nothing: {session.player.status}")
        replay = draw()
    # The truth, also where the method does not see it: most rows would be grey.
    scene = replace(replay.scene, is_labelled=np.ones_like(replay.scene.is_labelled))
    both = Image.new("RGB", (2 * SIZE[0], SIZE[1]))
    for number, dark in enumerate((False, True)):
        half = squares(replace(replay, scene=scene), preset.look, dark=dark)
        both.paste(half.resize(SIZE, Image.Resampling.LANCZOS), (number * SIZE[0], 0))
    out = io.BytesIO()
    both.save(out, "WEBP", quality=QUALITY, method=6)
    return out.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw pictures of examples into the folder from which the gallery takes them.

    `arguments`: of the command line.
    """
    draw_all("example", PRESETS, PICTURES, functools.partial(thumbnail, Pool(1)), arguments)


if __name__ == "__main__":
    main()

"""Draw the pictures of the examples, and compute the cells of the prepared sweeps, into the package's assets.

.venv/bin/python scripts/example_pictures.py [NAME ...] [--data-dir DIR]
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from supdr.datasets import Dataset
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.export.film import squares
from supdr_viz.export.work import filming
from supdr_viz.pages.sensitivity.elements import View
from supdr_viz.pages.sensitivity.prepared import packed_cells
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import SweepSettings, build_sweep
from supdr_viz.papers.data import OPENML, load_table
from supdr_viz.papers.terminal import followed
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.pictures import GALLERY, SIZE, SWEEPS
from supdr_viz.presets.preset import Preset
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.ui.theme import palette

# Of WebP: with this one, half a picture of an example takes about four kilobytes.
EXAMPLE_QUALITY, SWEEP_QUALITY = 36, 70

# Seconds for which an example runs; the iteration that it has reached then is drawn.
LONGEST = 60

OVER = (Phase.finished, Phase.diverged, Phase.failed)


def example_picture(preset: Preset[Settings]) -> bytes:
    """Run an example and draw its data with the boundary, and the latent rows beside; once light, once dark.

    Raises RuntimeError if there is nothing to draw.
    """
    with closing(Session(Pool(1), lambda: None)) as session:
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
    both.save(out, "WEBP", quality=EXAMPLE_QUALITY, method=6)
    return out.getvalue()


def sweep_picture(preset: Preset[SweepSettings], data_dir: Path | None) -> bytes:
    """Run a prepared sweep, keep its cells, and draw its means."""
    sweep, X, y = build_sweep(preset.settings, _rows(preset, data_dir), maps=True)
    result = sweep.result(followed(sweep, sweep.run(X, y), preset.name))
    (SWEEPS / f"{preset.name}.npz").write_bytes(packed_cells(preset.settings, result, X, y))
    return heatmap(result.means(preset.settings.metric), preset.settings.metric)


def _rows(preset: Preset[SweepSettings], data_dir: Path | None) -> Dataset:
    """Return the data of a sweep; those that are not included are a table in `data_dir`."""
    if preset.needs is None:
        return build_dataset(preset.settings.base)
    table = next(name for name, number in OPENML.items() if number == preset.needs.openml)
    return Dataset(*load_table(table, data_dir), task="classification")


def heatmap(means: NDArray[np.float64], metric: str) -> bytes:
    """Draw a grid (a, b) of means as a heatmap, one row (a,) of them as a curve; once light, once dark.

    The first parameter goes across; cells without a number stay empty. Returns WebP. Raises ValueError if no cell has a
    number.
    """
    if not np.isfinite(means).any():
        raise ValueError("no cell of the sweep has a number: there is nothing to draw")
    figure = Figure(figsize=(2 * SIZE[0] / 100, SIZE[1] / 100), dpi=100)
    for number, dark in enumerate((False, True)):
        ax = figure.add_axes((0.5 * number, 0.0, 0.5, 1.0))
        ax.set_axis_off()
        if means.ndim == 1:
            ax.margins(0.05, 0.1)
            ax.plot(means, "o-", color=palette(dark).classes[0], linewidth=2, markersize=8)
        else:
            shades = View(metric=metric, dark=dark).shades
            ax.imshow(means.T, origin="lower", aspect="auto", cmap=ListedColormap(shades))
    out = io.BytesIO()
    figure.savefig(out, format="webp", transparent=True, pil_kwargs={"quality": SWEEP_QUALITY, "method": 6})
    return out.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the pictures that a command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of examples and sweeps; default: all")
    parser.add_argument("--data-dir", type=Path, help="folder with the benchmark sets, for sweeps that need them")
    options = parser.parse_args(arguments)
    examples = {name: preset for name, preset in PRESETS.items() if preset.needs is None}
    sweeps = {name: preset for name, preset in SWEEP_PRESETS.items() if preset.needs is None or options.data_dir}
    able: dict[str, tuple[Path, Callable[[], bytes]]] = {
        **{name: (GALLERY, partial(example_picture, preset)) for name, preset in examples.items()},
        **{name: (SWEEPS, partial(sweep_picture, preset, options.data_dir)) for name, preset in sweeps.items()},
    }
    names = options.names or list(able)
    if unknown := [name for name in names if name not in able]:
        parser.error(f"there is no example {unknown[0]!r} whose data are included; there are {', '.join(able)}")
    for name in names:
        folder, draw = able[name]
        picture = draw()
        (folder / f"{name}.webp").write_bytes(picture)
        print(f"{name}.webp: {len(picture) / 1e3:.1f} kB", flush=True)


if __name__ == "__main__":
    main()

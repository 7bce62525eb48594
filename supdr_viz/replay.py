"""A finished run as a short film: what reports, GIFs and notebooks show.

Plain arrays like `Frame`, but all moments at once, with their decision surfaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.builder import FrameBuilder, ViewOptions
from supdr_viz.building import Split
from supdr_viz.frames import Curves, Scene, Sheet
from supdr_viz.surfaces import error_rates, evaluate

MAX_MOMENTS = 40
RESOLUTION = 40


@dataclass(frozen=True, eq=False)
class Moment:
    """One iteration of a film.

    Attributes
    ----------
    iteration : int
    latent : float32 array of shape (n, 2)
    extent : tuple of float
        Of the latent plane.
    input_sheet, latent_sheet : Sheet or None
    wrong : bool array of shape (n,)
    numbers : dict of str to float
        Objective and errors.
    """

    iteration: int
    latent: NDArray
    extent: tuple[float, float, float, float]
    input_sheet: Sheet | None
    latent_sheet: Sheet | None
    wrong: NDArray
    numbers: dict[str, float]


@dataclass(frozen=True, eq=False)
class Replay:
    """A film.

    Attributes
    ----------
    scene : Scene
    method : str
        What made it.
    moments : tuple of Moment
        At least one, in the order of iterations.
    losses : Curves
    latent_caption : str
        What the latent rows are.
    """

    scene: Scene
    method: str
    moments: tuple[Moment, ...]
    losses: Curves
    latent_caption: str


def make_replay(
    recorded: Sequence[tuple[Snapshot, Any]],
    scene: Scene,
    split: Split,
    *,
    method: str,
    losses: Curves,
    options: ViewOptions | None = None,
    limit: int = MAX_MOMENTS,
) -> Replay:
    """Draw recorded snapshots once more, evenly chosen, first and last included.

    Parameters
    ----------
    recorded : sequence of (Snapshot, estimator)
        In order; the estimators need not be fitted.
    scene : Scene
    split : Split
    method : str
        Name of the method.
    losses : Curves
    options : ViewOptions, optional
        Which latent rows and axes are shown.
    limit : int
        Most moments.

    Returns
    -------
    Replay

    Raises
    ------
    ValueError
        If nothing was recorded.
    """
    if not recorded:
        raise ValueError("There is nothing to show yet: run the method first.")
    options = options or ViewOptions(method_mode="none")
    builder = FrameBuilder(scene, split)
    moments, caption = [], ""
    for snapshot, estimator in _chosen(recorded, limit):
        fitted = estimator.at(snapshot)
        frame = builder.build(
            fitted,
            snapshot,
            ViewOptions(latent=options.latent, latent_axes=options.latent_axes, method_mode="none"),
            span=(recorded[0][0].iteration, recorded[-1][0].iteration),
            live=True,
            losses=losses,
            errors=Curves(np.zeros(0, dtype=int)),
            numbers={},
        )
        caption = frame.latent_caption
        assert builder.plane is not None
        surface = evaluate(fitted, scene, split, builder.plane, iteration=snapshot.iteration, resolution=RESOLUTION)
        moments.append(
            Moment(
                snapshot.iteration,
                frame.latent,
                frame.latent_extent,
                surface.input,
                surface.latent,
                surface.wrong,
                {"objective": snapshot.objective, **error_rates(surface, scene, snapshot)},
            )
        )
    return Replay(scene, method, tuple(moments), losses, caption)


def _chosen(recorded: Sequence[tuple[Snapshot, Any]], limit: int) -> Iterable[tuple[Snapshot, Any]]:
    places = np.unique(np.linspace(0, len(recorded) - 1, min(limit, len(recorded))).round().astype(int))
    return [recorded[place] for place in places]

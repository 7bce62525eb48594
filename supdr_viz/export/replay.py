"""A finished run as a short film: what reports, GIFs and notebooks show.

Plain arrays like `Frame`, but all moments at once, with their decision surfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.export.progress import Progress, no_progress
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.pictures.map_quality import sampled
from supdr_viz.pictures.methods import Mode, mode_of
from supdr_viz.pictures.scene import thinned
from supdr_viz.pictures.surface import evaluate
from supdr_viz.pictures.types import Curves, Frame, Scene, Surface
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder, fitted_at

MAX_MOMENTS = 40
# Points of the surfaces' grid per axis: values change smoothly, where regions have edges.
RESOLUTION = {"classification": 40, "regression": 24}


@dataclass(frozen=True, eq=False)
class Moment:
    """One iteration of a film.

    `frame`: what the squares show; `surface`: decision surfaces and errors; `numbers`: objective and errors.
    """

    frame: Frame
    surface: Surface
    numbers: dict[str, float]

    @property
    def iteration(self) -> int:
        """The iteration that is shown."""
        return self.frame.iteration


@dataclass(frozen=True, eq=False)
class Replay:
    """A film.

    method: what made it.
    options: what the squares show.
    moments: at least one, in the order of iterations.
    latent_caption: what the latent rows are.
    mode: what the pictures are.
    spread (n,): how far the places of each row lie apart in other fits; None: unknown.
    """

    scene: Scene
    method: str
    moments: tuple[Moment, ...]
    losses: Curves
    latent_caption: str
    mode: Mode | None = None
    options: DisplayOptions = field(default_factory=DisplayOptions)
    spread: NDArray | None = None


def make_replay(
    recorded: Sequence[tuple[Snapshot, Any]],
    scene: Scene,
    split: Split,
    *,
    method: str,
    losses: Curves,
    options: DisplayOptions | None = None,
    segments: tuple[int, ...] = (),
    limit: int = MAX_MOMENTS,
    spread: NDArray | None = None,
    progress: Progress = no_progress,
) -> Replay:
    """Draw recorded snapshots once more, evenly chosen, first and last included.

    `recorded`: in order; the estimators need not be fitted. `method`: name of the method. `options`: which latent rows
    and axes are shown, and which picture of the method; by default none. `segments`: iterations at which
    hyper-parameters changed. `limit`: most moments. `spread`: see `Replay`. `progress`: ``progress(done,
    total)`` after each moment. Raises ValueError if nothing was recorded.
    """
    if not recorded:
        raise ValueError("There is nothing to show yet: run the method first.")
    options = options or DisplayOptions()
    if options.colour_by == "spread" and spread is None:  # it is measured where the page asked for it
        options = replace(options, colour_by="label")
    options = replace(options, truth="trust" in (options.colour_by, options.size_by))
    mode = mode_of(recorded[-1][1], scene.task, options.method_mode, images=scene.images is not None)
    if mode is None or mode.is_measured:  # an experiment takes minutes: it stays in the app
        mode, options = None, replace(options, method_mode="none")
    scene = thinned(scene)
    builder = FrameBuilder(scene, split)
    span = (recorded[0][0].iteration, recorded[-1][0].iteration)
    moments, caption = [], ""
    chosen = _chosen(recorded, limit)
    for snapshot, estimator in chosen:
        fitted = fitted_at(estimator, snapshot, split)
        draw = partial(
            builder.build,
            fitted,
            snapshot,
            options,
            span=span,
            live=True,
            losses=_until(losses, snapshot.iteration),
            errors=Curves(np.zeros(0, dtype=int)),
            numbers={},
            segments=tuple(segment for segment in segments if segment <= snapshot.iteration),
        )
        frame, surface = _drawn(builder, draw, fitted, mode)
        if options.truth and builder.places is not None:
            builder.truth = sampled(builder.input_rows, builder.places, snapshot.iteration, size=None)
            frame = replace(frame, truth=builder.truth)
        surface = builder.valued(surface, fitted, options)
        caption = frame.latent_caption
        numbers = {"objective": snapshot.objective, **error_rates(surface, scene, snapshot)}
        moments.append(Moment(replace(frame, iteration=snapshot.iteration), surface, numbers))
        progress(len(moments), len(chosen))
    return Replay(scene, method, tuple(moments), losses, caption, mode, options, spread)


def _drawn(builder: FrameBuilder, draw: Callable[[], Frame], fitted: Any, mode: Mode | None) -> tuple[Frame, Surface]:
    """Draw a frame and its surface, and the frame again if its picture shows the surface."""
    frame = draw()
    assert builder.plane is not None
    resolution = RESOLUTION[builder.scene.task]
    surface = evaluate(
        fitted, builder.scene, builder.split, builder.plane, iteration=frame.iteration, resolution=resolution
    )
    builder.surface = surface.at_rest()
    return draw() if mode is not None and "surface" in mode.needs else frame, builder.surface


def _until(curves: Curves, iteration: int) -> Curves:
    recorded = curves.iteration <= iteration
    return Curves(curves.iteration[recorded], {name: values[recorded] for name, values in curves.values.items()})


def _chosen(recorded: Sequence[tuple[Snapshot, Any]], limit: int) -> list[tuple[Snapshot, Any]]:
    places = np.unique(np.linspace(0, len(recorded) - 1, min(limit, len(recorded))).round().astype(int))
    return [recorded[place] for place in places]

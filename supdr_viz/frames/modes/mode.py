"""What a mode of the method's view is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from supdr_viz.frames.picture import Picture
from supdr_viz.frames.types import Scene
from supdr_viz.settings.splitting import Split
from supdr_viz.studies.few_labels import Study

Build = Callable[..., Picture]
"""``build(fitted, scene, plane, snapshot, previous, **needs)``: the picture of one iteration.

`fitted` is ``at(snapshot)``, `plane` the latent plane on display, `previous` the last picture of this mode, whose
extent should be kept while it serves.  What else a mode `needs` comes by name.
"""


@dataclass(frozen=True)
class Mode:
    """One way in which a method shows itself.

    Attributes
    ----------
    name : str
        Key.
    label : str
        One word for the switch.
    title : str
        Title of the card.
    caption : str
        A few words beside the title.
    build : callable
        Makes the picture, in a worker thread.
    needs : tuple of {"split", "surface", "losses", "legs", "study", "places", "yardstick"}
        What `build` takes beside the usual: the rows themselves (`Split`), the latest predictions of all rows
        (`Surface` or None; it may trail the frames), the losses so far (`Curves`), the iterations at which
        hyper-parameters changed (tuple of int), the mode's own `study`, where the rows stand on the latent plane, the
        `Yardstick` that says which rows are near.
    study : callable or None
        ``study(scene, split)`` prepares an experiment that is worked on while this mode is shown and nothing runs.
    """

    name: str
    label: str
    title: str
    caption: str
    build: Build
    needs: tuple[str, ...] = ()
    study: Callable[[Scene, Split], Study] | None = None

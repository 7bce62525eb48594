"""A mode of the method's view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from supdr_viz.pictures.picture import Picture

# ``build(fitted, scene, plane, snapshot, previous, **needs)``: the picture of one iteration. `fitted` is
# ``at(snapshot)``, `plane` the latent plane on display, `previous` the last picture of this mode, whose extent should
# be kept while it serves. What else a mode `needs` comes by name.
Build = Callable[..., Picture]


@dataclass(frozen=True)
class Mode:
    """One way in which a method shows itself.

    name: key.
    label: one word for the switch.
    title: title of the card.
    caption: a few words beside the title.
    build: makes the picture, in a worker thread.
    needs: what `build` takes beside the usual: the rows themselves (`Split`), the latest predictions of all rows
        (`Surface` or None; it may trail the frames), the losses so far (`Curves`), the iterations at which
        hyper-parameters changed (tuple of int), what an experiment has measured so far (`FewLabelErrors`), where the
        rows stand on the latent plane, the `InputRows` that says which rows are near.
    """

    name: str
    label: str
    title: str
    caption: str
    build: Build
    needs: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether the picture shows what an experiment measures while the mode is on display and nothing runs."""
        return "study" in self.needs

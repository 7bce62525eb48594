"""A mode of the method's view."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from supdr_viz.pictures.picture import Picture

# Returns the picture of one iteration.  It is given what its parameters name:
#
# - `fitted`: ``at(snapshot)``; `snapshot`; `scene`; `split`: the rows themselves;
# - `plane`: the latent plane on display; `places`: where the rows stand on it;
# - `previous`: the last picture of this mode or None; its extent should be kept while it serves;
# - `surface`: the latest predictions of all rows or None; it may trail the frames;
# - `losses`: the `Curves` so far; `segments`: the iterations at which hyper-parameters changed;
# - `study`: the `FewLabelErrors` that an experiment has measured so far;
# - `input_rows`: the `InputRows` that says which rows are near.
Build = Callable[..., Picture]


@dataclass(frozen=True)
class Mode:
    """One way in which a method shows itself.

    name: key.
    label: one word for the switch.
    title: title of the card.
    caption: a few words beside the title.
    build: makes the picture, in a worker thread.
    """

    name: str
    label: str
    title: str
    caption: str
    build: Build

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Names of what `build` is given."""
        return tuple(inspect.signature(self.build).parameters)

    def draw(self, offered: Mapping[str, Any]) -> Picture:
        """Return the picture of one iteration; `offered`: what `build` may be given, by name."""
        return replace(self.build(**{name: offered[name] for name in self.needs}), mode=self.name)

    @property
    def is_measured(self) -> bool:
        """Whether the picture shows what an experiment measures while the mode is on display and nothing runs."""
        return "study" in self.needs

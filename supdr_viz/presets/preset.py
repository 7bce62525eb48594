"""What a preset is: prepared settings with a note of what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

# What is prepared: a run, a comparison or a sweep.
S = TypeVar("S")

# What is called the chosen example once something was changed.
OWN = "Custom settings"


@dataclass(frozen=True)
class Needs:
    """Data that do not come with the product.

    `rows`, `columns`: size by which a loaded data set is recognised. `openml`: number on openml.org; empty if it is not
    there as a whole. `file`: what to choose where OpenML does not help.
    """

    title: str
    rows: int
    columns: int
    openml: str = ""
    file: str = ""

    @property
    def how(self) -> str:
        """One sentence: how to get the data."""
        if not self.openml:
            return f"{self.title} is not included: choose {self.file}, {self.rows} rows of {self.columns} features."
        return (
            f"{self.title} is not included: press Load to fetch it from OpenML (number {self.openml}), or choose a "
            f"file with its {self.rows} rows and {self.columns} features."
        )


@dataclass(frozen=True)
class Preset(Generic[S]):
    """Prepared settings.

    name, label, group: key, title, heading in the gallery; a page with few examples has no headings.
    note: what to do, what to see and why, in at most 25 words; more: measurements and errata, behind a fold.
    needs: data that must be loaded first.
    mode: mode of the method's view to begin with; empty: the method's first.
    look: the two plots of its picture in the gallery, of `supdr_viz.export.film.picture`.
    slow_start: so many first steps are shown slowly, whatever the speed.
    """

    name: str
    label: str
    group: str
    settings: S
    note: str
    needs: Needs | None = None
    mode: str = ""
    slow_start: int = 0
    more: str = ""
    look: tuple[str, ...] = ("input", "latent")


class Presets(Mapping[str, Preset[S]]):
    """All presets of a page: name -> preset, in the order of its gallery.

    `opening`: name of what the page shows when its address asks for nothing.
    """

    def __init__(self, presets: Iterable[Preset[S]], opening: str) -> None:
        self._named = {preset.name: preset for preset in presets}
        self.opening = self._named[opening]

    def __getitem__(self, name: str) -> Preset[S]:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def name_of(self, settings: S) -> str:
        """Return the name of the preset that these settings are, or an empty text."""
        return next((preset.name for preset in self.values() if preset.settings == settings), "")

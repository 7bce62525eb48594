"""What a preset is: prepared settings with a note of what to look at."""

from __future__ import annotations

from dataclasses import dataclass

from supdr_viz.settings.state import Settings


@dataclass(frozen=True)
class Needs:
    """Data that do not come with the product.

    Attributes
    ----------
    title : str
    rows, columns : int
        Size by which a loaded data set is recognised.
    openml : str
        Number on openml.org; empty if it is not there as a whole.
    file : str
        What to choose where OpenML does not help.
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
class Preset:
    """Prepared settings.

    Attributes
    ----------
    name, label, group : str
        Key, text in the menu, heading in the menu.
    settings : Settings
    note : str
        What to look at.
    needs : Needs or None
        Data that must be loaded first.
    mode : str
        Mode of the method's view to begin with; empty: the method's first.
    slow_start : int
        So many first steps are shown slowly, whatever the speed.
    """

    name: str
    label: str
    group: str
    settings: Settings
    note: str
    needs: Needs | None = None
    mode: str = ""
    slow_start: int = 0

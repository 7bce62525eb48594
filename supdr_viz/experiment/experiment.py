"""An experiment: the settings and, where the user brought the data, the table that they name."""

from __future__ import annotations

from dataclasses import dataclass

from supdr.datasets import Dataset
from supdr_viz.experiment.settings import Settings


@dataclass(frozen=True, eq=False)
class Experiment:
    """Settings, and the rows that no settings can hold.

    A table goes with its settings from the control that loaded it to the run; another one of the same name is another
    experiment.

    `table`: what was loaded for the sources "openml" and "file"; None for others, and where it has yet to be loaded.
    """

    settings: Settings
    table: Dataset | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.settings == other.settings and self.table is other.table

    def same_data(self, other: Experiment) -> bool:
        """Whether `other` has the same rows and the same split."""
        return self.table is other.table and self.settings.same_data(other.settings)

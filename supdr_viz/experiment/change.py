"""How one experiment differs from the next, as far as that matters to a run."""

from __future__ import annotations

from dataclasses import dataclass

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU, METHODS_GROUP


@dataclass(frozen=True)
class Change:
    """The difference between two experiments.

    data: other rows, or other parts of them; then all else is another as well.
    labels: other taught labels of the same rows.
    method: another method.
    plane: another input plane.
    options: other hyper-parameters.
    restarts: the run cannot go on.
    """

    data: bool
    labels: bool
    method: bool
    plane: bool
    options: bool
    restarts: bool


def change_between(old: Experiment | None, new: Experiment) -> Change:
    """Return what `new` changes about `old`; None: there was none, so that all is new."""
    if old is None or not new.same_data(old):
        return Change(data=True, labels=True, method=True, plane=True, options=True, restarts=True)
    before, after = old.settings, new.settings
    labels = after.taught != before.taught
    refits = labels and MENU[after.method].group != METHODS_GROUP  # a baseline has no run that could go on
    return Change(
        data=False,
        labels=labels,
        method=after.method != before.method,
        plane=after.input_plane != before.input_plane,
        options=after.method_options != before.method_options,
        restarts=refits or after.needs_restart(before),
    )

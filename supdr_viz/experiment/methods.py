"""The method menu: every method with its form.

Whether a knob acts on the run that goes on or needs a restart is read off ``estimator.restart_parameters``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import supdr
from supdr.baselines import BASELINES, LogisticPCA
from supdr.baselines.one_shot import OneShot
from supdr.engine.parameters import Parameter, with_defaults
from supdr_viz.data.sources import MOST_ROWS
from supdr_viz.experiment.codec import toml_document

METHODS_GROUP, BASELINES_GROUP = "Methods", "Baselines"
# Methods whose steps grow with the rows and no faster.
TAKERS_OF_MANY = ("MAC", "LSDR", "SDRGLM")

# Most rows in memory of other methods.
USUAL_ROWS = 100_000

WORDS = {"classification": "classes", "regression": "numbers"}


@dataclass(frozen=True)
class Method:
    """One entry of the method menu.

    name, label, group: name in the library and in links, text in the menu, heading in the menu.
    help: one sentence.
    estimator: its class.
    form: its knobs.
    errors: what decides, where the iterations do not change the errors.
    """

    name: str
    label: str
    group: str
    help: str
    estimator: Any
    form: tuple[Parameter, ...]
    errors: str = ""

    @property
    def iterates(self) -> bool:
        """Whether there is a run; else one fit is all."""
        return not issubclass(self.estimator, OneShot)

    @property
    def bits_only(self) -> bool:
        """Whether it takes columns of 0 and 1 and no others."""
        return getattr(self.estimator, "family_x", "") == "bernoulli"

    def restarts(self, name: str) -> bool:
        """Whether a change of this knob starts the run again."""
        return not self.iterates or name in self.estimator.restart_parameters

    def tasks(self) -> tuple[str, ...]:
        """Return what it can learn, "classification", "regression" or both; what it does by default comes first."""
        parameters = inspect.signature(self.estimator).parameters
        if "task" not in parameters:
            return (getattr(self.estimator, "task", "classification"),)
        return (
            ("classification", "regression")
            if parameters["task"].default == "classification"
            else ("regression", "classification")
        )

    @property
    def learns(self) -> str:
        """The tasks that it learns, or that it takes several views."""
        if "views" in inspect.signature(self.estimator).parameters:
            return "several views"
        return " and ".join(WORDS[task] for task in sorted(self.tasks()))

    @property
    def takes_gaps(self) -> bool:
        """Whether it takes rows of which cells are missing, as they are."""
        return bool(self.estimator.accepts_missing_cells)

    @property
    def most_rows(self) -> int:
        """Most rows with which it answers within a few seconds a step, or a minute where there is one step only."""
        return MOST_ROWS if self.name in TAKERS_OF_MANY else USUAL_ROWS

    @property
    def takes_partitions(self) -> bool:
        """Whether it learns rows that are never all in memory, and tells of any of them."""
        return bool(self.estimator.takes_partitions and self.estimator.partition_support.any_rows)

    def learns_on_disk(self, task: str) -> bool:
        """Whether it learns such targets of rows that are on disk."""
        return self.takes_partitions and task in self.tasks()

    def suits(self, task: str) -> bool:
        """Whether it learns such targets, from features that are any numbers."""
        return task in self.tasks() and not self.bits_only


# Name of a method -> its label, and one sentence about it; in the order of the menu.
LABELS: dict[str, dict[str, str]] = toml_document(Path(__file__).with_suffix(".toml").read_bytes())


def _methods(group: str, classes: dict[str, Any]) -> dict[str, Method]:
    methods = {}
    for name, text in LABELS.items():
        if name in classes:
            form = (parameter for parameter in classes[name].parameters if parameter.label)
            methods[name] = Method(
                name, **text, group=group, estimator=classes[name], form=with_defaults(classes[name], form)
            )
    return methods


# LogisticUDR does the same on bits; it is found by its own name, too.
_COMPARED = {**BASELINES, "LogisticPCA": LogisticPCA}

# Name -> entry of the method menu, in its order.
MENU: dict[str, Method] = _methods(METHODS_GROUP, supdr.METHODS) | _methods(BASELINES_GROUP, _COMPARED)


def method_menu(task: str = "") -> dict[str, dict[str, str]]:
    """Return the menu of methods: heading, which says what they learn from what, -> text -> name.

    `task` (one of "classification", "regression"): leave out what learns no such targets; empty: all.
    """
    menu: dict[str, dict[str, str]] = {}
    for method in (each for each in MENU.values() if not task or task in each.tasks()):
        menu.setdefault(f"{method.group}: {method.learns}", {})[method.label] = method.name
    return menu


def method_for(task: str, current: str, *, on_disk: bool = False) -> str:
    """Return the method to begin with on other data: the one at hand if it suits them, else the menu's first that does.

    `task`: one of "classification", "regression"; `current`: key of `MENU`; `on_disk`: whether rows are never all
    in memory.
    """
    suited = [name for name, each in MENU.items() if each.suits(task) and (each.takes_partitions or not on_disk)]
    return current if current in suited else suited[0]


# Name of a method -> its knobs.
METHOD_FORMS: dict[str, tuple[Parameter, ...]] = {name: method.form for name, method in MENU.items()}

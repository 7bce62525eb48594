"""The method menu: every method with its form.

Whether a knob acts on the run that goes on or needs a restart is read off ``estimator.restart_parameters``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import supdr
from supdr.baselines import BASELINES, LogisticPCA
from supdr.baselines.one_shot import OneShot
from supdr_viz.settings.baselines import BASELINE_FORMS
from supdr_viz.settings.knobs import ParameterSpec, with_defaults
from supdr_viz.settings.methods import PAPER_FORMS

METHODS_GROUP, BASELINES_GROUP = "Methods", "Baselines"


@dataclass(frozen=True)
class Method:
    """One entry of the method menu.

    Attributes
    ----------
    name, label, group : str
        Name in the library and in links, text in the menu, heading in the menu.
    help : str
        One sentence.
    estimator : type
        Its class.
    form : tuple of ParameterSpec
        Its knobs.
    """

    name: str
    label: str
    group: str
    help: str
    estimator: Any
    form: tuple[ParameterSpec, ...]

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
        known = inspect.signature(self.estimator).parameters
        if "task" not in known:
            return (getattr(self.estimator, "task", "classification"),)
        return (
            ("classification", "regression")
            if known["task"].default == "classification"
            else ("regression", "classification")
        )


def _methods(group: str, classes: dict[str, Any]) -> dict[str, Method]:
    methods = {}
    for name, (label, help, form) in {**PAPER_FORMS, **BASELINE_FORMS}.items():
        if name in classes:
            methods[name] = Method(name, label, group, help, classes[name], with_defaults(classes[name], form))
    return methods


# LogisticUDR does the same on bits; who looks for it by its name finds it too.
_COMPARED = {**BASELINES, "LogisticPCA": LogisticPCA}

MENU: dict[str, Method] = _methods(METHODS_GROUP, supdr.METHODS) | _methods(BASELINES_GROUP, _COMPARED)
"""Name -> entry of the method menu, in its order."""

METHOD_FORMS: dict[str, tuple[ParameterSpec, ...]] = {name: method.form for name, method in MENU.items()}
"""Name of a method -> its knobs."""

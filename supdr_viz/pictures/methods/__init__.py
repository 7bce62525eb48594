"""Pictures of methods: one module per family of methods, each a list of modes.

A method that is not listed here has the modes that its fitted attributes allow.  Every map can be judged: the last mode
is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.pictures.methods import class_atlas, mac, sdr_glm, sldr, snf
from supdr_viz.pictures.methods.margins import MARGINS
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.methods.pairs import PAIRS
from supdr_viz.pictures.methods.reconstruction import RECONSTRUCTION
from supdr_viz.pictures.methods.regression import PREDICTIONS
from supdr_viz.pictures.methods.shepard import SHEPARD

__all__ = ["FAMILIES", "MARGINS", "PAIRS", "PREDICTIONS", "RECONSTRUCTION", "SHEPARD", "Mode", "mode_of", "modes_of"]


def modes_of(estimator: Any, task: str, *, images: bool = False) -> tuple[Mode, ...]:
    """Return the modes of an estimator, fitted or not; the first one is shown at first.

    `task`: one of "classification", "regression"; `images`: whether the rows are pictures. Returns tuple of Mode.
    """
    family = next((FAMILIES[each.__name__] for each in type(estimator).__mro__ if each.__name__ in FAMILIES), None)
    modes = (family or common_modes)(estimator, task)
    pairs = (PAIRS,) if images and hasattr(type(estimator), "reconstruction_") else ()
    return (*modes, *pairs, SHEPARD)


def mode_of(estimator: Any, task: str, name: str, *, images: bool = False) -> Mode | None:
    """Return the estimator's mode of this name, or None."""
    return next((mode for mode in modes_of(estimator, task, images=images) if mode.name == name), None)


def common_modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes that fitted attributes allow: values are predicted, labels have margins."""
    regression = task == "regression"
    attributes = {"reconstruction_": RECONSTRUCTION, **({} if regression else {"label_pull_": MARGINS})}
    shown = tuple(mode for attribute, mode in attributes.items() if hasattr(type(estimator), attribute))
    return (PREDICTIONS, *shown) if regression else shown


# Name of a class -> function of an estimator and a task that returns its modes.
FAMILIES: dict[str, Callable[[Any, str], tuple[Mode, ...]]] = {
    "ClassAtlas": class_atlas.modes,
    "MAC": mac.modes,
    "BaseSLDR": sldr.modes,
    "BaseSDRGLM": sdr_glm.modes,
    "BaseSNF": snf.modes,
}

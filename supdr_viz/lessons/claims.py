"""What a lesson says of its runs, as assertions that can be tried: `expect = "test_error <= 0.08"`."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.quality import model_quality
from supdr_viz.run.session import Session

RELATIONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt}
# Fewer test rows say too little of a map.
FEWEST = 50

_CLAIM = re.compile(r"\s*([a-z_]\w*)\s*(<=|>=|==|<|>)\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """A number of a run, and what it is said to be.

    `name`: key of `numbers_of`; `relation`: key of `RELATIONS`.
    """

    name: str
    relation: str
    bound: float

    def holds(self, numbers: Mapping[str, float]) -> bool:
        """Whether it is true of these numbers; one that is not there is not true."""
        return self.name in numbers and bool(RELATIONS[self.relation](numbers[self.name], self.bound))

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.bound:g}"


def read_claim(text: str) -> Claim | None:
    """Read a name, a relation and a number; None for anything else."""
    found = _CLAIM.fullmatch(text)
    return None if found is None else Claim(found[1], found[2], float(found[3]))


def numbers_of(session: Session) -> dict[str, float]:
    """Measure the iterate on display.

    Returns ``iteration``, ``objective``, losses and diagnostics by their names; ``train_error``, ``test_error``,
    ``labelled_error`` and ``unlabelled_error``: shares of wrong rows, or mean squared errors; ``rank`` of the latent
    rows; ``rmse`` of the reconstruction; ``sides``: the shortest distance between class means, of the longest;
    ``spread``: deviation within the classes, of the mean distance between their means; ``gap``: share of the objective
    above its bound; ``trust`` and ``centres``: trustworthiness of the map of the test rows, and the correlation of the
    distances between their class centres, see `supdr.quality`.  As far as they apply.
    """
    snapshot, fitted, parts, scene = session.player.shown, session.player.fitted, session.split, session.scene
    assert snapshot is not None
    assert parts is not None
    assert scene is not None
    numbers = {"iteration": float(snapshot.iteration), "objective": float(snapshot.objective)}
    numbers |= {name: float(value) for name, value in snapshot.losses.items()}
    numbers |= {name: float(value) for name, value in snapshot.diagnostics.items() if np.ndim(value) == 0}
    if "bound" in numbers and snapshot.objective > 0:
        numbers["gap"] = 1.0 - max(numbers["bound"], 0.0) / snapshot.objective
    latent = fitted.embedding_
    strengths = np.linalg.svd(latent - latent.mean(axis=0), compute_uv=False)
    numbers["rank"] = float((strengths > 1e-3 * max(strengths[0], 1e-12)).sum())
    if hasattr(fitted, "reconstruction_"):
        numbers["rmse"] = float(np.sqrt(np.nanmean((fitted.reconstruction_ - parts.X_train) ** 2)))
    if scene.task == "classification":
        numbers |= _shape(latent, parts.truth_train)
        if len(parts.test) >= FEWEST and not np.isnan(parts.X_train).any():
            quality = model_quality(fitted, parts.X_test, parts.y_test, fitted_on=(parts.X_train, parts.truth_train))
            numbers |= {"trust": quality.trustworthiness, "centres": quality.class_centre_correlation}
    predicted = np.concatenate([fitted.transduction_, fitted.predict(parts.X_test) if len(parts.X_test) else []])
    truth = np.concatenate([parts.truth_train, parts.y_test])
    wrong = predicted != truth if scene.task == "classification" else (predicted - truth) ** 2
    known, hidden = np.isfinite(truth), ~scene.is_test & ~scene.is_labelled
    groups = {"train": ~scene.is_test, "test": scene.is_test, "labelled": scene.is_labelled, "unlabelled": hidden}
    return numbers | {f"{name}_error": float(wrong[rows & known].mean()) for name, rows in groups.items() if rows.any()}


def _shape(latent: NDArray, truth: NDArray) -> dict[str, Any]:
    """Distances between the means of the classes, and how far rows lie from their own."""
    codes = np.unique(truth[np.isfinite(truth)])
    means = np.stack([latent[truth == code].mean(axis=0) for code in codes])
    first, second = np.triu_indices(len(codes), 1)
    sides = np.linalg.norm(means[first] - means[second], axis=1)
    if not sides.max() > 0:
        return {}
    own = np.concatenate([latent[truth == code] - mean for code, mean in zip(codes, means)])
    spread = np.sqrt((own**2).sum(axis=1).mean())
    return {"sides": float(sides.min() / sides.max()), "spread": float(spread / sides.mean())}

"""MAC's mapping F as a scikit-learn regressor with several outputs: the F step is its `fit` on the targets.

With auxiliary coordinates F only has to be fitted to targets: W. Wang, M. Á. Carreira-Perpiñán, "The
role of dimensionality reduction in linear classification", AAAI 2014, sections 2.2 and 6.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from supdr.engine.checks import same_value
from supdr.engine.interruption import abandonable

Array = NDArray[np.float64]

# Mappings that are linear in their parameters.
FEATURES = ("rbf", "linear")

PERCEPTRON = "perceptron"

HIDDEN_UNITS = (32, 32)

WEIGHT_DECAY = 0.1

# Quasi-Newton steps of the perceptron per pass; it goes on from its weights.
PERCEPTRON_STEPS = 20


@dataclass(frozen=True, eq=False)
class RegressorMapping:
    """A regressor as F; what it has learnt is never written to: each fit makes a new one.

    Two are equal if their regressors are of one class with equal parameters.

    `regressor`: its random states are None; `n_columns`: D.
    """

    regressor: Any
    n_columns: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegressorMapping):
            return NotImplemented
        return self.n_columns == other.n_columns and same_value(self.regressor, other.regressor)

    __hash__ = None  # type: ignore[assignment]

    def fitted(self, X: Array, targets: Array, rng: np.random.Generator) -> RegressorMapping:
        """Return the regressor fitted to targets (n, L) of rows (n, D); ``warm_start=True`` begins where it stands."""
        warm = _goes_on(self.regressor)
        regressor = copy.deepcopy(self.regressor) if warm else clone(self.regressor)
        regressor.set_params(**{name: int(rng.integers(2**31)) for name in _random_states(regressor)})
        single = targets.shape[1] == 1 and get_tags(_last(regressor)).target_tags.single_output
        with warnings.catch_warnings():
            if warm:  # the next pass goes on
                warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                abandonable(partial(regressor.fit, X, targets[:, 0] if single else targets))
            except (TypeError, ValueError) as error:
                raise ValueError(_refusal(regressor, targets.shape[1], error)) from error
        return RegressorMapping(regressor, self.n_columns)

    def apply(self, X: Array, weights: Array) -> Array:
        """Return F (n, L) of rows (n, D); raise ValueError unless it is L finite numbers a row."""
        images = np.asarray(self.regressor.predict(X), dtype=float)
        shape = len(X), weights.shape[1]
        if images.size != shape[0] * shape[1] or not np.isfinite(images).all():
            raise ValueError(
                f"mapping={self.regressor!r} must predict {shape[1]} finite numbers a row; it predicted an array of "
                f"shape {images.shape}{'' if np.isfinite(images).all() else ' with entries that are not finite'}"
            )
        return np.ascontiguousarray(images.reshape(shape))


def has_features(mapping: Any) -> bool:
    """Whether a `mapping` of MAC is linear in its parameters."""
    return isinstance(mapping, str) and mapping in FEATURES


def as_mapping(mapping: Any, n_columns: int) -> str | RegressorMapping:
    """Return "rbf" and "linear" as they are, and a regressor, not fitted, as a mapping of rows with D columns."""
    if has_features(mapping):
        return mapping
    regressor = perceptron() if isinstance(mapping, str) else clone(mapping)
    regressor.set_params(**dict.fromkeys(_random_states(regressor)))
    return RegressorMapping(regressor, n_columns)


def perceptron() -> Any:
    """Return the regressor that "perceptron" stands for; every pass continues from its weights."""
    from sklearn.neural_network import MLPRegressor  # few need it

    return MLPRegressor(
        hidden_layer_sizes=HIDDEN_UNITS,
        activation="tanh",
        solver="lbfgs",
        alpha=WEIGHT_DECAY,
        max_iter=PERCEPTRON_STEPS,
        warm_start=True,
    )


def check_mapping(model: Any) -> None:
    """Raise ValueError for a `mapping` of MAC that is none, or that does not go with its solver or its layers."""
    mapping = model.mapping
    if has_features(mapping):
        return
    by_name = isinstance(mapping, str) and mapping == PERCEPTRON
    if not by_name and not (isinstance(mapping, BaseEstimator) and is_regressor(mapping)):
        names = ", ".join(map(repr, (*FEATURES, PERCEPTRON)))
        raise ValueError(f"mapping must be {names} or a scikit-learn regressor, an instance; got {mapping!r}")
    if model.solver != "mac":
        raise ValueError(
            f"mapping must be 'rbf' or 'linear' with solver={model.solver!r}, which needs features of the rows; got "
            f"{mapping!r}, which solver='mac' takes"
        )
    if model.n_layers == 2:
        raise ValueError(f"mapping must be 'rbf' with n_layers=2, whose layers are Gaussians; got {mapping!r}")
    if not by_name and _goes_on(mapping) and _adds_members(mapping):
        raise ValueError(
            f"mapping={mapping!r} must have warm_start=False: an ensemble that goes on keeps the members that were "
            "fitted to earlier targets"
        )


# --- parts ------------------------------------------------------------------------------------------------------------


def _last(regressor: Any) -> Any:
    """Return the last step of a pipeline, or the regressor itself."""
    return _last(regressor[-1]) if isinstance(regressor, Pipeline) else regressor


def _goes_on(regressor: Any) -> bool:
    """Whether `fit` begins where the last one ended."""
    return bool(getattr(_last(regressor), "warm_start", False))


def _adds_members(regressor: Any) -> bool:
    """Whether to go on means to add members to an ensemble."""
    from sklearn.ensemble import BaseEnsemble, HistGradientBoostingRegressor  # few need it

    return isinstance(_last(regressor), (BaseEnsemble, HistGradientBoostingRegressor))


def _random_states(regressor: Any) -> list[str]:
    """Return the names of its random states, those of its parts included."""
    names = regressor.get_params(deep=True)
    return sorted(name for name in names if name == "random_state" or name.endswith("__random_state"))


def _refusal(regressor: Any, n_components: int, error: Exception) -> str:
    """Say that a regressor refused rows or targets, and what to do where it fits single outputs only."""
    advice = ""
    if n_components > 1:
        advice = (
            "; it must fit several outputs at once: sklearn.multioutput.MultiOutputRegressor makes one of a regressor "
            "for single outputs"
        )
    return f"mapping={regressor!r} does not fit targets of n_components={n_components} columns: {error}{advice}"

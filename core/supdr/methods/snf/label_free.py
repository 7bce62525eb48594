"""SNF with ``target_weight=0``: latent rows independent of labels and `reg_w`, shared by the cells of a sweep."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone

from supdr.engine.diagnostics import Diagnostics
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.reuse import reused


def is_label_free(estimator: Any) -> bool:
    """Whether the latent rows of a fit do not depend on labels."""
    return estimator.target_weight == 0 and estimator.solver == "lbfgs" and not estimator.early_stopping


def fit_from_label_free(estimator: Any, part: Any) -> Any:
    """Return the estimator fitted to a part of a sweep's rows: the end of the run without labels, then its targets."""
    others = {name: value for name, value in estimator.get_params().items() if name not in ("reg_w", "calibrate")}
    end, steps, stop, history = reused(
        "label-free SNF", lambda: (part.features_key, others), lambda: _label_free_end(estimator, part)
    )
    fitted = clone(estimator)
    fixed = {name: getattr(fitted, name) for name in sorted(fitted.restart_parameters)}
    start = Snapshot(end.iteration, 0, {}, Diagnostics({}), end, 0.0, fixed=fixed)
    fitted = fitted.at(next(fitted.iterate(part.X, part.y, start=start)))
    fitted.n_iter_, fitted.stop_, fitted.history_ = steps, stop, history
    return fitted


def _label_free_end(estimator: Any, part: Any) -> tuple[Any, int, Stop | None, dict[str, NDArray]]:
    fitted = clone(estimator).set_params(calibrate=False).fit(part.X, part.y)
    return fitted.snapshot_.state, fitted.n_iter_, fitted.stop_, fitted.history_

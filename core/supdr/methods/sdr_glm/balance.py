"""How the reconstruction weighs against the targets: the choice of lam, and warnings of one that drowns either."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supdr.methods.sdr_glm.estimator import SDRGLM
    from supdr.methods.sdr_glm.problem import SDRGLMProblem

# From this lam H_X / H_Y (of a row) on the labels hardly move the latent rows.
DROWNED = 100.0


def chosen_weight(weight: Any, ratio: float, label_loss: float, feature_loss: float) -> float:
    """Return lam: the given weight, or kappa H_Y / H_X for "auto", kappa alone where either explains nothing."""
    if weight != "auto":
        return float(weight)
    return float(ratio) * (label_loss / feature_loss if label_loss > 0.0 and feature_loss > 0.0 else 1.0)


def warn_of_imbalance(model: SDRGLM, problem: SDRGLMProblem) -> None:
    """Warn the caller of `fit` of ridges that leave no component, and of labels that are hardly seen."""
    label_loss, feature_loss = model._balance
    if feature_loss > 0.0 and problem.all_components_die():
        warnings.warn(
            "the ridges outweigh the reconstruction: sqrt(reg_u reg_v) / recon_weight is so large that it keeps no "
            f"component by itself, and the effective rank is {int(model.history_['effective_rank'][-1])} of "
            f"{problem.n_components}. Raise recon_weight ({model.recon_weight_:g}), lower reg_u or reg_v, or set "
            "reg_scaling='lam'",
            UserWarning,
            stacklevel=5,
        )
    outweighed = model.recon_weight_ * feature_loss * model._label_share
    if label_loss > 0.0 and outweighed > DROWNED * (1.0 + 1e-9) * label_loss:
        warnings.warn(
            f"the reconstruction outweighs the targets {outweighed / label_loss:.0f} times: "
            f"the latent rows hardly see them. Lower recon_weight ({model.recon_weight_:g}) or recon_ratio",
            UserWarning,
            stacklevel=5,
        )

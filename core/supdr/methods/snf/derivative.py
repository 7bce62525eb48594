"""How the latent rows of new data move with the columns of SNF.

z = argmin |x - f(z)|^2 + reg_z |z|^2: with J = df/dz (D, M) and e = x - f(z) its gradient, reg_z z - J e, is 0 whatever
x is, so that

    (J J' + reg_z I - sum_m e_m d2f_m / dz2) dz/dx = J         over the observed cells
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.solvers.kernel_ridge import Dual, Fit, Primal, explicit
from supdr.solvers.reconstruction import split_missing


def fold_in_derivative(
    form: Primal | Dual, fit: Fit, anchors: NDArray, reg_z: float, X: NDArray, latent: NDArray
) -> NDArray:
    """Return dz / dx (p, D, M); 0 where a cell is missing.

    `form`, `fit`, `anchors`, `reg_z`, `X` (p, M): as for `embedded`, which returns `latent` (p, D).
    """
    filled, observed = split_missing(X)
    seen = np.ones_like(filled) if observed is None else observed
    form, fit = explicit(form, fit, anchors)
    slopes = form.jacobian(fit, anchors, latent) * seen[:, None, :]
    residual = (filled - form.predict(fit, anchors, latent)) * seen
    bent = form.hessian(fit, anchors, latent, residual)
    system = slopes @ slopes.transpose(0, 2, 1) + reg_z * np.eye(latent.shape[1]) - bent
    return np.linalg.solve(system, slopes)

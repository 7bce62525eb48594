"""Least squares support vector machine: kernel ridge regression with a bias, on the labelled rows only."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.baselines._direct import DirectMethod, input_kernel
from supdr.baselines._parameters import DIRECT, SCALED_GAMMA
from supdr.engine.common_parameters import COEF0, DEGREE, EXTRAPOLATE, HINGE_WEIGHT, KERNEL, POLY, RBF
from supdr.engine.targets import Targets
from supdr.solvers.kernel_ridge import Dual, Fit


@dataclass(frozen=True, eq=False)
class _Expansion:
    """A kernel expansion around labelled rows."""

    form: Dual
    fit: Fit
    X: NDArray

    def predict(self, X: NDArray) -> NDArray:
        return self.form.predict(self.fit, self.X, X)


@dataclass(eq=False, repr=False)
class LSSVM(DirectMethod):
    """Least squares SVM: (K + I / C) a + 1 b = y, 1'a = 0 on the labelled rows.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the squared errors, > 0.
    preprocessing, random_state, verbose, missing_label, task
        As in `DirectMethod`.
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        Kernel on the input.
    degree : int, default=2
        Power of "poly", >= 1.
    gamma : float or "scale", default="scale"
        exp(-gamma |x - x'|^2) of "rbf", > 0; "scale" is 1 / (number of columns times their variance).
    coef0 : float, default=1.0
        Constant of "poly", >= 0.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there for regression, unless the kernel is "rbf", and `predict` warns.

    Attributes
    ----------
    dual_coef_ : array of shape (T, n_labelled)
        a.
    intercept_ : array of shape (T,)
        b.

    References
    ----------
    J. A. K. Suykens, J. Vandewalle, "Least Squares Support Vector Machine Classifiers", 1999.
    """

    parameters = (
        replace(HINGE_WEIGHT, label="Error weight", high=1e4, help="Weight of squared errors."),
        replace(KERNEL, help="Kernel on the inputs."),
        replace(DEGREE, shown_when=POLY),
        replace(SCALED_GAMMA, shown_when=RBF),
        replace(COEF0, shown_when=POLY),
        replace(EXTRAPOLATE, shown_when={"kernel": ("poly", "linear")}),
        *DIRECT,
    )

    C: float = 10.0
    _: KW_ONLY
    kernel: str = "rbf"
    degree: int = 2
    gamma: float | str = "scale"
    coef0: float = 1.0
    extrapolate: bool = False

    @property
    def dual_coef_(self) -> NDArray:
        """Dual weights (T, n_labelled)."""
        check_is_fitted(self)
        return self.model_.fit.coef.T

    @property
    def intercept_(self) -> NDArray:
        """Bias (T,)."""
        check_is_fitted(self)
        return self.model_.fit.bias + self._mean

    @property
    def label_pull_(self) -> NDArray:
        """Influence of each label, (n,): the row's residual, a / C, as a share of the largest; 0 without label."""
        check_is_fitted(self)
        size = np.abs(self.dual_coef_).max(axis=0)
        return self._over_training_rows(size / max(size.max(), np.finfo(float).tiny))

    def _clips_new_rows(self) -> bool:
        """Whether cells far outside of the training rows are clipped: a sum of Gaussians has bounds of its own."""
        return self.kernel != "rbf" and super()._clips_new_rows()

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        input_kernel(self.kernel, np.ones((1, 1)), self.degree, self.gamma, self.coef0)

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, _Expansion]:
        form = Dual(input_kernel(self.kernel, X, self.degree, self.gamma, self.coef0), 1.0 / self.C)
        fit, _ = form.solve(X[rows], values)
        model = _Expansion(form, fit, X[rows])
        return model.predict(X), model

"""NSDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine import common_parameters as shared

PARAMETERS = (
    shared.PLANE,
    shared.KERNEL,
    replace(shared.DEGREE, shown_when=shared.POLY),
    replace(shared.GAMMA, shown_when=shared.RBF),
    shared.HINGE_WEIGHT,
    shared.CLASS_WEIGHT,
    shared.BETA,
    replace(shared.SOLVER, main=False),
    replace(shared.COEF0, shown_when=shared.POLY),
    shared.REG_U,
    shared.REG_V,
    shared.PREPROCESSING,
    shared.ROW_BIAS,
    shared.CALIBRATE,
    shared.INIT,
    shared.INIT_SCALE,
    shared.LR_RECONSTRUCTION,
    shared.LR_CLASSIFICATION,
    *shared.RUN,
    *shared.HOUSEKEEPING,
)

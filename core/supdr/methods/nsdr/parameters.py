"""NSDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine.common_parameters import (
    BETA,
    CALIBRATE,
    CLASS_WEIGHT,
    COEF0,
    DEGREE,
    GAMMA,
    HINGE_WEIGHT,
    HOUSEKEEPING,
    INIT,
    INIT_SCALE,
    KERNEL,
    LR_CLASSIFICATION,
    LR_RECONSTRUCTION,
    PLANE,
    POLY,
    PREPROCESSING,
    RBF,
    REG_U,
    REG_V,
    ROW_BIAS,
    RUN,
    SOLVER,
)

PARAMETERS = (
    PLANE,
    KERNEL,
    replace(DEGREE, shown_when=POLY),
    replace(GAMMA, shown_when=RBF),
    HINGE_WEIGHT,
    CLASS_WEIGHT,
    BETA,
    replace(SOLVER, main=False),
    replace(COEF0, shown_when=POLY),
    REG_U,
    REG_V,
    PREPROCESSING,
    ROW_BIAS,
    CALIBRATE,
    INIT,
    INIT_SCALE,
    LR_RECONSTRUCTION,
    LR_CLASSIFICATION,
    *RUN,
    *HOUSEKEEPING,
)

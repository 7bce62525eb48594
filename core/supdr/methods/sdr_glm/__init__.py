"""SDRGLM: see `supdr.methods.sdr_glm.estimator`."""

from supdr.methods.sdr_glm.estimator import SDRGLM

__all__ = ["SDRGLM"]

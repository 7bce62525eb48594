"""SLDR: see `supdr.methods.sldr.estimator`."""

from supdr.methods.sldr.estimator import SLDR

__all__ = ["SLDR"]

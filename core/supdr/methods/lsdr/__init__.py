"""LSDR: see `supdr.methods.lsdr.estimator`."""

from supdr.methods.lsdr.estimator import LSDR

__all__ = ["LSDR"]

"""NSDR: see `supdr.methods.nsdr.estimator`."""

from supdr.methods.nsdr.estimator import NSDR

__all__ = ["NSDR"]

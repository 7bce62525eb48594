"""SNF: see `supdr.methods.snf.estimator`."""

from supdr.methods.snf.estimator import SNF

__all__ = ["SNF"]

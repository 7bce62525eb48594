"""MAC: see `supdr.methods.mac.estimator`."""

from supdr.methods.mac.estimator import MAC

__all__ = ["MAC"]

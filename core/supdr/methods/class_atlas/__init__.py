"""ClassAtlas: see `supdr.methods.class_atlas.estimator`."""

from supdr.methods.class_atlas.estimator import ClassAtlas

__all__ = ["ClassAtlas"]

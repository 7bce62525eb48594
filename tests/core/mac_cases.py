"""Runs of MAC on spirals, for its tests."""

from supdr.datasets import make_spirals
from supdr.methods.mac.estimator import MAC


def spirals(n_classes=2, n_per_class=60, **settings):
    X, y = make_spirals(n_classes, n_per_class, turns=1.0, random_state=0).to_xy()
    plain = {"gamma": 30.0, "n_centers": 40, "centers": "random", "preprocessing": "none", "random_state": 0}
    plain |= {"reg_w": 1e-3, "early_stopping": False}
    return MAC(**{**plain, **settings}), X, y


def snapshots(model, X, y, **settings):
    return list(model.iterate(X, y, **settings))

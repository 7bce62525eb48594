"""
Watch it learn
==============

``iterate`` yields a snapshot per step, and ``at`` the model as it was then: MAC on three spirals, from a
random start, where it puts the rows at four iterations.
"""

import matplotlib.pyplot as plt

import supdr
from supdr_viz import plots

data = supdr.datasets.make_spirals(3, 150, turns=1.0, random_state=0)
settings = {"n_centers": 60, "gamma": 34.7, "reg_w": 1e-3, "preprocessing": "none", "early_stopping": False}
model = supdr.MAC(2, **settings, solver="lbfgs", init="random", max_iter=60, random_state=0)
snapshots = list(model.iterate(data.X, data.y))

figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for ax, number in zip(axes, (0, 3, 8, len(snapshots) - 1)):
    then = model.at(snapshots[number])
    plots.latent(then, data.y, ax=ax)
    ax.set_title(f"iteration {number}, error {1 - then.score(data.X, data.y):.2f}")

"""
Three spirals become a triangle
===============================

MAC maps three tangled arms to three corners. At the left what it predicts, at the right where its map puts
the rows.
"""

import matplotlib.pyplot as plt

import supdr
from supdr_viz import plots

data = supdr.datasets.make_spirals(3, 150, turns=1.0, random_state=0)
settings = {"gamma": 34.7, "reg_w": 1e-3, "preprocessing": "none", "early_stopping": False}
model = supdr.MAC(2, **settings, max_iter=20, random_state=0).fit(data.X, data.y)

figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
plots.boundary(model, data.X, data.y, ax=left)
plots.latent(model, data.y, ax=right)

"""
A gate and three lines
======================

SLDR divides the plane among local models; each needs one direction only. At the left whose region it is, at
the right what they predict together.
"""

import matplotlib.pyplot as plt

import supdr
from supdr_viz import plots

data = supdr.datasets.make_zigzag(400, random_state=0)
model = supdr.SLDR(1, n_models=3, starts="best", random_state=0).fit(data.X, data.y)

figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
plots.gating(model, data.X, data.y, ax=left)
plots.boundary(model, data.X, data.y, ax=right)

"""
How far can the objective still fall?
=====================================

Joint L-BFGS and the certified bound below it (dashed): what no choice of the parameters can go below.
"""

import matplotlib.pyplot as plt

import supdr
from supdr_viz import plots

data = supdr.datasets.make_spirals(3, 150, turns=1.0, random_state=0)
model = supdr.MAC(3, n_centers=60, reg_w=0.1, solver="lbfgs", max_iter=60, random_state=0).fit(data.X, data.y)

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
plots.losses(model, ["objective", "bound"], ax=ax)

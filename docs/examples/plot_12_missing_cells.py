"""
Missing cells
=============

A third of all cells is missing. They take no part in the sum of squares, and the reconstruction fills them
in: better than the mean of the column, the diagonal being perfect.
"""

import matplotlib.pyplot as plt
import numpy as np

import supdr

X, y = supdr.datasets.load("wine").to_xy()
X = (X - X.mean(axis=0)) / X.std(axis=0)
missing = np.random.default_rng(0).random(X.shape) < 1 / 3
holed = np.where(missing, np.nan, X)
model = supdr.LSDR(4, reg_u=0.1, reg_v=0.1, preprocessing="none", random_state=0).fit(holed, y)
filled = model.inverse_transform(model.embedding_)

figure, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.scatter(X[missing], filled[missing], s=6, color="0.3", linewidth=0)
ax.axline((0, 0), slope=1, color="0.7", linewidth=0.8)
error = np.mean((X - filled)[missing] ** 2) / np.mean(X[missing] ** 2)
ax.set(xlabel="true value", ylabel="filled in", title=f"squared error: {error:.2f} of the mean's")

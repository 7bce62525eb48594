"""
What the label does to a row
============================

``embedding_`` was learnt with the labels, ``transform`` places the same rows without them. Each line joins
the two places of one row.
"""

import matplotlib.pyplot as plt
import numpy as np

import supdr

data = supdr.datasets.load("wine")
model = supdr.NSDR(2, random_state=0).fit(data.X, data.y)
learnt, placed = model.embedding_, model.transform(data.X)

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(*np.stack([learnt, placed]).transpose(2, 0, 1), color="0.7", linewidth=0.8, zorder=1)
ax.scatter(*learnt.T, c=data.y, cmap="tab10", vmax=9, s=14, label="embedding_")
ax.scatter(*placed.T, c=data.y, cmap="tab10", vmax=9, s=14, marker="x", linewidth=0.8, label="transform")
ax.legend(frameon=False)

"""
Go on from a snapshot
=====================

A run can be continued from any of its snapshots, also under other hyper-parameters: here the weight of the
reconstruction falls after 20 steps, and the loss of the classifier follows.
"""

import matplotlib.pyplot as plt

import supdr

data = supdr.datasets.load("breast_cancer")
first = supdr.LSDR(2, beta=0.98, max_iter=20, tol=0, random_state=0)
begun = list(first.iterate(data.X, data.y))
second = supdr.LSDR(2, beta=0.2, max_iter=40, tol=0, random_state=0)
continued = list(second.iterate(data.X, data.y, start=begun[-1]))

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
for model, snapshots in ((first, begun), (second, continued)):
    steps = [snapshot.iteration for snapshot in snapshots]
    losses = [snapshot.losses["label"] / (1 - model.beta) for snapshot in snapshots]  # without its weight
    ax.plot(steps, losses, marker=".", label=f"beta = {model.beta}")
ax.set(xlabel="iteration", ylabel="loss of the classifier", yscale="log")
ax.legend(frameon=False)

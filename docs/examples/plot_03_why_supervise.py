"""
Why supervise a reduction?
==========================

The direction that varies most need not be the one that tells classes apart. Principal components see a cloud;
LSDR is told the labels, and rows that it has not seen fall apart too.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import supdr
from supdr_viz import plots

X, y = supdr.datasets.make_wide_factors(random_state=0).to_xy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
for ax, model in zip(axes, (supdr.baselines.PCAProjection(n_components=2), supdr.LSDR(2, random_state=0))):
    model.fit(X_train, y_train)
    plots.latent(model, y_test, X=X_test, ax=ax)
    ax.set_title(f"{type(model).__name__}: new rows")

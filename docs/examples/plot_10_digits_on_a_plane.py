"""
Ten digits on a plane
=====================

MAC with two layers lays ten classes out on a plane by leave-one-out codes. New rows take the same formula.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import supdr
from supdr_viz import plots

X, y = supdr.datasets.load("digits").to_xy()
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = supdr.MAC(n_layers=2, random_state=0).fit(X_train, y_train)

figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
plots.latent(model, y_test, X=X_test, ax=ax)
ax.set_title(f"{len(X_test)} new digits, error {1 - model.score(X_test, y_test):.3f}")

"""
Which view counts for which digit?
==================================

Four views of the same digits: pixels, profiles, Fourier coefficients and components. The gate decides row by
row.
"""

import matplotlib.pyplot as plt
import numpy as np

import supdr

data = supdr.datasets.make_multiview_digits(classes="halves")
model = supdr.SLDR(views=data.views, n_init=1, random_state=0).fit(data.X[:900], data.y[:900])
gate, names = model.gate(data.X[900:]), ["pixels", "profiles", "Fourier", "components"]

figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.bar(names, gate.mean(axis=0), yerr=gate.std(axis=0) / np.sqrt(len(gate)), color="0.6")
ax.set_ylabel("mean gate of new rows")
ax.set_title(f"accuracy of new rows: {model.score(data.X[900:], data.y[900:]):.3f}")

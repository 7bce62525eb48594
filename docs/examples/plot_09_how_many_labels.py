"""
How many labels does it take?
=============================

Rows without a label carry NaN in ``y``. Five draws for each share of labels; the error is that of the rows
whose label was hidden.
"""

import matplotlib.pyplot as plt
import numpy as np

import supdr
from supdr.datasets import hide_labels

data = supdr.datasets.load("breast_cancer")
shares, errors = (0.02, 0.05, 0.1, 0.3), []
for share in shares:
    of_share = []
    for seed in range(5):
        y = hide_labels(data.y, share, task="classification", random_state=seed)
        model = supdr.LSDR(2, random_state=0).fit(data.X, y)
        hidden = np.isnan(y)
        of_share.append(np.mean(model.transduction_[hidden] != data.y[hidden]))
    errors.append(of_share)

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.errorbar(shares, np.mean(errors, axis=1), np.std(errors, axis=1), marker="o", capsize=3, color="0.3")
ax.set(xscale="log", xlabel="share of labels", ylabel="error of the rows without one", ylim=(0, None))
ax.set_xticks(shares, [f"{share:.0%}" for share in shares])
ax.minorticks_off()

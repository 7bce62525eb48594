"""
Bits are not numbers
====================

Digits as black and white pixels, rebuilt from five latent coordinates. Under its Bernoulli family SDR-GLM
gives the probability of each bit; taken as numbers, the same bits come back as values that no probability
has.
"""

import matplotlib.pyplot as plt
import numpy as np

import supdr

X, y = supdr.datasets.load_digits_bits().to_xy()

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
for family in ("bernoulli", "gaussian"):
    model = supdr.SDRGLM(5, family_x=family, recon_weight=1.0, max_iter=50, random_state=0).fit(X, y)
    rebuilt = model.inverse_transform(model.embedding_)
    ax.hist(rebuilt.ravel(), np.linspace(-0.6, 1.6, 89), histtype="step", label=family)
ax.axvspan(0, 1, color="0.93", zorder=0)
ax.set(xlabel="rebuilt value of a bit", ylabel="cells")
ax.legend(frameon=False)

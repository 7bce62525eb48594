"""
Few labels, many rows
=====================

Twenty of 400 rows have a label; SNF unrolls the sheet on which they lie. Colours: the true target of every
row.
"""

import matplotlib.pyplot as plt

import supdr
from supdr_viz import plots

data = supdr.datasets.make_curved_sheet(random_state=2)
model = supdr.SNF(n_components=2, preprocessing="none", random_state=2).fit(data.X, data.y)

figure, ax = plt.subplots(figsize=(4.5, 3.8), layout="constrained")
plots.latent(model, data.truth, ax=ax)

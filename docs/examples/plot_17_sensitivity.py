"""
How sensitive is it?
====================

The error of LSDR by cross-validation, over two of its parameters. The page *Sensitivity* of the app draws the
same map while it is computed.
"""

import matplotlib.pyplot as plt

import supdr
from supdr.sensitivity import InProcess, Sweep, logarithmic
from supdr_viz import plots

X, y = supdr.datasets.load("wine").to_xy()
grid = {"beta": [0.1, 0.5, 0.9], "reg_w": logarithmic(1e-3, 10, 5)}
sweep = Sweep(supdr.LSDR(max_iter=20, random_state=0), grid, cv=3)

figure, ax = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
plots.sensitivity(sweep.result(sweep.run(X, y, InProcess())), ax=ax)

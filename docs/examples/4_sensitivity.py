"""How sensitive is it?

The error of LSDR by cross-validation, over two of its parameters.
"""

import supdr
from supdr.sensitivity import InProcess, Sweep, logarithmic
from supdr_viz import plots

X, y = supdr.datasets.load("wine").to_xy()
grid = {"beta": [0.1, 0.5, 0.9], "reg_w": logarithmic(1e-3, 10, 5)}
sweep = Sweep(supdr.LSDR(max_iter=20, random_state=0), grid, cv=3)
picture = plots.sensitivity(sweep.result(sweep.run(X, y, InProcess())))

"""A gate and three lines

SLDR divides the plane among local models; each needs one direction only.
"""

import supdr
from supdr_viz import plots

data = supdr.datasets.make_zigzag(400, random_state=0)
model = supdr.SLDR(1, solver="lbfgs", n_init=5, random_state=0).fit(data.X, data.y)
picture = plots.gating(model, data.X, data.y) + plots.boundary(model, data.X, data.y)

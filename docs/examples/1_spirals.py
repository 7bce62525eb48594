"""Three spirals become a triangle

MAC maps three tangled arms to three corners. At the left what it predicts, at the right where its map puts the rows.
"""

import supdr
from supdr_viz import plots

data = supdr.datasets.make_spirals(3, 150, turns=1.0, random_state=0)
model = supdr.MAC(2, gamma=34.7, preprocessing="none", max_iter=20, random_state=0).fit(data.X, data.y)
picture = plots.boundary(model, data.X, data.y) + plots.latent(model, data.y)

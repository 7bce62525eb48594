"""Few labels, many rows

Twenty of 400 rows have a label; SNF unrolls the sheet on which they lie. Colours: the true target of every row.
"""

import supdr
from supdr_viz import plots

data = supdr.datasets.make_curved_sheet(random_state=2)
model = supdr.SNF(preprocessing="none", random_state=2).fit(data.X, data.y)
picture = plots.latent(model, data.truth)

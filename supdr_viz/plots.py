"""Plots of fitted estimators, for notebooks and papers.

Every function takes what is fitted, a pipeline or an estimator, and returns a picture: a HoloViews element to zoom into
and to combine (``+``, ``*``), or with ``backend="matplotlib"`` a figure for print.  `save` writes both.

>>> import supdr
>>> from supdr_viz import plots
>>> data = supdr.datasets.make_spirals(3, 60, random_state=0)
>>> model = supdr.MAC(random_state=0).fit(data.X, data.y)
>>> picture = plots.boundary(model, data.X, data.y) + plots.latent(model, data.y) + plots.losses(model)
"""

from supdr_viz.serving.extras import importing_app

with importing_app("supdr_viz.plots"):
    from supdr_viz.export.plot_files import save
    from supdr_viz.export.plots import boundary, gating, latent, losses, sensitivity

__all__ = ["boundary", "gating", "latent", "losses", "save", "sensitivity"]

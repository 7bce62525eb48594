"""The explorer, and by its tabs the other pages: ``panel serve apps/explorer.py``."""

from supdr_viz.panel_serve import show

show("explorer")

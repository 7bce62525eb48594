"""The compare page, and by its tabs the other pages: ``panel serve apps/compare.py``."""

from supdr_viz.panel_serve import show

show("compare")

"""The explorer as a page of its own: ``panel serve apps/explorer.py``."""

from supdr_viz.pages.explorer import explorer

explorer().servable(title="supdr · Explore")

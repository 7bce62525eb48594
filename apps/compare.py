"""The compare page on its own: ``panel serve apps/compare.py``."""

from supdr_viz.pages import title_of
from supdr_viz.pages.compare import compare

compare().servable(title=title_of("compare"))

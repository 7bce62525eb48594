"""Watch a fit in a notebook: pictures while it runs, then a report with a scrubber that stays in the saved notebook."""

from supdr_viz.notebook.live_fit import Watched, watch

__all__ = ["Watched", "watch"]

"""Data of openml.org.  Nothing is loaded unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from supdr.datasets import Dataset, load_openml
from supdr_viz.controls.upload import Loaded, limits
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome, Run


class OpenMLPanel:
    """Load a data set of openml.org by name or number.

    `run`: as of `Latest`. `on_loaded`: ``on_loaded(dataset, options)``. `fetch`: as `supdr.datasets.load_openml`.
    """

    def __init__(self, run: Run, on_loaded: Loaded, fetch: Callable[..., Dataset] = load_openml) -> None:
        self._on_loaded, self._fetch = on_loaded, fetch
        self._latest = Latest(run)
        self._expected = self._target = ""
        self.field = widgets.text_field("Name or number on openml.org", placeholder="ionosphere or 59")
        self.load = widgets.button("Load", self.start, kind="contained", icon="download", margin=8)
        self.message = widgets.html()
        self.view = pn.Column(
            widgets.caption("Sends the name to openml.org and keeps a copy on this server."),
            self.field,
            self.load,
            self.message,
            margin=0,
            **widgets.WIDE,
        )

    def expect(self, options: Mapping[str, Any]) -> None:
        """Fill in the data set that shared settings want."""
        self._expected, self._target = str(options.get("name", "")), str(options.get("target", ""))
        if self._expected:
            self.field.value = self._expected
            widgets.message(self.message, f"Press Load to fetch {self._expected}.", "warning")

    def start(self) -> None:
        """Fetch the data set that is named in the field."""
        name = (self.field.value_input or self.field.value or "").strip()
        if not name:
            widgets.message(self.message, "Type the name or the number of a data set first.", "error")
            return
        target = self._target if name == self._expected else ""
        self.load.loading = True
        widgets.message(self.message, f"Asking openml.org for {name} …")
        self._latest.ask(
            lambda: self._fetch(name, target=target or None, limits=limits()),
            widgets.guarded(lambda outcome: self._fetched(outcome, {"name": name, "target": target})),
        )

    def _fetched(self, outcome: Outcome, options: dict[str, Any]) -> None:
        self.load.loading = False
        if outcome.problem:
            hint = "" if options["name"].isdecimal() else " Without a network, a file works as well."
            widgets.message(self.message, outcome.problem + hint, "error")
            return
        dataset = outcome.value
        widgets.message(self.message, f"In use: {dataset.name}. {dataset.description}")
        self._on_loaded(dataset, options)

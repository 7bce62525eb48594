"""Rows on disk: which of those that this server offers, and what is to be predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from supdr.datasets import Dataset, FileProblem
from supdr.engine.optional import PackageMissing
from supdr_viz.data.cluster import connect, dashboard
from supdr_viz.data.rows_on_disk import RowsOnDisk, offered, open_rows, targets_of
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.ui.binding import Bound

TASKS = {"automatic": "auto", "classification": "classification", "regression": "regression"}
NONE_OFFERED = "This server offers no rows on disk: its operator names them with --rows."


class RowsPanel:
    """Choose rows on disk by name, their target, and what it means.

    `run`: as of `Latest`. `on_loaded`: ``on_loaded(dataset, options)``.
    """

    def __init__(self, run: Run, on_loaded: Callable[[Dataset, dict[str, Any]], Any]) -> None:
        self._on_loaded = on_loaded
        self._latest = Latest(run)
        names = sorted(offered())
        first = names[0] if names else ""
        self.name = widgets.select("Rows", {name: name for name in names} or {"": ""}, first)
        self.target = widgets.select("Target", {"": ""}, "")
        self.task = widgets.select("Task", TASKS, "auto")
        self._name, self._target, self._task = Bound(self.name, self._named), Bound(self.target), Bound(self.task)
        self.use = widgets.button("Use these rows", self.start, kind="contained", icon="check", margin=8)
        self.message = widgets.html()
        self.dashboard = widgets.html(visible=False)
        self.view = pn.Column(
            widgets.caption("They stay where they are: a sample is drawn row by row, all are learnt and counted."),
            self.name,
            self.target,
            self.task,
            self.use,
            self.message,
            self.dashboard,
            margin=0,
            **widgets.WIDE,
        )
        if not names:
            for part in (self.name, self.target, self.task, self.use):
                part.visible = False
            widgets.message(self.message, NONE_OFFERED, "warning")
        else:
            self._named(first)

    def expect(self, options: Mapping[str, Any]) -> None:
        """Open the rows that shared settings want, once the page is there."""
        name, target = str(options.get("name", "")), str(options.get("target", ""))
        task = str(options.get("task", "auto"))
        if not name:
            return
        if name in offered():
            self._name.show(name)
            self._task.show(task)
            if not self._offer_targets(name, target):
                return
        self._open(name, target, task)

    def start(self) -> None:
        """Open what is chosen."""
        if self._name.value:
            self._open(self._name.value, self._target.value, self._task.value)

    def _named(self, name: str) -> None:
        self._offer_targets(name, "")

    def _offer_targets(self, name: str, target: str) -> bool:
        try:
            targets = targets_of(name)
        except (FileProblem, PackageMissing) as error:
            widgets.message(self.message, str(error), "error")
            return False
        chosen = target if target in targets else targets[0]
        self._target.show(chosen, options={each: each for each in targets})
        return True

    def _open(self, name: str, target: str, task: str) -> None:
        self.use.loading = True
        widgets.message(self.message, f"Looking at every partition of {name[:40]} once …")
        self._latest.ask(
            lambda: _read(name, target, task),
            widgets.guarded(lambda outcome: self._opened(outcome, {"name": name, "target": target, "task": task})),
        )

    def _opened(self, outcome: Outcome, options: dict[str, Any]) -> None:
        self.use.loading = False
        if outcome.problem:
            widgets.message(self.message, outcome.problem, "error")
            return
        dataset = outcome.value
        widgets.message(self.message, f"In use: {dataset.name}. {dataset.description}")
        link = widgets.escape(dashboard())
        self.dashboard.param.update(
            object=f'<p class="small"><a href="{link}" target="_blank" rel="noopener">The cluster at work</a></p>',
            visible=bool(link),
        )
        self._on_loaded(dataset, options)


def _read(name: str, target: str, task: str) -> RowsOnDisk:
    """Read rows on disk, on the cluster of this server if it has one."""
    connect()
    return open_rows(name, target, task)

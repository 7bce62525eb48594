"""One file at a time from the user's computer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.ui import widgets
from supdr_viz.ui.panel_workarounds import BoundedDropper
from supdr_viz.ui.visitor import HeldFiles

CSS = """
.filepond--root.filepond--root { font-family: Roboto, Helvetica, Arial, sans-serif; margin-bottom: 0;
box-shadow: none !important; box-sizing: border-box; height: 84px !important; background: var(--supdr-page);
border: 1.5px dashed var(--supdr-muted); border-radius: 8px; }
/* What the keyboard is on is as good as invisible: the field shows it. */
.filepond--root:has(:focus-visible) { outline: 2px solid var(--supdr-primary); outline-offset: 2px; }
.filepond--panel-root { display: none; }
.filepond--drop-label { color: var(--supdr-text); background: none !important; height: 100% !important; }
.filepond--drop-label label, .filepond--label-action { font-size: 0; }
.filepond--drop-label label::before, .filepond--label-action::before { font-size: 14px; }
.filepond--drop-label label::before { content: "Drop a file here, or"; }
.filepond--label-action::before { content: "browse"; text-decoration: underline; color: var(--supdr-primary); }
@media (hover: none) { /* where nothing can be dropped */
.filepond--drop-label label::before { content: ""; } .filepond--label-action::before { content: "Choose a file"; } }
.filepond--item-panel { background-color: var(--supdr-border) !important; }
.filepond--file { color: var(--supdr-text); }
.filepond--item[data-filepond-item-state*="processing"]:not([data-filepond-item-state*="error"])
.filepond--file-status { display: none; }
/* The server has the file: what turns on for the looks alone would say that it is still being read. */
.filepond--item[data-filepond-item-state^="processing"] .filepond--process-indicator { display: none; }
"""


def file_dropper(
    held: HeldFiles,
    on_file: Callable[[str, str | bytes], Any],
    on_refused: Callable[[str], Any],
    *,
    max_bytes: float,
    **options: Any,
) -> BoundedDropper:
    """Make a field that takes a file by choosing or dropping it.

    `held`: by the server; `on_file`: ``on_file(name, content)``, once for each file that comes; text files come
    decoded. `on_refused`: ``on_refused(why)`` where the server has no room for a file that is on its way. `max_bytes`:
    a larger file is refused by the browser, with a sentence. `**options`: of the component. Returns it keeps no file.
    """
    take = widgets.guarded(on_file)

    def _changed(event: Any) -> None:
        files = event.new
        if files:
            name, content = files.popitem()  # the last one that came
            # The browser takes the file before back when it likes, earlier or later, and each time the value changes.
            # What stayed in it would be taken for a new file then.
            files.clear()
            take(name, content)

    dropper = BoundedDropper(
        held,
        widgets.guarded(on_refused),
        max_bytes,
        max_file_size=f"{max_bytes / 1e6:g}MB",
        multiple=False,
        margin=(4, 8),
        height=98,  # without it the file's name is cut
        previews=[],
        stylesheets=[widgets.sheet(CSS)],
        **{**widgets.WIDE, **options},
    )
    dropper.param.watch(_changed, "value")
    return dropper

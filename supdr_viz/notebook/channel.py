"""What a report in a notebook tells the kernel: which rows are selected, which iteration is shown.

The report speaks to the page around it (``postMessage``); a widget without a view of its own hears it there and hands
it on.  An anywidget runs in JupyterLab, Notebook, VS Code and Colab; where it does not, the report plays as ever.
"""

from __future__ import annotations

import uuid
from typing import Any

import traitlets
from anywidget import AnyWidget

from supdr_viz.ui.own_files import bundle


class Channel(AnyWidget):
    """The kernel's end.

    `name`: what the report calls itself; `rows`: rows selected in the report; `iteration`: the iteration on display.
    """

    _esm = bundle("channel.js")

    name = traitlets.Unicode().tag(sync=True)
    rows = traitlets.List(traitlets.Int()).tag(sync=True)
    iteration = traitlets.Int(None, allow_none=True).tag(sync=True)
    heard = traitlets.Bool(False).tag(sync=True)

    def __init__(self, **known: Any) -> None:
        super().__init__(name=uuid.uuid4().hex, **known)

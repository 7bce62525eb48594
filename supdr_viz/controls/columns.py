"""The columns of a table in the browser: what each holds, and a menu of what is done with it."""

from __future__ import annotations

from typing import ClassVar

import param
from panel.custom import JSComponent

from supdr_viz.ui.own_files import bundle

USE, LEAVE_OUT, TARGET = "use", "leave out", "target"


class ColumnTable(JSComponent):
    """A row for every column: facts, a small histogram, proposals, a menu, and a field for the name of its view.

    Proposals for the whole table stand above.

    One component for all of them: a table may have thousands of columns.
    """

    columns = param.List(default=[], doc="For every column: name, kind, missing, distinct, histogram, against.")
    roles = param.Dict(default={}, doc='Name of a column -> "use", "leave out" or "target".')
    proposals = param.List(default=[], doc="For every proposal: key, column, text, example, size, otherwise, accepted.")
    rules = param.Dict(default={}, doc="Key of a proposal -> whether it is accepted, where the user has decided.")
    views = param.Dict(default={}, doc="Name of a column -> name of its view, where it has one.")

    _esm: ClassVar = bundle("columns.js")

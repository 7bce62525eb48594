"""Columns of several sources on their way to the browser in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS
from numpy.typing import NDArray

from supdr_viz.kit.gaps import keep_columns

_UNPACK = """
const all = moves.data.values, count = all[0], rows = (all.length - 1 - count) / count
const touched = new Set()
for (let k = 0; k < count; k++) {
  const [number, name] = places[all[1 + k]]
  sources[number].data[name] = new Float32Array(all.buffer, all.byteOffset + 4 * (1 + count + k * rows), rows)
  touched.add(sources[number])
}
for (const source of touched) source.change.emit()
"""


class Moves:
    """Sends columns of float32 as one array, which the browser takes apart.

    Every array that travels by itself costs server and browser two messages: most of what a frame costs.

    Parameters
    ----------
    columns : list of (ColumnDataSource, str)
        All columns that may be sent.

    Attributes
    ----------
    source : ColumnDataSource
        Column ``values``: the number of columns, the place of each in `columns`, then their values one after the
        other.  Some model of the page must refer to it.
    """

    def __init__(self, columns: list[tuple[ColumnDataSource, str]]) -> None:
        self.columns = columns
        sources = list({id(source): source for source, _ in columns}.values())
        places = [[next(k for k, each in enumerate(sources) if each is source), name] for source, name in columns]
        self.source = ColumnDataSource({"values": np.zeros(1, dtype=np.float32)})
        arguments: dict[str, Any] = {"moves": self.source, "sources": sources, "places": places}
        self.source.js_on_change("data", CustomJS(args=arguments, code=_UNPACK))

    def send(self, moved: list[tuple[ColumnDataSource, str, NDArray]]) -> None:
        """Replace columns.

        Parameters
        ----------
        moved : list of (ColumnDataSource, str, ndarray of float32)
            Source, name and values; all of the same length.
        """
        if not moved:
            return
        head = [float(len(moved))]
        for source, name, values in moved:
            place = next(k for k, (each, column) in enumerate(self.columns) if each is source and column == name)
            head.append(float(place))
            keep_columns(source, {name: values})  # the browser gets them below
        pieces = [np.array(head, dtype=np.float32), *(values for _, _, values in moved)]
        self.source.data = {"values": np.concatenate(pieces)}

"""The binary form of what a stage is told.

A stage shows one tree of named values: what stands where, in which colours, under which lines.  It is told by
*patches*, smaller trees that are laid over it: a mapping is merged key by key, anything else replaces what was there.
A patch travels as one piece, little-endian:

    4 bytes      n, length of the head
    n bytes      head: JSON, {"patch": the tree, "arrays": [[dtype, shape, first byte, bytes], ...]}
    padding      to a multiple of 8, before every array
    arrays       in this order; the tree has {"$": k} where the k-th array stands, and {"$": k, "from": m} where its
                 rows come behind the first m of those that stood there before

dtype is the name of JavaScript's typed array without "Array": Uint8, Int16, Int32, Float32, Float64.  Places of rows
are written as `views.stage.packed_positions` says.  Lines and values have 64 bits: with 32 those far from zero would be
one.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.scene import Extent

ALIGNED = 8
TYPES = {"u1": "Uint8", "i2": "Int16", "u2": "Uint16", "i4": "Int32", "f4": "Float32", "f8": "Float64"}
SCALARS = frozenset({str, int, float, bool, type(None)})
Tree = dict[str, Any]


class Tail(NamedTuple):
    """Rows that come behind the first ones of an array that is there already.

    `first`: number of rows that stay.
    """

    first: int
    rows: NDArray

    def behind(self, before: Any) -> Any:
        """Return the array, or the longer tail, that this one leaves of what was there; itself if there was nothing."""
        if isinstance(before, Tail):
            if self.first < before.first:
                return self
            return Tail(before.first, np.concatenate([before.rows[: self.first - before.first], self.rows]))
        return self if before is None else np.concatenate([before[: self.first], self.rows])


def tail_of(array: NDArray, before: Any) -> NDArray | Tail | None:
    """Return what is to be sent of an array: its rows that differ from those known, or all if they are of another kind.

    `array` (n, ...); `before`: what stands in its place. Returns None: there is nothing to be sent.
    """
    if not isinstance(before, np.ndarray) or before.shape[1:] != array.shape[1:] or before.dtype != array.dtype:
        return array
    both = min(len(before), len(array))
    same = (before[:both] == array[:both]) | ((before[:both] != before[:both]) & (array[:both] != array[:both]))
    other = np.flatnonzero(~same.all(axis=tuple(range(1, same.ndim))))
    first = int(other[0]) if len(other) else both
    if first == 0:
        return array if len(array) or len(before) else None
    return None if first == len(array) == len(before) else Tail(first, array[first:])


def merge(tree: Tree, patch: Tree) -> Tree:
    """Return `tree` with a patch laid over it; neither is changed."""
    merged = dict(tree)
    for name, value in patch.items():
        before = merged.get(name)
        if isinstance(value, Tail):
            merged[name] = value.behind(before)
        else:
            merged[name] = merge(before, value) if isinstance(value, dict) and isinstance(before, dict) else value
    return merged


def encode(patch: Tree) -> bytes:
    """Write a patch.

    `patch`: of names to dicts, arrays, tails of arrays, instances of dataclasses, which are written as their fields,
    and what JSON knows; numbers that are not finite are written as null. Raises TypeError if an array has a type that
    the browser does not have.
    """
    arrays: list[NDArray] = []

    def plain(value: Any) -> Any:
        """Return what JSON knows; arrays are noted, and named by their number."""
        kind = type(value)
        if kind in SCALARS:  # most of what there is
            return None if kind is float and not math.isfinite(value) else value
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value))
            return {"$": len(arrays) - 1}
        if isinstance(value, Tail):
            return {**plain(value.rows), "from": value.first}
        if is_dataclass(value):
            value = vars(value)
        if isinstance(value, dict):
            return {str(name): plain(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return plain(value.item()) if isinstance(value, np.generic) else value

    tree = plain(patch)
    table: list[tuple[str, list[int], int, int]] = []
    size = 0
    for array in arrays:
        code = _code(array.dtype)
        if code not in TYPES:
            raise TypeError(f"an array of a patch must be of one of {', '.join(TYPES)}; got {array.dtype}")
        table.append((TYPES[code], list(array.shape), size, array.nbytes))
        size += -(-array.nbytes // ALIGNED) * ALIGNED
    head = json.dumps({"patch": tree, "arrays": table}, separators=(",", ":"), ensure_ascii=False).encode()
    begin = -(-(4 + len(head)) // ALIGNED) * ALIGNED
    message = bytearray(begin + size)
    message[:4] = len(head).to_bytes(4, "little")
    message[4 : 4 + len(head)] = head
    for array, (_type, _shape, first, length) in zip(arrays, table):
        little = array if array.dtype.isnative and sys.byteorder == "little" else array.astype(f"<{_code(array.dtype)}")
        message[begin + first : begin + first + length] = little.tobytes()
    return bytes(message)


@functools.cache
def _code(kind: np.dtype) -> str:
    """Return how numpy calls a type, without its byte order."""
    return kind.str[1:]


def decode(message: bytes) -> Tree:
    """Read what `encode` has written; arrays are copies."""
    length = int.from_bytes(message[:4], "little")
    head = json.loads(message[4 : 4 + length])
    begin = -(-(4 + length) // ALIGNED) * ALIGNED
    codes = {name: code for code, name in TYPES.items()}
    arrays = [
        np.frombuffer(message, f"<{codes[kind]}", int(np.prod(shape, dtype=int)), begin + first).reshape(shape).copy()
        for kind, shape, first, _length in head["arrays"]
    ]

    def filled(value: Any) -> Any:
        """Put the arrays where their numbers stand."""
        if isinstance(value, dict) and "$" in value:
            return Tail(value["from"], arrays[value["$"]]) if "from" in value else arrays[value["$"]]
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        return [filled(each) for each in value] if isinstance(value, list) else value

    return filled(head["patch"])


def packed_bits(rows: NDArray) -> NDArray:
    """Write a mask (n,) as bits, the first row in the lowest bit of the first byte."""
    return np.packbits(np.asarray(rows, dtype=bool), bitorder="little")


def plain_extent(extent: Extent) -> list[float]:
    """Write an extent as JSON knows it."""
    return [float(value) for value in extent]

"""Work that several fits share: results of pure functions, kept as long as a `Kept` store is in force.

A method wraps what depends on few of its parameters (centres, Gram matrices, decompositions) in `reused`.  Outside of
`reusing` that is a plain call; inside, equal inputs give the result that is already there, hence the same numbers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

# Memory of a store, unless told otherwise.
MOST_BYTES = 256 << 20


class Kept:
    """Results by name and inputs; the ones unused for longest go first when memory runs out.

    `most_bytes`: arrays beyond this are let go of; the latest result always stays.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.hits = 0
        self._results: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def get(self, name: str, inputs: Any, compute: Callable[[], T]) -> T:
        """Return the result for these inputs, computed if it is not there."""
        key = (name, fingerprint(inputs))
        if key in self._results:
            self.hits += 1
            self._results.move_to_end(key)
            return self._results[key]
        result = self._results[key] = compute()
        sizes = {each: array_bytes(value) for each, value in self._results.items()}
        total = sum(sizes.values())
        while total > self.most_bytes and len(self._results) > 1:
            oldest, _ = self._results.popitem(last=False)
            total -= sizes[oldest]
        return result


_current = threading.local()


@contextmanager
def reusing(kept: Kept | None) -> Iterator[None]:
    """Let `reused` keep its results in `kept`, in this thread and for the duration of the block; None: keep nothing."""
    previous = getattr(_current, "kept", None)
    _current.kept = kept
    try:
        yield
    finally:
        _current.kept = previous


def reused(name: str, inputs: Callable[[], Any], compute: Callable[[], T]) -> T:
    """Return ``compute()``, or what it gave for equal inputs before.

    `name`: what is computed; part of the key. `inputs`: returns everything that `compute` depends on; only called while
    results are kept. `compute`: a pure function; nobody writes to its result.
    """
    kept = getattr(_current, "kept", None)
    return compute() if kept is None else kept.get(name, inputs(), compute)


def fingerprint(value: Any) -> str:
    """Return a digest of nested tuples, lists, mappings, arrays and scalars: equal contents, equal digest."""
    digest = blake2b(digest_size=16)
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif isinstance(value, np.ndarray):
        digest.update(f"object{value.shape}{value.tolist()!r}".encode())
    elif isinstance(value, Mapping):
        digest.update(f"{{{len(value)}".encode())
        for key in sorted(value, key=str):
            digest.update(f"{key!r}:".encode())
            _feed(digest, value[key])
    elif isinstance(value, (tuple, list)):
        digest.update(f"({len(value)}".encode())
        for each in value:
            _feed(digest, each)
    else:
        value = value.item() if isinstance(value, np.generic) else value
        digest.update(f"{type(value).__name__}{value!r},".encode())


def array_bytes(value: Any, depth: int = 4) -> int:
    """Return the bytes of the arrays in a result and, `depth` levels down, in its parts."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if depth == 0 or isinstance(value, (str, bytes, int, float)) or value is None:
        return 0
    if isinstance(value, Mapping):
        parts: Any = value.values()
    elif isinstance(value, (tuple, list)):
        parts = value
    else:
        parts = getattr(value, "__dict__", {}).values()
    return sum(array_bytes(part, depth - 1) for part in parts)

"""Caches of the results of pure functions, in bounded memory.

A method wraps results that depend on few of its parameters (centres, Gram matrices, decompositions) in `reused`: a
plain call, unless the context of the run has a cache, as in a sweep.  Functions of the rows alone, which
cross-validation calls many times, are always `cached`.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeVar, cast

import numpy as np
from scipy import sparse

from supdr.engine.context import current_context
from supdr.engine.sparse_rows import SparseRows

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])

# Default bytes of arrays that a cache keeps, and those of a `cached` function.
MAX_BYTES, MAX_BYTES_OF_FUNCTION = 256 << 20, 16 << 20

# Rows up to which `cached` keeps results.
MAX_ROWS = 600


class ResultCache:
    """Results by name and contents of the inputs, which threads share; beyond `max_bytes` the oldest are dropped."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._results: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str, inputs: Any, compute: Callable[[], T], hits: set[str] | None = None) -> T:
        """Return the result for these inputs, and compute it if it is not cached; else add `name` to `hits`."""
        key = (name, fingerprint(inputs))
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                if hits is not None:
                    hits.add(name)
                return self._results[key]
        result = compute()
        with self._lock:
            self._results[key] = result
            self._drop_oldest()
        return result

    def clear(self) -> None:
        """Drop all results."""
        with self._lock:
            self._results.clear()

    def _drop_oldest(self) -> None:
        sizes = {key: array_bytes(value) for key, value in self._results.items()}
        total = sum(sizes.values())
        while total > self.max_bytes and len(self._results) > 1:
            oldest, _ = self._results.popitem(last=False)
            total -= sizes[oldest]


def reused(name: str, inputs: Callable[[], Any], compute: Callable[[], T]) -> T:
    """Return ``compute()``, or its result for equal inputs from the cache of the run's context.

    `name`: of the result, part of the key. `inputs`: returns everything that `compute` depends on; only called if there
    is a cache. `compute`: a pure function, whose result is never written to.
    """
    context = current_context()
    if context.cache is None:
        return compute()
    return context.cache.get(name, inputs(), compute, context.reused_names)


def cached(function: Function) -> Function:
    """Decorate a pure function: results for at most `MAX_ROWS` rows, its first argument, are cached read-only."""
    cache = ResultCache(MAX_BYTES_OF_FUNCTION)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        """Return the result, from the cache if it is there."""
        if arguments[0].shape[0] > MAX_ROWS:
            return function(*arguments)
        return cache.get(function.__name__, arguments, lambda: _read_only(function(*arguments)))

    return cast(Function, call)


def _read_only(result: Any) -> Any:
    """Make an array, a sparse array or a tuple of them read-only, and return it."""
    for each in result if isinstance(result, tuple) else (result,):
        for array in (each.data, each.indices, each.indptr) if sparse.issparse(each) else (each,):
            array.setflags(write=False)
    return result


def fingerprint(value: Any) -> str:
    """Return a digest of nested tuples, lists, mappings, arrays, sparse arrays and scalars, by their contents."""
    digest = blake2b(digest_size=16)
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif isinstance(value, np.ndarray):
        digest.update(f"object{value.shape}{value.tolist()!r}".encode())
    elif isinstance(value, SparseRows):
        _feed(digest, ("rows", value.cells, value.scale, value.shift, value.matrix))
    elif sparse.issparse(value):
        _feed(digest, ("sparse", value.shape, value.data, value.indices, value.indptr))
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

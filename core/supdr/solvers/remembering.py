"""Results of the last calls: who chooses settings by cross-validation asks for what depends on the rows over and over.

Labels differ from fold to fold; the neighbours of the rows, and what is made of them, do not.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from scipy import sparse

# Of more rows results are not kept, nor more of them: they stay in memory.
MOST_ROWS, MOST_RESULTS = 600, 6

Function = TypeVar("Function", bound=Callable[..., Any])


def remembered(function: Function) -> Function:
    """Keep the last results of a function, to be given again for equal arguments.

    `function`: of arrays, the first of which has a row for every row of the data, sparse arrays and numbers.  It
    depends on nothing else. Returns the same function.  Arrays that it returns for few rows cannot be written to.
    """
    known: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
    lock = threading.Lock()

    @functools.wraps(function)
    def _asked(*arguments: Any) -> Any:
        if arguments[0].shape[0] > MOST_ROWS:
            return function(*arguments)
        key = tuple(_content(each) for each in arguments)
        with lock:
            if key in known:
                known.move_to_end(key)
                return known[key]
        found = function(*arguments)
        _seal(found)
        with lock:
            known[key] = found
            while len(known) > MOST_RESULTS:
                known.popitem(last=False)
        return found

    return cast(Function, _asked)


def _content(argument: Any) -> Any:
    """Return what tells an argument from others: of arrays a digest."""
    if sparse.issparse(argument):
        return (argument.shape, *(_content(getattr(argument, name)) for name in ("data", "indices", "indptr")))
    if not isinstance(argument, np.ndarray):
        return argument
    whole = np.ascontiguousarray(argument)
    return whole.shape, whole.dtype.str, hashlib.blake2b(whole.data, digest_size=16).digest()


def _seal(found: Any) -> None:
    """Let nobody write to what is kept."""
    for each in found if isinstance(found, tuple) else (found,):
        parts = (each.data, each.indices, each.indptr) if sparse.issparse(each) else (each,)
        for part in parts:
            part.setflags(write=False)

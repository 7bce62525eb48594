"""What refers to an object that should be gone: the shortest way to it from what lives by itself."""

import asyncio
import functools
import gc
import sys
import threading
import types
from collections import deque
from itertools import islice, pairwise

MOST_WORDS = 60
"""Characters of a name, a key or a place."""


def way_to(target):
    """Tell the shortest way to an object from a module, from a thread's calls, or from the event loop of this thread.

    Looks at all objects once, which takes seconds.

    Parameters
    ----------
    target : object

    Returns
    -------
    str
        Names, joined by arrows; where there is no such way, the kinds of what refers to the object.
    """
    names, before, queue = {}, {}, deque()
    for name, root in _roots():
        if root is target:
            return f"{name} → {type(target).__name__}"
        if id(root) not in before:
            names[id(root)], before[id(root)] = name, None
            queue.append(root)
    kept = [names, before, queue]
    own = {id(each) for each in (kept, *kept)}
    while queue:
        holder = queue.popleft()
        kept.append(holder)  # as long as its number counts
        for held in gc.get_referents(holder):
            if held is target:
                return _told(_way(holder, before), target, names)
            if id(held) not in before and id(held) not in own and gc.is_tracked(held):
                before[id(held)] = holder
                queue.append(held)
    del holder, held
    kinds = sorted({_kind(each) for each in gc.get_referrers(target) if id(each) not in own})
    return f"only found: {', '.join(kinds)}"


def _roots():
    """Yield what lives by itself, with its name."""
    for ident, frame in sys._current_frames().items():
        thread = next((each.name for each in threading.enumerate() if each.ident == ident), "a thread")
        while frame is not None and ident != threading.get_ident():
            place = f"{thread} in {frame.f_code.co_qualname}:{frame.f_lineno}"
            yield from ((f"{place} {name}", value) for name, value in frame.f_locals.items() if gc.is_tracked(value))
            frame = frame.f_back
    try:
        loop = asyncio.get_running_loop()
        yield from ((f"task {task.get_coro().__qualname__}", task) for task in asyncio.all_tasks(loop))
        yield "event loop", loop
    except RuntimeError:
        pass
    yield from ((f"module {name}", vars(module)) for name, module in list(sys.modules.items()) if module is not None)


def _way(last, before):
    way = [last]
    while (earlier := before[id(way[-1])]) is not None:
        way.append(earlier)
    return way[::-1]


def _told(way, target, names):
    words = [names[id(way[0])]]
    for holder, held in pairwise([*way, target]):
        if held is not getattr(holder, "__dict__", None):  # the attributes of an object are told with it
            words.append(_link(holder, held))
    return " → ".join([*(each for each in words if each), type(target).__name__])


def _link(holder, held):
    """Name the place of one object in another."""
    kind = type(holder)
    if isinstance(holder, dict):
        return next((f"[{_short(repr(key))}]" for key, value in list(holder.items()) if value is held), "a key")
    if isinstance(holder, list | tuple | deque | set | frozenset):
        return f"[{next((at for at, each in enumerate(islice(holder, 10_000)) if each is held), '…')}]"
    if isinstance(holder, types.CellType):
        return ""
    if isinstance(holder, types.FunctionType):
        closed = zip(holder.__code__.co_freevars, holder.__closure__ or (), strict=False)
        return f"{holder.__qualname__}({', '.join(name for name, cell in closed if cell is held) or '…'})"
    if isinstance(holder, types.MethodType | functools.partial):
        return _short(getattr(getattr(holder, "__func__", None) or getattr(holder, "func", None), "__qualname__", ""))
    frame = getattr(holder, "cr_frame", None) or getattr(holder, "gi_frame", None)
    if frame is not None:
        name = next((name for name, value in frame.f_locals.items() if value is held), "…")
        return f"{holder.__qualname__}:{frame.f_lineno} {name}"
    slots = [name for base in kind.__mro__ for name in _listed(getattr(base, "__slots__", ()))]
    named = [*list(getattr(holder, "__dict__", {}).items()), *((name, getattr(holder, name, None)) for name in slots)]
    return f"{_kind(holder)}.{next((name for name, value in named if value is held), '…')}"


def _listed(slots):
    return (slots,) if isinstance(slots, str) else slots


def _kind(each):
    return _short(each.__qualname__ if isinstance(each, type) else type(each).__qualname__)


def _short(text):
    return text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 1]}…"

"""How much may be asked of a server: the one table of its quotas.

Each is an option of the command line and a variable of the environment; the option sets the variable, so that every
part of the app, and of the processes that it starts, reads the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Quota:
    """One quota.

    default: safe on a public server.
    words: what is counted.
    without: what 0 means; empty: 0 is no value.
    of_all: whether it counts for all visitors together: several processes share it out.
    """

    default: int
    words: str
    without: str = ""
    of_all: bool = False

    @property
    def least(self) -> int:
        """The lowest value."""
        return 0 if self.without else 1

    @property
    def help(self) -> str:
        """The unit that is counted, and the meaning of 0."""
        return f"{self.words}, 0 for {self.without}" if self.without else self.words


# What is limited; option ``--most-NAME``, variable ``SUPDR_MOST_NAME``.
QUOTAS = {
    "pages": Quota(200, "pages open at the same time", without="as many as come", of_all=True),
    "pages-each": Quota(30, "pages that one visitor has open", without="as many as they like"),
    "training": Quota(100, "runs that train at the same time", without="as many as there are", of_all=True),
    "rows": Quota(1_000_000, "rows of a table that a visitor brings"),
    "cells": Quota(10_000_000, "cells of such a table"),
    "upload-mb": Quota(40, "megabytes of a file that a visitor brings"),
    "held-mb": Quota(1_000, "megabytes of such files in all open pages together", of_all=True),
    "history-mb": Quota(1_000, "megabytes of iterates that all runs together keep to look back at", of_all=True),
    "tasks": Quota(4, "files read or made at the same time; others wait their turn", of_all=True),
    "sweeps": Quota(20, "sweeps under way in all pages together; one computes, others wait their turn", of_all=True),
    "sweeps-each": Quota(4, "sweeps of one visitor under way"),
    "workers": Quota(0, "processes of a sweep", without="one per processor"),
    "threads": Quota(0, "threads that train", without="one less than there are processors"),
    "cpu-percent": Quota(100, "percent of their time in which these threads compute, 100 at most"),
    "hours": Quota(48, "hours for which a page stays open", without="as long as its browser wants"),
}


def variable(name: str) -> str:
    """Return the variable of the environment that holds a quota."""
    return f"SUPDR_MOST_{name.replace('-', '_').upper()}"


def checked(name: str, text: str) -> int:
    """Read a quota.

    `name`: a key of `QUOTAS`. Raises ValueError if it is no whole number, or too small.
    """
    least = QUOTAS[name].least
    if not (text.isdecimal() and text.isascii() and len(text) < 16 and int(text) >= least):
        raise ValueError(f"{text[:40]!r} is not a number of {name}: a whole number from {least} on")
    return int(text)


def most(name: str) -> int:
    """Return a quota as it is now.

    `name`: a key of `QUOTAS`. Raises ValueError if the environment holds something else.
    """
    text = os.environ.get(variable(name))
    return QUOTAS[name].default if text is None else checked(name, text)

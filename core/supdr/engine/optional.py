"""Packages that only a part of the library needs: without them that part says what to install, the rest works."""

from __future__ import annotations

from importlib.util import find_spec


class PackageMissing(ImportError):
    """A package that is not installed, in one sentence that says how to get it."""


def install(purpose: str, package: str, extra: str) -> str:
    """Say what to install.

    Parameters
    ----------
    purpose : str
        What cannot be done, as the subject of a sentence.
    package : str
        What it needs.
    extra : str
        Optional dependencies of this distribution that bring it.

    Returns
    -------
    str
        One sentence.
    """
    return f'{purpose} needs {package}: pip install "supdr-viz[{extra}]"'


def require(purpose: str, *packages: str, extra: str) -> None:
    """Look whether packages are installed, without importing them.

    Parameters
    ----------
    purpose : str
        See `install`.
    *packages : str
        Names to import.
    extra : str
        See `install`.

    Raises
    ------
    PackageMissing
        If one of them is not there; it names the first.
    """
    for package in packages:
        if find_spec(package) is None:
            raise PackageMissing(install(purpose, package, extra))

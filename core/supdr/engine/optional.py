"""Packages that only a part of the library needs: without them that part says what to install, the rest works."""

from __future__ import annotations

from importlib.util import find_spec


class PackageMissing(ImportError):
    """A package that is not installed, in one sentence that says how to get it."""


def install(purpose: str, package: str, extra: str) -> str:
    """Say what to install.

    `purpose`: what cannot be done, as the subject of a sentence; `package`: what it needs; `extra`: optional
    dependencies of this distribution that bring it. Returns one sentence.
    """
    return f'{purpose} needs {package}: pip install "supdr-viz[{extra}]"'


def require(purpose: str, *packages: str, extra: str) -> None:
    """Look whether packages are installed, without importing them.

    `purpose`: see `install`; `*packages`: names to import; `extra`: see `install`. Raises PackageMissing if one of them
    is not there; it names the first.
    """
    for package in packages:
        if find_spec(package) is None:
            raise PackageMissing(install(purpose, package, extra))

"""Optional dependencies: without its package a part of the library raises an error with the command to install it."""

from __future__ import annotations

from importlib.util import find_spec


class PackageMissing(ImportError):
    """An optional dependency is not installed; the message has the command to install it."""


def install(purpose: str, package: str, extra: str) -> str:
    """Return a sentence on what needs a package, its `purpose`, with the command to install the extra that has it."""
    return f'{purpose} needs {package}: pip install "supdr-viz[{extra}]"'


def require(purpose: str, *packages: str, extra: str) -> None:
    """Raise PackageMissing for the first package that is not installed; nothing is imported."""
    for package in packages:
        if find_spec(package) is None:
            raise PackageMissing(install(purpose, package, extra))

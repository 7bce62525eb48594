"""The library's interface is documented: every parameter and every result, under its right name."""

import dataclasses
import enum
import importlib
import inspect
import pkgutil

import pytest
from numpydoc.validate import validate

import supdr

# No docstring; parameters undocumented, unknown, in another order; no section on what is returned or yielded.
CHECKS = {"GL08", "PR01", "PR02", "PR03", "RT01", "YD01"}


def public_packages():
    """The package and its parts: what they list in ``__all__`` is the interface."""
    yield supdr
    for module in pkgutil.iter_modules(supdr.__path__, "supdr."):
        yield importlib.import_module(module.name)


def interface():
    """Public functions, classes and their public methods, by full name."""
    found = {}
    for package in public_packages():
        for thing in (getattr(package, name) for name in getattr(package, "__all__", ())):
            if not (inspect.isfunction(thing) or inspect.isclass(thing)):
                continue
            methods = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
            for each in (thing, *(method for name, method in methods if not name.startswith("_"))):
                if each.__module__.startswith("supdr."):
                    found[f"{each.__module__}.{each.__qualname__}"] = each
    return sorted(found.items())


@pytest.mark.parametrize(("name", "thing"), interface(), ids=[name for name, _ in interface()])
def test_documented(name, thing):
    checks = set(CHECKS)
    if dataclasses.is_dataclass(thing) or hasattr(thing, "_fields") or isinstance(thing, enum.EnumType):
        checks -= {"PR01", "PR02"}  # records document their fields as attributes, enumerations their values
    if inspect.isfunction(thing) and not set(inspect.signature(thing).parameters) - {"self"}:
        checks -= {"RT01"}  # without parameters, the one sentence says what comes back
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code in checks]
    assert not errors

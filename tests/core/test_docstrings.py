"""The library's interface is documented: every parameter and every result, under its right name."""

import dataclasses
import enum
import importlib
import inspect
import pkgutil

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate
from sklearn.datasets import load_iris

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


@pytest.mark.parametrize("name", list(supdr.METHODS))
def test_every_result_of_a_method_is_among_its_attributes(name):
    method = supdr.METHODS[name]
    task = {"task": "classification"} if name == "SNF" else {}
    X, y = load_iris(return_X_y=True)
    fitted = method(max_iter=1, random_state=0, **task).fit(X, y)
    properties = [each for each, _ in inspect.getmembers(method, lambda member: isinstance(member, property))]
    results = {each for each in (*vars(fitted), *properties) if each.endswith("_") and not each.startswith("_")}
    documented = {each for entry in ClassDoc(method)["Attributes"] for each in entry.name.split(", ")}
    assert results <= documented

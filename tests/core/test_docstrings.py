"""The library's interface is documented: every parameter and every result, under its right name."""

import ast
import dataclasses
import doctest
import enum
import importlib
import inspect
import pkgutil
import re
from itertools import pairwise
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate
from sklearn.datasets import load_iris

import supdr
from supdr.engine.docstrings import with_entries_of

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


def programs():
    """Return the programs of the examples in the interface's docstrings, each name of which stands for itself."""
    found = (test for name, thing in interface() for test in doctest.DocTestFinder(recurse=False).find(thing, name))
    return [pytest.param(test, id=test.name) for test in found if test.examples]


def test_every_method_has_an_example():
    assert {each.__qualname__ for each in supdr.METHODS.values()} <= {test.id.rpartition(".")[2] for test in programs()}


@pytest.mark.parametrize("program", programs())
def test_the_examples_print_what_they_show(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(program, out=report.append)
    assert result.failed == 0, "".join(report)


BASES = {"DirectMethod", "OnViews", "OneShot", "Projection", "SupervisedReducer", "_Unsupervised"}


def described_in_the_reference():
    """Names that docs/api.rst lists one by one, and the bases that docstrings of the interface refer to."""
    text = (Path(__file__).parents[2] / "docs" / "api.rst").read_text(encoding="utf-8")
    listed = {name.strip() for names in re.findall(r":members: (.+)", text) for name in names.split(",")}
    return listed | set(re.findall(r":: [\w.]*?(\w+)$", text, re.MULTILINE)) | BASES


REFERRING = [(name, thing) for name, thing in interface() if not name.startswith("supdr.datasets.")]


@pytest.mark.parametrize(("name", "thing"), REFERRING, ids=[name for name, _ in REFERRING])
def test_help_shows_the_entries_that_a_docstring_refers_to(name, thing):
    assert not re.search(r"^\w+(?:, \w+)*\n    As in `(?!supdr\.SLDR)[\w.]+`", inspect.getdoc(thing), re.MULTILINE)


def test_a_reference_stands_for_the_entries_of_its_source():
    def source(a, b, c=1):
        """Return.

        Parameters
        ----------
        a, b : int
            Two numbers,
            on two lines.
        c : float, default=1
            Third.

        Notes
        -----
        None.
        """

    def function(a, b, c, d):
        """Return.

        Parameters
        ----------
        a, b, c
            As in `source`.
        d
            As in `other`.
        """

    text = inspect.getdoc(with_entries_of(source)(function))
    entries = inspect.getdoc(source).split("-\n")[1].split("\n\nNotes")[0]
    assert text == f"Return.\n\nParameters\n----------\n{entries}\nd\n    As in `other`."


def inner_docstrings():
    """Every docstring of the library that is not of its interface, by module and name."""
    full, listed = {name for name, _ in interface()}, described_in_the_reference()
    for path in sorted(Path(supdr.__file__).parent.rglob("*.py")):
        module = ".".join(path.relative_to(Path(supdr.__file__).parents[1]).with_suffix("").parts)
        stack = [(module, node, "") for node in ast.parse(path.read_text(encoding="utf-8")).body]
        while stack:
            name, node, owner = stack.pop()
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                whole = f"{name}.{node.name}"
                stack += [(whole, part, node.name) for part in node.body]
                if whole not in full and not {node.name, owner} & listed:
                    yield whole, ast.get_docstring(node) or ""


def test_only_the_interface_has_docstrings_with_sections():
    assert [name for name, text in inner_docstrings() if re.search(r"^-{3,}$", text, re.MULTILINE)] == []


def test_what_is_said_of_a_constant_is_a_comment_above_it():
    for path in Path(supdr.__file__).parent.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        behind = [two.lineno for one, two in pairwise(body) if isinstance(one, ast.Assign) and is_text(two)]
        assert not behind, f"{path}: {behind}"


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

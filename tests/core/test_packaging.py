"""What is installed, what an import pulls in, and what the set-up promises."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
UI_PACKAGES = {"panel", "bokeh", "holoviews", "param", "panel_material_ui"}
NOT_SHIPPED = (".git", ".venv", ".browsers", "build", "dist", "__pycache__", "*.egg-info", ".*_cache")


def run_python(code, *options):
    """Run code in a new interpreter away from the sources; its standard output."""
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=sysconfig.get_path("purelib")).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the sources, so that no earlier build leaks into it."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = shutil.copytree(ROOT, folder / "sources", ignore=shutil.ignore_patterns(*NOT_SHIPPED))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(sources)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds nothing but the installed wheel."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True, capture_output=True)
    return folder


def test_import_supdr_brings_no_user_interface():
    loaded = run_python("import supdr, sys; print(*sys.modules)").split()
    assert "supdr" in loaded
    assert UI_PACKAGES.isdisjoint(loaded)


def test_every_module_of_the_core_stays_clear_of_the_user_interface():
    code = (
        "import importlib, pkgutil, sys, supdr\n"
        "for module in pkgutil.walk_packages(supdr.__path__, 'supdr.'): importlib.import_module(module.name)\n"
        "print(*sys.modules)"
    )
    loaded = run_python(code).split()
    assert "supdr.solvers" in loaded
    assert UI_PACKAGES.isdisjoint(loaded)


@pytest.mark.slow
def test_installed_wheel_offers_the_two_packages_and_not_core(installed):
    # -S leaves the editable installation of this checkout out of the search.
    code = (
        "import importlib.util, sys\n"
        f"sys.path[:] = [{str(installed)!r}] + [p for p in sys.path if p]\n"
        "print(*[name for name in ('supdr', 'supdr_viz', 'core', 'tests', 'apps', 'benchmarks', 'scripts', 'docs')"
        " if importlib.util.find_spec(name)])"
    )
    assert run_python(code, "-S", "-I").split() == ["supdr", "supdr_viz"]


@pytest.mark.slow
def test_installed_wheel_imports_by_itself(installed):
    paths = [str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    code = f"import sys; sys.path += {paths!r}\nimport supdr, supdr_viz; print(supdr.__file__, supdr_viz.__file__)"
    for file in run_python(code, "-S", "-I").split():
        assert Path(file).is_relative_to(installed)


@pytest.mark.slow
def test_wheel_holds_code_and_licence_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        licences = [name for name in names if name.endswith("licenses/LICENSE")]
        assert len(licences) == 1
        assert archive.read(licences[0]) == (ROOT / "LICENSE").read_bytes()
    top_level = {name.split("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == {"supdr", "supdr_viz"}
    assert not [name for name in names if name.endswith((".csv", ".gz", ".npz", ".parquet", ".nbi", ".nbc"))]
    sources = [*(ROOT / "core").rglob("*.py"), *(ROOT / "supdr_viz").rglob("*.py")]
    assert len([name for name in names if name.endswith(".py")]) == len(sources)


OPTIONAL_PEERS = {"umap": "umap-learn"}
"""Modules that only benchmarks import -> distributions of the extra "bench"."""
NOT_EVERYWHERE = {*OPTIONAL_PEERS.values(), "jupyterlab", "nbconvert"}
"""Distributions that "make test" does without; "make test-all" has JupyterLab."""


def pinned_versions():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines)


def test_constraints_are_names_and_versions_only():
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line), line
    names = [canonicalize_name(name) for name in pinned_versions()]
    assert len(names) == len(set(names))


def test_constraints_pin_every_dependency():
    """Follow the requirements of the project and of everything they require."""
    pinned = {canonicalize_name(name) for name in pinned_versions()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    waiting = [Requirement(text) for text in project["build-system"]["requires"] + project["project"]["dependencies"]]
    waiting += [Requirement(text) for extra in project["project"]["optional-dependencies"].values() for text in extra]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        try:
            required = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            assert requirement.name in NOT_EVERYWHERE
            continue  # not installed here: pinned itself, without what it requires
        for text in required:
            child = Requirement(text)
            extras = requirement.extras or {""}
            if child.marker is None or any(child.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(child)
    assert {name for name, *_ in seen} <= pinned


def test_pins_satisfy_the_declared_ranges():
    pinned = {canonicalize_name(name): version for name, version in pinned_versions().items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    texts = project["build-system"]["requires"] + project["project"]["dependencies"]
    texts += [text for extra in project["project"]["optional-dependencies"].values() for text in extra]
    for requirement in map(Requirement, texts):
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def imported_packages(*folders):
    """Top-level names that the sources in these folders import, wherever the import stands."""
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.split(".")[0]


@pytest.mark.parametrize(
    ("folders", "extras"),
    [
        (("core", "supdr_viz", "apps"), ["bench", "dask", "desktop", "notebook"]),
        (("tests",), ["test", "bench"]),
        (("benchmarks",), ["test", "bench"]),
    ],
    ids=["app", "tests", "benchmarks"],
)
def test_every_imported_package_is_declared(folders, extras):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = project["dependencies"] + [text for extra in extras for text in project["optional-dependencies"][extra]]
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    own = {"supdr", "supdr_viz", "tests", *(path.stem for path in (ROOT / "benchmarks").glob("*.py"))}
    providers = importlib.metadata.packages_distributions()
    for name in set(imported_packages(*folders)) - own - sys.stdlib_module_names:
        assert declared & {
            canonicalize_name(provider) for provider in providers.get(name, [OPTIONAL_PEERS.get(name, name)])
        }, name


def test_apps_are_thin():
    apps = sorted((ROOT / "apps").rglob("*.py"))
    assert apps
    for app in apps:
        assert len(app.read_text().splitlines()) < 40, app


@pytest.mark.parametrize("target", ["help", "serve", "test", "test-all", "test-times", "lint", "bench", "clean"])
def test_makefile_has_the_target(target):
    # -n prints the commands, -o takes the installation as up to date.
    options = ["-n", "-o", ".venv/installed", "-o", ".venv/installed-test", "-o", ".venv/installed-all"]
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    result = subprocess.run(
        ["make", *options, target], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip()


def test_continuous_integration_runs_the_documented_commands():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = [line for line in script.read_text().splitlines() if line.startswith("make")]
    assert commands == ["make lint", "make test"]

"""What is installed, what an import pulls in, and what the set-up promises."""

import ast
import email
import functools
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
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from supdr_viz.serving.extras import APP_PACKAGES

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
def source_distribution(tmp_path_factory):
    """Build the source distribution from a copy of the sources."""
    folder = tmp_path_factory.mktemp("sdist")
    sources = shutil.copytree(ROOT, folder / "sources", ignore=shutil.ignore_patterns(*NOT_SHIPPED))
    build = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=sources, check=True, capture_output=True)
    (path,) = folder.glob("*.tar.gz")
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


def test_every_file_that_is_no_program_is_shipped():
    """By its folder: `assets/*` does not hold what is in `assets/stage`."""
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["supdr_viz"]
    package = ROOT / "supdr_viz"
    others = [
        path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc", ".nbi", ".nbc")
    ]
    assert len(others) > 20
    for path in (path.relative_to(package) for path in others):
        assert any(path.parent == Path(pattern).parent and path.match(pattern) for pattern in shipped), path


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
    tables = {name for name in names if name.endswith((".csv", ".gz", ".npz", ".parquet", ".nbi", ".nbc"))}
    cells = {name for name in tables if name.startswith("supdr_viz/assets/sweeps/")}  # of the prepared sweeps
    assert tables - cells == {"supdr_viz/papers/snf_paper.csv"}  # the figures that a paper prints
    sources = [*(ROOT / "core").rglob("*.py"), *(ROOT / "supdr_viz").rglob("*.py")]
    assert len([name for name in names if name.endswith(".py")]) == len(sources)
    assert {"supdr/py.typed", "supdr_viz/py.typed"} <= set(names)


@pytest.mark.slow
def test_the_source_distribution_makes_the_same_wheel(source_distribution, wheel, tmp_path):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(tmp_path)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source_distribution)]
    subprocess.run(command, check=True, capture_output=True)
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {each.filename: each.CRC for each in one.infolist()} == {
            each.filename: each.CRC for each in other.infolist()
        }


@pytest.mark.slow
def test_a_package_index_takes_both(source_distribution, wheel):
    for command in (["twine", "check", "--strict", wheel, source_distribution], ["check_wheel_contents", wheel]):
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


SHIPPED = {".css", ".csv", ".html", ".js", ".json", ".md", ".npz", ".py", ".toml", ".typed", ".webp"}
"""Endings of files of our own; fonts, among others, would come from elsewhere."""


def test_one_licence_holds_for_every_shipped_file():
    for package in (ROOT / "core" / "supdr", ROOT / "supdr_viz"):
        for path in package.rglob("*"):
            if not path.is_file() or path.suffix in (".pyc", ".nbi", ".nbc"):
                continue
            assert path.suffix in SHIPPED or path.name == "py.typed", path
            if path.suffix not in (".npz", ".webp"):
                assert not re.search(r"@licen[sc]e|\bcopyright \(c\)|©|SPDX-", path.read_text(), re.IGNORECASE), path


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{version}"' in (ROOT / "conda" / "recipe.yaml").read_text()
    assert re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def test_the_conda_recipe_asks_for_what_the_distribution_asks_for():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    asked = {line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()}
    assert asked == {*project["dependencies"], f"python{project['requires-python']}"}
    bounds = dict(re.findall(r"^    - (bokeh|panel|panel-material-ui) (\S+)$", recipe, re.MULTILINE))
    app = {each.name: each.specifier for each in declared_requirements(["app"], base=False)}
    assert {name: app[name] for name in bounds} == {name: SpecifierSet(bound) for name, bound in bounds.items()}


@pytest.fixture(scope="module")
def metadata(wheel):
    """What a package index and pip learn of the distribution."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@pytest.mark.slow
def test_the_library_asks_for_four_packages_only(metadata):
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist")]
    base = {canonicalize_name(each.name) for each in required if each.marker is None}
    assert base == {"numpy", "scipy", "scikit-learn", "numba"}
    assert {"files", "app", "dask", "desktop", "docs", "test"} <= set(metadata.get_all("Provides-Extra"))


@pytest.mark.slow
def test_what_a_package_index_shows_leads_nowhere_outside(metadata):
    shown = metadata.get_payload()
    assert 'pip install ".[app]"' in shown
    targets = re.findall(r"\]\(([^)]+)\)|^\[[^\]]+\]:\s*(\S+)|(?:src|href)=[\"']([^\"']+)", shown, flags=re.MULTILINE)
    for target in map("".join, targets):
        assert target.startswith("https://"), target


WITHOUT_INSTALLING = {"umap": "umap-learn", "pacmap": "pacmap"}
"""Modules imported where they are installed -> their distributions."""
NOT_EVERYWHERE = {
    *WITHOUT_INSTALLING.values(),
    "check-wheel-contents",
    "jupyterlab",
    "nbconvert",
    "pyside6",
    "qtpy",
    "twine",
}
"""Distributions that "make test" does without; "make test-all" has them."""
BROUGHT = {"joblib": "scikit-learn", "threadpoolctl": "scikit-learn", "llvmlite": "numba"}
"""Distributions that are imported and not declared -> those of ours that bring them."""


def declared_requirements(extras, base=True):
    """The requirements of the project with these extras, and with the extras that those name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, waiting, seen = list(map(Requirement, project["dependencies"])) if base else [], list(extras), set()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for requirement in map(Requirement, project["optional-dependencies"][extra]):
            if requirement.name == project["name"]:
                waiting += requirement.extras
            else:
                found.append(requirement)
    return found


def every_declared_requirement():
    recipe = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = recipe["project"]["optional-dependencies"]
    return declared_requirements(extras) + list(map(Requirement, recipe["build-system"]["requires"]))


def pinned_versions(file="constraints.txt"):
    lines = (ROOT / file).read_text().splitlines()
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-oldest.txt"])
def test_constraints_are_names_and_versions_only(file):
    lines = (ROOT / file).read_text().splitlines()
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line), line
    assert len(lines) == len(pinned_versions(file))


def test_the_oldest_versions_are_the_declared_ones():
    """The lower bounds of library and files are the versions that the tests of the oldest ones install."""
    oldest = pinned_versions("constraints-oldest.txt")
    for requirement in declared_requirements(["files"]):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        assert Version(oldest[canonicalize_name(requirement.name)]) == Version(bound.version), requirement
    for brought, by in BROUGHT.items():
        assert {brought, by} <= set(oldest)


def test_constraints_pin_every_dependency():
    """Follow the requirements of the project and of everything they require."""
    waiting = every_declared_requirement()
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
    assert {name for name, *_ in seen} <= set(pinned_versions())


def test_pins_satisfy_the_declared_ranges():
    pinned = pinned_versions()
    for requirement in every_declared_requirement():
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def imported_packages(*folders):
    """Top-level names that the sources in these folders import, wherever the import stands."""
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.split(".")[0]


@functools.cache
def providers_of_packages():
    """Return the distributions that bring each package installed here, by the name that is imported."""
    return importlib.metadata.packages_distributions()


BY_HAND = re.compile(r"pip install ([\w-]+)(?: --no-deps)?(?: && |\n)python benchmarks/")
"""In a benchmark that compares with a package nothing else needs: the command in its first lines installs it."""


@pytest.mark.parametrize(
    ("folders", "extras"),
    [
        (("core",), ["files", "anndata", "app", "dask", "bench"]),
        (("supdr_viz", "apps"), ["app", "dask", "desktop", "film", "notebook"]),
        (("tests", "benchmarks"), ["test-all"]),
    ],
    ids=["library", "app", "tests"],
)
def test_every_imported_package_is_declared(folders, extras):
    declared = {canonicalize_name(requirement.name) for requirement in declared_requirements(extras)}
    declared |= {brought for brought, by in BROUGHT.items() if by in declared}
    own = {"scripts", "supdr", "supdr_viz", "tests", *(path.stem for path in (ROOT / "benchmarks").glob("*.py"))}
    providers = providers_of_packages()
    by_hand = [name for file in (ROOT / "benchmarks").glob("*.py") for name in BY_HAND.findall(file.read_text())]
    own |= {name.replace("-", "_") for name in by_hand}
    for name in set(imported_packages(*folders)) - own - sys.stdlib_module_names:
        assert declared & {
            canonicalize_name(provider) for provider in providers.get(name, [WITHOUT_INSTALLING.get(name, name)])
        }, name


def test_the_app_looks_for_all_of_its_extra():
    providers = providers_of_packages()
    looked_for = {canonicalize_name(provider) for name in APP_PACKAGES for provider in providers[name]}
    extra = {canonicalize_name(each.name) for each in declared_requirements(["app"], base=False)}
    assert looked_for == extra


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

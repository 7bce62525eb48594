"""The order of the folders: each imports only from those below it, lazily or not.  The map is docs/architecture.md."""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

import pytest

from supdr import MAC

ROOT = Path(__file__).parents[1]
MOST_FLOORS = 11
MOST_ROOMS, MOST_FLOORS_OF_ROOMS, MOST_FILES = 14, 9, 20
MOST_CLASSES_ABOVE = 5

# Modules on partitions that still keep state by identity or write attributes past their class.
UNDER_WAY = {
    "supdr.rows.running",
    "supdr.rows.in_partitions",
    "supdr.methods.mac.partitioned",
    "supdr.methods.mac.summed_features",
}

FLOORS = {
    "supdr": [
        "supdr.engine",
        "supdr.rows",
        "supdr.functions",
        "supdr.solvers",
        "supdr.methods.*",
        "supdr.baselines",
        "supdr.datasets",
        "supdr.quality",
        "supdr.sensitivity",
        "supdr",
    ],
    "supdr_viz": [
        "supdr_viz.data",
        "supdr_viz.experiment",
        "supdr_viz.presets",
        "supdr_viz.papers",
        "supdr_viz.pictures",
        "supdr_viz.pictures.methods",
        "supdr_viz.run",
        "supdr_viz.ui",
        "supdr_viz.views.stage",
        "supdr_viz.views",
        "supdr_viz.export",
        "supdr_viz.lessons",
        "supdr_viz.controls",
        "supdr_viz.serving",
        "supdr_viz.pages",
        "supdr_viz.pages.explorer",
        "supdr_viz.pages.compare",
        "supdr_viz.pages.sensitivity",
        "supdr_viz.pages.lessons",
        "supdr_viz.notebook",
        "supdr_viz",
    ],
}
"""The folders of each package from the bottom up; folders that share a star stand beside each other."""

PACKAGES = list(FLOORS)


@functools.cache
def modules():
    """Return every module of both packages: dotted name -> file."""
    found = {}
    for folder in (ROOT / "core" / "supdr", ROOT / "supdr_viz"):
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def folder_of(module):
    return module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]


@functools.cache
def imported(module):
    """Return the modules of this project that a module imports, anywhere in its text."""
    found = set()
    for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (below & set(modules())) or {node.module}
    return {name for name in found if name in modules()} - {module}


def floor_of(folder):
    """Return the floor that a folder stands on, counted within its package."""
    floors = FLOORS[folder.split(".")[0]]
    for number, name in enumerate(floors):
        if re.fullmatch(re.escape(name).replace(r"\*", r"[^.]+"), folder):
            return number
    return None


def arrows(package):
    """Return the imports between folders of one package: (from, to) -> one example in words."""
    found = {}
    for module in modules():
        for other in imported(module):
            start, end = folder_of(module), folder_of(other)
            if start != end and start.split(".")[0] == end.split(".")[0] == package:
                found[start, end] = f"{module} imports {other}"
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_has_its_floor(package):
    folders = {folder_of(module) for module in modules() if module.split(".")[0] == package}
    # A package whose parts stand on floors of their own may hold nothing but those parts.
    bare = {folder for folder in folders if floor_of(folder) is None}
    holding = {folder_of(module) for module, file in modules().items() if file.name != "__init__.py"}
    assert not bare & holding, f"not among the floors of tests/test_house.py: {sorted(bare & holding)}"


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_import_only_from_below(package):
    upward = [
        example
        for (start, end), example in sorted(arrows(package).items())
        if floor_of(start) is not None and floor_of(end) is not None and floor_of(start) <= floor_of(end)
    ]
    assert not upward, "imports from above or beside:\n" + "\n".join(upward)


@pytest.mark.parametrize("package", PACKAGES)
def test_few_floors(package):
    below = {}
    for start, end in arrows(package):
        below.setdefault(start, set()).add(end)

    @functools.cache
    def height(folder):
        return 1 + max((height(other) for other in below.get(folder, ())), default=0)

    tallest = max(below, key=height)
    assert height(tallest) <= MOST_FLOORS, f"{tallest} stands on floor {height(tallest)}"


def library_texts():
    """Return the text of every module of the library."""
    return {name: file.read_text(encoding="utf-8") for name, file in modules().items() if name.split(".")[0] == "supdr"}


def test_the_library_has_one_ambient_variable():
    ambient = re.compile(r"threading\.local\b|\bContextVar\(|\bContextVar\[[^]]*\]\(|\bWeak(?:Key|Value)Dictionary\(")
    found = {name: ambient.findall(text) for name, text in library_texts().items() if name not in UNDER_WAY}
    assert {name: kinds for name, kinds in found.items() if kinds} == {"supdr.engine.context": ["ContextVar("]}


def test_attributes_are_set_by_name():
    """No attribute comes from a hook on reading, and none is written past the class."""
    written = re.compile(
        r"^ +def __(?:getattr|getattribute|setattr)__"
        r"|__dict__(?:\.(?:update|pop|setdefault|clear)\b|\[.*\] *=|\s*=)"
        r"|\bvars\(.*\)(?:\.(?:update|pop|setdefault|clear)\b|\[.*\] *= )",
        re.MULTILINE,
    )
    found = {name for name, text in library_texts().items() if written.search(text)}
    assert found <= UNDER_WAY


def test_an_estimator_has_few_of_our_classes_above_it():
    above = [base for base in MAC.__mro__[1:] if base.__module__.split(".")[0] == "supdr"]
    assert len(above) <= MOST_CLASSES_ABOVE, above


def room_of(folder):
    return ".".join(folder.split(".")[:2])


def test_few_rooms_on_few_floors_with_few_files():
    files = Counter(folder_of(module) for module in modules() if module.startswith("supdr_viz."))
    rooms = {room_of(folder) for folder in files} - {"supdr_viz"}
    assert len(rooms) <= MOST_ROOMS
    assert not {folder: count for folder, count in files.items() if count > MOST_FILES}
    below = {}
    for start, end in arrows("supdr_viz"):
        below.setdefault(room_of(start), set()).add(room_of(end))

    @functools.cache
    def height(room):
        return 1 + max((height(other) for other in below.get(room, set()) - {room}), default=0)

    assert max(height(room) for room in rooms) <= MOST_FLOORS_OF_ROOMS


def test_the_library_knows_nothing_of_the_app():
    upward = [
        module
        for module in modules()
        if module.split(".")[0] == "supdr" and any(name.split(".")[0] == "supdr_viz" for name in imported(module))
    ]
    assert not upward
    toolkit = re.compile(r"^\s*(?:import|from) (?:panel|bokeh|holoviews|param|supdr_viz)\b", re.MULTILINE)
    touching = [
        name for name, file in modules().items() if name.startswith("supdr.") and toolkit.search(file.read_text())
    ]
    assert not touching


def test_the_map_names_every_folder():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = [
        folder
        for folder in {folder_of(module) for module in modules()}
        if folder.count(".") == 1 and f"`{folder.split('.')[1]}/`" not in text
    ]
    assert not missing


WALL_CLOCKS = {"time.time", "time.time_ns", "time.localtime", "datetime.now", "datetime.utcnow", "datetime.today"}
STAMPS = {"supdr.sensitivity.store": 1}
"""Modules that write down when something was, and how often: no duration depends on it."""


def test_no_duration_depends_on_a_clock_that_can_be_set():
    found = {}
    for name, file in modules().items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        read = [call for call in calls if any(ast.unparse(call).endswith(clock) for clock in WALL_CLOCKS)]
        if read:
            found[name] = len(read)
    assert found == STAMPS
    scripts = [file for file in (ROOT / "supdr_viz").rglob("*.js") if "Date" in file.read_text(encoding="utf-8")]
    assert scripts == []

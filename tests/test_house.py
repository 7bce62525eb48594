"""The order of the folders: each imports only from those below it, lazily or not.  The map is docs/architecture.md."""

import ast
import functools
import importlib
import re
from collections import Counter
from pathlib import Path
from types import FunctionType

import pytest
from bokeh.application.handlers import Handler
from panel.reactive import Syncable

from supdr import MAC
from supdr_viz.pictures.table import MAY_HAVE

ROOT = Path(__file__).parents[1]
MOST_FLOORS = 10
MOST_ROOMS, MOST_FLOORS_OF_ROOMS, MOST_FILES = 14, 8, 20
MOST_CLASSES_ABOVE = 4
MOST_PRIVATE, MOST_REPLACED = 118, 80

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


@functools.cache
def tree_of(module):
    """Return a module, parsed."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@functools.cache
def folder_of(module):
    return module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]


@functools.cache
def imported(module):
    """Return the modules of this project that a module imports, anywhere in its text."""
    found = set()
    for node in ast.walk(tree_of(module)):
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


@functools.cache
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
    found = {name: ambient.findall(text) for name, text in library_texts().items()}
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
    assert not found


CONTAINERS = re.compile(
    r"(?:Weak\w+|dict|list|set|deque|defaultdict|Counter|OrderedDict|bytearray|count|local|ContextVar)(?:\[.*\])?"
)
WRITES = re.compile("add|append|appendleft|clear|discard|extend|insert|pop|popitem|popleft|remove|setdefault|update")


def containers(body):
    """Return the names that a module or a class binds to something that can be written to."""
    found = set()
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        made = isinstance(value, ast.Call) and CONTAINERS.fullmatch(ast.unparse(value.func).rpartition(".")[2])
        literal = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
        if made or isinstance(value, literal):
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def ambient_state(tree):
    """Return what functions of a module share without being handed it."""
    found = {node.names[0] for node in ast.walk(tree) if isinstance(node, ast.Global)}
    shared = containers(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = containers(node.body)
            shared |= {f"{owner}.{name}" for name in names for owner in ("cls", node.name)}
            found |= {
                part.name for part in node.body if getattr(part, "name", "") in ("__getattr__", "__getattribute__")
            }
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for part in ast.walk(node):
            written = None
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store | ast.Del):
                written = part.value
            elif (
                isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and WRITES.fullmatch(part.func.attr)
            ):
                written = part.func.value
            elif isinstance(part, ast.Call) and ast.unparse(part.func) == "next":
                written = part.args[0]
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                of_class = re.fullmatch(r"cls|[A-Z]\w*[a-z]\w*", ast.unparse(part.value))
                found |= {ast.unparse(part)} if of_class else set()
            if written is not None and ast.unparse(written) in shared:
                found.add(ast.unparse(written))
    ambient = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}
    return found | ambient & {"threading.local", "contextvars.ContextVar", "ContextVar"}


@pytest.mark.parametrize(
    "text",
    [
        "known = {}\ndef add(name):\n    known[name] = 1",
        "open = WeakSet()\ndef join(page):\n    open.add(page)",
        "numbers = itertools.count()\ndef new():\n    return next(numbers)",
        "class Page:\n    known = {}\n    @classmethod\n    def add(cls, name):\n        cls.known.setdefault(name, 1)",
        "class Page:\n    open = False\ndef show():\n    Page.open = True",
        "pool = None\ndef shared():\n    global pool\n    pool = pool or Pool()",
        "class Here(threading.local):\n    seconds = 0",
        "class Other:\n    def __getattr__(self, name):\n        return 1",
    ],
)
def test_state_that_is_not_handed_along_is_found(text):
    assert ambient_state(ast.parse(text))
    assert not ambient_state(ast.parse("KINDS = {}\ndef kind(name):\n    own = {}\n    own[name] = KINDS[name]"))


def test_state_of_the_app_belongs_to_an_object_that_is_handed_along():
    names = [name for name in modules() if name.startswith("supdr_viz") and name != WORKAROUNDS]
    found = {name: ambient_state(tree_of(name)) for name in names}
    # The app's own scripts and style sheets by what they contain, and whether they are to be had: classes of the kit
    # ask for them that are made before there is a server.
    files = {"supdr_viz.ui.own_files": {"cls._contents", "cls.offered"}}
    assert {name: state for name, state in found.items() if state} == files


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

    assert max(height(room) for room in below) <= MOST_FLOORS_OF_ROOMS


# --- the sentences of docs/architecture.md ----------------------------------------------------------------------------

READS = {
    "pictures": {"pictures"},
    "views": {"pictures", "ui", "views"},
    "controls": {"controls", "data", "experiment", "presets", "ui"},
    "experiment": {"data", "experiment"},
    "run": {"data", "experiment", "papers", "pictures", "run"},
}
"""The rooms that each room may import from."""

ALSO = {
    # The rows themselves: what is drawn is computed from them. How numbers are written.
    "pictures": {"supdr_viz.data.split", "supdr_viz.data.rows_on_disk", "supdr_viz.data.number_format"},
    # How numbers are written, and how many points may be drawn by hand.
    "views": {"supdr_viz.data.number_format", "supdr_viz.data.drawn_points"},
}
"""Single modules that a room may import beside those."""


@pytest.mark.parametrize("room", READS)
def test_a_room_reads_only_what_its_sentence_says(room):
    package = f"supdr_viz.{room}"
    wrong = [
        f"{module} imports {other}"
        for module in modules()
        if room_of(folder_of(module)) == package
        for other in sorted(imported(module))
        if other.startswith("supdr_viz.") and other not in ALSO.get(room, ())
        if room_of(folder_of(other)).split(".")[1] not in READS[room]
    ]
    assert not wrong, "\n".join(wrong)


def test_views_count_no_rows():
    """Densities come with scenes and surfaces: they are counted in a worker."""
    inside = [name for name in modules() if room_of(folder_of(name)) == "supdr_viz.views"]
    assert not [name for name in inside if "supdr_viz.pictures.density" in imported(name)]
    counting = re.compile(r"\bscene_density\(|\bcell_counts\(")
    assert not [name for name in inside if counting.search(modules()[name].read_text(encoding="utf-8"))]


WITHOUT_KIT = ("data", "experiment", "presets", "papers", "pictures", "run")
KIT = {"bokeh", "holoviews", "panel", "panel_material_ui", "param", "tornado"}


def packages_of(module):
    """Return the packages that a module imports, by their first name."""
    found = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("room", WITHOUT_KIT)
def test_rooms_below_the_page_know_no_ui_kit(room):
    inside = [module for module in modules() if room_of(folder_of(module)) == f"supdr_viz.{room}"]
    assert not [module for module in inside if packages_of(module) & KIT]


def test_an_estimator_on_the_input_answers_what_pictures_ask():
    """Attributes that only some estimators have; a pipeline that is watched would seem to have none of them."""
    asking = re.compile(r'(?:getattr|hasattr)\(fitted, "(\w+)"')
    inside = [name for name in modules() if room_of(folder_of(name)) in ("supdr_viz.pictures", "supdr_viz.run")]
    asked = {word for name in inside for word in asking.findall(modules()[name].read_text(encoding="utf-8"))}
    assert asked
    assert asked <= set(MAY_HAVE)


def test_pictures_are_not_packed_for_the_browser():
    inside = [name for name in modules() if room_of(folder_of(name)) == "supdr_viz.pictures"]
    packed = re.compile(r"int16|packbits|base64|tobytes|to_json|import json")
    assert not [name for name in inside if packed.search(modules()[name].read_text(encoding="utf-8"))]


def test_settings_open_no_cluster():
    inside = [name for name in modules() if room_of(folder_of(name)) in ("supdr_viz.experiment", "supdr_viz.presets")]
    assert not [name for name in inside if "supdr_viz.data.cluster" in imported(name)]
    assert not [name for name in inside if packages_of(name) & {"dask", "distributed"}]


WORKAROUNDS = "supdr_viz.ui.panel_workarounds"
PUBLIC = {"_replace", "_asdict", "_fields", "_exit"}
"""Names of the standard library that are public in spite of their underscore."""
OTHERS = {
    "supdr.baselines.pls": {"_y_std"},
    "supdr.engine.fitted": {"_get_param_names"},
    "supdr.engine.progress": {"_init_callback_context", "_parent_callback_ctx", "_skl_callbacks"},
    "supdr.sensitivity.executors": {"_max_workers"},
}
"""Private attributes of scikit-learn and of concurrent.futures, by the module that reads them."""


def is_private(name):
    """Whether a name is not public, or lets what is read-only be written."""
    return name == "edit_readonly" or (name.startswith("_") and not name.startswith("__"))


@functools.cache
def private_names(module):
    """Return the private names that a module defines, and the private attributes that it reads."""
    defined, read = set(), set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.alias):
            (read if node.name == "edit_readonly" else defined).add((node.asname or node.name).split(".")[-1])
        elif isinstance(node, ast.Attribute):
            self_or_core = ast.unparse(node.value) in ("self", "cls") or module.startswith("supdr.")
            own = isinstance(node.ctx, ast.Store) and self_or_core
            (defined if own else read).add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr", "delattr"):
            read |= {each.value for each in node.args[1:2] if isinstance(each, ast.Constant)}
    return set(filter(is_private, defined)), set(filter(is_private, read))


def test_private_attributes_of_others_stand_in_the_workarounds_module():
    names = {module: private_names(module) for module in modules() if module != WORKAROUNDS}
    own = set().union(*(defined for defined, _ in names.values()))
    foreign = {module: read - own - PUBLIC for module, (_, read) in names.items()}
    assert {module: read for module, read in foreign.items() if read} == OTHERS


def heirs(kind):
    """Return all classes below one."""
    below = set(type.__subclasses__(kind))
    return below.union(*map(heirs, below))


def test_private_methods_of_the_kit_are_overridden_in_the_workarounds_module():
    for module in modules():
        if module.startswith("supdr_viz.") and module != "supdr_viz.panel_serve":  # which changes the server
            importlib.import_module(module)
    kinds = {kind for base in (Syncable, Handler) for kind in heirs(base)}
    overridden = [
        f"{kind.__module__}.{kind.__name__}.{name}"
        for kind in kinds
        if kind.__module__.startswith("supdr_viz.") and kind.__module__ != WORKAROUNDS
        for name, value in vars(kind).items()
        if is_private(name) and isinstance(value, FunctionType | property)
        if any(name in vars(base) for base in kind.__mro__[1:] if not base.__module__.startswith("supdr_viz."))
    ]
    assert not overridden


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


WALKS = {
    "The way of a hyper-parameter": 14,
    "The way of an uploaded file": 14,
    "The way of a frame": 20,
}
"""The walks of the map, and the most files of the app that each may pass."""


def steps_of(walk):
    """Return the steps of a walk: files of the repository, and what of each is named, if anything is."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition(f"## {walk}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. `([^`]+)`(?:, `([^`]+)`)?", section, re.MULTILINE)
    return [(ROOT / (path if path.startswith("core/") else f"supdr_viz/{path}"), name) for path, name in steps]


def names_in(file):
    """Return the functions, classes and methods that a file of Python defines, methods with their class."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_of_the_map_is_short_and_names_what_exists(walk):
    steps = steps_of(walk)
    assert len({file for file, _ in steps if "core" not in file.relative_to(ROOT).parts}) <= WALKS[walk]
    assert len(steps) > 10
    for file, name in steps:
        assert file.is_file(), file
        assert not name or name in names_in(file), f"{file.name} has no {name}"


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


def test_the_tests_of_the_app_mirror_its_rooms():
    rooms = {room_of(folder_of(module)).split(".")[-1] for module in modules() if module.startswith("supdr_viz.")}
    folder = ROOT / "tests" / "viz"
    mirrored = {file.parent.name for file in folder.glob("*/test_*.py")}
    assert mirrored == rooms - {"supdr_viz"}
    loose = {file.stem for file in folder.glob("test_*.py")}
    assert loose == {"test_cli", "test_container", "test_docs", "test_warm"}  # of no room of its own


def test_tests_touch_few_private_attributes_and_replace_few_parts():
    """Private attributes of others than the object itself, and what `monkeypatch` replaces, over all tests."""
    private, replaced = 0, 0
    for file in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Attribute):
                continue
            owner = ast.unparse(node.value)
            private += is_private(node.attr) and node.attr not in PUBLIC and owner not in ("self", "cls")
            replaced += owner == "monkeypatch" and node.attr in ("setattr", "setitem", "delattr")
    assert private <= MOST_PRIVATE
    assert replaced <= MOST_REPLACED


def test_no_test_module_imports_another():
    taken = re.compile(r"^\s*(?:from|import) tests\.[\w.]*test_|^\s*from tests[\w.]* import .*\btest_", re.MULTILINE)
    files = [*(ROOT / "tests").rglob("*.py")]
    assert not [file.name for file in files if taken.search(file.read_text(encoding="utf-8"))]

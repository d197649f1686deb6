"""The arrows of the design, kept by reading every import: those inside functions and of types alone too."""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from what_runs import FREE_OF_JAX

PACKAGE = Path(__file__).parent.parent / "jaxstage_ext"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = {
    "report": (),
    "store": (),
    "ir": ("report", "store"),
    "worker": ("report", "store", "ir"),
    "worker.inside": (),
    "core": ("report", "store", "ir", "worker"),
    "analysis": ("report", "store", "ir"),
    "search": ("report", "store", "ir", "analysis"),
    "profiling": ("report", "store", "ir", "worker", "core"),
    "compilation": ("report", "store", "ir", "worker", "core"),
    "processes": ("report", "ir", "core", "compilation"),
    "processes.inside": ("report", "store", "ir", "core", "compilation", "processes"),
    "processes.engines": ("report", "store", "ir", "processes", "processes.inside"),
    "program": (
        "report",
        "store",
        "ir",
        "worker",
        "core",
        "analysis",
        "search",
        "profiling",
        "compilation",
        "processes",
    ),
    "findings": ("report", "ir", "core", "analysis", "compilation", "program"),
    "views": ("report", "store", "ir", "analysis", "search", "profiling", "compilation", "program", "findings"),
    "panel": (
        "report",
        "store",
        "ir",
        "analysis",
        "search",
        "profiling",
        "compilation",
        "program",
        "findings",
        "views",
    ),
    "api": (),
    "api.inspection": (
        "report",
        "store",
        "ir",
        "worker",
        "core",
        "analysis",
        "profiling",
        "processes",
        "program",
        "findings",
        "views",
        "panel",
    ),
    "api.inspect": ("core", "program", "api.inspection"),
    "api.xla_dump": ("report", "ir", "core", "program", "api.inspection"),
    "api.load": (
        "report",
        "store",
        "ir",
        "core",
        "profiling",
        "processes.engines",
        "program",
        "views",
        "panel",
        "api.inspection",
        "api.inspect",
        "api.xla_dump",
    ),
    "api.find_shardings": (
        "report",
        "core",
        "search",
        "program",
        "views",
        "panel",
        "api.inspection",
        "api.inspect",
    ),
    "api.profile": ("report", "core", "profiling", "program", "api.inspection", "api.inspect"),
    "api.preflight": ("processes",),
    "api.job_compile_history": ("processes", "processes.engines", "program", "panel"),
    "api.compiles": (
        "report",
        "core",
        "compilation",
        "program",
        "views",
        "panel",
        "api.inspection",
        "api.job_compile_history",
    ),
    "notebook": (
        "report",
        "store",
        "ir",
        "worker",
        "core",
        "analysis",
        "profiling",
        "compilation",
        "processes",
        "processes.engines",
        "processes.inside",
        "program",
        "findings",
        "views",
        "panel",
        "api.inspection",
        "api.inspect",
        "api.load",
        "api.xla_dump",
        "api.compiles",
        "api.job_compile_history",
        "api.find_shardings",
    ),
    "command": ("report", "profiling", "findings", "api.inspection", "api.inspect", "api.load"),
    "__main__": ("command",),
    "agents": ("report", "api.load"),
    "testing": ("report", "ir", "analysis", "program", "findings", "api.inspection", "api.inspect"),
    "__init__": (
        "api.inspection",
        "api.inspect",
        "api.load",
        "api.profile",
        "api.find_shardings",
        "profiling",
        "compilation",
        "processes",
        "api.compiles",
        "api.preflight",
    ),
}
"""Each room, and the rooms that its files may import beside their own."""
HOOK = ("__init__", "notebook.extension")
"""The one import against the arrows: `%load_ext` loads the magics when it is called."""
WITHOUT_JAX = ("report", "store", "ir", "worker", "analysis", "search", "views", "panel")
STDLIB_AND = {
    "report": {"numpy", "pandas", "arro3"},
    "store": set(),
    "worker.inside": {"jaxlib", "capstone", "google", "numpy"},
}
READS_EXPORTED = "worker.inside.exported_programs"
"""JAX alone reads what it serialised, so this file of the worker imports it."""
PRIVATE_JAX = ("core.jax_private", "worker.inside")
NOTEBOOK_LIBRARIES = ("IPython", "ipywidgets", "anywidget", "traitlets")
KNOWS_NOTEBOOKS = ("views", "panel", "notebook", "__init__")


def name_of(path: Path) -> str:
    """ "ir.hlo.module" of ir/hlo/module.py; "__init__" of the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


NAMES = {name_of(path): path for path in MODULES}


def room_of(name: str) -> str:
    """The room that a module stands in. Raises KeyError for a file that no room has."""
    for room in sorted(ROOMS, key=len, reverse=True):
        if name == room or name.startswith(room + "."):
            return room
    raise KeyError(f"{name} stands in no room of the design: {', '.join(ROOMS)}")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imported(path: Path) -> list[str]:
    """Every absolute name that a file imports, wherever in it."""
    names = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def ours(path: Path) -> Iterator[str]:
    """The modules of this package that a file imports."""
    for name in imported(path):
        inner = name.removeprefix("jaxstage_ext").lstrip(".")
        if name.split(".")[0] != "jaxstage_ext":
            continue
        module = inner if inner in NAMES else inner.rpartition(".")[0]
        yield module or "__init__"


def libraries(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)} - sys.stdlib_module_names - {"jaxstage_ext"}


@functools.cache
def edges() -> list[tuple[str, str]]:
    """Each import of one file of this package by another."""
    return sorted({(name, to) for name, path in NAMES.items() for to in ours(path) if name != to})


def against_the_arrows() -> list[str]:
    """Imports that no room allows, as "from -> to"."""
    wrong = [
        (name, to)
        for name, to in edges()
        if (here := room_of(name)) != (there := room_of(to)) and there not in ROOMS[here] and (name, to) != HOOK
    ]
    return [f"{name} -> {to}" for name, to in wrong]


def circles() -> list[str]:
    """Files that import one another in a circle, as "a, b, c"."""
    imports: dict[str, list[str]] = {name: [] for name in NAMES}
    for name, to in edges():
        if (name, to) != HOOK:
            imports[name].append(to)
    reached: dict[str, set[str]] = {}
    for name in NAMES:
        seen, waiting = set(), [name]
        while waiting:
            new = [to for to in imports[waiting.pop()] if to not in seen]
            seen.update(new)
            waiting += new
        reached[name] = seen
    groups = {
        tuple(sorted(to for to in reached[name] if name in reached[to])) for name in NAMES if name in reached[name]
    }
    return [f"circle: {', '.join(group)}" for group in sorted(groups)]


def private_names() -> list[str]:
    """Files that know a private name of jax or jaxlib outside the places for it."""
    return [
        f"private: {name} -> {what}"
        for name, path in NAMES.items()
        if not name.startswith(PRIVATE_JAX)
        for what in imported(path)
        if what.split(".")[0] == "jaxlib" or what.startswith("jax._src")
    ]


def imports_that_make_jax_compile_again() -> list[str]:
    """Files that import what adds to JAX's trace context: `jax.extend`, which imports Pallas, and Pallas itself."""
    return [
        f"compiles all again: {name} -> {what}"
        for name, path in NAMES.items()
        for what in imported(path)
        if what.startswith(("jax.extend", "jax.experimental.pallas", "jax._src.pallas"))
    ]


def libraries_out_of_place() -> list[str]:
    """Imports of JAX, of notebooks or of other libraries in a room that does without them."""
    wrong = []
    for name, path in NAMES.items():
        room, needs = room_of(name), libraries(path)
        extra = {"jax"} if name == READS_EXPORTED else set()
        if room in STDLIB_AND:
            wrong += [f"library: {name} -> {one}" for one in sorted(needs - STDLIB_AND[room] - extra)]
        if room in WITHOUT_JAX:
            wrong += [f"library: {name} -> {one}" for one in sorted(needs & {"jax", "jaxlib"})]
        if room not in KNOWS_NOTEBOOKS:
            wrong += [f"library: {name} -> {one}" for one in sorted(needs & set(NOTEBOOK_LIBRARIES))]
    return wrong


def test_every_file_stands_in_a_room() -> None:
    loose = [path.name for path in PACKAGE.glob("*.py")]
    assert sorted(loose) == ["__init__.py", "__main__.py"]
    for name in NAMES:
        room_of(name)


def test_the_arrows_hold_and_nothing_goes_in_a_circle() -> None:
    wrong = {*against_the_arrows(), *circles(), *private_names(), *libraries_out_of_place()}
    assert sorted(wrong) == []
    assert imports_that_make_jax_compile_again() == []


def test_rooms_whose_tests_run_on_the_newest_jax_alone_are_free_of_it() -> None:
    assert set(FREE_OF_JAX) <= set(WITHOUT_JAX)


def test_no_two_classes_and_no_two_modules_of_a_room_share_a_name() -> None:
    """A fact may be called as the package of analysis that it asks; all else has a name of its own."""
    modules = Counter(path.stem for path in MODULES if path.stem not in ("__init__", "__main__"))
    classes = Counter(
        node.name
        for path in MODULES
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in (modules + classes).items() if count > 1] == []


def test_programs_answer_for_themselves() -> None:
    """What differs by the kind of program is an attribute of it: nobody asks for its class."""
    kinds = {"CompileCacheProgram", "CompileHistoryProgram", "FileProgram", "SessionView", "LoggedProgram"}
    kinds |= {"RecordedProgram", "SavedProgram"}
    asked = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if kinds & {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
    ]
    assert asked == []


MOST_LOOSE = 24
MOST_LOOSE_IN_HALLS = 12
HALLS = ("core", "program")
"""Rooms whose files lie in rooms inside them, but for the few that all of these read."""
ONE_A_TOPIC = ("core/jax_private", "panel/requests", "worker/inside")
"""Folders of one file a topic of JAX's, a tab, a request of the worker, whose names are their order."""


def test_no_room_is_a_heap() -> None:
    folders = {path.parent for path in MODULES if "static" not in path.parts}
    loose = {
        str(folder.relative_to(PACKAGE)): sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        for folder in folders
    }
    assert {name: count for name, count in loose.items() if count > MOST_LOOSE and name not in ONE_A_TOPIC} == {}
    assert {name: loose[name] for name in HALLS if loose[name] > MOST_LOOSE_IN_HALLS} == {}

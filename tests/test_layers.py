"""The layer arrows of the design, kept by walking the imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jaxstage_ext"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = ("report", "readers", "analysis", "inspection", "views", "magics", "package")
LAYER_OF = {
    "report": "report",
    "core": "readers",
    "ir": "readers",
    "analysis": "analysis",
    "profiling": "analysis",
    **dict.fromkeys(("inspection", "analyses", "compare", "errors", "exhausted", "option_table"), "inspection"),
    **dict.fromkeys(("saved", "serial", "summary", "tabs"), "inspection"),
    **dict.fromkeys(("machine", "kernels", "kernel_rows"), "inspection"),
    **dict.fromkeys(("answers", "costs", "lanes", "looks", "memory", "numbers"), "inspection"),
    **dict.fromkeys(("refused", "sharded", "typed"), "inspection"),
    "views": "views",
    "__init__": "package",
}
ONLY_HERE_PRIVATE = {
    "core/jax_private.py",
    "core/jax_private_compile.py",
    "core/jax_private_shardings.py",
    "core/mosaic.py",
    "core/worker_main.py",
}
KNOWS_JAX = {"ir/jaxpr.py"}


def imported(module: Path, *, at_import: bool = False) -> Iterator[str]:
    """Absolute names that a module imports; `at_import` leaves out those inside functions and TYPE_CHECKING."""
    tree = ast.parse(module.read_text())
    for node in walk(tree) if at_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from walk(node)


def part_of(relative: str) -> str:
    """The folder or top-level module: "ir" for ir/hlo.py, "cell" for cell.py."""
    return relative.removesuffix(".py").split("/")[0]


def layer_of(relative: str) -> str:
    """The layer of a module; what is not listed is the magics' side, which nothing below may import."""
    return LAYER_OF.get(part_of(relative), "magics")


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def is_in(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


every_module = pytest.mark.parametrize("module", MODULES, ids=name_of)


@every_module
def test_arrows_point_one_way(module: Path) -> None:
    here = LAYERS.index(layer_of(name_of(module)))
    for name in imported(module, at_import=True):
        if name.startswith("jaxstage_ext."):
            there = LAYERS.index(layer_of(name.split(".")[1]))
            assert there <= here, f"{name_of(module)} must not import {name}"


@every_module
def test_only_one_file_knows_private_jax(module: Path) -> None:
    if name_of(module) in ONLY_HERE_PRIVATE:
        return
    for name in imported(module):
        assert not is_in(name, "jax._src", "jaxlib"), f"{name_of(module)} imports {name}"


@every_module
def test_tables_readers_and_views_never_import_jax(module: Path) -> None:
    name = name_of(module)
    if part_of(name) not in ("report", "ir", "views") or name in KNOWS_JAX:
        return
    for imported_name in imported(module):
        assert not is_in(imported_name, "jax", "jaxlib"), f"{name} imports {imported_name}"


@every_module
def test_report_needs_numpy_alone(module: Path) -> None:
    if name_of(module) != "report.py":
        return
    allowed = sys.stdlib_module_names | {"numpy"}
    assert {name.split(".")[0] for name in imported(module)} <= allowed


@every_module
def test_only_magics_and_cell_know_ipython_cells(module: Path) -> None:
    if layer_of(name_of(module)) in ("magics", "views", "package"):
        return
    for name in imported(module):
        assert not is_in(name, "IPython", "ipywidgets", "anywidget"), f"{name_of(module)} imports {name}"

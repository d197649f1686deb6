"""Every regular expression of the package takes linear time, on strings made to have it take more."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import compiled_once
import pumps
import pytest

import jaxstage_ext
from jaxstage_ext.panel import search
from jaxstage_ext.report.document import document
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.text import public_paths

ROOT = Path(jaxstage_ext.__file__).parent
LENGTH = 40_000
SLOW = 0.4
"""Processor seconds, of which a third is slow: linear ones take up to 0.05 for the length, quadratic ones 0.17."""
TRIES = 3
PARTS = 8
SHORT = {("worker.inside.pass_dump", "_DUMP"): 255}
"""Patterns whose text is never longer: names of files."""
MADE = {
    ("analysis.cost.equations", "re.sub"): "prefixes of JAX's names, in _SHORT",
    ("core.jax_private.tracebacks", "re.sub"): "the user's own setting of JAX, which JAX applies to the same names",
    ("core.targets.packages", "re.match"): "requirements in the metadata of installed packages",
    ("ir.folds", "re.compile"): "one class of characters",
    ("notebook.lines.completion", "re.compile"): "names of magics",
    ("notebook.cells.toplevel_await", "re.compile"): "names of magics",
    ("program.questions.foreign_targets", "re.search"): "one name, escaped",
    ("program.machine_code.kernels", "re.search"): "one of two names; again, the quote behind it ends a match",
    ("panel.search", "re.compile"): "test_names_are_looked_up_in_linear_time",
    ("search.path_rules", "re.search"): "one path, escaped, with its numbers as digits",
    ("worker.inside.whole_files", "re.compile"): "names of files",
    ("report.text.public_paths", "re.compile"): "test_paths_are_shortened_in_linear_time",
    ("report.text.public_paths", "re.fullmatch"): "test_paths_are_shortened_in_linear_time",
    ("report.text.public_paths", "re.sub"): "test_paths_are_shortened_in_linear_time",
}
"""Patterns made while it runs, and of what; those of a module's own constants are in the module."""


class Use(NamedTuple):
    """A pattern, and the function that is called with it."""

    module: str
    name: str
    pattern: re.Pattern[Any]
    method: str


@functools.cache
def modules() -> list[tuple[str, ModuleType, ast.Module]]:
    """The modules that name `re`: their names, themselves, and what they are parsed to."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text("utf-8")
        if "static" not in path.parts and re.search(r"\bre\b", text):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")
            tree = ast.parse(text)
            if any(isinstance(node, ast.Name) and node.id == "re" for node in ast.walk(tree)):
                found.append((name, importlib.import_module(f"jaxstage_ext.{name}"), tree))
    return found


def methods_of(tree: ast.Module) -> dict[str, set[str]]:
    """Of each name, what is called on it: `_NAME.search(...)`, `hlo_line.NAME.findall`."""
    called: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            called.setdefault(name, set()).add(node.attr)
    return called


@functools.cache
def uses() -> list[Use]:
    called: dict[tuple[str, str], set[str]] = {}
    for _, _, tree in modules():
        for name, methods in methods_of(tree).items():
            called.setdefault(("", name), set()).update(methods)
    found = []
    for module_name, module, tree in modules():
        own = methods_of(tree)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                methods = own.get(name) or called.get(("", name)) or {"search"}
                found += [Use(module_name, name, value, method) for method in sorted(methods)]
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        calls = (node for function in functions for node in ast.walk(function))
        found += [use for node in calls if (use := inline(module_name, node)) is not None]
    return found


def inline(module: str, node: ast.AST) -> Use | None:
    """`re.search("...", text)`, and `re.compile("...")` in a function."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args):
        return None
    function, pattern = ast.unparse(node.func), node.args[0]
    if function == "re.escape" or not isinstance(pattern, ast.Constant):
        return None
    method = "search" if function == "re.compile" else function.removeprefix("re.")
    return Use(module, function, re.compile(pattern.value), method)


def seconds(use: Use, text: Any) -> float:
    """Processor seconds of this thread, which is stopped when the process has had SLOW."""
    method = use.method if use.method in ("match", "fullmatch", "search") else "finditer"
    before = time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
    try:
        for _ in getattr(use.pattern, method)(text) or ():
            pass
    except TypeError:  # a match, which is not iterated over
        pass
    except TookLong:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - before


class TookLong(Exception):
    """The processor time is over."""


@pytest.fixture(autouse=True)
def stopped() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TookLong

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


def is_slow(use: Use, text: Any) -> bool:
    return all(seconds(use, text) >= SLOW / 3 for _ in range(TRIES))


@pytest.mark.parametrize("part", range(PARTS))
def test_patterns_take_linear_time(part: int) -> None:
    chosen = sorted({use.module for use in uses()})[part::PARTS]
    assert chosen
    for use in uses():
        if use.module in chosen:
            length = SHORT.get((use.module, use.name), LENGTH)
            with seen_linear(use.pattern.pattern, use.pattern.flags, use.method, length) as is_seen:
                for text in () if is_seen else pumps.strings(use.pattern.pattern, use.pattern.flags, length):
                    assert not is_slow(use, text), f"{use.module}.{use.name} {use.pattern.pattern!r} on {text[:60]!r}…"


@contextlib.contextmanager
def seen_linear(*parts: Any) -> Iterator[bool]:
    """Whether a run of this week has seen it, with this Python and these texts; if the block passes, it is seen."""
    oracle = Path(pumps.__file__).read_bytes() + Path(__file__).read_bytes() + sys.version.encode()
    seen = compiled_once.folder(()) / f"linear-{hashlib.sha256(repr(parts).encode() + oracle).hexdigest()}"
    yield seen.exists()
    seen.touch()


def test_patterns_made_while_it_runs_are_known() -> None:
    made = set()
    for module_name, _, tree in modules():
        constants = {ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (function := ast.unparse(node.func)).startswith("re.") and node.args:
                is_known = isinstance(node.args[0], ast.Constant) or ast.unparse(node) in constants
                if function != "re.escape" and not is_known:
                    made.add((module_name, function))
    assert made == set(MADE)


def test_paths_are_shortened_in_linear_time() -> None:
    for is_message in (True, False):
        pattern = public_paths._pattern(("/home/me", "/tmp"), is_message)
        for text in pumps.strings(pattern.pattern, pattern.flags, LENGTH):
            assert not is_slow(Use("", "", pattern, "sub"), text), f"{is_message}: {text[:60]!r}…"
    for text in pumps.strings(public_paths._ANY_HOME, 0, LENGTH):
        for shortened in (public_paths.public_text, public_paths.public_folders, public_paths.masked_source):
            before = time.thread_time()
            shortened(text)
            assert time.thread_time() - before < 2, f"{shortened.__name__}: {text[:60]!r}…"


@pytest.mark.parametrize("line", ["func.func @", "%a = a: (", "a" * 900, "@a(", "(%a", "  "])
@pytest.mark.parametrize("name", ["@a", "%a", "a", "a" * 900])
def test_names_are_looked_up_in_linear_time(line: str, name: str) -> None:
    text = (line * LENGTH)[: 10 * LENGTH]
    made = document("hlo", [text, *["%a = f32[] add(a, @a)"] * 20_000], Frames())
    before = time.thread_time()
    search.symbol(made, name, 1)
    assert time.thread_time() - before < 2


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"[^ ]*kernel_\d+", "search"), (r"(a+)+$", "match"), (r"\s+\s+x", "match"), (r"<[^>]*>", "search")],
)
def test_patterns_that_take_longer_are_noticed(pattern: str, method: str) -> None:
    use = Use("", "", re.compile(pattern), method)
    assert any(is_slow(use, text) for text in pumps.strings(pattern, 0, LENGTH))

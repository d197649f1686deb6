"""Where the user jits the function of a call: the decorator or the call of `jax.jit` in their source."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

from jaxstage_ext.core.call import has_method
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.findings import code_change
from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.program.program import Program


class Jit(enum.Enum):
    """Whose jit it is; the value is how to write it."""

    JAX = "jax.jit"
    NNX = "nnx.jit"
    EQUINOX = "eqx.filter_jit"


_WRITTEN = re.compile(r"(?:^|\.)(?:p?jit|filter_jit)$")
_PARTIAL = ("partial", "functools.partial")


class JitSite(NamedTuple):
    """A place where a function is jitted."""

    file: str
    line: int
    call: ast.Call | None
    """The call that takes the options; None of a bare decorator."""
    end: tuple[int, int]
    """Line and column (in characters) behind the decorator or the call."""
    definition: int
    """The line of `def`."""


def kind(program: Program) -> Jit | None:
    """Whose jit the called function went through; None where the user jits nothing."""
    fn = program.call.fn
    if not (has_method(fn, "trace") or has_method(fn, "lower")):
        return None
    package = type(fn).__module__.partition(".")[0]
    return {"equinox": Jit.EQUINOX, "flax": Jit.NNX}.get(package, Jit.JAX)


def find(program: Program) -> JitSite | None:
    """Where the function of the call is jitted; None where no source of the user's says it, or several places do."""
    code = code_of(program.call.fn)
    if code is None or not is_user(code.co_filename) or kind(program) is None:
        return None
    lines = code_change.source_lines(program, code.co_filename)
    tree = parsed(lines)
    if tree is None:
        return None
    decorated = list(_decorators(tree, code.co_name, code.co_firstlineno))
    found = decorated or list(_calls(tree, code.co_name, code.co_firstlineno))
    if len(found) != 1:
        return None
    [(node, definition)] = found
    end = node.end_lineno or node.lineno, _characters(lines, node.end_lineno, node.end_col_offset)
    return JitSite(code.co_filename, node.lineno, node if isinstance(node, ast.Call) else None, end, definition)


def parsed(lines: tuple[str, ...]) -> ast.Module | None:
    """The source as Python parses it, without a cell's magics; None where it does not."""
    try:
        return ast.parse("\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines))
    except (SyntaxError, ValueError, RecursionError):
        return None


def with_option(program: Program, site: JitSite, option: str, value: str) -> str:
    """The source with an option more at the site, as a diff; "" where the option is there already."""
    lines = code_change.source_lines(program, site.file)
    line, column = site.end
    text = lines[line - 1]
    if site.call is None:
        return code_change.diff(program, site.file, {line: [f"{text[:column]}({option}={value}){text[column:]}"]})
    if has_option(site, option):
        return ""
    before = text[: column - 1]
    comma = "" if before.rstrip().endswith((",", "(")) else ", "
    space = " " if before.endswith(",") else ""
    return code_change.diff(program, site.file, {line: [f"{before}{space}{comma}{option}={value}{text[column - 1 :]}"]})


def has_option(site: JitSite, option: str) -> bool:
    """Whether the site has an option already, or may have it in a `**`."""
    return site.call is not None and any(each.arg in (option, None) for each in site.call.keywords)


def label(program: Program, file: str, line: int) -> str:
    """The line as findings name it: "In [3]:7"."""
    return f"{program.frame_table.source(file).label}:{line}"


def definition(tree: ast.Module, name: str, first: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The `def` of a function whose code begins at a line, with its decorators."""
    named = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    for node in named:
        if node.name == name and first == min(each.lineno for each in (node, *node.decorator_list)):
            return node
    return None


def _decorators(tree: ast.Module, name: str, first: int) -> Iterator[tuple[ast.expr, int]]:
    node = definition(tree, name, first)
    if node is not None:
        yield from ((each, node.lineno) for each in node.decorator_list if _is_jit(each))


def _calls(tree: ast.Module, name: str, first: int) -> Iterator[tuple[ast.expr, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_written(node.func) and node.args:
            given = node.args[0]
            is_lambda = isinstance(given, ast.Lambda) and given.lineno == first
            if is_lambda or (isinstance(given, ast.Name | ast.Attribute) and _last(given) == name):
                yield node, node.lineno


def _is_jit(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return _is_written(node)
    if ast.unparse(node.func) in _PARTIAL:
        return bool(node.args) and _is_written(node.args[0])
    return _is_written(node.func)


def _is_written(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _WRITTEN.search(ast.unparse(node)) is not None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _characters(lines: tuple[str, ...], line: int | None, column: int | None) -> int:
    text = lines[(line or 1) - 1].encode()
    return len(text[: column or 0].decode("utf-8", "replace"))

"""Run a cell's statements as IPython does, except for the calls to stage."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any, TypeVar

from IPython.core.displayhook import DisplayHook

from jaxstage_ext.notebook.cells import statement_calls
from jaxstage_ext.notebook.failures import as_in_a_plain_cell

Statement = TypeVar("Statement", bound=ast.stmt)


@dataclass(frozen=True)
class Cell:
    """A cell that has run.

    Attributes:
      file: the name its code is compiled under.
      calls: the calls of its last line, which were not run.
      holder: its last statement instead, where that is more than a call but holds one; not run either.
      functions: names it defines or assigns at top level -> the names their code mentions.
      others: the calls in its other statements, outside of definitions, which were run.
      quiet: whether it ends with a semicolon.
    """

    file: str
    calls: list[ast.expr] = field(default_factory=list)
    holder: ast.stmt | None = None
    functions: dict[str, set[str]] = field(default_factory=dict)
    others: list[ast.Call] = field(default_factory=list)
    quiet: bool = False


async def run_cell(ip: Any, source: str, number: int, raw: str, cut: bool) -> Cell:
    """Run the source; with `cut`, the calls of its last line, or the statement with one, are returned instead of run.

    Raises what the cell raises, with the traceback of an ordinary cell. Nothing has been displayed then.
    """
    ran, left = await run_but(ip, source, number, raw, _last if cut else _none)
    if len(left) == 1 and (holder := statement_calls.holder(left)) is not None:
        return replace(ran, holder=holder)
    return replace(ran, calls=[statement.value for statement in left if isinstance(statement, ast.Expr)])


def _none(body: list[ast.stmt]) -> list[ast.stmt]:
    return []


def _last(body: list[ast.stmt]) -> list[ast.stmt]:
    holder = statement_calls.holder(body)
    return [*last_calls(body)] if holder is None else [holder]


async def run_but(
    ip: Any, source: str, number: int, raw: str, choose: Callable[[list[ast.stmt]], list[Statement]]
) -> tuple[Cell, list[Statement]]:
    """Run the source but for the last statements, which `choose` picks before anything runs; they are returned.

    Raises what the cell raises, with the traceback of an ordinary cell. Nothing has been displayed then.
    """
    transformed, file, tree = _parsed(ip, source, number, raw)
    left = choose(tree.body)
    rest = tree.body[: len(tree.body) - len(left)]
    quiet = bool(tree.body) and _ends_with_semicolon(transformed)
    for node, mode in modes(rest, ip.ast_node_interactivity, cut=bool(left), quiet=quiet):
        await execute(ip, node, file, mode)
    return Cell(file, functions=functions(tree.body), others=list(_calls(rest)), quiet=quiet), left


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for node in body:
        if not isinstance(node, definitions):
            yield from (part for part in ast.walk(node) if isinstance(part, ast.Call))


def _parsed(ip: Any, source: str, number: int, raw: str) -> tuple[str, str, ast.Module]:
    """The source as Python, its file name, and its syntax tree."""
    failure: BaseException | None = None
    try:
        transformed = ip.transform_cell(source)
        file = ip.compile.cache(transformed, number, raw_code=raw)
        return transformed, file, ip.transform_ast(ip.compile.ast_parse(transformed, filename=file))
    except Exception as error:
        failure = as_in_a_plain_cell(ip, error, None)
    raise failure


def last_calls(body: list[ast.stmt]) -> list[ast.Expr]:
    """The statements of the last line that are calls, unless something else follows them on the line; or a name."""
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name):
        return [last]
    calls: list[ast.Expr] = []
    for node in reversed(body):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or statement_calls.is_magic(
            node.value
        ):
            break
        if calls and node.end_lineno != calls[0].lineno:
            break
        calls.insert(0, node)
    return calls


def _ends_with_semicolon(source: str) -> bool:
    return bool(DisplayHook.semicolon_at_end_of_expression(source))  # type: ignore[no-untyped-call]


def modes(
    body: list[ast.stmt], interactivity: str, *, cut: bool = False, quiet: bool = False
) -> Iterator[tuple[ast.stmt, str]]:
    """Each statement, with "single" where IPython displays its value, otherwise "exec"."""
    if interactivity == "last_expr_or_assign" and body and not cut and not quiet:
        body = body + _assigned(body[-1])
        interactivity = "last_expr"
    for node in body:
        last = node is body[-1] and not cut
        shown = {
            "all": True,
            "last": last,
            "last_expr": last and isinstance(node, ast.Expr),
        }.get(interactivity, False)
        yield node, "single" if shown and not quiet else "exec"


def _assigned(node: ast.stmt) -> list[ast.stmt]:
    target: Any = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        target = node.target
    if not isinstance(target, ast.Name):
        return []
    return [ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.Name(target.id, ast.Load())), node))]


def functions(body: list[ast.stmt]) -> dict[str, set[str]]:
    """Top-level names that may be functions -> the names in their definitions."""
    mentioned: dict[str, set[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            mentioned[node.name] = names(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda | ast.Call | ast.Name | ast.Attribute):
            mentioned |= {target.id: names(node.value) for target in node.targets if isinstance(target, ast.Name)}
    return mentioned


def names(node: ast.AST) -> set[str]:
    """The names that a piece of code mentions."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


async def execute(ip: Any, node: ast.AST, file: str, mode: str, space: dict[str, Any] | None = None) -> Any:
    """Run one statement ("exec", "single") or expression ("eval") in the user's namespace, or in another."""
    spaces = (ip.user_global_ns, ip.user_ns) if space is None or space is ip.user_ns else (space, space)
    code = _compiled(ip, node, file, mode)
    failure: BaseException | None = None
    try:
        with ip.builtin_trap, ip.display_trap:
            value = eval(code, *spaces)
            return await value if code.co_flags & inspect.CO_COROUTINE else value
    except BaseException as error:
        failure = as_in_a_plain_cell(ip, error, error.__traceback__ and error.__traceback__.tb_next)
    raise failure


def _compiled(ip: Any, node: Any, file: str, mode: str) -> CodeType:
    tree: Any = ast.Expression(node)
    if mode != "eval":
        tree = ast.Interactive([node]) if mode == "single" else ast.Module([node], [])
    failure: BaseException | None = None
    try:
        with ip.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if ip.autoawait else 0):
            code: CodeType = ip.compile(tree, file, mode)
            return code
    except Exception as error:
        failure = as_in_a_plain_cell(ip, error, None)
    raise failure

"""The call at which a line failed, read from the source: the function's name and its arguments, without running any."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FunctionType, TracebackType
from typing import Any

from jaxstage_ext.core.jax_private.jit_options import static_parameters

_LITERALS = {ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict"}


@dataclass(frozen=True, slots=True)
class WrittenArgument:
    """An argument as it is written.

    Attributes:
      text: the expression.   parameter: the function's name for it; "" where it is not known.
      value: that of a name that the frame knows, else None.   kind: the name of its type; "" where it is not known.
    """

    text: str
    parameter: str = ""
    value: Any = None
    kind: str = ""

    @property
    def is_unhashable(self) -> bool:
        """Whether its type has no hash at all."""
        return self.kind in _LITERALS.values() if self.value is None else type(self.value).__hash__ is None


@dataclass(frozen=True, slots=True)
class FailingCall:
    """A call as it is written; `statics` are the names of the static parameters, as far as they are known."""

    function: str
    arguments: tuple[WrittenArgument, ...]
    statics: frozenset[str] = frozenset()


def failing_call(trace: TracebackType) -> FailingCall | None:
    """The call or the operation that a traceback stands at; None where its source is not known."""
    tree = _expression(trace)
    names = {**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}
    if isinstance(tree, ast.Call):
        function = names.get(tree.func.id) if isinstance(tree.func, ast.Name) else None
        parameters = _parameters(function)
        arguments = tuple(_arguments(tree, parameters, names))
        return FailingCall(ast.unparse(tree.func), arguments, static_parameters(function, parameters))
    if isinstance(tree, ast.BinOp):
        return FailingCall("", tuple(_argument(node, "", names) for node in (tree.left, tree.right)))
    return None


def _expression(trace: TracebackType) -> ast.expr | None:
    code = trace.tb_frame.f_code
    line, end_line, column, end_column = next(islice(code.co_positions(), trace.tb_lasti // 2, None), (None,) * 4)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    lines = [linecache.getline(code.co_filename, at).encode() for at in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        return ast.parse(f"({b''.join(lines).decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _parameters(function: Any) -> tuple[str, ...]:
    """The positional parameters of a jitted function of the user's."""
    inner = getattr(function, "__wrapped__", None) if type(function).__module__.startswith("jaxlib") else function
    return inner.__code__.co_varnames[: inner.__code__.co_argcount] if type(inner) is FunctionType else ()


def _arguments(call: ast.Call, parameters: tuple[str, ...], names: dict[str, Any]) -> Iterator[WrittenArgument]:
    for at, node in enumerate(call.args):
        yield _argument(node, parameters[at] if at < len(parameters) else "", names)
    for keyword in call.keywords:
        yield _argument(keyword.value, keyword.arg or "", names)


def _argument(node: ast.expr, parameter: str, names: dict[str, Any]) -> WrittenArgument:
    value = names.get(node.id) if isinstance(node, ast.Name) else None
    kind = type(value).__name__ if value is not None else _LITERALS.get(type(node), "")
    return WrittenArgument(ast.unparse(node), parameter, value, kind)

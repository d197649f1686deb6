"""Calls that JAX refuses before it traces, of which its events tell nothing: known by the error that ends the cell.

The call is read from the source of the line that failed, without running any of it.
"""

from __future__ import annotations

import ast
import linecache
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FunctionType, TracebackType
from typing import Any

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.events.event_place import event_place
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.jax_private.compile_frames import is_array, is_jax
from jaxstage_ext.core.jax_private.jit_options import static_parameters
from jaxstage_ext.core.jax_private.refused_calls import Refusal, refusal
from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name

_CONTAINERS = frozenset(map(id, (tuple, list, dict)))


def hear(error: BaseException) -> CompileRecord | None:
    """Add a call that JAX refused to the log; nothing of another error. Raises nothing."""
    try:
        record = _record(error)
    except Exception as fault:
        LOG.fault(fault)
        return None
    if record is not None:
        LOG.add(record)
    return record


def _record(error: BaseException) -> CompileRecord | None:
    kind, trace = refusal(error), _innermost(error.__traceback__)
    if kind is None or trace is None:
        return None
    place, call = event_place(trace.tb_frame), failing_call(trace)
    if place.is_ours:
        return None
    first_line = bounded_str(error, 200).partition("\n")[0]
    return CompileRecord(
        LOG.next_number(),
        call.function if call else "",
        time.time(),
        threading.get_ident(),
        Entry.CALL,
        Asker.USER,
        call_site=place.call_site,
        user_line=place.user_line,
        cell=place.cell,
        run=place.run,
        failed=f"{type_name(error)}: {first_line}",
        refused=_unhashable(call) if kind is Refusal.UNHASHABLE_STATIC else _deleted(call),
    )


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    """The innermost traceback that is not in JAX's code."""
    found = None
    while trace is not None:
        if not is_jax(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return found


def _unhashable(call: FailingCall | None) -> Difference:
    every = [argument for argument in call.arguments if argument.is_unhashable] if call else []
    static = [argument for argument in every if call and argument.parameter in call.statics]
    if len(found := static or every) != 1 and not static:
        return Difference(Cause.UNHASHABLE_STATIC)
    name = found[0].parameter or found[0].text
    target = f"tuple({name})" if found[0].kind == "list" else ""
    return Difference(Cause.UNHASHABLE_STATIC, name, "", found[0].kind, target)


def _deleted(call: FailingCall | None) -> Difference:
    return next(_deleted_leaves(call), Difference(Cause.DONATED_BEFORE)) if call else Difference(Cause.DONATED_BEFORE)


def _deleted_leaves(call: FailingCall) -> Iterator[Difference]:
    for argument in call.arguments:
        value = argument.value
        pairs = leaves_with_paths(value) if id(type(value)) in _CONTAINERS else [((), value)]
        for path, leaf in pairs:
            if is_array(type(leaf)) and leaf.is_deleted():
                yield Difference(Cause.DONATED_BEFORE, argument.text + path_text(path), "", leaf.aval.str_short(True))


_LITERALS = {ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict"}


@dataclass(frozen=True, slots=True)
class WrittenArgument:
    """An argument as it is written."""

    text: str
    """The expression."""
    parameter: str = ""
    """The function's name for it; "" where it is not known."""
    value: Any = None
    """That of a name that the frame knows, else None."""
    kind: str = ""
    """The name of its type; "" where it is not known."""

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

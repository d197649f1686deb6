"""A call as it is typed on a command line: its function and its arguments in a module, and nothing called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError
from jaxstage_ext.report.text.shortened import shortened

_COLLECT = "__jaxstage_collect"


@dataclass(frozen=True)
class WrittenCall:
    """A function and the arguments that it would be called with."""

    fn: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def written_call(call: ast.Call, text: str, module: ModuleType) -> WrittenCall:
    """The function and arguments of a call, its names taken from a module; `jax` and `jnp` need no import.

    Raises CommandError where it names what is not there, or its arguments cannot be made.
    """
    names = {**_always(), **vars(module)}
    _check(call, names, module)
    return WrittenCall(_evaluated(call.func, names, text), *_arguments(call, names, text))


def written_specs(text: str, module: ModuleType) -> Any:
    """The PartitionSpecs that a text gives in order or by name, as `inspect` takes them; `P` is PartitionSpec.

    Raises CommandError, as `written_call`.
    """
    from jax.sharding import PartitionSpec

    call = parsed_call(f"P({text}\n)", text)
    names = {**_always(), "P": PartitionSpec, "PartitionSpec": PartitionSpec, **vars(module)}
    _check(call, names, module)
    args, kwargs = _arguments(call, names, text)
    return {**dict(enumerate(args)), **kwargs}


def _arguments(call: ast.Call, names: Mapping[str, Any], text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    collecting = ast.Call(ast.Name(_COLLECT, ast.Load()), call.args, call.keywords)
    args, kwargs = _evaluated(collecting, {**names, _COLLECT: _collector(shortened(ast.unparse(call.func), 80))}, text)
    return args, kwargs


def parsed_call(text: str, shown: str = "") -> ast.Call:
    """The call that a text is. Raises CommandError, which quotes `shown`, where it is none; nothing of it is run."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CommandError(wording.not_a_call(shown or text)) from None
    if not isinstance(call, ast.Call):
        raise CommandError(wording.not_a_call(shown or text))
    return call


def _check(call: ast.Call, names: Mapping[str, Any], module: ModuleType) -> None:
    """Raise CommandError for a name that is neither the module's nor Python's, nor bound in the call itself."""
    bound = {node.id for node in ast.walk(call) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(call) if isinstance(node, ast.arg)}
    builtins = names["__builtins__"]
    known = {*names, *bound, *(builtins if isinstance(builtins, dict) else vars(builtins))}
    for node in ast.walk(call):
        if isinstance(node, ast.Name) and node.id not in known:
            own = [name for name in vars(module) if not name.startswith("_")]
            raise CommandError(wording.no_name(node.id, f"{module.__name__}.py", own))


def _evaluated(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<call>", "eval")
    try:
        return eval(code, dict(names))
    except (Exception, SystemExit) as error:
        raise CommandError(wording.arguments_failed(text, f"{type(error).__name__}: {error}")) from None


def _collector(name: str) -> Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]:
    """A function that returns its arguments, and is called as the user's in what Python says of them."""

    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    collect.__qualname__, collect.__module__ = name, "builtins"
    return collect


def _always() -> dict[str, Any]:
    import jax
    import jax.numpy as jnp

    return {"jax": jax, "jnp": jnp}

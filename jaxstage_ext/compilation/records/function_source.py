"""How a jitted function is written where it is defined, and whether it is the user's own."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any, Final

from jaxstage_ext.compilation.causes.precedents import LAMBDA
from jaxstage_ext.compilation.records.compile_record import CompileRecord, FunctionIdentity
from jaxstage_ext.compilation.records.function_identity import innermost_function
from jaxstage_ext.ir.sources.source import is_user

_MOST_LINES: Final = 12
_DEFINITIONS: Final = ("def ", "async def ")


def decorated_definition(function: FunctionIdentity | None) -> tuple[str, ...]:
    """The lines of a decorated function's decorators and its `def`; none where it has none, or no source is known."""
    code = function.code if function else None
    if function is None or code is None or short_name(function) == LAMBDA:
        return ()
    lines: list[str] = []
    for line in _source(code.co_filename, code.co_firstlineno):
        lines.append(line)
        if line.startswith(_DEFINITIONS):
            break
    return tuple(lines) if lines and lines[0].startswith("@") and lines[-1].startswith(_DEFINITIONS) else ()


def _source(file: str, first: int) -> Iterator[str]:
    return (linecache.getline(file, first + at).strip() for at in range(_MOST_LINES))


def decorators(function: FunctionIdentity | None) -> str:
    """The decorators of a function as its author wrote them; "" where it has none, or no source is known."""
    return "\n".join(decorated_definition(function)[:-1])


def definition(function: FunctionIdentity) -> str:
    """A decorated function with its body left out; "" of one that is not decorated."""
    lines = decorated_definition(function)
    if not lines:
        return ""
    head = lines[-1] if lines[-1].endswith(":") else f"def {short_name(function)}({', '.join(function.parameters)}):"
    return "\n".join((*lines[:-1], f"{head} ..."))


def is_jitted_by_name(function: FunctionIdentity | None) -> bool:
    """Whether the function's name means the jitted function, so that `jax.jit` of the name would jit twice."""
    if function is None:
        return False
    if decorated_definition(function):
        return True
    inner = _innermost(function)
    value = inner.__globals__.get(short_name(function)) if inner is not None else None
    return value is not None and value is not inner and innermost_function(value) is not value


def imported_as(function: FunctionIdentity | None, module: str) -> str:
    """The name by which the function's module knows another module; that module's own name where it knows none."""
    inner = _innermost(function) if function else None
    loaded = sys.modules.get(module)
    if inner is None or loaded is None:
        return module
    return next((name for name, value in list(inner.__globals__.items()) if value is loaded), module)


def _innermost(function: FunctionIdentity) -> FunctionType | None:
    given: Any = function.ref() if function.ref is not None else None
    inner = innermost_function(given) if given is not None else None
    return inner if type(inner) is FunctionType else None


def library_of(record: CompileRecord) -> str:
    """The package that made and called a jitted function of its own; "" where the user made or called it."""
    function, site = record.function, record.call_site
    if function is None or function.code is None or site is None or site.cell is not None:
        return ""
    is_internal = not is_user(function.code.co_filename) and not is_user(site.file)
    return function.module.partition(".")[0] if is_internal else ""


def maker_of(record: CompileRecord) -> str:
    """The package that made a function which the user jits; "" of the user's own and of JAX's."""
    function = record.function
    if function is None or function.code is None or is_user(function.code.co_filename):
        return ""
    package = function.module.partition(".")[0]
    return "" if package in ("", "jax", "__main__") else package


def short_name(function: FunctionIdentity) -> str:
    """The last part of a function's qualified name."""
    return function.qualname.rpartition(".")[2]

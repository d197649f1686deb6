"""What a code object does, apart from where it is written."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=4096)
def content(code: CodeType) -> tuple[object, ...]:
    """Equal for functions with the same body, whatever their files and line numbers."""
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        tuple(map(_constant, code.co_consts)),
    )


def _constant(value: object) -> object:
    if isinstance(value, CodeType):
        return content(value)
    if isinstance(value, (tuple, frozenset)):
        return type(value), frozenset(map(_constant, value)) if isinstance(value, frozenset) else tuple(
            map(_constant, value)
        )
    return type(value), repr(value)


@lru_cache(maxsize=4096)
def global_names(code: CodeType) -> frozenset[str]:
    """The globals that a function reads."""
    return frozenset(i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")

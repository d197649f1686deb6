"""Whether loaded code was compiled from a text."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

_Positions = set[tuple[int | None, ...]]


def is_of(lines: tuple[str, ...], codes: Iterable[CodeType]) -> bool:
    """Whether all of this code is what Python makes of the text, at the same lines and columns.

    Code that an import hook added to (pytest's assertions, type checkers) still is: what the text says is in it.
    """
    made = _code_in(lines)
    return all(any(_is_same(code, own) for own in made.get(code.co_qualname, ())) for code in codes)


def shifts(lines: tuple[str, ...], codes: Iterable[CodeType]) -> dict[str, int] | None:
    """By how many lines the text has each function further down than its code says; None where it has not all of them.

    `%autoreload` compiles a changed function alone, so that its code counts lines from 1.
    """
    made, found = _code_in(lines), dict[str, int]()
    for code in codes:
        own = [shift for own in made.get(code.co_qualname, ()) if (shift := _shift(code, own)) is not None]
        if len(own) != 1 or found.setdefault(code.co_qualname, own[0]) != own[0]:
            return None
    return found


def _shift(loaded: CodeType, own: CodeType) -> int | None:
    by = own.co_firstlineno - loaded.co_firstlineno
    same = loaded.co_code == own.co_code and loaded.co_names == own.co_names and loaded.co_varnames == own.co_varnames
    if not same or _constants(loaded) != _constants(own):
        return None
    moved = [(_plus(start, by), _plus(end, by), *columns) for start, end, *columns in loaded.co_positions()]
    return by if moved == list(own.co_positions()) else None


def _plus(line: int | None, by: int) -> int | None:
    return None if line is None else line + by


@functools.lru_cache(maxsize=64)
def _code_in(lines: tuple[str, ...]) -> Mapping[str, list[CodeType]]:
    """The code of every function, class and expression of a text, by qualified name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile("".join(lines), "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    named: dict[str, list[CodeType]] = {}
    for code in _with_inner(whole):
        named.setdefault(code.co_qualname, []).append(code)
    return named


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _with_inner(const)


def _is_same(loaded: CodeType, own: CodeType) -> bool:
    if loaded == own and list(loaded.co_positions()) == list(own.co_positions()):
        return True
    return (
        set(own.co_names) <= set(loaded.co_names)
        and set(own.co_varnames) <= set(loaded.co_varnames)
        and _constants(own) <= _constants(loaded)
        and _positions(own) <= _positions(loaded)
    )


def _constants(code: CodeType) -> set[tuple[Any, str]]:
    return {(type(const), repr(const)) for const in code.co_consts if not isinstance(const, CodeType)}


def _positions(code: CodeType) -> _Positions:
    """The expressions of the code; without its first line, which is that of a decorator where it has one."""
    return {place for place in code.co_positions() if place[3]}

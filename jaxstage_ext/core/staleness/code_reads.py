"""Which variables the code of a function reads, with the attributes and keys that it takes of them."""

from __future__ import annotations

import dis
import enum
import functools
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple


class Scope(enum.Enum):
    """Where a variable lives."""

    GLOBAL = "global"
    CLOSURE = "closure"
    ARGUMENT = "argument"


class ReadStep(NamedTuple):
    """One step from a value to a part of it: `.name` or `[key]`."""

    key: Any
    is_attribute: bool

    def __str__(self) -> str:
        return f".{self.key}" if self.is_attribute else f"[{self.key!r}]"


class Read(NamedTuple):
    """A variable, and the way from its value to the part that is read: `cfg.sizes[0]`."""

    variable: str
    scope: Scope
    steps: tuple[ReadStep, ...] = ()

    def __str__(self) -> str:
        return self.variable + "".join(map(str, self.steps))


_SILENT = {"EXTENDED_ARG", "CACHE", "NOP", "PRECALL"}
_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME"}
_CLOSURE = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "STORE_NAME"}
_CONSTANT = {"LOAD_CONST", "LOAD_SMALL_INT"}
_ANNOTATE = "__annotate__"
"""The name of the code that computes a function's annotations, which no call runs (Python 3.14)."""


@functools.lru_cache(maxsize=4096)
def reads(code: CodeType) -> tuple[Read, ...]:
    """What the code reads, functions inside it included. A variable that it also writes is left out."""
    written = {instruction.argval for instruction in _all_instructions(code) if instruction.opname in _WRITES}
    made = dict.fromkeys(read for read, _ in lines_of_reads(code))
    return tuple(read for read in made if read.scope is Scope.ARGUMENT or read.variable not in written)


def _all_instructions(code: CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for inner in _inner(code):
        yield from _all_instructions(inner)


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (const for const in code.co_consts if isinstance(const, CodeType) and const.co_name != _ANNOTATE)


def lines_of_reads(code: CodeType, is_inner: bool = False) -> Iterator[tuple[Read, int]]:
    """Each read in the order of the code, and its line; 0 where Python knows none."""
    instructions = [one for one in dis.get_instructions(code) if one.opname not in _SILENT]
    for position, instruction in enumerate(instructions):
        steps = tuple(_steps(instructions, position + 1))
        line = (instruction.positions and instruction.positions.lineno) or 0
        if instruction.opname in _GLOBAL:
            yield Read(instruction.argval, Scope.GLOBAL, steps), line
        elif instruction.opname in _CLOSURE:
            yield Read(instruction.argval, Scope.CLOSURE, steps), line
        elif instruction.opname.startswith("LOAD_FAST") and not is_inner:
            loaded = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            yield from ((Read(name, Scope.ARGUMENT), line) for name in loaded[:-1])
            yield Read(loaded[-1], Scope.ARGUMENT, steps), line
    for inner in _inner(code):
        yield from lines_of_reads(inner, is_inner=True)


def _steps(instructions: Sequence[dis.Instruction], position: int) -> Iterator[ReadStep]:
    while position < len(instructions):
        opname, argval = instructions[position].opname, instructions[position].argval
        if opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield ReadStep(argval, True)
            position += 1
        elif _is_key(instructions[position]) and _is_subscript(instructions[position + 1 : position + 2]):
            yield ReadStep(argval, False)
            position += 2
        else:
            return


def _is_key(instruction: dis.Instruction) -> bool:
    """Whether it loads a constant that takes one part; a slice, a constant in Python 3.14, makes another value."""
    return instruction.opname in _CONSTANT and not isinstance(instruction.argval, slice)


def _is_subscript(following: Sequence[dis.Instruction]) -> bool:
    return bool(following) and (following[0].opname == "BINARY_SUBSCR" or following[0].argrepr == "[]")

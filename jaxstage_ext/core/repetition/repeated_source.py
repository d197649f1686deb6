"""The line of the user's that makes equations of a jaxpr again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from jaxstage_ext.core.jax_private import tracebacks
from jaxstage_ext.ir.sources.enclosing_loops import enclosing_loop
from jaxstage_ext.ir.sources.source import Location, is_outside, is_user

_Frame = tuple[Any, int]
"""A code object, and the instruction in it."""


def line_of(
    eqns: Sequence[Any], length: int, source_of: Callable[[str], Sequence[str]]
) -> tuple[Location | None, bool]:
    """The line of the loop that made bodies of `length` equations each, and True.

    Without a loop the innermost line of the user's that all equations come from, and False; where the bodies are of
    different lines, the first one's first line. None where no line is the user's.
    """
    stacks = [_stack(eqn) for eqn in eqns]
    if not all(stacks):
        return None, False
    of_all = _common(stacks)
    around = [{stack[depth] for stack in stacks if len(stack) > depth} for depth in range(len(of_all) + 1)]
    for frames in reversed(around):
        if loop := _loop(frames, source_of):
            return loop, True
    first = stacks[:length]
    is_called_again = all(stacks[i] == first[i % length] for i in range(len(stacks)))
    if is_called_again and of_all:
        return _location(*of_all[-1]), False
    below = [stack[len(of_all)] for stack in first if len(stack) > len(of_all)] or of_all[-1:]
    return min((_location(*frame) for frame in below), key=lambda each: each.line), False


def _stack(eqn: Any) -> tuple[_Frame, ...]:
    """The user's frames of an equation, outermost first, those below the notebook."""
    inside = takewhile(lambda frame: not is_outside(frame[0].co_filename), tracebacks.raw_frames(eqn))
    return tuple(frame for frame in inside if is_user(frame[0].co_filename))[::-1]


def _common(stacks: Sequence[tuple[_Frame, ...]]) -> list[_Frame]:
    """The outermost frames that all stacks share."""
    return [frames[0] for frames in takewhile(lambda frames: len(set(frames)) == 1, zip(*stacks, strict=False))]


def _loop(frames: set[_Frame], source_of: Callable[[str], Sequence[str]]) -> Location | None:
    """The innermost loop around what these frames of one function are in."""
    codes = {code for code, _ in frames}
    if len(codes) != 1:
        return None
    places = [_location(*frame) for frame in frames]
    code, place = codes.pop(), places[0]
    begins = [(each.line, each.column - 1) for each in places]
    line = enclosing_loop(source_of(code.co_filename), begins, code.co_firstlineno)
    return Location(place.file, place.function, line, 0, line, 0) if line else None


def _location(code: Any, last: int) -> Location:
    line, column, end_line, end_column = tracebacks.frame_position(code, last)
    file = tracebacks.canonical_file(code.co_filename)
    return Location(file, code.co_qualname, line, column + 1, end_line, end_column + 1)

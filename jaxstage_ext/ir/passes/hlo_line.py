"""Reads one line of an HLO module's text, for passes and diffs, which have no proto."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxstage_ext.ir.hlo.places.inline_places import InlinePlace

OTHER, INSTRUCTION, OPENS, CLOSES = range(4)
"""Kinds of line: any other, an instruction, a computation's head, its end."""

_INSTRUCTION = re.compile(r"  (?:ROOT )?%?(\S+) = (.*?) ([a-z][\w-]*)\(")
_HEAD = re.compile(r"(?:ENTRY )?%?([^\s(]+) .*\{$")
_RUNS = re.compile(
    r"(?:calls|body|condition|branch_computations|(?:true|false)_computation|called_computations)=(\{[^{}]*\}|%[^\s,)}]+)"
)
_CALLS = re.compile(r"to_apply=(%[^\s,)}]+)")
_SHAPE = re.compile(r"\b([a-z]++)(\d*+)[a-z\d]*+\[([\d,<=]*)\]")
NAME = re.compile(r"%([\w.$~-]+)")


class Line(NamedTuple):
    """The parts of a line."""

    kind: int
    name: str = ""
    """The instruction or computation, without "%"."""
    opcode: str = ""
    """"ENTRY" for the head of the entry computation."""
    size: int = 0
    """Bytes of the result."""
    runs: tuple[str, ...] = ()
    """The computations that the instruction runs as they are, without those of fusions and reductions."""


def read(line: str) -> Line:
    """Read a line that is printed without metadata."""
    if line.startswith("  "):
        instruction = _INSTRUCTION.match(line)
        if not instruction:
            return Line(OTHER)
        name, shape, opcode = instruction.groups()
        return Line(INSTRUCTION, name, opcode, size_of(shape), _runs(line, opcode))
    if line.startswith("}"):
        return Line(CLOSES)
    head = None if line.startswith("HloModule") else _HEAD.match(line)
    return Line(OPENS, head[1], "ENTRY" * line.startswith("ENTRY")) if head else Line(OTHER)


def _runs(line: str, opcode: str) -> tuple[str, ...]:
    if opcode == "fusion" or ("=%" not in line.partition(" = ")[2] and "={%" not in line):
        return ()
    attributes = _RUNS.findall(line) + (_CALLS.findall(line) if opcode == "call" else [])
    return tuple(name for names in attributes for name in NAME.findall(names))


def size_of(shape: str) -> int:
    """Bytes of an array or tuple shape, without its layout's padding: "(f32[2,3]{1,0}, pred[])" has 25.

    The width of a type is the number in its name. A pred takes one byte; tokens and opaque values take none.
    """
    return sum(_bytes(*array) for array in _SHAPE.findall(shape))


def _bytes(letters: str, width: str, dimensions: str) -> int:
    bits = int(width) if width else 8 if letters == "pred" else 0
    for size in dimensions.split(",") if dimensions else ():
        bits *= int(size.lstrip("<="))
    return (bits + 7) // 8


_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_FILE = re.compile(r'source_file="((?:[^"\\]|\\.)*)"')
_PLACE = re.compile(r"source_(line|end_line|column|end_column)=(\d+)")


def source(metadata: str) -> tuple[str, int]:
    """(name scope and op, XLA's stack frame number) of printed metadata; "" and 0 for none."""
    scope, frame = _OP_NAME.search(metadata), _FRAME.search(metadata)
    return re.sub(r"\\(.)", r"\1", scope[1]) if scope else "", int(frame[1]) if frame else 0


def inline_place(metadata: str) -> InlinePlace | None:
    """The line of source that printed metadata names itself; None where it does not, or has a stack frame."""
    file, numbers = _FILE.search(metadata), {name: int(value) for name, value in _PLACE.findall(metadata)}
    if file is None or not numbers.get("line") or _FRAME.search(metadata):
        return None
    return InlinePlace(re.sub(r"\\(.)", r"\1", file[1]), **numbers)

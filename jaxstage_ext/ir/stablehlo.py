"""StableHLO as a Document: MLIR's text, with each line's location read from the debug form."""

from __future__ import annotations

import re

import numpy as np

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.sources import borrowed_frames, call_sites, links
from jaxstage_ext.ir.sources.mlir_location import Locations
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints
from jaxstage_ext.report.numbering import Numbering

_OPERATION = re.compile(r'^\s*(?:%[\w#:, %]+ = )?"?(?:func\.)?(?:[a-z_]+\.[\w.]+|call)\b')
_NOT_OPERATIONS = re.compile(r"^\s*(?:func\.func|module|stablehlo\.return|return|func\.return|sdy\.(?:mesh|return))\b")
_CONSTANT = re.compile(r"^\s*%\w+ = stablehlo\.constant ")
_FUNCTION = re.compile(r"^\s*func\.func .*?@([\w.$-]+)\(")
_CALL = re.compile(r"\bcall @([\w.$-]+)\(")
_VALUE = re.compile(r"%[\w.$-]+")
_ATTACHED = re.compile(r" loc\((#loc\d*|unknown|\"(?:[^\"\\]|\\.)*\"(?:\(.*\))?|callsite\(.*\)|fused.*)\)$")
_MOST_TRIED = 16
_LITERAL, _LONGEST = 'dense<"0x', 10_000
_REGION = ("cond", "do", "}", "({")


def read(
    text: str, debug_text: str, table: FrameTable, kind: str = "stablehlo", jaxpr: Document | None = None
) -> Document:
    """The document of an MLIR module from its text without and with locations.

    Where the two texts do not correspond line by line, the document has no sources. `jaxpr` is what it was lowered
    from, whose frames are in `table` too.
    """
    lines, debug = (list(map(_without_literals, each.split("\n"))) for each in (text, debug_text))
    body = [line for line in debug if not line.startswith("#loc")]
    ends = folds.by_brackets(lines, "{}()")
    n = len(lines)
    frame, scope, flags = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.zeros(n, np.uint8)
    scopes = Numbering[str]()
    operations = [i for i, line in enumerate(lines) if _OPERATION.match(line) and not _NOT_OPERATIONS.match(line)]
    locations = Locations(debug, table) if len(body) == n else None
    for row in operations:
        flags[row] = 0 if _CONSTANT.match(lines[row]) else OP
        if locations is not None:
            place = locations.place(_location_of(body, row, ends))
            frame[row] = place.frame
            scope[row] = scopes[place.scope] if place.scope else -1
    names, (graph, held) = tuple(scopes), _graph(lines, operations, ends)
    aside: set[int] = set()
    if jaxpr is not None:
        bodies = [rows[np.isin(rows, held[0])].tolist() for rows in _bodies(lines, operations, ends).values()]
        aside = borrowed_frames.borrowed(frame, scope, names, bodies, table.freeze(), jaxpr)
    linked = links.complete(call_sites.joined(frame, held, table, aside), scope, flags, names, graph)
    return Document(kind, text, table.freeze(), linked.frame, linked.flags, ends, linked.scope, names, linked.origin)


def _without_literals(line: str) -> str:
    """A line without the contents of the constants that MLIR writes as one word, in which nothing is looked for."""
    while len(line) > _LONGEST and (at := line.find(_LITERAL)) >= 0:
        start = at + len(_LITERAL)
        end = line.find('"', start)
        line = f'{line[:at]}dense<"{line[end if end >= 0 else len(line) :]}'
    return line


def _location_of(body: list[str], row: int, ends: Ints) -> str:
    """The location at the end of the line or, for an operation with regions, of the line that closes it."""
    for _ in range(16):
        if attached := _attached(body[row]):
            return attached
        if ends[row] >= 0:
            row = int(ends[row])
        elif row + 1 < len(body) and body[row + 1].lstrip().startswith(_REGION):
            row += 1
        else:
            break
    return "unknown"


def _attached(line: str) -> str:
    """The location that ends a line, "" for none; a few places are tried, for names may hold what begins one."""
    at = len(line)
    for _ in range(_MOST_TRIED):
        if (at := line.rfind(" loc(", 0, at)) < 0:
            break
        if attached := _ATTACHED.match(line, at):
            return attached[1]
    return ""


def _bodies(lines: list[str], operations: list[int], ends: Ints) -> dict[str, Longs]:
    """The rows of each function's operations."""
    rows = np.array(operations, np.int64)
    functions = [(m[1], row) for row, line in enumerate(lines) if (m := _FUNCTION.match(line))]
    return {name: rows[(rows > start) & (rows < ends[start])] for name, start in functions}


def _graph(lines: list[str], operations: list[int], ends: Ints) -> tuple[links.LinkGraph, call_sites.Held]:
    """Value and call edges between rows, and which are called by which; names of values are local to a function."""
    bodies = _bodies(lines, operations, ends)
    rows, function_at = np.zeros(0, np.int64), np.full(len(lines), -1, np.int64)
    for number, body in enumerate(bodies.values()):
        function_at[body] = number
    user, operand, caller, called = [], [], [], []
    held: list[Longs] = []
    home = np.full(len(lines), -1, np.int64)
    defined: dict[tuple[int, str], int] = {}
    for row in operations:
        function = int(function_at[row])
        left, _, right = lines[row].partition(" = ") if lines[row].lstrip().startswith("%") else ("", "", lines[row])
        for name in _VALUE.findall(right):
            if (source := defined.get((function, name))) is not None:
                user.append(row)
                operand.append(source)
        for name in _VALUE.findall(left):
            defined[function, name] = row
        if (call := _CALL.search(right)) and len(body := bodies.get(call.group(1), rows[:0])):
            home[body] = np.where(home[body] < 0, row, home[body])
            held.append(body)
            caller.append(row)
            called.append(int(body[-1]))
    users, operands = np.array(user, np.int64), np.array(operand, np.int64)
    calls = (np.array(caller, np.int64), np.array(called, np.int64))
    inside = np.concatenate([home[:0], *held])
    callers = np.repeat(calls[0], [len(body) for body in held])
    return links.LinkGraph((operands, users), (users, operands), calls, home), (inside, callers)

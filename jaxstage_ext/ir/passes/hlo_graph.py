"""An HLO text as a graph: computations of instructions that refer to their operands by name."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxstage_ext.ir.passes import hlo_line
from jaxstage_ext.ir.passes.hlo_line import CLOSES, INSTRUCTION, NAME, OPENS, OTHER

_OPERANDS = re.compile(r" [a-z][\w-]*+\(([^)]*+)(?:\)|$)")
_NAMES_IN_HEAD = re.compile(r"^(ENTRY )?%?[^\s(]+ |(?<![\w.$~-])[\w.$~-]++(?=: )")


class Shape(NamedTuple):
    """A line and its names: `skeleton` is the line without names, `operands` and `called` the names it refers to."""

    kind: int
    name: str
    opcode: str
    skeleton: str
    operands: tuple[str, ...]
    called: tuple[str, ...]


@functools.lru_cache(maxsize=1 << 17)
def shape_of(line: str) -> Shape:
    """Read a line that is printed without metadata. Cached, because most lines recur after every pass."""
    read = hlo_line.read(line)
    if read.kind == OPENS:
        return Shape(OPENS, read.name, read.opcode, _NAMES_IN_HEAD.sub(r"\1", line), (), ())
    if read.kind != INSTRUCTION:
        return Shape(read.kind, "", "", line, (), ())
    body = line.partition(" = ")[2]
    arguments = _OPERANDS.search(body)
    end = arguments.end() if arguments else 0
    operands = tuple(NAME.findall(body, arguments.start(1), end)) if arguments else ()
    called = tuple(NAME.findall(body, end)) if "%" in body[end:] else ()
    return Shape(INSTRUCTION, read.name, read.opcode, _ordered(NAME.sub("%", body)), operands, called)


def _ordered(body: str) -> str:
    """The line with the entries of its backend_config sorted, because XLA prints them in any order."""
    before, label, config = body.partition("backend_config={")
    if not label:
        return body
    try:
        value, end = json.JSONDecoder().raw_decode(config := "{" + config)
    except (ValueError, RecursionError):
        return body
    return f"{before}backend_config={json.dumps(value, sort_keys=True)}{config[end:]}"


@dataclass
class Computation:
    """The rows of a computation: its head, its end, and its instructions by name."""

    name: str
    head: int
    rows: dict[str, int] = field(default_factory=dict)
    end: int = -1
    digest: int = 0


@dataclass
class Graph:
    """A text's rows."""

    shapes: list[Shape]
    """Of each row."""
    operands: list[tuple[int, ...]]
    """Rows of each row's operands."""
    called: list[tuple[str, ...]]
    """Computations that each row calls."""
    computations: dict[str, Computation]
    """By name, in the order of the text, in which callers come after what they call."""
    owner: list[str]
    """Per row, its computation's name, "" outside."""
    digest: list[int]
    """Per row, a number that is equal for equal values computed in the same way, whatever their names."""
    notes: Sequence[int]
    """Per row, a number for its metadata, 0 for none."""

    def users(self, rows: list[int]) -> dict[int, list[tuple[int, int]]]:
        """The uses of each operand of these rows: (row, place among the row's operands)."""
        users: dict[int, list[tuple[int, int]]] = {}
        for row in rows:
            for place, operand in enumerate(self.operands[row]):
                users.setdefault(operand, []).append((row, place))
        return users


def read(lines: Sequence[str], notes: Sequence[int] | None = None) -> Graph:
    """The graph of the lines of an HLO module, printed without metadata; lines that are not HLO have no edges."""
    shapes = list(map(shape_of, lines))
    n = len(shapes)
    graph = Graph(shapes, [()] * n, [()] * n, {}, [""] * n, [0] * n, [0] * n if notes is None else notes)
    inside: Computation | None = None
    for row, shape in enumerate(shapes):
        if shape.kind == OPENS:
            inside = graph.computations[shape.name] = Computation(shape.name, row)
        if inside is None or shape.kind == OTHER:
            continue
        graph.owner[row] = inside.name
        if shape.kind == INSTRUCTION:
            inside.rows[shape.name] = row
            _connect(graph, inside, row, shape)
        elif shape.kind == CLOSES:
            inside.end, inside = row, None
    return graph


def _connect(graph: Graph, inside: Computation, row: int, shape: Shape) -> None:
    rows, computations = inside.rows, graph.computations
    if shape.operands:
        graph.operands[row] = tuple(rows[name] for name in shape.operands if name in rows)
    if shape.called:
        graph.called[row] = tuple(name for name in shape.called if name in computations)
    digest = graph.digest
    value = hash(
        (
            shape.skeleton,
            tuple(digest[operand] for operand in graph.operands[row]),
            tuple(computations[name].digest for name in graph.called[row]),
        )
    )
    digest[row] = value
    inside.digest = (inside.digest + value) & 0xFFFFFFFFFFFFFFFF

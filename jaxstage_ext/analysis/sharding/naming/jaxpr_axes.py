"""Which dimension each axis of a jaxpr's variables is of, where that is certain.

The program's arguments stand in the jaxpr's head in their order. A variable of a line is matched with the values that
the partitioner has of the same primitive, name scope, dtype and shape: where all of these have an axis of one
dimension, and the jaxpr has no more variables than they are, so has the variable. Everything else is unknown.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
    from jaxstage_ext.report.document import Document

MOST_AXES = 100_000
"""Axes of one jaxpr that are told."""
UNKNOWN = -1
Axes = tuple[int, ...]
"""By axis the place of its dimension, `UNKNOWN` of none."""
_VARIABLE = re.compile(r"(?<![\w.])[a-z_]+:\w+(?:<\w+>)?\[([^\[\]]*)\]")
_SIZE = re.compile(r"(?:^|,)\s*(\d+)")
_MADE_BY = re.compile(r" = ([A-Za-z_][\w-]*)")
_HEAD, _HEAD_ENDS = re.compile(r"\s*\{ lambda [^;]*; ?"), re.compile(r"\. let\b")
_BODY_BEGINS, _BODY_ENDS = re.compile(r"\{ lambda\b"), re.compile(r"\s*in .*\}")
_OF_CONTROL = re.compile(r"while|body|cond|branch_\d+_fun|\w*_jaxpr|\w+_call|checkpoint|remat\w*|jit\(.*\)")
"""Parts of a name scope that loops, branches and calls add."""


@dataclass(frozen=True)
class JaxprAxis:
    """One axis of a variable: the characters of its size in a row of the jaxpr, and the place of its dimension."""

    row: int
    start: int
    end: int
    place: int


@dataclass(frozen=True)
class _Variable:
    dtype: str
    shape: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


_Alike = tuple[str, str, str, tuple[int, ...]]
"""Primitive, name scope, dtype as HLO names it, shape."""


class MadeValues:
    """What the operations of a module make; `axes` has the dimensions of each value."""

    def __init__(self, module: PartitionableModule, axes: Sequence[Axes]) -> None:
        self._made: dict[_Alike, list[Axes]] = defaultdict(list)
        for op in module.ops:
            scope, _, primitive = op.scope.rpartition("/")
            for number in op.results if primitive else ():
                value = module.values[number]
                self._made[primitive, _inner(scope), value.dtype, value.shape].append(axes[number])

    def axes(self, alike: _Alike, variables: int) -> Axes:
        """Those that all values share that are so alike; unknown where there are fewer than so many variables."""
        made = self._made.get(alike, [])
        return _shared(made if len(made) >= variables else (), len(alike[3]))


def _inner(scope: str) -> str:
    """A name scope without what control flow and calls add: "jit(step)/jvp()/while/body" to "jvp()"."""
    return "/".join(part for part in scope.split("/") if part and not _OF_CONTROL.fullmatch(part))


def _shared(alike: Iterable[Axes], rank: int) -> Axes:
    seen = [set(places) for places in zip(*alike, strict=True)] or [{UNKNOWN}] * rank
    return tuple(places.pop() if len(places) == 1 else UNKNOWN for places in seen)


def jaxpr_axes(document: Document, arguments: Sequence[Axes | None], values: MadeValues) -> tuple[JaxprAxis, ...]:
    """The axes whose dimension is known, by row.

    Args:
      document: the jaxpr.
      arguments: by argument of the jaxpr the dimensions of its axes; None of one that the program does not use.
      values: what the program's operations make.
    """
    begin, end = _head_rows(document.lines)
    head = [(row, variable) for row in range(begin, end) for variable in _head_variables(document.lines[row])]
    pairs = zip(head, arguments, strict=True) if len(head) == len(arguments) else ()
    found = [told for (row, variable), axes in pairs for told in _told(row, variable, axes or ())]
    made = list(_made_variables(document))
    counts = Counter(alike for _, _, alike in made)
    for row, variable, alike in made:
        found += _told(row, variable, values.axes(alike, counts[alike]))
    return tuple(found[:MOST_AXES])


def _made_variables(document: Document) -> Iterator[tuple[int, _Variable, _Alike]]:
    """(row, variable, what it is alike by) of each that a line makes."""
    around: list[str] = []
    for row, line in enumerate(document.lines):
        scope = document.scope_name(row)
        if made := _MADE_BY.search(line):
            inside = _inner("/".join((*around, scope)))
            for one in _variables(line[: made.start()]):
                if one.shape:
                    yield row, one, (made[1], inside, one.dtype, one.shape)
        if _BODY_BEGINS.search(line):
            around.append(scope)
        elif around and _BODY_ENDS.match(line):
            around.pop()


def _head_rows(lines: Sequence[str]) -> tuple[int, int]:
    """Which rows list the program's arguments: bodies that several calls share may stand before them."""
    begin = next((row for row, line in enumerate(lines) if _HEAD.match(line)), None)
    ends = (row + 1 for row in range(begin or 0, len(lines)) if _HEAD_ENDS.search(lines[row]))
    return (begin, next(ends, begin)) if begin is not None else (0, 0)


def _head_variables(line: str) -> Iterator[_Variable]:
    begins, ends = _HEAD.match(line), _HEAD_ENDS.search(line)
    return _variables(line[: ends.start() if ends else None], begins.end() if begins else 0)


def _variables(line: str, start: int = 0) -> Iterator[_Variable]:
    """The variables that a text names with their types; one of a symbolic size has no axes that are told."""
    for each in _VARIABLE.finditer(line, start):
        sizes = [(each.start(1) + size.start(1), each.start(1) + size.end(1)) for size in _SIZE.finditer(each[1])]
        rank = each[1].count(",") + 1 if each[1] else 0
        spans = tuple(sizes) if len(sizes) == rank else ()
        yield _Variable(_hlo_dtype(each[0]), tuple(int(line[first:last]) for first, last in spans), spans)


def _hlo_dtype(variable: str) -> str:
    """The dtype of `a:i32[8]` as HLO names it, "s32"."""
    dtype = variable.partition(":")[2].partition("[")[0].replace("_", "")
    return "pred" if dtype == "bool" else f"s{dtype[1:]}" if dtype.startswith("i") else dtype


def _told(row: int, variable: _Variable, axes: Axes) -> Iterator[JaxprAxis]:
    if len(axes) != len(variable.spans):
        return
    for (start, end), place in zip(variable.spans, axes, strict=True):
        if place != UNKNOWN:
            yield JaxprAxis(row, start, end, place)

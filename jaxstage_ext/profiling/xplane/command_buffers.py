"""Which instruction each kernel of a command buffer (a CUDA graph) is of.

XLA records its kernels under the buffer's own name, "command_buffer_1". They run in the order of XLA's schedule, and
the kernel of a fusion has the name of the fusion, or of an equal one whose kernel it shares. On an H200 with JAX 0.11.2
all that was found so agreed with what the same steps name without command buffers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, Module
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.profiling.recorded_modules import COMMAND_BUFFER
from jaxstage_ext.profiling.xplane.xplane_modules import NamedOps
from jaxstage_ext.profiling.xplane.xplane_stats import ABSENT
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import Index, Ops

_LEAST_ALIKE = 0.9
"""The share of kernels of fusions whose names must agree with those of the schedule."""
_MOST = 10_000_000
"""Kernels times fusions that are compared at most."""
_EXACT, _ALIKE, _UNLIKE, _SKIPPED = 2.0, 1.0, -1.0, -0.25
_CONTROL = (b"while", b"conditional", b"call")


@dataclass(frozen=True, eq=False)
class _Graph:
    """A graph of a command buffer: its kernels in the order in which they first ran, and the events of each."""

    op: int
    kernels: tuple[str, ...]
    events: Longs
    node: Longs
    """Which of the kernels each event is of."""


def resolved(named: NamedOps, node: Longs, name: Index, names: Sequence[str], start: Longs) -> NamedOps:
    """The same with the instruction of each kernel of a command buffer, where its place in the schedule is known.

    Args:
      named: the instructions as the profile names them.
      node: of each event, the node of its graph, whose upper 32 bits are the graph's; ABSENT for what is in none.
      name: of each event, which of `names` its kernel has.
      names: the names of events.
      start: of each event, in picoseconds.
    """
    ops = Numbering[tuple[int, str]]()
    for number, text in zip(named.ops.module.tolist(), named.ops.name, strict=True):
        ops.number((number, text))
    if len(ops) != len(named.ops):
        return named
    op = named.op.copy()
    buffers = [number for number, text in enumerate(named.ops.name) if text.startswith(COMMAND_BUFFER)]
    for of_module in sorted({int(named.ops.module[buffer]) for buffer in buffers} - {-1}):
        module = recorded_modules.parsed(named.modules[of_module])
        launches = _Launches.of(module) if module is not None else None
        if launches is None:
            continue
        inside = np.isin(named.op, [b for b in buffers if named.ops.module[b] == of_module]) & (node != ABSENT)
        graphs = list(_graphs(named.op, node, name, names, start, np.flatnonzero(inside)))
        distinct = list({(graph.op, graph.kernels): graph for graph in reversed(graphs)}.values())[::-1]
        outside = {text for text, of in zip(named.ops.name, named.ops.module, strict=True) if of == of_module}
        found = launches.instructions([graph.kernels for graph in distinct], outside)
        of_kernels = {(graph.op, graph.kernels): each for graph, each in zip(distinct, found, strict=True)}
        for graph in graphs:
            instructions = of_kernels[graph.op, graph.kernels]
            number = [ops[of_module, instruction] if instruction else graph.op for instruction in instructions]
            op[graph.events] = np.array(number, op.dtype)[graph.node]
    modules = np.array([number for number, _ in ops], np.int32)
    by_order = np.arange(len(ops)) >= len(named.ops)
    return NamedOps(named.modules, Ops(modules, tuple(text for _, text in ops), by_order), op)


def _graphs(op: Index, node: Longs, name: Index, names: Sequence[str], start: Longs, rows: Longs) -> Iterator[_Graph]:
    """The graphs of these events, in the order in which they first ran."""
    keys = np.stack([op[rows].astype(np.int64), node[rows] >> 32])
    _, which = np.unique(keys, axis=1, return_inverse=True)
    of_graph = [rows[which.ravel() == number] for number in np.unique(which).tolist()]
    for events in sorted(of_graph, key=lambda events: int(np.min(start[events]))):
        events = events[np.argsort(start[events], kind="stable")]
        _, first, number = np.unique(node[events], return_index=True, return_inverse=True)
        order = np.argsort(first)
        kernels = tuple(names[kernel] for kernel in name[events[first[order]]].tolist())
        yield _Graph(int(op[events[0]]), kernels, events, np.argsort(order)[number])


class _Launches:
    """The instructions of a module that launch kernels or copies, in the order of its schedule."""

    def __init__(self, names: Sequence[str], opcodes: Sequence[bytes]) -> None:
        self._names, self._opcodes = names, opcodes
        self._fusions = [place for place, opcode in enumerate(opcodes) if opcode == b"fusion"]
        kernels = [_kernel_name(names[place]) for place in self._fusions]
        self._exact, self._stems = Numbering[str](), Numbering[str]()
        self._kernel = np.array([self._exact[kernel] for kernel in kernels], np.int64)
        self._stem = np.array([self._stems[_stem(kernel)] for kernel in kernels], np.int64)

    @classmethod
    def of(cls, module: Module) -> _Launches | None:
        """Those of a module; None where XLA has not scheduled it."""
        scheduled = schedule.read(module)
        if scheduled is None:
            return None
        rows = [row for row in scheduled.order.tolist() if module.opcode[row] not in (*BOOKKEEPING, *_CONTROL)]
        return cls([module.names[row].decode("utf-8", "replace") for row in rows], module.opcode[rows].tolist())

    def instructions(self, graphs: Sequence[Sequence[str]], outside: Container[str]) -> list[list[str]]:
        """The instruction of each kernel of each graph; "" where it is unknown.

        Args:
          graphs: their kernels, in the order in which they ran.
          outside: instructions that ran outside of graphs, with names of their own.
        """
        fused = [[n for n, kernel in enumerate(kernels) if _stem(kernel) in self._stems] for kernels in graphs]
        places = self._places([[kernels[n] for n in own] for kernels, own in zip(graphs, fused, strict=True)])
        found, last = [], -1
        for number, (kernels, own, at) in enumerate(zip(graphs, fused, places, strict=True)):
            following = next((each[0] for each in places[number + 1 :] if each), len(self._names))
            found.append(self._of_graph(kernels, own, at, last, following, outside))
            last = at[-1] if at else last
        return found

    def _places(self, graphs: Sequence[Sequence[str]]) -> list[list[int]]:
        """For each graph, the place of the fusion of each of its kernels: the best alignment; [] where none fits."""
        kernels = [kernel for graph in graphs for kernel in graph]
        unknown: list[list[int]] = [[] for _ in graphs]
        if not kernels or not len(self._fusions) >= len(kernels) or len(kernels) * len(self._fusions) > _MOST:
            return unknown
        begins = {sum(len(graph) for graph in graphs[:number]) for number in range(len(graphs))}
        aligned = self._aligned(kernels, begins)
        stems = np.array([self._stems[_stem(kernel)] for kernel in kernels])
        if (self._stem[aligned] == stems).mean() < _LEAST_ALIKE:
            return unknown
        left = iter(self._fusions[place] for place in aligned.tolist())
        return [[next(left) for _ in graph] for graph in graphs]

    def _aligned(self, kernels: Sequence[str], begins: set[int]) -> Longs:
        """The fusion of each kernel, in rising order: the alignment of most agreeing names and fewest gaps."""
        count, size = len(self._fusions), len(kernels)
        column = np.arange(count)
        came = np.zeros((size, count), np.int32)
        score = np.zeros(count)
        for row, kernel in enumerate(kernels):
            own = np.where(self._stem == self._stems[_stem(kernel)], _ALIKE, _UNLIKE)
            own[self._kernel == self._exact.get(_kernel_name(kernel), -1)] = _EXACT
            if row:
                cost = 0.0 if row in begins else _SKIPPED
                level = score - cost * column
                best = np.maximum.accumulate(level)
                at = np.maximum.accumulate(np.where(level == best, column, 0))
                before = np.concatenate([[-np.inf], (best + cost * column)[:-1]])
                came[row] = np.concatenate([[0], at[:-1]])
                own = own + before
            score = own
        places = np.zeros(size, np.int64)
        places[-1] = int(np.argmax(score))
        for row in range(size - 1, 0, -1):
            places[row - 1] = came[row, places[row]]
        return places

    def _of_graph(
        self,
        kernels: Sequence[str],
        fused: Sequence[int],
        at: Sequence[int],
        last: int,
        following: int,
        outside: Container[str],
    ) -> list[str]:
        found = [""] * len(kernels)
        if not at:
            return found
        for number, place in zip(fused, at, strict=True):
            found[number] = self._names[place]
        bounds = zip([-1, *fused], [*fused, len(kernels)], [last, *at], [*at, following], strict=True)
        for begin, end, first, before in bounds:
            is_inside = first != last and before != following
            free = [p for p in range(first + 1, before) if is_inside or self._names[p] not in outside]
            for number, place in self._others(kernels, range(begin + 1, end), free):
                found[number] = self._names[place]
        return found

    def _others(self, kernels: Sequence[str], nodes: Sequence[int], places: Sequence[int]) -> list[tuple[int, int]]:
        """(node, place) of what lies between two fusions: kernels of libraries, copies, and memory that they clear."""
        calls = [place for place in places if self._opcodes[place] == b"custom-call"]
        moves = [place for place in places if self._opcodes[place] != b"custom-call"]
        cleared = [node for node in nodes if kernels[node].lower().startswith("memset")]
        copied = [node for node in nodes if kernels[node].lower().startswith("memcpy")]
        library = [node for node in nodes if node not in cleared and node not in copied]
        found = dict([*_paired(library, calls), *_paired(copied, moves)])
        for node in reversed(cleared):
            if following := [other for other in found if other > node]:
                found[node] = found[min(following)]
        return list(found.items())


def _paired(nodes: Sequence[int], places: Sequence[int]) -> list[tuple[int, int]]:
    """One place for each node where they are as many; all of a single place; none where that is unclear."""
    if len(places) == 1:
        return [(node, places[0]) for node in nodes]
    return list(zip(nodes, places, strict=True)) if len(nodes) == len(places) else []


def _kernel_name(name: str) -> str:
    """What XLA calls the kernel of an instruction."""
    return name.replace(".", "_").replace("-", "_")


def _stem(name: str) -> str:
    kernel = _kernel_name(name)
    return kernel.rstrip("_0123456789") or kernel

"""Totals of a module: kernels, collectives and the compiler's estimate. The body of a loop counts once."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import parts
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, COLLECTIVES, Module
from jaxstage_ext.ir.lists import lists

_RUNS_CALLED = (b"while", b"conditional", b"call", b"async-start")
"""Opcodes whose called computations run instruction by instruction; others fuse them or apply them to elements."""
_NO_KERNEL = (
    *BOOKKEEPING,
    *_RUNS_CALLED,
    *COLLECTIVES,
    *(opcode.replace(b"-start", b"-done") for opcode in COLLECTIVES if opcode.endswith(b"-start")),
    *(b"async-update", b"async-done", b"copy", b"copy-start", b"copy-done", b"after-all", b"add-dependency"),
    *(b"partition-id", b"replica-id", b"opt-barrier", b"send", b"send-done", b"recv", b"recv-done", b"infeed"),
    *(b"outfeed", b"domain", b"get-dimension-size"),
)
_CYCLES = re.compile(rb"\"estimated_cycles\":\"(\d{1,18})\"")
"""The TPU compiler's estimate of an instruction, as it stands in the backend's configuration."""


@dataclass(frozen=True)
class Collective:
    """All collectives of one kind.

    Attributes:
      bytes: that one device sends, for an all-gather the bytes it receives; None where the size of a type is unknown.
    """

    kind: str
    count: int
    bytes: int | None


def executed(module: Module) -> npt.NDArray[np.bool_]:
    """Whether each instruction runs by itself: in the entry, or in a loop, branch or call that the entry reaches."""
    caller, root = module.graph.by_called
    runs = np.isin(module.opcode[caller], _RUNS_CALLED)
    source, target = module.computation[caller[runs]], module.computation[root[runs]]
    count = int(module.computation[-1]) + 1 if len(module.computation) else 0
    reached = np.zeros(count, np.bool_)
    fresh = np.array([module.entry] if module.entry >= 0 and count > module.entry else [], np.int64)
    while len(fresh):
        reached[fresh] = True
        called = np.unique(target[np.isin(source, fresh)])
        fresh = called[~reached[called]]
    return reached[module.computation]


def kernels(module: Module) -> int:
    """How many instructions launch a kernel on a GPU, without copies and collectives."""
    return int((executed(module) & ~np.isin(module.opcode, _NO_KERNEL)).sum())


def estimated_cycles(module: Module) -> int | None:
    """The sum of the TPU compiler's estimates; None where it makes none. Collectives have no estimate."""
    estimates = [(match.start(), int(match[1])) for match in _CYCLES.finditer(module.raw)]
    if not estimates:
        return None
    offset, cycles = np.array(estimates, np.int64).T
    row = np.searchsorted(module.end, offset, side="right")
    return int(cycles[executed(module)[row]].sum())


def collectives(module: Module) -> tuple[Collective, ...]:
    """The collectives by kind, the most frequent first."""
    sizes: dict[str, list[int | None]] = defaultdict(list)
    for row in module.rows(*COLLECTIVES).tolist():
        kind = module.opcode[row].decode().removesuffix("-start")
        sizes[kind].append(_exchanged(module, row, kind))
    kinds = [Collective(kind, len(sizes_of_kind), _sum(sizes_of_kind)) for kind, sizes_of_kind in sizes.items()]
    return tuple(sorted(kinds, key=lambda collective: (-collective.count, collective.kind)))


def _exchanged(module: Module, row: int, kind: str) -> int | None:
    """Bytes of the operands, or for an all-gather of its result."""
    if kind != "all-gather":
        return _bytes(module, module.operands[row], ())
    started = module.opcode[row].endswith(b"-start")
    of_result = started and (parts.count(module, row) or 0) > 1
    return _bytes(module, [row], (1,) if of_result else ())


def _bytes(module: Module, rows: list[int], part: tuple[int, ...]) -> int | None:
    """Bytes of this part of each instruction's result together."""
    owner, index = np.repeat(np.arange(len(rows)), len(part)), np.tile(np.array(part, np.int64), len(rows))
    shapes = parts.read(module, np.array(rows, np.int64), lists(owner, index, len(rows)))
    unknown = shapes.unsized.any() or min(rows, default=0) < 0
    return None if unknown else int(shapes.bytes.sum())


def _sum(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)

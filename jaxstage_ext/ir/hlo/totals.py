"""Which instructions of a module run by themselves, which launch a kernel, and the cycles the TPU compiler expects."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo.module import BOOKKEEPING, COLLECTIVES, Module
from jaxstage_ext.ir.wire.protowire import Longs

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


def launches(module: Module) -> npt.NDArray[np.bool_]:
    """Whether each instruction launches a kernel on a GPU, without copies and collectives."""
    return executed(module) & ~np.isin(module.opcode, _NO_KERNEL)


def estimated_cycles(module: Module) -> int | None:
    """The sum of the TPU compiler's estimates, a loop's body once; None where it makes none, as for collectives."""
    row, cycles = _cycles(module)
    return int(cycles[executed(module)[row]].sum()) if len(row) else None


def cycles_by_row(module: Module) -> dict[int, int]:
    """The TPU compiler's estimate of each instruction that has one, those inside fusions too."""
    row, cycles = _cycles(module)
    return dict(zip(row.tolist(), cycles.tolist(), strict=True))


def _cycles(module: Module) -> tuple[Longs, Longs]:
    """(instruction, cycles) of each estimate."""
    estimates = [(match.start(), int(match[1])) for match in _CYCLES.finditer(module.raw)]
    offset, cycles = np.array(estimates, np.int64).reshape(-1, 2).T
    return np.searchsorted(module.end, offset, side="right"), cycles

"""The XLA modules that a profile names, and the HLO instructions of its events."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from jaxstage_ext.core.own_work import WAIT_MODULE
from jaxstage_ext.ir.wire.protowire import Longs, leading_fields
from jaxstage_ext.profiling.xplane.xplane_stats import ABSENT
from jaxstage_ext.profiling.xplane.xplane_wire import EventName, Plane
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import NONE, Index, Ops, RecordedModule

METADATA_PLANE = "/host:metadata"
_NUMBERED = re.compile(r"(.*)\((\d+)\)")


@dataclass(frozen=True, eq=False)
class NamedOps:
    """The modules and instructions of all events, and the instruction of each event."""

    modules: tuple[RecordedModule, ...]
    ops: Ops
    op: Index


def named_ops(planes: Sequence[Plane], stats: Longs, strings: Sequence[str]) -> NamedOps:
    """Numbers the distinct (module, program, instruction) of the events; `stats` has those three rows."""
    held = _protos(planes)
    distinct, inverse = _distinct(stats)
    modules = Numbering[tuple[str, str]]()
    owner, names = [], []
    for op, module, program in distinct.T.tolist():
        key = ("" if module == ABSENT else strings[module], "" if program == ABSENT else str(program))
        owner.append(modules[key])
        names.append(strings[op] if op != ABSENT else "")
    for key in held:
        modules.number(key)
    index = np.where(stats[0] == ABSENT, NONE, inverse).astype(np.int32)
    recorded = tuple(RecordedModule(name, program, _proto(held, name, program)) for name, program in modules)
    return NamedOps(recorded, Ops(np.array(owner, np.int32), tuple(names)), index)


def _distinct(stats: Longs) -> tuple[Longs, Longs]:
    """(the distinct columns of events with an instruction, which of them each event has)."""
    inverse = np.zeros(stats.shape[1], np.int64)
    with_op = np.flatnonzero(stats[0] != ABSENT)
    packed = np.zeros(len(with_op), np.int64)
    for row in stats[:, with_op]:
        values, numbers = np.unique(row, return_inverse=True)
        packed = np.unique(packed * len(values) + numbers, return_inverse=True)[1].astype(np.int64)
    _, first, numbers = np.unique(packed, return_index=True, return_inverse=True)
    inverse[with_op] = numbers
    return stats[:, with_op[first]], inverse


def _proto(held: dict[tuple[str, str], Callable[[], bytes]], name: str, program: str) -> Callable[[], bytes] | None:
    if (exact := held.get((name, program))) or program:
        return exact
    same = [read for (other, _), read in held.items() if other == name]
    return same[0] if len(same) == 1 else None


def _protos(planes: Sequence[Plane]) -> dict[tuple[str, str], Callable[[], bytes]]:
    """What reads each module of the user's that the profile holds, by name and program."""
    found: dict[tuple[str, str], Callable[[], bytes]] = {}
    for plane in planes:
        if plane.name != METADATA_PLANE:
            continue
        for identity, event in plane.event_names.items():
            name, program = _key(event, identity)
            if name != WAIT_MODULE:
                found[name, program] = partial(_hlo_module, plane, event)
    return found


def _key(event: EventName, identity: int) -> tuple[str, str]:
    if match := _NUMBERED.fullmatch(event.name):
        return match[1], match[2]
    return event.name, str(identity)


def _hlo_module(plane: Plane, event: EventName) -> bytes:
    """The HloModuleProto inside the HloProto; b"" where there is none."""
    for name, content in plane.stats(event.stats).items():
        if isinstance(content, bytes) and name.lower().replace("_", " ") == "hlo proto":
            return next((module for number, module in leading_fields(content) if number == 1), b"")
    return b""

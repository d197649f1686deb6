"""Predicted timelines made by hand, with the module whose graph says what needs what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.prediction import Estimator, Means, Prediction
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind, RecordedModule, Recording
from tests.helpers.recordings import Event, recording

FILE = "/home/user/train.py"
TARGET = "h100:8"
GROUP = f"{TARGET}, one device"
_LANES = {
    EventKind.OP: EventLane(GROUP, "compute", LaneKind.COMPUTE, 0),
    EventKind.OTHER: EventLane(GROUP, "compute", LaneKind.COMPUTE, 0),
    EventKind.COPY: EventLane(GROUP, "copies", LaneKind.COPY, 0),
    EventKind.COLLECTIVE: EventLane(GROUP, "collectives", LaneKind.COLLECTIVE, 0),
}


@dataclass(frozen=True)
class Planned:
    """An instruction of a schedule: start and duration in microseconds, operands and what must run before by name."""

    name: str
    start: float
    duration: float
    kind: EventKind = EventKind.OP
    line: int = 0
    operands: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def all_reduce(name: str, start: float, duration: float, line: int = 0, operands: tuple[str, ...] = ()) -> Planned:
    """A collective of a schedule."""
    return Planned(name, start, duration, EventKind.COLLECTIVE, line, operands)


def prediction(**fields: Any) -> Prediction:
    """By XLA's tables for h100:8, with everything matched."""
    usual: dict[str, Any] = {"seconds": None, "matched": 1.0}
    return Prediction(Estimator.XLA, Means.TABLES, TARGET, **{**usual, **fields})


def predicted_recording(planned: Sequence[Planned], has_module: bool = True, **fields: Any) -> Recording:
    """The recording of a schedule; `fields` are those of its prediction."""
    events = [
        Event(_LANES[one.kind].name, one.name, one.start, one.duration, one.kind, op=("jit_step", one.name))
        for one in planned
    ]
    length = max((one.start + one.duration for one in planned), default=0.0) / 1e6
    basis = prediction(**{"seconds": length, **fields})
    made = recording(events, tuple(dict.fromkeys(_LANES.values())), title="step", format="predicted", prediction=basis)
    proto = module_proto(planned)
    modules = (RecordedModule("jit_step", proto=(lambda: proto) if has_module else None),)
    return replace(made, modules=modules) if planned else made


def predicted_timeline(planned: Sequence[Planned], has_module: bool = True, **fields: Any) -> Timeline:
    """The timeline of a schedule; lines above 0 are those of train.py."""
    made = predicted_recording(planned, has_module, **fields)
    return Timeline(made, places(made, {one.name: one.line for one in planned if one.line}))


def places(made: Recording, lines: Mapping[str, int]) -> OpPlaces:
    """The places of ops at these lines of train.py."""
    numbers = sorted(set(lines.values()))
    zeros = np.zeros(len(numbers), np.int32)
    own = np.arange(len(numbers), dtype=np.int32)
    columns = (zeros, zeros, np.array(numbers, np.int32), zeros, zeros, zeros, zeros - 1, own)
    frames = Frames((SourceFile(FILE),), ("step",), *columns)
    frame = np.array([numbers.index(lines[op]) if op in lines else NONE for op in made.ops.name], np.int32)
    none = np.full(len(frame), NONE, np.int32)
    return OpPlaces(none, frame, np.zeros(len(frame), bool), none, none, frames)


def module_proto(planned: Sequence[Planned]) -> bytes:
    """A serialised HloModuleProto of one computation; other names that operands have are parameters of it."""
    known = {one.name for one in planned}
    inputs = {name for one in planned for name in one.operands} - known
    numbers = {name: at for at, name in enumerate([*sorted(inputs), *(one.name for one in planned)], start=1)}
    rows = [_instruction(name, b"parameter", numbers, (), ()) for name in sorted(inputs)]
    rows += [_instruction(one.name, _opcode(one), numbers, one.operands, one.after) for one in planned]
    root = max(numbers.values(), default=0)
    computation = _text(1, b"main") + b"".join(_text(2, row) for row in rows) + _whole(5, 7) + _whole(6, root)
    return _text(1, b"jit_step") + _text(3, computation) + _whole(6, 7)


def _opcode(one: Planned) -> bytes:
    return b"all-reduce" if one.kind is EventKind.COLLECTIVE else b"copy" if one.kind is EventKind.COPY else b"dot"


def _instruction(
    name: str, opcode: bytes, numbers: Mapping[str, int], operands: Sequence[str], after: Sequence[str]
) -> bytes:
    uses = b"".join(_whole(36, numbers[operand]) for operand in operands)
    waits = b"".join(_whole(37, numbers[other]) for other in after)
    return (
        _text(1, name.encode()) + _text(2, opcode) + _text(3, _whole(2, 11)) + _whole(35, numbers[name]) + uses + waits
    )


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _whole(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value

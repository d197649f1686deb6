"""How long each instruction of a module takes in one run on one device: as predicted, or as a profile measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions.drawn_loops import iterations
from jaxstage_ext.report.recording import NONE, SECOND, Recording


@dataclass(frozen=True)
class InstructionRun:
    """One instruction in one run. `line` is "" where unknown, `row` that of the HLO document; `runs` those it is of."""

    seconds: float
    line: str
    row: int
    runs: int = 1


@dataclass(frozen=True, eq=False)
class InstructionRuns:
    """The instructions of a module by name, and how many runs, those on several devices each, the times are of."""

    by_name: Mapping[str, InstructionRun]
    runs: int
    module: str
    """Its name, "" where the recording has none of that name."""
    is_inferred: bool = False
    """Whether how often it ran follows from how often its instructions did."""


def predicted_run(recording: Recording, places: OpPlaces, work: DeviceWork) -> InstructionRuns:
    """The predicted time of each instruction, of all iterations of its loop; one drawn only once is of one."""
    op = recording.events.op[work.event]
    seconds = work.self_time * np.maximum(iterations(recording, work), 1) / SECOND
    total = np.bincount(op[op >= 0], seconds[op >= 0], len(recording.ops))
    names = [module.name for module in recording.modules[:1]]
    return InstructionRuns(_named(recording, places, np.unique(op[op >= 0]), total, {}), 1, names[0] if names else "")


def measured_run(
    recording: Recording, places: OpPlaces, work: DeviceWork, predicted: InstructionRuns
) -> InstructionRuns:
    """The median time of each instruction over the runs in which it ran, of the module most like a predicted one.

    Where the profile does not say to which run an event belongs, the mean, of as many runs as most instructions have.
    """
    module = _most_alike(recording, predicted)
    name = recording.modules[module].name if module >= 0 else ""
    op, run = recording.events.op[work.event], recording.events.run[work.event]
    kept = (op >= 0) & (np.append(recording.ops.module, NONE)[op] == module)
    kept = kept & (run >= 0) if (run[kept] >= 0).any() else kept
    events = np.flatnonzero(kept)
    is_inferred = bool(len(events)) and not (run[events] >= 0).any()
    measure = _means if is_inferred else _medians
    seconds, runs, count = measure(recording, work, events)
    found = np.fromiter(seconds, np.int64, len(seconds))
    total = np.zeros(len(recording.ops))
    total[found] = list(seconds.values())
    shown = name if name == predicted.module else ""
    return InstructionRuns(_named(recording, places, found, total, runs), count, shown, is_inferred)


def _most_alike(recording: Recording, predicted: InstructionRuns) -> int:
    """The module of the same name, else of any, with the most instructions of these names; NONE where none is named."""
    known = np.array([name in predicted.by_name for name in recording.ops.name], bool)
    common = np.bincount(recording.ops.module[known & (recording.ops.module >= 0)], minlength=len(recording.modules))
    numbers = np.flatnonzero([module.name == predicted.module for module in recording.modules])
    numbers = numbers if len(numbers) else np.unique(recording.ops.module[recording.ops.module >= 0])
    return int(numbers[np.argmax(common[numbers])]) if len(numbers) else NONE


Measures = tuple[dict[int, float], dict[int, int], int]
"""Seconds of each op in one run, in how many runs it ran, and how many runs there are on all devices."""


def _means(recording: Recording, work: DeviceWork, events: npt.NDArray[np.int64]) -> Measures:
    """By as many runs as most kernels of the instructions have; a library call launches several kernels."""
    columns = recording.events
    op, name, device = columns.op[work.event[events]], columns.name[work.event[events]], work.device[events]
    kernels = np.stack([op.astype(np.int64), name.astype(np.int64), device.astype(np.int64)])
    _, counts = np.unique(kernels, axis=1, return_counts=True)
    runs = int(np.argmax(np.bincount(counts))) * len(np.unique(device))
    total = np.bincount(op, work.self_time[events], len(recording.ops))
    found = np.unique(op).tolist()
    return {one: float(total[one]) / SECOND / runs for one in found}, dict.fromkeys(found, runs), runs


def _medians(recording: Recording, work: DeviceWork, events: npt.NDArray[np.int64]) -> Measures:
    """The median over the runs in which each ran of the sums of its events."""
    run, op = recording.events.run[work.event[events]], recording.events.op[work.event[events]]
    pairs = run.astype(np.int64) * max(len(work.devices), 1) + work.device[events]
    distinct, pair = np.unique(pairs, return_inverse=True)
    size = max(len(distinct), 1)
    key, place = np.unique(op.astype(np.int64) * size + pair.reshape(-1), return_inverse=True)
    sums = np.bincount(place.reshape(-1), work.self_time[events], len(key))
    ops, first = np.unique(key // size, return_index=True)
    parts = np.split(sums, first[1:]) if len(ops) else []
    both = list(zip(ops.tolist(), parts, strict=True))
    seconds = {one: float(np.median(part)) / SECOND for one, part in both}
    return seconds, {one: len(part) for one, part in both}, len(distinct)


def _named(
    recording: Recording,
    places: OpPlaces,
    found: npt.NDArray[np.integer],
    seconds: npt.NDArray[np.float64],
    runs: Mapping[int, int],
) -> dict[str, InstructionRun]:
    lines, labels = line_labels(places)
    return {
        recording.ops.name[one]: InstructionRun(
            float(seconds[one]), labels[lines[one]] if lines[one] >= 0 else "", int(places.row[one]), runs.get(one, 1)
        )
        for one in found.tolist()
    }

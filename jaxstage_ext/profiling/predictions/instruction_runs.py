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


def predicted_run(recording: Recording, places: OpPlaces, work: DeviceWork) -> InstructionRuns:
    """The predicted time of each instruction, of all iterations of its loop; one drawn only once is of one."""
    op = recording.events.op[work.event]
    seconds = work.self_time * np.maximum(iterations(recording, work), 1) / SECOND
    total = np.bincount(op[op >= 0], seconds[op >= 0], len(recording.ops))
    names = [module.name for module in recording.modules[:1]]
    return InstructionRuns(_named(recording, places, np.unique(op[op >= 0]), total, {}), 1, names[0] if names else "")


def measured_run(recording: Recording, places: OpPlaces, work: DeviceWork, module: str) -> InstructionRuns:
    """The median time of each instruction over the runs in which it ran, of the module of this name.

    Where no module of the profile has the name, of all its modules. No run is known of events that name none.
    """
    op, run = recording.events.op[work.event], recording.events.run[work.event]
    own = [number for number, one in enumerate(recording.modules) if one.name == module]
    kept = (op >= 0) & (run >= 0)
    if own:
        kept &= np.isin(np.append(recording.ops.module, NONE)[op], own)
    pair = run[kept].astype(np.int64) * max(len(work.devices), 1) + work.device[kept]
    distinct, pair = np.unique(pair, return_inverse=True)
    median, runs = _medians(op[kept], pair.reshape(-1), work.self_time[kept], max(len(distinct), 1))
    found = np.fromiter(median, np.int64, len(median))
    total = np.zeros(len(recording.ops))
    total[found] = list(median.values())
    return InstructionRuns(_named(recording, places, found, total, runs), len(distinct), module if own else "")


def _medians(
    op: npt.NDArray[np.integer], pair: npt.NDArray[np.int64], time: npt.NDArray[np.int64], pairs: int
) -> tuple[dict[int, float], dict[int, int]]:
    """(seconds of each op: the median over its runs of their sums, in how many runs it ran)."""
    key, place = np.unique(op.astype(np.int64) * pairs + pair, return_inverse=True)
    sums = np.bincount(place.reshape(-1), time, len(key))
    owner = key // pairs
    ops, first = np.unique(owner, return_index=True)
    parts = np.split(sums, first[1:])
    both = list(zip(ops.tolist(), parts, strict=True)) if len(ops) else []
    return {one: float(np.median(part)) / SECOND for one, part in both}, {one: len(part) for one, part in both}


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

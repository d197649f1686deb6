"""Predicted and measured times on one machine, and the table that they are written to."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

import jaxstage_ext
from jaxstage_ext.analysis.cost.cpu_time import CpuWork, work_of
from jaxstage_ext.report.unavailable import Unavailable
from tests.estimates.cpu_programs import TimedProgram

SECONDS, LEAST_RUNS = 0.3, 5
"""For which each program is run, and how often at least; the fastest run counts, as of the ceilings."""


@dataclass(frozen=True)
class Compared:
    """A program with its work by ceiling, the seconds of its fastest run, and XLA's estimate where there is one."""

    name: str
    work: CpuWork
    seconds: float
    estimate: float | None = None


def compared(program: TimedProgram, target: str | None = None) -> Compared:
    """A program, measured here and predicted; `target` is what its device is called as a target."""
    work = _work(jaxstage_ext.inspect(program.fn, *program.arguments))
    estimate = (
        None if target is None else _estimate(jaxstage_ext.inspect(program.fn, *program.arguments, target=target))
    )
    return Compared(program.name, work, fastest(jax.jit(program.fn), program.arguments), estimate)


def _work(inspection: Any) -> CpuWork:
    return work_of(inspection.cost.roofline, inspection.cost.work)


def _estimate(inspection: Any) -> float | None:
    try:
        prediction = inspection.predicted.recording.prediction
    except Unavailable:
        return None
    return prediction.seconds if prediction is not None else None


def fastest(fn: Callable[..., Any], arguments: Sequence[Any]) -> float:
    """Seconds of the fastest run."""
    jax.block_until_ready(fn(*arguments))  # type: ignore[no-untyped-call]
    seconds: list[float] = []
    while len(seconds) < LEAST_RUNS or sum(seconds) < SECONDS:
        began = time.perf_counter()
        jax.block_until_ready(fn(*arguments))  # type: ignore[no-untyped-call]
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def faster(first: Iterable[Compared], second: Iterable[Compared]) -> list[Compared]:
    """Of two measurements of the same programs the faster of each, since other programs may have slowed one."""
    known = {one.name: one for one in second}
    return [min(one, known.get(one.name, one), key=lambda each: each.seconds) for one in first]


def write(path: Path, programs: Sequence[Compared], machine: str) -> None:
    """Write the table as JSON, one line a program."""
    rows = ",\n".join(json.dumps(dataclasses.asdict(one)) for one in programs)
    path.write_text(f'{{"machine": {json.dumps(machine)},\n"programs": [\n{rows}\n]}}\n')


def read(path: Path) -> list[Compared]:
    """The table that `write` wrote."""
    rows = json.loads(path.read_text())["programs"]
    return [Compared(**{**row, "work": CpuWork(**row["work"])}) for row in rows]

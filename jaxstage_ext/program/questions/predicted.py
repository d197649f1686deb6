"""When each instruction of a call runs, as XLA predicts it for a device that need not be here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.predicted import missing_prediction_wording as wording
from jaxstage_ext.analysis.predicted import predicted_recording, replay, schedule_match
from jaxstage_ext.analysis.predicted.call_steps import CallSteps
from jaxstage_ext.analysis.predicted.instruction_bounds import InstructionBounds
from jaxstage_ext.analysis.predicted.missing_prediction_wording import NotPredicted
from jaxstage_ext.analysis.predicted.predicted_steps import Stream
from jaxstage_ext.analysis.predicted.replay import Replayed
from jaxstage_ext.core.inputs import constants
from jaxstage_ext.core.recompile import recompiled_schedule
from jaxstage_ext.core.recompile.recompiled_schedule import DumpedSchedule
from jaxstage_ext.ir.hlo import totals
from jaxstage_ext.ir.schedules import written_schedule
from jaxstage_ext.ir.schedules.unreadable_schedule import UnreadableSchedule
from jaxstage_ext.ir.schedules.written_schedule import WrittenSchedule
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.device_figures import device_of
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.device.target_title import target_platform
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.program.source.linked_timeline import linked
from jaxstage_ext.report.prediction import Estimator, Means, Prediction
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.recording import RecordedModule
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def predicted(program: Program, progress: Progress | None) -> Timeline:
    """One call on one device of the target, before it runs, as a timeline of format "predicted".

    Its `recording.prediction` says what it rests on. The schedule comes with a compile for a GPU that is not here;
    where it did not, the program is compiled once more.

    Raises:
      Unavailable: with the reason, where XLA schedules nothing for the target.
      TargetError, WorkerDied, JaxRuntimeError: as a compile in the worker does.
    """
    _check(program)
    platform = target_platform(program)
    if platform == "cuda":
        return _by_schedule(program, progress)
    if platform == "tpu":
        return _by_cycles(program)
    raise Unavailable(wording.why(NotPredicted.NO_SCHEDULER, str(program.target)))


def _by_schedule(program: Program, progress: Progress | None) -> Timeline:
    """By the schedule that XLA's scheduler for GPUs wrote."""
    dumped = recompiled_schedule.dumped(program.staged, constants.spelled_out(program.jax_traced), progress)
    written = _read(program, dumped)
    if not written.has_estimates:
        raise Unavailable(wording.why(NotPredicted.WEIGHTS, str(program.target)))
    match = schedule_match.match(written.module, program.module)
    steps = CallSteps(_bounds(program), _trips(program), written, match)
    means = _means(program, dumped)
    peak = max(one.peak for one in written.computations)
    return _timeline(program, steps, PredictionBasis(Estimator.XLA, means, peak or None, _network(program)))


def _by_cycles(program: Program) -> Timeline:
    """By the cycles that XLA's compiler for TPUs estimates of instructions, and our own times of collectives."""
    device = device_of(program)
    cycles = totals.cycles_by_row(program.module)
    if not cycles:
        raise Unavailable(wording.why(NotPredicted.NO_CYCLES))
    if device is None or device.clock is None:
        raise Unavailable(wording.why(NotPredicted.NO_CLOCK, str(program.target)))
    own = {row: count / device.clock * 1e6 for row, count in cycles.items()}
    steps = CallSteps(_bounds(program), _trips(program), own=own)
    return _timeline(program, steps, PredictionBasis(Estimator.OWN, Means.ANALYTICAL))


class PredictionBasis(NamedTuple):
    """What a prediction rests on beside its steps."""

    estimator: Estimator
    means: Means
    peak: int | None = None
    network: str = ""


def _timeline(program: Program, steps: CallSteps, basis: PredictionBasis) -> Timeline:
    replayed = replay.replay(steps.entry())
    module = RecordedModule(program.module.header.name, proto=program.proto)
    about = _prediction(program, basis, steps.unknown, replayed)
    return linked(predicted_recording.recording(program.name, replayed, about, module), program)


def _check(program: Program) -> None:
    if program.saved_summary is not None:
        raise Unavailable(wording.why(NotPredicted.SAVED))
    if not program.has_hlo:
        program.proto()
    if program.is_of_file or program.target.is_local:
        raise Unavailable(wording.why(NotPredicted.NO_TARGET))


def _read(program: Program, dumped: DumpedSchedule) -> WrittenSchedule:
    if not dumped.is_of_shown:
        raise Unavailable(wording.why(NotPredicted.OTHER_MODULE))
    if dumped.proto is None:
        raise Unavailable(wording.why(*_absent(program, dumped)))
    try:
        return written_schedule.read(dumped.proto)
    except UnreadableSchedule as error:
        raise Unavailable(wording.why(NotPredicted.UNREADABLE, str(error))) from None


def _absent(program: Program, dumped: DumpedSchedule) -> tuple[NotPredicted, str]:
    if dumped.size:
        return NotPredicted.LARGE, f"{dumped.size:,}"
    if program.target.kind == "a100":
        return NotPredicted.NO_SCHEDULER, str(program.target)
    options, environment = program.call.compiler_options or {}, program.staged.environment
    given = str(options.get(wording.SCHEDULER_FLAG, "")).lower()
    flags = (environment and environment.variable("XLA_FLAGS")) or ""
    if given == "false" or (not given and f"{wording.SCHEDULER_FLAG}=false" in flags):
        return NotPredicted.FLAG, wording.SCHEDULER_FLAG
    return NotPredicted.NOTHING_BESIDE, ""


def _bounds(program: Program) -> InstructionBounds:
    """The lower bounds of a program's instructions, of one run of each."""
    roof, runs = device_roofline(program), np.maximum(work(program).runs, 1e-300)
    seconds = np.full(len(program.module), np.nan)
    seconds[roof.rows] = roof.seconds / runs[roof.rows]
    rows = causeless_collectives(program).rows
    known = {row.op.start: np.nan if row.seconds is None else row.seconds for row in rows}
    return InstructionBounds(program.module, seconds, known)


def _trips(program: Program) -> Mapping[int, int | None]:
    return {row: None if loop.trips is None else int(loop.trips) for row, loop in work(program).loops.trips.items()}


def _means(program: Program, dumped: DumpedSchedule) -> Means:
    """Tables, unless XLA logs that it lacks them, or is told to do without."""
    options = program.call.compiler_options or {}
    is_told = str(options.get(wording.ANALYTICAL_FLAG, "")).lower() == "true"
    return Means.ANALYTICAL if is_told or dumped.lacks_tables else Means.TABLES


def _network(program: Program) -> str:
    """What XLA assumes of the network between hosts; "" where the program runs on one."""
    per_host = int(program.target.topology.rpartition("x")[2] or 0)
    return wording.NETWORK if 0 < per_host < program_devices.device_count(program) else ""


def _prediction(
    program: Program, basis: PredictionBasis, unknown: Mapping[str, Stream], replayed: Replayed
) -> Prediction:
    is_known = not unknown and replayed.is_known
    knows_exposed = Stream.COLLECTIVE not in unknown.values() and replayed.is_known
    return Prediction(
        basis.estimator,
        basis.means,
        str(program.target),
        replayed.total / 1e6 if is_known else None,
        predicted_recording.matched(replayed),
        replayed.weighted / 1e6,
        replayed.exposed / 1e6 if knows_exposed else None,
        basis.peak,
        basis.network if knows_exposed or replayed.exposed else "",
        predicted_recording.loops(replayed),
        tuple(unknown),
    )

"""From JAX's events of one stage each to the records of the log."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FrameType

from jaxstage_ext.compilation.events import stage_results, trace_counts
from jaxstage_ext.compilation.events.faults import quietly
from jaxstage_ext.compilation.events.record_making import new_record
from jaxstage_ext.compilation.events.running_stages import RUNNING, RunningStage
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Entry, StageName, StageRun
from jaxstage_ext.compilation.records.recorded_signature import forget_users_trees
from jaxstage_ext.core.jax_private import compile_frames, monitoring_listeners

STAGES = {
    compile_frames.TRACE_EVENT: StageName.TRACE,
    compile_frames.LOWER_EVENT: StageName.LOWER,
    compile_frames.COMPILE_EVENT: StageName.COMPILE,
}


def begin(event: str, began: float, fun_name: str, frame: FrameType | None, entered: float) -> None:
    """A stage begins; `frame` is that of JAX's function that raises the event, `entered` when our work began."""
    stage = STAGES.get(event)
    if stage is None:
        return
    before = quietly(None, trace_counts.trace_begins) if stage is StageName.TRACE else None
    frames = compile_frames.event_frames(frame)
    name = fun_name[4:-1] if fun_name.startswith("jit(") and fun_name.endswith(")") else fun_name
    parent = RUNNING.around(frames)
    record = RUNNING.continued(frames, stage, name)
    run = StageRun(stage, began)
    if record is None:
        record = new_record(frames, name, began, parent.record if parent is not None else None)
        RUNNING.add(record, frames)
    record.stages.append(run)
    if frames.is_inner and record.entry is Entry.CALL:
        record.entry = Entry.INNER
    if stage is StageName.COMPILE:
        quietly(None, stage_results.begins_compile, record, frames)
    running = RunningStage(id(frames.timer), id(frames.stage), run, record, before=before)
    RUNNING.running.append(running)
    running.ours = time.perf_counter() - entered


def end(event: str, seconds: float, frame: FrameType | None, entered: float) -> None:
    """A stage has ended, well or with an exception."""
    stage = STAGES.get(event)
    if stage is None:
        return
    frames = compile_frames.end_frames(frame)
    ended = RUNNING.close(frames, stage, seconds)
    if ended is None:
        return
    stage_results.take(ended, frames)
    if stage is StageName.COMPILE or frames.error is not None:
        RUNNING.complete(ended.record)
        LOG.ended(ended.record)
    RUNNING.spend(time.perf_counter() - entered)


def hears(on_scalar: Callable[..., None], on_duration: Callable[..., None]) -> bool:
    """Whether both listeners are registered still."""
    return monitoring_listeners.hears_durations(on_duration) and monitoring_listeners.hears_scalars(on_scalar)


def forget_running() -> None:
    """Between cells no stage of this thread runs, whatever was not heard to end."""
    RUNNING.forget()


def caches_cleared() -> None:
    """JAX has cleared its caches."""
    trace_counts.caches_cleared()
    stage_results.release_executables()
    quietly(None, forget_users_trees, list(LOG))

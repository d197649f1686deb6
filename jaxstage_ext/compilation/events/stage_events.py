"""From JAX's events of one stage each to the records of the log: who called what, with what, where."""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from jaxstage_ext.compilation.events import stage_results, trace_counts
from jaxstage_ext.compilation.events.event_place import EventPlace, event_place
from jaxstage_ext.compilation.events.running_stages import RUNNING, RunningStage
from jaxstage_ext.compilation.events.stage_results import quietly
from jaxstage_ext.compilation.records import equinox_call
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import (
    Asker,
    CallSignature,
    CompileRecord,
    Entry,
    FunctionIdentity,
    KeptValue,
    StageName,
    StageRun,
)
from jaxstage_ext.compilation.records.function_identity import function_identity
from jaxstage_ext.compilation.records.named_globals import named_globals
from jaxstage_ext.compilation.records.value_keeping import kept_value
from jaxstage_ext.core.jax_private import compile_context, compile_frames, compile_watch, monitoring_listeners
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, JittedCall, placement
from jaxstage_ext.core.jax_private.outlined_jaxprs import is_plain_tree
from jaxstage_ext.core.own_work import is_own_work

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
        compile_watch.left_out()  # of one whose end was not heard
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
    if stage is StageName.COMPILE:
        seconds -= compile_watch.left_out()
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


_NOWHERE = EventPlace()


def new_record(frames: EventFrames, name: str, began: float, parent: CompileRecord | None) -> CompileRecord:
    """The record of a call whose first stage begins."""
    place = quietly(_NOWHERE, event_place, frames.outside)
    record = CompileRecord(
        LOG.next_number(),
        name,
        began,
        threading.get_ident(),
        _entry(frames),
        _asker(place, parent),
        context=quietly((), _context),
        call_site=place.call_site,
        user_line=place.user_line,
        cell=place.cell,
        run=place.run,
        parent=parent.number if parent is not None else None,
        clears=LOG.clears,
    )
    quietly(None, _take_call, record, frames)
    record.bytes = quietly(0, record_size, record)
    LOG.add(record)
    return record


def _entry(frames: EventFrames) -> Entry:
    if frames.is_ahead_of_time:
        return Entry.AOT
    if frames.is_inner:
        return Entry.EAGER if quietly(False, compile_frames.is_inner_operation, frames) else Entry.INNER
    return Entry.CALL if frames.call is not None else Entry.EAGER


def _asker(place: EventPlace, parent: CompileRecord | None) -> Asker:
    ours = place.is_ours or is_own_work() or (parent is not None and parent.asker is Asker.JAXSTAGE)
    return Asker.JAXSTAGE if ours else Asker.USER


def _take_call(record: CompileRecord, frames: EventFrames) -> None:
    call = compile_frames.jitted_call(frames.call) if frames.call is not None else None
    if call is not None:
        _take_function(record, frames, call)
    elif (origin := stage_results.origin(frames)) is not None:
        record.function, record.signature, record.jit_options = origin.function, origin.signature, origin.jit_options
        return
    record.signature = quietly(None, recorded_signature, frames, call, record.function)
    if call is not None and equinox_call.is_wrapper(call.fun):
        quietly(None, _take_equinox_call, record, call)


def _take_equinox_call(record: CompileRecord, call: JittedCall) -> None:
    """The user's function and arguments in place of those of the wrapper."""
    if record.signature is None:
        return
    inner = equinox_call.equinox_call(call.args)
    function = function_identity(inner.fun)
    signature = equinox_call.equinox_signature(inner, function, record.signature)
    layers, options = (equinox_call.LAYER, *function.layers), ((), *function.options)
    record.function = replace(function, layers=layers, options=options)
    record.signature = signature
    record.named = named_globals(inner.fun)


def _take_function(record: CompileRecord, frames: EventFrames, call: JittedCall) -> None:
    if record.entry in (Entry.CALL, Entry.INNER) and quietly(False, compile_frames.is_operation, frames, call.fun):
        record.entry = Entry.EAGER
    record.jit_options = quietly(None, compile_frames.jit_options, call.options)
    record.compiler_options = tuple(call.options.compiler_options_kvs or ())
    record.function = quietly(None, function_identity, call.fun)
    if record.entry is not Entry.EAGER:
        record.named = quietly((), named_globals, call.fun)


_last_context: tuple[Any, ...] = ()


def _context() -> tuple[Any, ...]:
    """JAX's configuration; records that share its values share the tuple."""
    global _last_context
    now, last = compile_context.context(), _last_context
    if len(now) == len(last) and all(map(operator.is_, now, last)):
        return last
    _last_context = now
    return now


def recorded_signature(
    frames: EventFrames, call: JittedCall | None, function: FunctionIdentity | None
) -> CallSignature | None:
    """What the function was called with; of a backward pass its types alone."""
    if call is None:
        avals = compile_frames.lowered_types(frames)
        return CallSignature(None, avals) if avals else None
    leaves = compile_frames.leaves(frames)
    if leaves is None:
        return None
    transformed = compile_frames.inner_types(frames)
    return CallSignature(
        leaves.tree,
        transformed if len(transformed) == len(leaves.avals) else leaves.avals,
        tuple([placement(value) for value in leaves.values]),
        tuple([type(value).__name__ for value in leaves.values]),
        tuple(_statics(call, function)),
        tuple(call.kwargs),
    )


def forget_users_trees(records: Iterable[CompileRecord]) -> None:
    """Keep no pytrees whose nodes hold the user's objects, which JAX's caches held as long and have let go of."""
    for record in records:
        known = record.signature
        if known is not None and known.tree is not None and not is_plain_tree(known.tree):
            record.signature = replace(known, tree=None)


def _statics(call: JittedCall, function: FunctionIdentity | None) -> Iterator[KeptValue]:
    names = _free_parameters(function)
    for number in call.options.static_argnums:
        if -len(call.args) <= number < len(call.args):
            at = number % len(call.args)
            yield kept_value(names[at] if at < len(names) else str(at), call.args[at])
    for name in call.options.static_argnames:
        if name in call.kwargs:
            yield kept_value(name, call.kwargs[name])


def _free_parameters(function: FunctionIdentity | None) -> tuple[str, ...]:
    """The parameters that the call's positional arguments fill, which those of a partial or `self` do not."""
    if function is None:
        return ()
    filled: Any = sum(1 for value in function.bound if value.name.isdigit() or value.name == "self")
    return function.parameters[filled:]


_RECORD, _LEAF, _VALUE = 1500, 140, 420
"""Bytes of a record with its stages and places, of one leaf of its signature, and of one kept value."""

_INSIDE = 120
"""Bytes of one value inside a captured function."""


def record_size(record: CompileRecord) -> int:
    """How many bytes a record keeps alive: an estimate from counts, which a benchmark checks."""
    size, function, signature = _RECORD + len(record.name), record.function, record.signature
    if signature is not None:
        size += _LEAF * len(signature.avals) + _values(signature.statics)
    if function is not None:
        size += _values(function.bound) + _values(function.captured) + _values(function.defaults)
    return size


def _values(values: Sequence[KeptValue]) -> int:
    return sum([_VALUE + _values(value.parts) + _INSIDE * len(value.inside) for value in values]) if values else 0

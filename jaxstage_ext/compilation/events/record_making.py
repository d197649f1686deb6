"""A record at its beginning: who called what, with what, where."""

from __future__ import annotations

import operator
import threading
from dataclasses import replace
from typing import Any

from jaxstage_ext.compilation.events import stage_results
from jaxstage_ext.compilation.events.event_place import EventPlace, event_place
from jaxstage_ext.compilation.events.faults import quietly
from jaxstage_ext.compilation.records import equinox_call
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry
from jaxstage_ext.compilation.records.function_identity import function_identity
from jaxstage_ext.compilation.records.named_globals import named_globals
from jaxstage_ext.compilation.records.record_size import record_size
from jaxstage_ext.compilation.records.recorded_signature import recorded_signature
from jaxstage_ext.core.jax_private import compile_context, compile_frames
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, JittedCall
from jaxstage_ext.core.own_work import is_own_work

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

"""Calls that JAX refuses before it traces, of which its events tell nothing: told by the error that ends the cell."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import TracebackType

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.events.event_place import event_place
from jaxstage_ext.compilation.events.failing_call import FailingCall, failing_call
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.jax_private.compile_frames import is_array, is_jax
from jaxstage_ext.core.jax_private.refused_calls import Refusal, refusal
from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name

_CONTAINERS = frozenset(map(id, (tuple, list, dict)))


def hear(error: BaseException) -> CompileRecord | None:
    """Add a call that JAX refused to the log; nothing of another error. Raises nothing."""
    try:
        record = _record(error)
    except Exception as fault:
        LOG.fault(fault)
        return None
    if record is not None:
        LOG.add(record)
    return record


def _record(error: BaseException) -> CompileRecord | None:
    kind, trace = refusal(error), _innermost(error.__traceback__)
    if kind is None or trace is None:
        return None
    place, call = event_place(trace.tb_frame), failing_call(trace)
    if place.is_ours:
        return None
    first_line = bounded_str(error, 200).partition("\n")[0]
    return CompileRecord(
        LOG.next_number(),
        call.function if call else "",
        time.time(),
        threading.get_ident(),
        Entry.CALL,
        Asker.USER,
        call_site=place.call_site,
        user_line=place.user_line,
        cell=place.cell,
        run=place.run,
        failed=f"{type_name(error)}: {first_line}",
        refused=_unhashable(call) if kind is Refusal.UNHASHABLE_STATIC else _deleted(call),
    )


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    """The innermost traceback that is not in JAX's code."""
    found = None
    while trace is not None:
        if not is_jax(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return found


def _unhashable(call: FailingCall | None) -> Difference:
    every = [argument for argument in call.arguments if argument.is_unhashable] if call else []
    static = [argument for argument in every if call and argument.parameter in call.statics]
    if len(found := static or every) != 1 and not static:
        return Difference(Cause.UNHASHABLE_STATIC)
    name = found[0].parameter or found[0].text
    target = f"tuple({name})" if found[0].kind == "list" else ""
    return Difference(Cause.UNHASHABLE_STATIC, name, "", found[0].kind, target)


def _deleted(call: FailingCall | None) -> Difference:
    return next(_deleted_leaves(call), Difference(Cause.DONATED_BEFORE)) if call else Difference(Cause.DONATED_BEFORE)


def _deleted_leaves(call: FailingCall) -> Iterator[Difference]:
    for argument in call.arguments:
        value = argument.value
        pairs = leaves_with_paths(value) if id(type(value)) in _CONTAINERS else [((), value)]
        for path, leaf in pairs:
            if is_array(type(leaf)) and leaf.is_deleted():
                yield Difference(Cause.DONATED_BEFORE, argument.text + path_text(path), "", leaf.aval.str_short(True))

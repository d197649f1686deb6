"""Global variables that have changed since a function was traced, which JAX does not notice."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import NamedTuple

from jaxstage_ext.compilation.causes.sameness import equal, same_value
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.history.history_rows import is_eager
from jaxstage_ext.compilation.records.code_content import content
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, KeptValue, NamedGlobal, StageName
from jaxstage_ext.compilation.records.function_identity import innermost_function
from jaxstage_ext.compilation.records.named_globals import python_function
from jaxstage_ext.compilation.records.value_keeping import kept_value
from jaxstage_ext.core.staleness.code_reads import Scope, reads

_MISSING = object()
_MOST_TRACES = 16
"""Traces of one function that are looked at, the newest."""


class StaleName(NamedTuple):
    """A variable whose change does not reach a traced function."""

    record: CompileRecord
    """The trace."""
    name: str
    """Of the variable, or of the part of it that is read, such as "cfg['rate']"."""
    before: KeptValue
    """The value that the trace saw."""
    now: KeptValue
    """Today's."""


def stale_names(history: History, clears: int) -> list[StaleName]:
    """The variables of the traces that JAX still uses; only those that surely changed, each once for its function.

    Of the traces of one function with equal arguments the newest is in use; those with other arguments are all, if
    JAX's configuration was the same.

    Args:
      history: whose records are looked at.
      clears: how often JAX's caches have been seen cleared, which makes JAX trace anew.
    """
    newest: dict[int, list[CompileRecord]] = {}
    for record in reversed(history.records):
        function = record.function
        if record.named and function is not None and not is_eager(record) and record.asker is Asker.USER:
            traces = newest.setdefault(function.identity, [])
            if len(traces) < _MOST_TRACES and all(_is_kept_beside(record, later) for later in traces):
                traces.append(record)
    found: dict[tuple[int, str], StaleName] = {}
    for identity, traces in newest.items():
        for record in traces:
            if record.clears == clears and _is_in_use(record):
                for stale in _of(record):
                    found.setdefault((identity, stale.name), stale)
    return list(found.values())


def _is_kept_beside(record: CompileRecord, later: CompileRecord) -> bool:
    """Whether two calls differ in nothing but arguments, and in these for sure: JAX keeps both traces."""
    first, second = record.signature, later.signature
    if first is None or second is None or equal(record.context, later.context) is not True:
        return False
    if equal(first.tree, second.tree) is False or equal(first.avals, second.avals) is False:
        return True
    return any(same_value(*pair) is False for pair in zip(first.statics, second.statics, strict=False))


def _is_in_use(record: CompileRecord) -> bool:
    """Whether the function was traced, and its name still means it."""
    trace, ref = record.stage(StageName.TRACE), record.function.ref if record.function else None
    fn = ref() if ref is not None else None
    inner = innermost_function(fn) if fn is not None else None
    if trace is None or trace.seconds is None or record.failed or type(inner) is not FunctionType:
        return False
    named = inner.__globals__.get(inner.__name__, _MISSING)
    return "." in inner.__qualname__ or named is _MISSING or innermost_function(named) is inner


def _of(record: CompileRecord) -> Iterator[StaleName]:
    for named in record.named:
        value = named.space.get(named.name, _MISSING)
        if value is not _MISSING:
            now = kept_value(named.name, python_function(value) or value)
            yield from (StaleName(record, *change) for change in _changes(named, now))


def _changes(named: NamedGlobal, now: KeptValue) -> Iterator[tuple[str, KeptValue, KeptValue]]:
    """The variable, or the parts of it that are read, where they surely changed."""
    steps = [one.steps for one in reads(named.reader) if one.scope is Scope.GLOBAL and one.variable == named.name]
    if _holds_parts(named.value) and named.value.type == now.type:
        before, after = _by_name(named.value), _by_name(now)
        for first in dict.fromkeys(step[0] for step in steps if step):
            key = str(first.key)
            if key in before and key in after and _is_changed(before[key], after[key]):
                yield f"{named.name}{first}", before[key], after[key]
    elif steps and _is_changed(named.value, now):
        yield named.name, named.value, now


def _holds_parts(value: KeptValue) -> bool:
    return bool(value.parts) and not value.is_kept


def _by_name(value: KeptValue) -> dict[str, KeptValue]:
    return {part.name: part for part in value.parts}


def _is_changed(before: KeptValue, now: KeptValue) -> bool:
    """Whether two values differ for sure: plain ones by value, arrays by identity, functions by their code."""
    if before.is_kept and now.is_kept:
        return before.type != now.type or repr(before.value) != repr(now.value)
    if before.code is not None and now.code is not None:
        return content(before.code) != content(now.code)
    if before.shape and now.shape:
        return before.ref is not None and now.ref is not None and before.ref is not now.ref
    return before.is_kept != now.is_kept or bool(before.shape) != bool(now.shape)

"""The counted calls of jitted functions in words: how many JAX's caches served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry
from jaxstage_ext.notebook.cells.call_counts import CallCounts
from jaxstage_ext.report.text.bounded_repr import function_name
from jaxstage_ext.report.text.units import plural

_MOST = 12


def call_notes(counts: CallCounts, block: Sequence[CompileRecord], log: Sequence[CompileRecord]) -> tuple[str, ...]:
    """A sentence for each function, the most called first.

    Args:
      counts: the calls.
      block: the records of the same block.
      log: all records, which tell of effects.
    """
    if not counts.calls:
        return ("No code of a cell called a jitted function.",)
    order = sorted(counts.calls, key=lambda number: -counts.calls[number])
    notes = [_note(counts.functions[number], counts.calls[number], block, log) for number in order[:_MOST]]
    if len(order) > _MOST:
        notes.append(f"and {plural(len(order) - _MOST, 'more function')}")
    return tuple(notes)


def _note(function: Any, calls: int, block: Sequence[CompileRecord], log: Sequence[CompileRecord]) -> str:
    missed = sum(record.call_site is not None and record.call_site.cell is not None for record in _of(function, block))
    served = (
        f"{max(calls - missed, 0):,} served by JAX's caches, {missed:,} not" if missed else "all served by JAX's caches"
    )
    effects = next((record.effects for record in _of(function, log) if record.effects), ())
    slow = f"; none on the fast path, since {', '.join(effects)} has effects" if effects else ""
    return f"{function_name(function) or 'a jitted function'}: {plural(calls, 'call')}, {served}{slow}."


def _of(function: Any, records: Sequence[CompileRecord]) -> Iterator[CompileRecord]:
    """The records of calls of a jitted function."""
    inner = getattr(function, "__wrapped__", None)
    for record in records:
        ref = record.function.ref if record.function is not None else None
        if record.entry is Entry.CALL and ref is not None and ref() is inner:
            yield record

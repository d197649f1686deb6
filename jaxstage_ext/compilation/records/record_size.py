"""How much memory a record keeps alive, by an estimate that a benchmark checks."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue

_RECORD, _LEAF, _VALUE = 1500, 140, 420
"""Bytes of a record with its stages and places, of one leaf of its signature, and of one kept value."""

_INSIDE = 120
"""Bytes of one value inside a captured function."""


def record_size(record: CompileRecord) -> int:
    """The estimate, from the counts of what it holds."""
    size, function, signature = _RECORD + len(record.name), record.function, record.signature
    if signature is not None:
        size += _LEAF * len(signature.avals) + _values(signature.statics)
    if function is not None:
        size += _values(function.bound) + _values(function.captured) + _values(function.defaults)
    return size


def _values(values: Sequence[KeptValue]) -> int:
    return sum([_VALUE + _values(value.parts) + _INSIDE * len(value.inside) for value in values]) if values else 0

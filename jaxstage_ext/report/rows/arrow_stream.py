"""A Table as an Arrow stream, which pandas, polars, DuckDB and others read without copying Python objects."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.report.rows import row_wording as wording
from jaxstage_ext.report.text.cell_text import plain


def arrow_stream(table: Any, schema: Any = None) -> Any:
    """The PyCapsule of a stream of one batch: null where unknown, units in the metadata of the fields.

    Raises ImportError, with the pip line, where arro3 is missing.
    """
    try:
        from arro3 import core
    except ImportError:
        raise ImportError(wording.needs_arrow()) from None
    fields, arrays = [], []
    for name, column in table.columns.items():
        values = [plain(value) for value in column.values]
        kind = _kind(core.DataType, values, column.is_whole)
        arrays.append(core.Array([_as(kind, core.DataType, value) for value in values], kind))
        fields.append(core.Field(name, kind, nullable=True, metadata={"unit": column.unit, "doc": column.doc}))
    made = core.Table.from_arrays(arrays, schema=core.Schema(fields, metadata={"table": table.name}))
    return made.__arrow_c_stream__(schema)


def _kind(types: Any, values: list[Any], is_whole: bool) -> Any:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return types.bool()
    if is_whole or (known and all(isinstance(value, int) and not isinstance(value, bool) for value in known)):
        return types.int64()
    are_numbers = known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)
    return types.float64() if are_numbers else types.string()


def _as(kind: Any, types: Any, value: Any) -> Any:
    if value is None:
        return None
    if kind == types.float64():
        return float(value)
    return str(value) if kind == types.string() else value

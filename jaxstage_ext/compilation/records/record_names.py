"""What records, their functions and their places are called where people read them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from jaxstage_ext.compilation.history.history_rows import HistoryRow, line_of
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Place
from jaxstage_ext.ir.sources import marimo_cells, run_cells
from jaxstage_ext.report.text.public_paths import public_path
from jaxstage_ext.report.text.units import plural

_MOST_NAMES = 3


def function_title(record: CompileRecord) -> str:
    """`Model.step`: the function's qualified name without those of the functions around it."""
    if record.function is None or not record.function.qualname:
        return record.name
    return record.function.qualname.rpartition("<locals>.")[2]


def unique_title(record: CompileRecord) -> str:
    """The function's title; of a lambda with its line, `<lambda> (In [2]:3)`."""
    title, code = function_title(record), record.function.code if record.function else None
    line = line_of(record)
    if line is None or code is None or not title.endswith("<lambda>"):
        return title
    return f"{title} ({line_text(replace(line, line=code.co_firstlineno) if line.file == code.co_filename else line)})"


def row_title(row: HistoryRow) -> str:
    """The function of a row; of eager operations their number and the names of the most frequent."""
    if not row.is_folded:
        return function_title(row.record)
    names = Counter(record.name for record in row.records).most_common()
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"{plural(len(row.records), 'eager operation')}: {', '.join(name for name, _ in names[:_MOST_NAMES])}{more}"


def is_of_function(record: CompileRecord, name: str) -> bool:
    """Whether a record's function is called so: "step", "Model.step", "module.Model.step"."""
    known = record.function
    titles = {record.name, function_title(record)}
    if known is not None:
        titles |= {known.qualname, known.qualname.rpartition(".")[2], f"{known.module}.{known.qualname}"}
    return name in titles


def place_text(record: CompileRecord) -> str:
    """`In [12]:3`, `train.py:40`: the user's line; "" where none is on the stack."""
    return line_text(line_of(record))


def line_text(place: Place | None) -> str:
    """`In [12]:3`, `train.py:40`."""
    if place is None:
        return ""
    number = place.cell
    label = marimo_cells.label_of(place.file) if number is None else run_cells.label_of(place.file, number)
    return f"{label or public_path(place.file)}:{place.line}"

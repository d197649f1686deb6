"""The kernels of a program as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text import still_table
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.still_table import Head, StillTable
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.text.units import plural

MOSAIC_GPU = "Pallas or Mosaic GPU kernel"
PALLAS = {
    "custom-call to __gpu$xla.gpu.triton": "Pallas (Triton)",
    "custom-call to mosaic_gpu": MOSAIC_GPU,
    "custom-call to mosaic_gpu_v2": MOSAIC_GPU,
}

MOST_ROWS = 60
_UNKNOWN = "?"
_NONE = "no kernels: the program computes nothing"
_COLUMNS = {
    "cpu": (("code", "code_bytes", " B"), ("instructions", "instructions", "")),
    "cuda": (
        ("registers", "registers", ""),
        ("spills", "spills", " B"),
        ("shared", "shared", " B"),
        ("stack", "stack", " B"),
        ("code", "code_bytes", " B"),
        ("instructions", "instructions", ""),
    ),
    "tpu": (("bundles", "instructions", ""),),
}


def text(kernels: Any) -> str:
    """One line a kernel, as a table; `kernels` is a `jaxstage_ext.program.machine_code.kernels.Kernels`."""
    if not kernels.rows:
        return _NONE
    shown = kernels.rows[:MOST_ROWS]
    columns = _COLUMNS[kernels.platform]
    heads = (Head("kernel"), Head("HLO instruction"), Head("kind"), *(Head(title, True) for title, _, _ in columns))
    rows = ((row.name or "-", _instructions(row.instructions), row.kind, *_cells(row, columns)) for row in shown)
    lines = [_head(kernels), *still_table.lines(StillTable(heads, tuple(rows)))]
    if len(shown) < len(kernels.rows):
        lines.append(f"… {len(kernels.rows) - len(shown):,} more")
    reasons = {row.figures.reason: None for row in shown if row.figures.reason}
    return "\n".join([*lines, *(f"{_UNKNOWN}: {reason}" for reason in reasons), *kernels.notes])


def html(kernels: Any) -> str:
    """The same rows as a table of HTML; an unknown figure with its reason."""
    rows, columns = kernels.rows, _COLUMNS[kernels.platform]
    if not rows:
        return html_of([_NONE])
    cells = {
        "kernel": Column([row.name or "-" for row in rows]),
        "HLO instruction": Column([_instructions(row.instructions) for row in rows]),
        "kind": Column([row.kind for row in rows]),
    }
    figures = {title: Column([value(row.figures, name) for row in rows], unit.strip()) for title, name, unit in columns}
    why = {(at, title): row.figures.reason for at, row in enumerate(rows) for title in figures if row.figures.reason}
    return html_of([_head(kernels), Table("kernels", cells | figures, why, kernels.notes)], MOST_ROWS)


def _head(kernels: Any) -> str:
    """How many kernels, and how many steps have none."""
    own = sum(bool(row.name) for row in kernels.rows)
    head = f"{plural(own, 'kernel')}"
    if at_load := sum(row.kind == MOSAIC_GPU for row in kernels.rows if not row.name):
        head += f", {at_load} of Mosaic GPU compiled at load"
    if others := len(kernels.rows) - own - at_load:
        head += f", {plural(others, 'step')} without one"
    return head


def _instructions(names: Sequence[str]) -> str:
    return some(names, 1) or _UNKNOWN


def _cells(row: Any, columns: Sequence[tuple[str, str, str]]) -> list[str]:
    return [_number(value(row.figures, name), unit) for _, name, unit in columns]


def value(figures: Any, name: str) -> int | None:
    """A figure by its column's name; "spills" are stores and loads together."""
    if name != "spills":
        figure: int | None = getattr(figures, name)
        return figure
    known = figures.spill_stores is not None and figures.spill_loads is not None
    return figures.spill_stores + figures.spill_loads if known else None


def _number(number: int | None, unit: str) -> str:
    return _UNKNOWN if number is None else f"{number:,}{unit}"

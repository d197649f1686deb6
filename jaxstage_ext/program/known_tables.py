"""The main tables of the tabs that were computed, as still forms show them. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxstage_ext.program.call_dispatch import dispatch
from jaxstage_ext.program.compile_options_table import options
from jaxstage_ext.program.dtypes import dtypes
from jaxstage_ext.program.effects import effects
from jaxstage_ext.program.kernels import kernels
from jaxstage_ext.program.layouts import layouts
from jaxstage_ext.program.passes import passes
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.shardings import shardings
from jaxstage_ext.report.table import Column, Table


def known_tables(program: Program) -> dict[str, Table]:
    """Tables by title, in the order of the tabs; those without a row are left out."""
    found = {title: known(program) for title, known in _KNOWN.items()}
    return {title: table for title, table in found.items() if table is not None and len(table)}


def _shardings(program: Program) -> Table | None:
    known = shardings.known(program)
    return known.table if known is not None else None


def _dtypes(program: Program) -> Table | None:
    known = dtypes.known(program)
    return known.table if known is not None else None


def _layouts(program: Program) -> Table | None:
    known = layouts.known(program)
    return known.values if known is not None else None


def _copies(program: Program) -> Table | None:
    known = layouts.known(program)
    return known.copies if known is not None else None


def _passes(program: Program) -> Table | None:
    if (known := passes.known(program)) is None:
        return None
    table = known.table
    return table.take([row for row, changed in enumerate(table["changed"]) if changed])


def _kernels(program: Program) -> Table | None:
    """Without the figures of the machine code, which take a process of their own."""
    if (known := kernels.known(program)) is None:
        return None
    rows = [row for row in known.rows if row.name]
    columns = {
        "kernel": Column([row.name for row in rows]),
        "HLO instructions": Column([", ".join(row.instructions) for row in rows]),
        "kind": Column([row.kind for row in rows]),
    }
    return Table("kernels", columns)


_KNOWN: Mapping[str, Callable[[Program], Table | None]] = {
    "shardings": _shardings,
    "dtype conversions": _dtypes,
    "layouts of arguments and results": _layouts,
    "copies that change a layout": _copies,
    "effects": effects.known,
    "passes that changed the module": _passes,
    "kernels": _kernels,
    "compile options": options.known,
    "dispatch": dispatch.known,
}

"""The main tables of the tabs that were computed, as still forms show them. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxstage_ext.program.call_dispatch import dispatch
from jaxstage_ext.program.compile_options_table import options
from jaxstage_ext.program.dtypes import dtypes
from jaxstage_ext.program.effects import effects
from jaxstage_ext.program.fact import Fact
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


def _part(fact: Fact[Any], name: str) -> Callable[[Program], Table | None]:
    """The table of that name of an answer that was computed already."""

    def known(program: Program) -> Table | None:
        answer = fact.known(program)
        return None if answer is None else getattr(answer, name)

    return known


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
    "shardings": _part(shardings, "table"),
    "dtype conversions": _part(dtypes, "table"),
    "layouts of arguments and results": _part(layouts, "values"),
    "copies that change a layout": _part(layouts, "copies"),
    "effects": effects.known,
    "passes that changed the module": _passes,
    "kernels": _kernels,
    "compile options": options.known,
    "dispatch": dispatch.known,
}

"""The main tables of the tabs, as still forms show them. Nothing is compiled or run for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.program.behaviour.call_dispatch import dispatch
from jaxstage_ext.program.behaviour.effects import effects
from jaxstage_ext.program.fact import Fact
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import collectives, count, exchanges
from jaxstage_ext.program.questions.compile_options_table import options
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.questions.dtypes import dtypes
from jaxstage_ext.program.questions.layouts import layouts
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.named_dimensions import known_dimensions
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.searching.kinds_table import kinds_table
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.program.tab.tab_record import TabTable
from jaxstage_ext.report.table import Column, Table


def _part(fact: Fact[Any], name: str) -> Callable[[Program], Table | None]:
    """The table of that name of an answer that was computed already."""

    def known(program: Program) -> Table | None:
        answer = fact.known(program)
        return None if answer is None else getattr(answer, name)

    return known


def _cost(program: Program) -> Table | None:
    return cost(program).work.by("line") if cheap_facts.is_counted(program) else None


def _collectives(program: Program) -> Table | None:
    is_cheap = cheap_facts.is_small(program) or collectives.is_known(program)
    return exchanges(program).table if is_cheap and count(program) else None


def _passes(program: Program) -> Table | None:
    if (known := passes.known(program)) is None:
        return None
    table = known.table
    return table.take([row for row, changed in enumerate(table["changed"]) if changed])


def _dimensions(program: Program) -> Table | None:
    known = known_dimensions(program)
    return None if known is None else known.table


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


COST = TabTable("cost by source line", ("line", "FLOPs", "bytes read", "bytes written"), _cost, is_open=True)
BUFFERS = TabTable(
    "largest buffers at the peak of memory",
    ("size", "kind", "shape", "buffer", "line"),
    _part(memory, "peak_set"),
    is_open=True,
)
SHARDINGS = TabTable("shardings", ("value", "type", "sharding", "per device"), _part(shardings, "table"))
DIMENSIONS = TabTable(
    "named dimensions, each split alone",
    ("dimension", "size", "split over", "sent", "collectives", "axes"),
    _dimensions,
)
LAYOUT_KINDS = TabTable(
    "best layout of each kind",
    ("estimate", "vs. best", "arguments", "compiled", "layout"),
    kinds_table,
    is_open=True,
)
COLLECTIVES = TabTable(
    "collectives", ("collective", "line", "runs", "sent", "time", "axes"), _collectives, is_open=True
)
DTYPES = TabTable("dtype conversions", ("from", "to", "shape", "grows", "by", "line"), _part(dtypes, "table"))
LAYOUTS = TabTable(
    "layouts of arguments and results", ("value", "type", "in words", "chosen by"), _part(layouts, "values")
)
COPIES = TabTable(
    "copies that change a layout",
    ("instruction", "from layout", "to layout", "bytes", "line"),
    _part(layouts, "copies"),
)
EFFECTS = TabTable("effects", ("operation", "effect", "what", "runs", "line"), effects.known)
PASSES = TabTable(
    "passes that changed the module",
    ("index", "name", "added instructions", "added fusions", "added bytes"),
    _passes,
)
KERNELS = TabTable("kernels", ("kernel", "kind", "HLO instructions"), _kernels)
OPTIONS = TabTable("compile options", ("option", "value", "from", "set by"), options.known)
DISPATCH = TabTable("dispatch", ("argument", "at the call", "bytes", "given"), dispatch.known)

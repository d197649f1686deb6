"""The tabs of the panel, in order; which of them a call has, and which opens first.

A tab is one entry here; what answers its requests stands in `panel/requests/<name>_requests.py`, its view in
`labextension/src/tabs/<name>/`.
"""

from __future__ import annotations

import functools

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.program.behaviour.effects import effects, has_effects
from jaxstage_ext.program.device import out_of_memory as exhausted
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.predicting.chosen_timeline import timeline_kinds
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.dtypes import changes_dtypes, dtypes
from jaxstage_ext.program.questions.layouts import layouts
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.program.questions.named_dimensions import dimension_costs
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.searching.program_search import can_be_searched, kept_search
from jaxstage_ext.program.tab import tab_requests, tab_tables
from jaxstage_ext.program.tab.tab_record import Price, Tab, TabTable
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.view_parts import Parts


def tabs(program: Program) -> list[str]:
    """The names of the tabs that have something to show for a program, in order; where that fails, to show why."""
    return [tab.name for tab in TABS if Parts().get(tab.name, functools.partial(tab.has_content, program), True)]


def _is_compiled(program: Program) -> bool:
    return program.executable is not None


def _was_dumped(program: Program, what: str) -> bool:
    """Whether the dump that a program is of has its passes or its machine code."""
    return program.dump is not None and bool(getattr(program.dump, what))


def first(program: Program) -> str:
    """The tab that opens first: what took the memory, the refused shardings, layouts that were searched, the timeline,
    the comparison.

    "" stands for the code. A view of the kernel has one tab only.
    """
    if program.tab:
        return program.tab
    if out_of_memory(program):
        return "memory"
    if is_refused(program):
        return "shardings"
    if kept_search(program) is not None:
        return "sharding_search"
    if program.timeline is not None:
        return "timeline"
    return "compare" if is_compared(program) else ""


def is_compared(program: Program) -> bool:
    """Whether the targets of a call have figures to compare, which only a compile gives."""
    return len(program.targets) > 1 and stage_list.makes_executable(program.stage)


def out_of_memory(program: Program) -> bool:
    """Whether the compile, or a run, failed because the device has too little memory for the program."""
    error = program.error
    if error is None or exhausted.MARK not in error.message:
        return False
    return error.stage == exhausted.RUN or stage_list.makes_executable(error.stage)


def is_refused(program: Program) -> bool:
    """Whether JAX refused the call for its shardings."""
    if program.staged.failed is None or program.jax_lowered is not None or (error := program.error) is None:
        return False
    return refusals.is_refusal(error.message)


def refused(program: Program) -> Shardings | None:
    """The shardings that JAX refused; None where something else failed, or where they are unknown."""
    if not is_refused(program):
        return None
    try:
        return shardings(program)
    except (RuntimeError, ValueError):  # for example without a device; the error itself is shown anyway
        return None


def is_sharded(program: Program) -> bool:
    """Whether the call runs on several devices or names a mesh, or would, had JAX not refused the shardings."""
    if program.saved_shardings is not None:
        return True
    if (lowered := program.jax_lowered) is not None:
        return program.call.layout is not None or lowered_modules.placed(lowered, program.call.fn).count > 1
    if program.call.given is not None and _is_compiled(program):
        return program_devices.device_count(program) > 1
    return is_refused(program)


def _changes_dtypes(program: Program) -> bool:
    """Whether the program converts values, or the compiler does."""
    if program.jax_traced is not None and changes_dtypes(program):
        return True
    return program.executable is not None and bool((program.module.opcode == b"convert").any())


def _has_findings(program: Program) -> bool:
    """Whether there is a program to find something in; what was stopped or failed may have a jaxpr."""
    return not program.is_running and not program.tab and (_is_compiled(program) or program.jax_traced is not None)


TABS: tuple[Tab, ...] = (
    Tab(
        "findings",
        _has_findings,
        tab_requests.always(("findings", {"all": False})),
        first=(("findings", {"all": False}),),
    ),
    Tab("code", lambda program: not program.tab, tab_requests.of_code, price=Price.NOTHING, of_documents=True),
    Tab("compare", is_compared, tab_requests.of_comparison, price=Price.NOTHING, of_documents=True),
    Tab(
        "answers",
        _is_compiled,
        tab_requests.of_answers,
        first=tuple(("answer", {"question": name}) for name in ("bound", "fit", "memory", "collective", "time")),
        price=Price.EACH,
    ),
    Tab(
        "timeline",
        lambda program: bool(timeline_kinds(program)),
        tab_requests.of_timeline,
        price=Price.EACH,
        saved_methods=("timeline", "timeline head", "timeline table"),
    ),
    Tab(
        "cost",
        lambda program: _is_compiled(program) or program.jax_traced is not None,
        tab_requests.of_cost,
        first=(("ledger", {}), ("cost", {}), ("cost_groups", {"group": "line"}), ("roofline", {})),
        fact=work,
        tables=(tab_tables.COST,),
        beside_code=("heat",),
    ),
    Tab(
        "memory",
        lambda program: program.can_be_recompiled or program.has_assignment or out_of_memory(program),
        tab_requests.of_memory,
        first=(("memory", {}),),
        fact=memory,
        tables=(tab_tables.BUFFERS,),
    ),
    Tab(
        "shardings",
        is_sharded,
        tab_requests.of_shardings,
        first=(("shardings", {"all": False}), ("sharding_map", {"all": False, "value": 0})),
        fact=shardings,
        tables=(tab_tables.SHARDINGS,),
    ),
    Tab(
        "dimensions",
        lambda program: program.jax_lowered is not None and not program.is_running,
        tab_requests.always(("dimensions", {"quick": False})),
        fact=dimension_costs,
        price=Price.COMPILE,
        tables=(tab_tables.DIMENSIONS,),
    ),
    Tab(
        "sharding_search",
        lambda program: (
            kept_search(program) is not None or (program.jax_lowered is not None and can_be_searched(program))
        ),
        tab_requests.of_sharding_search,
        first=(("sharding_search", {"most": tab_requests.MOST_LAYOUTS}),),
        price=Price.NOTHING,
        tables=(tab_tables.LAYOUT_KINDS,),
        saved_methods=("sharding_search", "sharding_search_layout"),
    ),
    Tab(
        "collectives",
        lambda program: _is_compiled(program) and is_sharded(program),
        tab_requests.always(("collectives", {"quick": True}), ("collectives", {"quick": False})),
        first=(("collectives", {"quick": True}), ("collectives", {"quick": False})),
        fact=collectives,
        tables=(tab_tables.COLLECTIVES,),
    ),
    Tab(
        "dtypes",
        _changes_dtypes,
        tab_requests.always(("dtypes", {})),
        first=(("dtypes", {}),),
        fact=dtypes,
        tables=(tab_tables.DTYPES,),
    ),
    Tab(
        "layouts",
        lambda program: program.has_hlo,
        tab_requests.always(("layouts", {}), ("layout_copies", {})),
        fact=layouts,
        tables=(tab_tables.LAYOUTS, tab_tables.COPIES),
    ),
    Tab(
        "effects",
        has_effects,
        tab_requests.always(("effects", {})),
        fact=effects,
        price=Price.NOTHING,
        tables=(tab_tables.EFFECTS,),
    ),
    Tab(
        "passes",
        lambda program: program.can_be_recompiled or _was_dumped(program, "has_pass_texts"),
        tab_requests.of_passes,
        fact=passes,
        price=Price.COMPILE,
        tables=(tab_tables.PASSES,),
    ),
    Tab(
        "machine",
        lambda program: program.can_be_recompiled or _was_dumped(program, "has_code"),
        tab_requests.of_machine_code,
        fact=kernels,
        price=Price.COMPILE,
        tables=(tab_tables.KERNELS,),
    ),
    Tab(
        "options",
        lambda program: program.is_compiled_here,
        tab_requests.always(("flags", {})),
        price=Price.NOTHING,
        tables=(tab_tables.OPTIONS, tab_tables.DISPATCH),
    ),
    Tab(
        "compiles",
        lambda program: program.tab == "compiles",
        saved_methods=("compiles", "compiles_causes", "compile_record", "compile_compare"),
    ),
    Tab("compile_cache", lambda program: program.tab == "compile_cache"),
    Tab("job_compiles", lambda program: program.tab == "job_compiles"),
)
"""All tabs, in the order in which the panel has them."""


def still_tables_of(program: Program) -> list[tuple[TabTable, Table]]:
    """The tables that are known or cheap, with rows: first those that a page shows at once."""
    found = [(still, still.known(program)) for tab in TABS for still in tab.tables]
    known = [(still, table) for still, table in found if table is not None and len(table)]
    return sorted(known, key=lambda pair: not pair[0].is_open)

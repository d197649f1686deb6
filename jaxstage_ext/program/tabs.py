"""The tabs of the panel, in order; which of them a call has, and which opens first.

A tab's requests stand in `panel/requests/<name>_requests.py`, its view in `labextension/src/tabs/<name>/`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core import stage_list
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.program import cluster
from jaxstage_ext.program import out_of_memory as exhausted
from jaxstage_ext.program.dtypes import changes_dtypes
from jaxstage_ext.program.effects import has_effects
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.shardings import shardings
from jaxstage_ext.report.view_parts import Parts


@dataclass(frozen=True)
class Tab:
    """A tab of the panel.

    Attributes:
      name: also that of its folder in the front end and of its file of requests.
      has_content: whether the tab has something to show for a program.
    """

    name: str
    has_content: Callable[[Program], bool]


def tabs(program: Program) -> list[str]:
    """The names of the tabs that have something to show for a program, in order; where that fails, to show why."""
    return [tab.name for tab in TABS if Parts().get(tab.name, functools.partial(tab.has_content, program), True)]


def _is_compiled(program: Program) -> bool:
    return program.executable is not None


def _was_dumped(program: Program, what: str) -> bool:
    """Whether the dump that a program is of has its passes or its machine code."""
    return program.dump is not None and bool(getattr(program.dump, what))


def first(program: Program) -> str:
    """The tab that opens first: what took the memory, the refused shardings, the timeline, the comparison.

    "" stands for the code. A view of the kernel has one tab only.
    """
    if program.tab:
        return program.tab
    if out_of_memory(program):
        return "memory"
    if is_refused(program):
        return "shardings"
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


def _is_sharded(program: Program) -> bool:
    """Whether the call runs on several devices or names a mesh, or would, had JAX not refused the shardings."""
    if (lowered := program.jax_lowered) is not None:
        return program.call.layout is not None or lowered_modules.placed(lowered, program.call.fn).count > 1
    if program.call.given is not None and _is_compiled(program):
        return cluster.device_count(program) > 1
    return is_refused(program)


def _changes_dtypes(program: Program) -> bool:
    """Whether the program converts values, or the compiler does."""
    if program.jax_traced is not None and changes_dtypes(program):
        return True
    return program.executable is not None and bool((program.module.opcode == b"convert").any())


TABS: tuple[Tab, ...] = (
    Tab("code", lambda program: not program.tab),
    Tab("compare", is_compared),
    Tab("answers", _is_compiled),
    Tab("timeline", lambda program: program.timeline is not None),
    Tab("cost", lambda program: _is_compiled(program) or program.jax_traced is not None),
    Tab("memory", lambda program: program.can_be_recompiled or program.has_assignment or out_of_memory(program)),
    Tab("shardings", _is_sharded),
    Tab("collectives", lambda program: _is_compiled(program) and _is_sharded(program)),
    Tab("dtypes", _changes_dtypes),
    Tab("layouts", lambda program: program.has_hlo),
    Tab("effects", has_effects),
    Tab("passes", lambda program: program.can_be_recompiled or _was_dumped(program, "has_pass_texts")),
    Tab("machine", lambda program: program.can_be_recompiled or _was_dumped(program, "has_code")),
    Tab("options", lambda program: program.is_compiled_here),
    Tab("compiles", lambda program: program.tab == "compiles"),
    Tab("compile_cache", lambda program: program.tab == "compile_cache"),
)
"""All tabs, in the order in which the panel has them."""

"""The tabs that the panel has for a call, and the one that opens first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.core import jax_private, stage_list, stages
from jaxstage_ext.program import out_of_memory as exhausted

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.value_tables import Shardings
    from jaxstage_ext.inspection import Inspection


def out_of_memory(inspection: Inspection) -> bool:
    """Whether the compile, or a run, failed because the device has too little memory for the program."""
    error = inspection.error
    if error is None or exhausted.MARK not in error.message:
        return False
    return error.stage == exhausted.RUN or stage_list.makes_executable(error.stage)


def of(inspection: Inspection) -> list[str]:
    """The tabs that have something to show for this call, in order."""
    compiled = stages.unwrap(inspection.compiled) is not None
    shown = {
        "code": True,
        "compare": len(inspection.targets) > 1,
        "answers": compiled,
        "cost": compiled or stages.unwrap(inspection.traced) is not None,
        "memory": compiled or out_of_memory(inspection),
        "shardings": _is_laid_out(inspection),
        "collectives": compiled and _is_laid_out(inspection),
        "dtypes": _changes_dtypes(inspection),
        "passes": compiled,
        "machine": compiled,
        "options": stage_list.makes_executable(inspection.stage),
    }
    return [name for name, has in shown.items() if has]


def first(inspection: Inspection) -> str:
    """The tab that opens first: what took the memory, the refused shardings, the comparison, or "" for the code."""
    if out_of_memory(inspection):
        return "memory"
    if is_refused(inspection):
        return "shardings"
    return "compare" if len(inspection.targets) > 1 else ""


def is_refused(inspection: Inspection) -> bool:
    """Whether JAX refused the call for its shardings."""
    failed = inspection._staged.failed
    lowered = isinstance(stages.unwrap(inspection.lowered), jax.stages.Lowered)
    return failed is not None and not lowered and refusals.is_one(str(failed.error))


def refused(inspection: Inspection) -> Shardings | None:
    """The shardings that JAX refused; None where something else failed, or where they are unknown."""
    if not is_refused(inspection):
        return None
    try:
        return inspection.shardings
    except (RuntimeError, ValueError):  # for example without a device; the error itself is shown anyway
        return None


def _is_laid_out(inspection: Inspection) -> bool:
    """Whether the call runs on several devices or names a mesh, or would, had JAX not refused the shardings."""
    lowered = stages.unwrap(inspection.lowered)
    if isinstance(lowered, jax.stages.Lowered):
        return inspection.call.layout is not None or jax_private.placed(lowered, inspection.call.fn).count > 1
    return is_refused(inspection)


def _changes_dtypes(inspection: Inspection) -> bool:
    """Whether the program converts values, or the compiler does."""
    traced = stages.unwrap(inspection.traced) is not None and inspection.converts
    return traced or (
        stages.unwrap(inspection.compiled) is not None and bool((inspection._module_columns.opcode == b"convert").any())
    )

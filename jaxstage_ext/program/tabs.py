"""Which views the panel has for a call."""

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
    """Whether the compile, or a run, ended because the device has not enough memory for the program."""
    error = inspection.error
    if error is None or exhausted.MARK not in error.message:
        return False
    return error.stage == exhausted.RUN or stage_list.makes_executable(error.stage)


def of(inspection: Inspection) -> list[str]:
    """The views of the panel that have something to show for this call, in the order of their tabs."""
    compiled = stages.unwrap(inspection.compiled) is not None
    there = {
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
    return [name for name, has in there.items() if has]


def is_refused(inspection: Inspection) -> bool:
    """Whether JAX refused the call for its shardings."""
    failed = inspection._staged.failed
    lowered = isinstance(stages.unwrap(inspection.lowered), jax.stages.Lowered)
    return failed is not None and not lowered and refusals.is_one(str(failed.error))


def refused(inspection: Inspection) -> Shardings | None:
    """How the values were to lie that JAX refused; None where that is not what failed, or cannot be told."""
    if not is_refused(inspection):
        return None
    try:
        return inspection.shardings
    except (RuntimeError, ValueError):  # such as that there is no device: the error itself is shown all the same
        return None


def _is_laid_out(inspection: Inspection) -> bool:
    """Whether the call runs on several devices or names a mesh, or was to and JAX refused the shardings."""
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

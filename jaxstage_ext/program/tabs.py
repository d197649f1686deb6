"""Which views the panel has for a program."""

from __future__ import annotations

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core import jax_private, stage_list
from jaxstage_ext.program import out_of_memory as exhausted
from jaxstage_ext.program.dtypes import changes_dtypes
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.shardings import shardings


def tabs(program: Program) -> list[str]:
    """The views of the panel that have something to show for this call, in the order of their tabs."""
    compiled = program.executable is not None
    shown = {
        "code": True,
        "compare": len(program.targets) > 1,
        "answers": compiled,
        "cost": compiled or program.jax_traced is not None,
        "memory": compiled or out_of_memory(program),
        "shardings": _is_laid_out(program),
        "collectives": compiled and _is_laid_out(program),
        "dtypes": _changes_dtypes(program),
        "passes": compiled,
        "machine": compiled,
        "options": stage_list.makes_executable(program.stage),
    }
    return [name for name, has in shown.items() if has]


def out_of_memory(program: Program) -> bool:
    """Whether the compile, or a run, ended because the device has not enough memory for the program."""
    error = program.error
    if error is None or exhausted.MARK not in error.message:
        return False
    return error.stage == exhausted.RUN or stage_list.makes_executable(error.stage)


def is_refused(program: Program) -> bool:
    """Whether JAX refused the call for its shardings."""
    failed = program.staged.failed
    return failed is not None and program.jax_lowered is None and refusals.is_one(str(failed.error))


def refused(program: Program) -> Shardings | None:
    """How the values were to lie that JAX refused; None where that is not what failed, or cannot be told."""
    if not is_refused(program):
        return None
    try:
        return shardings(program)
    except (RuntimeError, ValueError):  # such as that there is no device: the error itself is shown all the same
        return None


def _is_laid_out(program: Program) -> bool:
    """Whether the call runs on several devices or names a mesh, or was to and JAX refused the shardings."""
    if (lowered := program.jax_lowered) is not None:
        return program.call.layout is not None or jax_private.placed(lowered, program.call.fn).count > 1
    return is_refused(program)


def _changes_dtypes(program: Program) -> bool:
    """Whether the program converts values, or the compiler does."""
    if program.jax_traced is not None and changes_dtypes(program):
        return True
    return program.executable is not None and bool((program.module.opcode == b"convert").any())

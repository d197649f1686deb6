"""Running a compiled program on the call's own arguments."""

from __future__ import annotations

from typing import Any

import jax

from jaxstage_ext.core.inputs.valueless import is_valueless
from jaxstage_ext.core.jax_private import refs
from jaxstage_ext.core.jax_private.nan_checks import kept_nan_checks
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.program.head.call_arguments import deleted
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.running import nonfinite


def why_not_here(program: Program) -> str:
    """Why an executable cannot be run in this process, whatever the arguments; "" where it can."""
    if program.record is not None:
        return f"the compile log keeps no arguments of {program.name}, so it cannot be run here; call it"
    if program.call.given is not None and program.call.given.value is None:
        return f"{program.name} was read from a file, which holds no values to run it on"
    if (large := program.staged.large) is not None:
        return f"{program.name} cannot be run here: {large.why_elsewhere}"
    if isinstance(program.compiled, Executable):
        return f"{program.name} was compiled for {program.target} in a worker process, so it cannot be run here"
    return ""


def execute(program: Program) -> Any:
    """Run the executable, wait, and give its value.

    Raises ValueError where there is no executable in this process, or an argument was deleted. A run that runs out of
    memory is also kept in the program's `error`. Raises FloatingPointError with the operation and its line where
    `jax_debug_nans` or `jax_debug_infs` is on and a result has one.
    """
    if program.compiled is None and program.error is not None:
        raise ValueError(f"{program.name}: {program.error.stage} failed (see .error); nothing to run")
    if program.compiled is None:
        raise ValueError(f"{program.name} was not compiled, so it cannot be run; inspect it with stage='compile'")
    if why := why_not_here(program):
        raise ValueError(why)
    if names := deleted(program):
        raise ValueError(f"deleted, as donation does: {', '.join(names)}; inspect the call with arrays that are there")
    args, kwargs = stages.dynamic_arguments(program.staged)
    if any(map(is_valueless, jax.tree.leaves((args, kwargs)))):
        raise ValueError(f"the arguments of {program.name} are shapes, which have no values to run on; give it arrays")
    if any(map(refs.is_token, jax.tree.leaves((args, kwargs)))):
        raise ValueError(f"JAX runs no compiled function on a token, which {program.name} takes; call it itself")
    program.ran_out = None
    try:
        with kept_nan_checks():
            return jax.block_until_ready(program.compiled(*args, **kwargs))  # type: ignore[no-untyped-call]
    except jax.errors.JaxRuntimeError as error:
        program.ran_out = out_of_memory.failed_run(error, program.name)
        raise
    except Exception as error:
        if not nonfinite.is_nonfinite(error):
            raise
        reason = nonfinite.told(program)
    raise FloatingPointError(reason)

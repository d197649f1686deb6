"""Running a compiled program on the call's own arguments."""

from __future__ import annotations

from typing import Any

import jax

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.given.symbolic import names as symbolic_names
from jaxstage_ext.core.inputs.captured import is_valueless
from jaxstage_ext.core.jax_private import nonfinite_search, refs
from jaxstage_ext.core.jax_private.nonfinite_search import kept_nan_checks
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.program.head.call_arguments import deleted
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves
from jaxstage_ext.program.source.instruction_places import line_label


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
    program.check_here()
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
        if not is_nonfinite(error):
            raise
        reason = nonfinite_explanation(program)
    raise FloatingPointError(reason)


def is_nonfinite(error: BaseException) -> bool:
    """Whether it is the error by which JAX says that a result has a NaN or an infinity."""
    return isinstance(error, FloatingPointError) or type(error).__name__ == "InternalFloatingPointError"


def nonfinite_explanation(program: Program) -> str:
    """One line: the operation and its line. It runs the operations once more, one by one."""
    nans, infs = bool(jax.config.jax_debug_nans), bool(jax.config.jax_debug_infs)
    what = " or ".join([*(["NaN"] if nans else []), *(["infinity"] if infs else [])])
    start = f"{program.name} made {what}"
    traced = program.jax_traced
    if traced is None or symbolic_names(jax.tree.leaves(program.call.args)):
        return f"{start}; which operation did is unknown, as its jaxpr is"
    if traced.jaxpr.effects:
        return f"{start}; which operation did is unknown: finding it would run its callbacks once more"
    if names := deleted(program):
        return f"{start}; which operation did is unknown: the run donated {', '.join(names)}"
    if already := [name for name, leaf in leaves(program.call) if nonfinite_search.is_nonfinite(leaf, nans, infs)]:
        return f"{start}: {', '.join(already[:4])} has it already"
    args, kwargs = stages.dynamic_arguments(program.staged)
    eqn = nonfinite_search.first_nonfinite(traced.jaxpr, jax.tree.leaves((args, kwargs)), nans, infs)
    if eqn is None:
        return (
            f"{start}, though its operations make none when they run one by one: the compiler joined or reordered them"
        )
    return f"{start}, first in {eqn.primitive.name}{_place(program, eqn)}"


def _place(program: Program, eqn: Any) -> str:
    frame = jaxpr_lines.frame_reader(program.frame_table)(eqn)
    frames = program.frame_table.freeze()
    line = line_label(frames, int(frames.user[frame])) if frame >= 0 else ""
    return f" at {line}" if line else ""

"""Which operation of a run made the first NaN or infinity, where `jax_debug_nans` or `jax_debug_infs` is on."""

from __future__ import annotations

from typing import Any

import jax

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.given.symbolic import names as symbolic_names
from jaxstage_ext.core.jax_private import nonfinite_search
from jaxstage_ext.core.stage import stages
from jaxstage_ext.program.head.call_arguments import deleted
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves
from jaxstage_ext.program.source.instruction_places import line_label

__all__ = ["is_nonfinite", "told"]


def is_nonfinite(error: BaseException) -> bool:
    """Whether it is the error by which JAX says that a result has a NaN or an infinity."""
    return isinstance(error, FloatingPointError) or type(error).__name__ == "InternalFloatingPointError"


def told(program: Program) -> str:
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

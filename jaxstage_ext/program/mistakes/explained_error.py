"""What the error of a stage means for the user's program, where it is known, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from jaxstage_ext.program import tabs
from jaxstage_ext.program.mistakes import argument_mistakes, callback_mistakes, compile_mistakes, mesh_mistakes
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

EXPLANATIONS: tuple[Callable[[Program, StageError], str | None], ...] = (
    compile_mistakes.cache_folder,
    compile_mistakes.compiled_in_transformation,
    callback_mistakes.ordered_callbacks,
    callback_mistakes.absent_callbacks,
    argument_mistakes.inconclusive_size,
    argument_mistakes.symbolic_axis,
    argument_mistakes.no_array,
    mesh_mistakes.sharding_prefix,
    mesh_mistakes.pmap_axis,
    mesh_mistakes.mapped_twice,
    mesh_mistakes.meshes_apart,
    mesh_mistakes.replicated_result,
    compile_mistakes.unlowered_primitive,
    compile_mistakes.unregistered_target,
    compile_mistakes.out_of_device_memory,
    argument_mistakes.unhashable_static,
)


def error_explanation(program: Program) -> str:
    """What is said beside the error of a program: why its shardings were refused, or `explanation`."""
    refused = tabs.refused(program)
    return " ".join(refused.notes) if refused is not None else explanation(program)


def explanation(program: Program) -> str:
    """One sentence or two about the error of a program; "" where nothing is known of it."""
    error = program.error
    if error is None or error.interrupted:
        return ""
    return next((text for explain in EXPLANATIONS if (text := explain(program, error)) is not None), "")

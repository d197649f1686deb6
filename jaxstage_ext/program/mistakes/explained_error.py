"""What the error of a stage means for the user's program, where it is known, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from jaxstage_ext.program import tabs
from jaxstage_ext.program.mistakes import (
    absent_callbacks,
    cache_folder,
    compiled_in_transformation,
    inconclusive_size,
    mapped_twice,
    meshes_apart,
    no_array,
    ordered_effects,
    out_of_device_memory,
    pmap_axis,
    replicated_result,
    sharding_prefix,
    symbolic_axis,
    unhashable_static,
    unlowered_primitive,
    unregistered_target,
)
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

EXPLANATIONS: tuple[Callable[[Program, StageError], str | None], ...] = (
    cache_folder.explanation,
    compiled_in_transformation.explanation,
    ordered_effects.explanation,
    absent_callbacks.explanation,
    inconclusive_size.explanation,
    symbolic_axis.explanation,
    no_array.explanation,
    sharding_prefix.explanation,
    pmap_axis.explanation,
    mapped_twice.explanation,
    meshes_apart.explanation,
    replicated_result.explanation,
    unlowered_primitive.explanation,
    unregistered_target.explanation,
    out_of_device_memory.explanation,
    unhashable_static.explanation,
)


def told(program: Program) -> str:
    """What is said beside the error of a program: why its shardings were refused, or `explanation`."""
    refused = tabs.refused(program)
    return " ".join(refused.notes) if refused is not None else explanation(program)


def explanation(program: Program) -> str:
    """One sentence or two about the error of a program; "" where nothing is known of it."""
    error = program.error
    if error is None or error.interrupted:
        return ""
    return next((text for explain in EXPLANATIONS if (text := explain(program, error)) is not None), "")

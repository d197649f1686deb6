"""A pmap whose mapped axes an argument does not have, or that are longer than its devices are many.

JAX tells the one as an index that is out of range, the other as a shape that it cannot squeeze.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jax

from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import parameter_names
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import plural

_SQUEEZED = "cannot select an axis to squeeze out which has size not equal to one"
_NO_AXIS = "index out of range"
_OUT_OF_BOUNDS = re.compile(r"axis (-?\d{1,9}) is out of bounds for array of dimension (\d{1,9})")
_NAMED = 4


def explanation(program: Program, error: StageError) -> str | None:
    """Which arguments lack the mapped axis, or are longer than the devices are many; None for another error."""
    if not tracing.is_pmap(program.call.fn):
        return None
    axes, given = tracing.pmap_axes(program.call.fn, len(program.call.args))
    mapped = list(_mapped(program, axes))
    if _NO_AXIS in error.message:
        lacking = [
            f"{name} has shape {shape}, and in_axes={axis} maps an axis that it does not have"
            for name, shape, axis in mapped
            if not -len(shape) <= axis < len(shape)
        ]
        return f"pmap: {'; '.join(lacking[:_NAMED])}." if lacking else None
    if result := _OUT_OF_BOUNDS.search(error.message):
        axis, rank = int(result[1]), int(result[2])
        if axis not in tracing.pmap_out_axes(program.call.fn):
            return None
        return (
            f"pmap: out_axes={axis} puts the mapped axis where a result of {plural(rank, 'axis', 'axes')}, the mapped "
            "one among them, has none."
        )
    if _SQUEEZED not in error.message:
        return None
    devices = jax.device_count() if given is None else given
    there = f"there are {devices}" if given is None else f"it was given {plural(given, 'device')}"
    long = [
        f"{name} has shape {shape}" + (f", mapped on axis {axis}" if axis else "")
        for name, shape, axis in mapped
        if -len(shape) <= axis < len(shape) and shape[axis] > devices
    ]
    if not long:
        return None
    return f"pmap runs one element of the mapped axis on a device, and {there}: {', '.join(long[:_NAMED])}."


def _mapped(program: Program, axes: list[Any]) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Name, shape and mapped axis of each array of an argument whose axis is a number."""
    for name, argument, axis in zip(parameter_names(program.call), program.call.args, axes, strict=False):
        for path, leaf in leaves_with_paths(argument) if isinstance(axis, int) else ():
            if (shape := getattr(leaf, "shape", None)) is not None:
                yield name + path_text(path), tuple(shape), axis

"""A pmap over more elements than there are devices, which JAX tells as a shape that it cannot squeeze."""

from __future__ import annotations

import jax

from jaxstage_ext.core import jax_private
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.refused_shardings import leaves
from jaxstage_ext.report.errors import StageError

_SQUEEZED = "cannot select an axis to squeeze out which has size not equal to one"


def explanation(program: Program, error: StageError) -> str | None:
    """Which mapped axes are longer than the devices are many; None for another error."""
    if _SQUEEZED not in error.message or not jax_private.is_pmap(program.call.fn):
        return None
    devices = jax.device_count()
    long = [(name, leaf.shape) for name, leaf in leaves(program.call) if getattr(leaf, "shape", ())[:1] > (devices,)]
    told = ", ".join(f"{name} has shape {tuple(shape)}" for name, shape in long[:4])
    if not told:
        return None
    return f"pmap runs one element of the mapped axis on a device, and there are {devices}: {told}."

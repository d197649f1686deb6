"""Which of a target's devices a program runs on, in which order: as JAX would place it there."""

from __future__ import annotations

import functools
from types import SimpleNamespace

from jax.experimental import mesh_utils

from jaxstage_ext.core import jax_private, packages
from jaxstage_ext.core.target import Target

_SPLITS_AXES = ("TPU v5 lite", "TPU v5e")
"""Kinds for which `jax.make_mesh` may split a physical axis."""


def order(count: int, program: jax_private.Placed, target: Target) -> tuple[list[int], str | None]:
    """The ids of `count` devices of the target in the program's order, and what is to be said about that.

    A mesh that was built in another order than the kernel's devices keeps it. Any other is laid out as
    `jax.make_mesh` lays it out on the target: on a TPU that follows the torus, and XLA chooses collectives by it.
    """
    given = program.device_ids
    if count > 1 and given and list(given) != list(range(count)) and max(given) < (target.devices or 0):
        return list(given), None
    plain = list(range(count))
    if target.platform != "tpu" or program.mesh is None or program.is_pmap:
        return plain, None
    devices = [SimpleNamespace(**one) for one in _devices(target)][:count]
    try:
        mesh = mesh_utils.create_device_mesh(
            program.mesh, devices, allow_split_physical_axes=devices[0].device_kind in _SPLITS_AXES
        )
    except (NotImplementedError, ValueError, AssertionError):
        sizes = "x".join(map(str, program.mesh))
        return plain, f"jax.make_mesh finds no layout of a {sizes} mesh on {target}: devices are taken in their order."
    return [one.id for one in mesh.flat], None


@functools.lru_cache(maxsize=16)
def _devices(target: Target) -> tuple[dict[str, object], ...]:
    """What a mesh is laid out by: coordinates and the like of each device, by id."""
    from jaxstage_ext.core import worker  # it needs Unix

    compiler = packages.compiler_for(target)
    request = {
        "method": "devices",
        "platform": target.platform,
        "library": compiler.library,
        "kind": target.kind,
        "topology": target.topology,
    }
    return tuple(worker.ask(target.platform, request))

"""Which of a target's devices a program runs on, in which order: as JAX would place it there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jax.experimental import mesh_utils

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.targets import packages, worker_requests
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.store import cache

_SPLITS_AXES = ("TPU v5 lite", "TPU v5e")
"""Kinds for which `jax.make_mesh` may split a physical axis."""


def order(program: jax_private.Placed, target: Target, limits: worker_requests.Limits) -> tuple[list[int], str | None]:
    """The ids of the target's devices that a program takes, in its order, and what is to be said about that.

    A mesh that was built in another order than the kernel's devices keeps it. Any other is laid out as
    `jax.make_mesh` lays it out on the target: on a TPU that follows the torus, and XLA chooses collectives by it.
    """
    count, given = program.count, program.device_ids
    if count > 1 and given and list(given) != list(range(count)) and max(given) < (target.devices or 0):
        return list(given), None
    plain = list(range(count))
    if target.platform != "tpu" or program.mesh is None or program.is_pmap:
        return plain, None
    devices = [SimpleNamespace(**device) for device in devices_of(target, limits)][:count]
    try:
        mesh = mesh_utils.create_device_mesh(
            program.mesh, devices, allow_split_physical_axes=devices[0].device_kind in _SPLITS_AXES
        )
    except (NotImplementedError, ValueError, AssertionError):
        sizes = "x".join(map(str, program.mesh))
        return plain, f"jax.make_mesh finds no layout of a {sizes} mesh on {target}: devices are taken in their order."
    return [device.id for device in mesh.flat], None


_known: dict[Target, list[dict[str, Any]]] = {}


def devices_of(target: Target, limits: worker_requests.Limits) -> list[dict[str, Any]]:
    """What a mesh is laid out by: coordinates and the like of each device, by id."""
    if target not in _known:
        key = cache.key("devices", target.topology, target.kind, *packages.identity(target.platform))
        kept = cache.load(key)
        _known[target] = kept[0]["devices"] if kept else worker_requests.ask(target, {"method": "devices"}, limits)
        cache.store(key, {"devices": _known[target]})
    return _known[target]

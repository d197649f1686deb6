"""The devices of a target that a program runs on, in the order in which JAX would place it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jax.experimental import mesh_utils

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.targets import environments, worker_requests
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.store import cache
from jaxstage_ext.worker.compile_environment import CompileEnvironment

_SPLITS_AXES = ("TPU v5 lite", "TPU v5e")
"""Device kinds for which `jax.make_mesh` may split a physical axis."""


def order(
    program: jax_private.Placed, target: Target, limits: worker_requests.Limits, environment: CompileEnvironment
) -> tuple[list[int], str | None]:
    """The ids of the target's devices that a program runs on, in its order, and a note about it.

    A mesh whose device order differs from the kernel's keeps its order. Any other mesh is arranged as
    `jax.make_mesh` does on the target: on a TPU it follows the torus, by which XLA chooses collectives.
    """
    count, given = program.count, program.device_ids
    if count > 1 and given and list(given) != list(range(count)) and max(given) < (target.devices or 0):
        return list(given), None
    plain = list(range(count))
    if target.platform != "tpu" or program.mesh is None or program.is_pmap:
        return plain, None
    devices = [SimpleNamespace(**device) for device in devices_of(target, limits, environment)][:count]
    try:
        mesh = mesh_utils.create_device_mesh(
            program.mesh, devices, allow_split_physical_axes=devices[0].device_kind in _SPLITS_AXES
        )
    except (NotImplementedError, ValueError, AssertionError):
        sizes = "x".join(map(str, program.mesh))
        return (
            plain,
            f"jax.make_mesh cannot arrange a {sizes} mesh on {target}; the devices are used in their own order.",
        )
    return [device.id for device in mesh.flat], None


def devices_of(target: Target, limits: worker_requests.Limits, environment: CompileEnvironment) -> list[dict[str, Any]]:
    """The coordinates and other properties of the target's devices, by id, from which a mesh is arranged."""
    device = (target.topology, target.kind, target.configuration)
    key = environments.key(environment, "devices", *device)
    if key is not None and (kept := cache.load(key)) is not None:
        devices: list[dict[str, Any]] = kept[0]["devices"]
        return devices
    devices = worker_requests.ask(target, {"method": "devices"}, limits, environment)
    environments.store(key, environment, target.platform, {"devices": devices})
    return devices

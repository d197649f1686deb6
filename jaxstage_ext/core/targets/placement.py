"""The devices of a target that a program runs on, in the order in which JAX would place it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from jax.experimental import mesh_utils

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.targets import environments, worker_requests
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.store.lru import Lru
from jaxstage_ext.worker.compile_environment import CompileEnvironment

_SPLITS_AXES = ("TPU v5 lite", "TPU v5e")
"""Device kinds for which `jax.make_mesh` may split a physical axis."""


def check(program: lowered_modules.Placed, target: Target, is_of_file: bool = False) -> None:
    """Raise Unavailable where a program has more devices than the target."""
    room = target.devices or 0
    if program.count > room and is_of_file:
        raise Unavailable(
            f"the module is for {program.count:,} devices, but {target} has {room:,}; name a larger target, such as "
            f"cpu:{program.count}"
        )
    if program.count > room:
        raise Unavailable(
            f"the program's mesh has {program.count:,} devices, but {target} has {room:,}; use a smaller mesh or a "
            "larger target"
        )


def order(
    program: lowered_modules.Placed, target: Target, limits: worker_requests.Limits, environment: CompileEnvironment
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


_known: Lru[list[dict[str, Any]]] = cache.table(1_000_000)


def devices_of(target: Target, limits: worker_requests.Limits, environment: CompileEnvironment) -> list[dict[str, Any]]:
    """The coordinates and other properties of the target's devices, by id, from which a mesh is arranged."""
    key = environments.key(environment, "devices", target.topology, target.kind, target.configuration)
    if key is None or not cache.enabled():
        return _asked(target, limits, environment)
    if (known := _known.get(key)) is None:
        read = partial(_devices, target.devices)

        def ask() -> list[dict[str, Any]]:
            asked = _asked(target, limits, environment)
            environments.store(key, environment, target.platform, {"devices": asked})
            return asked

        made, _ = cache.once(key, lambda: cache.load(key, read), ask, patience=limits.timeout)
        known = made
        _known.put(key, known, len(known))
    return known


def _asked(target: Target, limits: worker_requests.Limits, environment: CompileEnvironment) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = worker_requests.ask(target, {"method": "devices"}, limits, environment)
    return devices


def _devices(count: int | None, head: Mapping[str, Any], parts: list[bytes]) -> list[dict[str, Any]]:
    """The `count` devices in an entry of the inspection cache. Raises for anything else."""
    devices: list[dict[str, Any]] = head["devices"]
    names = {"id", "process_index", "device_kind", "platform", "coords", "core_on_chip"}
    if (
        parts
        or type(devices) is not list
        or head.keys() != {"devices"}
        or [device["id"] for device in devices] != list(range(count or 0))
    ):
        raise ValueError(f"not the {count} devices of a topology")
    for device in devices:
        integers = (device["process_index"], *device["coords"], device["core_on_chip"])
        texts = (device["device_kind"], device["platform"])
        if device.keys() != names or {*map(type, integers)} != {int} or {*map(type, texts)} != {str}:
            raise ValueError(f"not a device of a topology: {device}")
    return devices

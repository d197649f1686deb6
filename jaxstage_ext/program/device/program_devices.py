"""The devices that a program runs on: their order, the meshes they form, the links between them."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.analysis.sharding import from_plain, from_text
from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.layout import value_shardings
from jaxstage_ext.core.targets.devices import CATALOGUE, Device
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program

NO_SPEED_OF_TARGET = "no link speed on file for this target"


def device_places(program: Program) -> list[DevicePlace]:
    """The devices that a program runs on, in the order of its device assignment."""
    return [
        DevicePlace(device.id, device.process, device.coords, device.core)
        for device in value_shardings.of_devices(program.staged)
    ]


def of_several_processes(program: Program) -> bool:
    """Whether a program runs on this kernel's devices and those of other processes."""
    if program.jax_lowered is None or not program.target.is_local or jax.process_count() == 1:
        return False
    return processes(device_places(program)) > 1


def device_count(program: Program) -> int:
    """How many devices a program runs on."""
    if program.jax_lowered is not None:
        return _lowered_for(program)
    if isinstance(program.executable, jax.stages.Compiled):
        return len(value_shardings.compiled_devices(program.executable)) or 1
    return int(getattr(program.compiled, "devices", 1) or 1)


@fact
def _lowered_for(program: Program) -> int:
    return len(device_places(program))


def boundary_values(program: Program) -> list[value_shardings.BoundaryValue]:
    """Arguments and results with the shardings that they were given; none where JAX itself lowered nothing."""
    if program.jax_lowered is not None:
        return value_shardings.of_program(program.jax_lowered, captured.namer(program.call.fn))
    is_compiled = isinstance(program.executable, jax.stages.Compiled)
    return value_shardings.of_compiled(program.executable) if is_compiled else []


def meshes(program: Program, values: Sequence[value_shardings.BoundaryValue]) -> list[Mesh]:
    """The meshes of a program, those that its values name first."""
    named = [mesh for value in values if (mesh := from_plain.mesh_of(value.sharding)) is not None]
    written = defined_meshes(program).values()
    return list(dict.fromkeys([*named, *(mesh for mesh in written if mesh.names)]))


def defined_meshes(program: Program) -> dict[str, Mesh]:
    """The meshes that the program's StableHLO defines, by name."""
    lowered = program.documents.get("stablehlo")
    return from_text.meshes(lowered.text) if lowered is not None else {}


def links(program: Program, places: Sequence[DevicePlace]) -> DeviceLinks:
    """The links of one device: half of its maker's figure for both directions, shared by the devices of a chip."""
    target = program.target
    hosts = [place.process for place in places]
    device = CATALOGUE.get(target.kind)
    if device is None:
        return DeviceLinks(hosts=hosts, source=NO_SPEED_OF_TARGET)
    if device.interconnect is None:
        return DeviceLinks(hosts=hosts, source=f"no link speed on file for {device.title}")
    per_chip = (target.devices or 1) // (target.chips or 1) or 1
    coords = [place.coords for place in places if place.coords is not None]
    axes = target.topology.count("x") + 1 if target.platform == "tpu" and len(coords) == len(places) else 0
    torus = tuple(at[:axes] for at in coords) if axes else ()
    source = f"{device.title}, {device.interconnect / 2e9:.4g} GB/s per chip in one direction, published by its maker"
    wraps = _wraps(device, target) if axes else ()
    reduces = device.gpu is not None and device.gpu.capability >= _NVLS
    return DeviceLinks(device.interconnect / 2 / per_chip, torus, hosts, source, wraps, int(per_chip), reduces)


_NVLS = (9, 0)
"""The first GPUs whose NVLink switches reduce and copy (NVLink SHARP): NVIDIA H100 whitepaper."""


def _wraps(device: Device, target: Target) -> tuple[bool, ...]:
    """Per axis of a slice, whether its last chip is linked to its first."""
    sizes = [int(size) for size in target.topology.partition(":")[2].split("x")]
    return tuple(device.tpu is not None and size % device.tpu.ring == 0 for size in sizes)

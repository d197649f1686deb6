"""JAX shardings as plain data: of arrays, and of a lowered program's arguments and results; and their devices.

A sharding becomes a dict with a "kind" and its "text":
- "named": "mesh" (names, sizes, devices or None), "dims" (the axes of each dimension) and "unreduced" axes.
- "hlo": "proto", a serialized OpSharding.
- "one device": "device".
- "written": the text alone, as a module of StableHLO has it, and the number of "devices".
- "slices": for each device the (start, stop) of each dimension, for a sharding class that tells nothing else.
- "unknown": "why".
Devices are numbered by their place in the sharding's own order, which the program's device assignment follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from jaxstage_ext.core.jax_private import given_objects, lowered_modules, module_lowering, refs, sharding_internals
from jaxstage_ext.core.jax_private.module_lowering import ModuleValue, WrittenModule
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import environments, placement
from jaxstage_ext.report.unavailable import Unavailable

Plain = dict[str, Any]
_TOKEN = "AbstractToken"
_FIELDS = ("id", "process_index", "coords", "core_on_chip")


@dataclass(frozen=True)
class PlacedDevice:
    """A device of a program, at its place in the device assignment."""

    id: int
    """JAX's id."""
    process: int | None = None
    """The index of its host; None where unknown."""
    coords: tuple[int, ...] | None = None
    """The position of its chip in the torus; None where it has none."""
    core: int | None = None
    """Its number on the chip."""


@dataclass(frozen=True)
class BoundaryValue:
    """An array with its sharding."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bits: int | None
    """The width of an element; None where it has none."""
    sharding: Plain | None = field(repr=False)
    """In the form above; None where the compiler chooses it."""
    is_result: bool = False
    number: int | None = None
    """The number of the module's parameter or result; None for an argument that the program does not use."""
    is_compiled: bool = False
    """Whether it is that of an executable, of which it is not known who chose it."""


def of_program(lowered: Any, namer: refs.Namer = refs.unnamed) -> list[BoundaryValue]:
    """The arguments and the results of a `jax.stages.Lowered`; `namer` names the Refs that it closes over.

    Raises Unavailable where a size is not known, as in a module that another process wrote it may be.
    """
    if (written := module_lowering.written_module(lowered)) is not None:
        return [*_written(written, written.arguments, "arg{}"), *_written(written, written.results, "result[{}]")]
    order = {device.id: place for place, device in enumerate(sharding_internals.lowered_devices(lowered))}
    return [
        BoundaryValue(
            value.name,
            tuple(value.aval.shape) if hasattr(value.aval, "shape") else (),
            _dtype(value.aval),
            _bits(value.aval),
            None if value.sharding is None else plain(value.sharding, getattr(value.aval, "shape", ()), order),
            value.is_result,
            value.number,
        )
        for value in sharding_internals.program_values(lowered, namer)
    ]


def _written(written: WrittenModule, values: Sequence[ModuleValue], unnamed: str) -> Iterator[BoundaryValue]:
    """The arguments or the results of a module that another process wrote; of several replicas each has its own."""
    for number, value in enumerate(values):
        name = value.name or unnamed.format(number)
        if unknown := [size for size in value.shape if size is None]:
            raise Unavailable(f"{name} is {value.type}, {len(unknown)} of whose sizes is not known")
        text = "{manual}" if written.replicas > 1 else value.sharding
        yield BoundaryValue(
            name,
            tuple(size for size in value.shape if size is not None),
            value.dtype or (_TOKEN if value.type == "!stablehlo.token" else value.type),
            value.bits,
            {"kind": "written", "text": text, "devices": written.devices} if text else None,
            values is written.results,
            number,
        )


def of_compiled(compiled: Any) -> list[BoundaryValue]:
    """The arguments and the results of a `jax.stages.Compiled`."""
    order = {assigned.id: place for place, assigned in enumerate(compiled_devices(compiled))}
    info = given_objects.call_info(compiled)
    inputs, outputs = sharding_internals.boundary_shardings(compiled)
    arguments = _by_name(info.arguments, info.avals, inputs[: len(info.avals)])
    names = refs.result_names_of_compiled(compiled, info.arguments, info.results)
    results = _by_name(names, sharding_internals.result_types(compiled), outputs)
    return [
        BoundaryValue(
            name,
            tuple(aval.shape),
            _dtype(aval),
            _bits(aval),
            plain(sharding, aval.shape, order),
            is_result,
            number,
            is_compiled=True,
        )
        for is_result, values in ((False, arguments), (True, results))
        for number, (name, aval, sharding) in enumerate(values)
        if sharding is not None and hasattr(aval, "shape")
    ]


def _by_name(names: Sequence[str], avals: Sequence[Any], shardings: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """(name, type, sharding) of each array; nothing where JAX does not give all of them."""
    return list(zip(names, avals, shardings, strict=True)) if len(names) == len(avals) == len(shardings) else []


def compiled_devices(compiled: Any) -> list[Any]:
    """JAX's devices of a `jax.stages.Compiled`, in the order of its device assignment."""
    inputs, outputs = sharding_internals.boundary_shardings(compiled)
    known = [one for one in (*inputs, *outputs) if one is not None]
    assigned = [list(sharding_internals.device_assignment(sharding)) for sharding in known]
    return max(assigned, key=len, default=[])


def of_array(array: Any, name: str = "") -> tuple[BoundaryValue, list[PlacedDevice]]:
    """A `jax.Array`, or anything with a shape and a sharding, and its devices. Raises TypeError for anything else."""
    sharding = getattr(array, "sharding", None)
    if not isinstance(sharding, jax.sharding.Sharding):
        raise TypeError(f"{type(array).__name__} has no sharding; pass a jax.Array, or a sharding and a shape")
    value = BoundaryValue(name, tuple(array.shape), _dtype(array), _bits(array), plain(sharding, array.shape))
    return value, [device(assigned) for assigned in sharding_internals.device_assignment(sharding)]


def plain(sharding: Any, shape: Sequence[int], order: dict[int, int] | None = None) -> Plain:
    """A JAX sharding as plain data. `order` maps device ids to numbers; without it, devices count in its own order."""
    made = _plain(sharding, shape, order)
    return made | {"memory": sharding.memory_kind} if sharding_internals.is_on_host(sharding) else made


def _plain(sharding: Any, shape: Sequence[int], order: dict[int, int] | None = None) -> Plain:
    text = " ".join(str(sharding).split())
    devices = sharding_internals.device_assignment(sharding)
    places = order or {assigned.id: place for place, assigned in enumerate(devices)}
    numbers = [places.get(assigned.id, assigned.id) for assigned in devices]
    if isinstance(sharding, NamedSharding):
        return _named(sharding, len(shape), numbers) | {"text": text}
    if isinstance(sharding, SingleDeviceSharding):
        return {"kind": "one device", "device": numbers[0] if numbers else 0, "text": text}
    if (proto := sharding_internals.hlo_sharding(sharding, len(shape))) is not None and numbers == sorted(numbers):
        return {"kind": "hlo", "proto": proto[0], "text": proto[1], "devices": len(numbers)}
    return _by_slices(sharding, shape, places) | {"text": text}


def _named(sharding: Any, rank: int, numbers: list[int]) -> Plain:
    mesh, spec = sharding.mesh, sharding.spec
    dims = [_axes(entry) for entry in spec] + [[]] * (rank - len(spec))
    natural = not isinstance(mesh, Mesh) or numbers == list(range(len(numbers)))
    return {
        "kind": "named",
        "mesh": (tuple(map(str, mesh.axis_names)), tuple(mesh.axis_sizes), None if natural else tuple(numbers)),
        "dims": dims,
        "explicit": all(
            getattr(kind, "name", "") == "Explicit" for kind in getattr(mesh, "axis_types", None) or (None,)
        ),
        "unreduced": sorted(map(str, getattr(spec, "unreduced", ()) or ())),
    }


def _axes(entry: Any) -> list[str]:
    if entry is None or entry is PartitionSpec.UNCONSTRAINED:
        return []
    return [str(name) for name in (entry if isinstance(entry, tuple) else (entry,))]


def _by_slices(sharding: Any, shape: Sequence[int], places: dict[int, int]) -> Plain:
    try:
        indices = sharding.devices_indices_map(tuple(shape))
        held = {
            places.get(holder.id, holder.id): [part.indices(size)[:2] for part, size in zip(index, shape, strict=True)]
            for holder, index in indices.items()
        }
    except Exception as error:  # a class of somebody else's
        return {"kind": "unknown", "why": f"{type(sharding).__name__}: {str(error)[:200]}"}
    return {"kind": "slices", "slices": held}


def device(described: Any) -> PlacedDevice:
    """The Device of a JAX device, or of a worker's dict about one."""
    fields: dict[str, Any] = (
        described if isinstance(described, dict) else {name: getattr(described, name, None) for name in _FIELDS}
    )
    coords = fields.get("coords")
    place = None if coords is None else tuple(coords)
    return PlacedDevice(int(fields["id"]), fields.get("process_index"), place, fields.get("core_on_chip"))


def of_devices(staged: Staged) -> list[PlacedDevice]:
    """The devices that a staged call runs on, in the order of its device assignment.

    For a cross-compilation target the worker is asked, and its errors are raised. Empty where nothing was lowered.
    """
    compiled = unwrap(staged.value(COMPILE))
    if staged.call.given is not None and staged.call.given.stage == COMPILE:
        if not isinstance(compiled, jax.stages.Compiled):  # of a file, which has numbers alone
            return [PlacedDevice(number) for number in range(getattr(compiled, "devices", 0))]
        return [device(assigned) for assigned in compiled_devices(compiled)]
    lowered = unwrap(staged.value(LOWER))
    if not isinstance(lowered, jax.stages.Lowered):
        return []
    placed = lowered_modules.placed(lowered, staged.call.fn)
    if staged.target.is_local:
        named = sharding_internals.lowered_devices(lowered)
        if not named and placed.count > jax.device_count():  # a mesh that is larger than this machine has numbers alone
            return [PlacedDevice(number) for number in range(placed.count)]
        own = jax.local_devices() if placed.count <= jax.local_device_count() else jax.devices()
        return [device(assigned) for assigned in named or own[: placed.count]]
    placement.check(placed, staged.target, module_lowering.written_module(lowered) is not None)
    environment = staged.environment or environments.taken(staged.target.platform)
    order, _ = placement.order(placed, staged.target, staged.limits, environment)
    if staged.target.platform == "cpu":
        return [PlacedDevice(assigned, 0) for assigned in order]
    known = placement.devices_of(staged.target, staged.limits, environment)
    return [device(known[assigned]) for assigned in order]


def _dtype(aval: Any) -> str:
    return str(getattr(getattr(aval, "dtype", None), "name", getattr(aval, "dtype", type(aval).__name__)))


def _bits(aval: Any) -> int | None:
    size = getattr(getattr(aval, "dtype", None), "itemsize", None)
    return int(size) * 8 if size else None

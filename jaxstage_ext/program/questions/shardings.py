"""How the arguments, results and intermediates of a program lie on its devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.sharding import from_plain, propagation
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, RESULT, ShardedValue, intermediates
from jaxstage_ext.analysis.sharding.sharding_map import TOKEN, ShardingMap
from jaxstage_ext.analysis.sharding.slices import Sharding, on_one_device, unknown
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core.layout import value_shardings
from jaxstage_ext.ir.hlo.shapes import HOST
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.kinds import file_shardings
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import refused_shardings
from jaxstage_ext.program.questions.propagated_module import propagated_module
from jaxstage_ext.report.unavailable import Unavailable

HOST_MEMORY = "pinned_host"
"""JAX's name of XLA's memory space 5."""


@fact
def shardings(program: Program) -> Shardings:
    """How arguments and results lie on the devices; of a call that JAX refused for that, how they were to lie.

    Raises Unavailable where nothing was lowered for another reason, or a saved report does not hold them.
    """
    if program.saved_shardings is not None:
        return program.saved_shardings
    if program.jax_lowered is None and (program.call.given is None or program.executable is None):
        if (refused := refused_shardings.read(program)) is not None:
            return refused
        raise Unavailable(f"{program.name} was not lowered by JAX, so its shardings are unknown")
    if program.file_title:
        return _of_file(program)
    given = program_devices.boundary_values(program)
    meshes, places = program_devices.meshes(program, given), program_devices.device_places(program)
    settled = _settled(program, given, len(places))
    committed = any(value.sharding is not None and not value.is_result for value in given)
    alone = Chooser.COMMITTED if committed else Chooser.DEFAULT
    defined = program_devices.defined_meshes(program)
    made = [_value(value, settled, meshes, places, alone, defined) for value in given]
    values = _named_by_caller(program, _with_memories(program, given, made))
    return Shardings(tuple(values), tuple(places), tuple(meshes), (), partial(_intermediates, program))


def _of_file(program: Program) -> Shardings:
    places = tuple(program_devices.device_places(program))
    values, notes = file_shardings.values(program, len(places) or 1)
    meshes = dict.fromkeys(mesh for value in values if (mesh := value.map.sharding.mesh) is not None)
    return Shardings(tuple(values), places, tuple(meshes), notes, partial(_intermediates, program))


def _intermediates(program: Program) -> tuple[ShardedValue, ...]:
    module = propagated_module(program)
    return () if module is None else intermediates(module)


def _named_by_caller(program: Program, values: list[ShardedValue]) -> list[ShardedValue]:
    """The arguments by the names of the function's own, where JAX only numbers them, as it does for pmap."""
    names = refused_shardings.argument_names(program.call, [value.name for value in values])
    return [replace(value, name=name) for value, name in zip(values, names, strict=True)]


def _settled(
    program: Program, given: Sequence[value_shardings.BoundaryValue], devices: int
) -> tuple[dict[int, Sharding], dict[int, Sharding]]:
    """What the compiler settled for the module's parameters and results, by number; empty where it did not."""
    if not program.has_hlo:
        return {}, {}
    boundaries = propagation.boundaries(program.module, devices)
    ranks = [{value.number: len(value.shape) for value in given if value.is_result is kind} for kind in (False, True)]
    parameters, results = (
        {
            number: of(rank)
            for number, rank in ranks_of_kind.items()
            if number is not None and (of := settled.get(number))
        }
        for ranks_of_kind, settled in zip(ranks, boundaries, strict=True)
    )
    return parameters, results


def _with_memories(
    program: Program, given: Sequence[value_shardings.BoundaryValue], values: list[ShardedValue]
) -> list[ShardedValue]:
    """The values with the host's memory where the module has them there, as where JAX was not told a sharding."""
    head = program.documents["hlo"].lines[0] if program.has_hlo else ""
    sides = [[layout for layout in side if layout.dtype != TOKEN] for side in layout_text.of_entry(head)]
    on_host = [{at for at, layout in enumerate(side) if layout.space == HOST} for side in sides]
    return [
        replace(value, map=replace(value.map, sharding=replace(value.map.sharding, memory=HOST_MEMORY)))
        if one.number in on_host[one.is_result] and value.map.dtype != TOKEN and not value.map.sharding.memory
        else value
        for one, value in zip(given, values, strict=True)
    ]


def _value(
    value: value_shardings.BoundaryValue,
    compiled: tuple[dict[int, Sharding], dict[int, Sharding]],
    meshes: Sequence[Mesh],
    places: Sequence[DevicePlace],
    alone: Chooser,
    defined: Mapping[str, Mesh],
) -> ShardedValue:
    """A value with its sharding; `alone` is who chose the device where there is only one."""
    chosen: Chooser | None
    settled = compiled[value.is_result].get(-1 if value.number is None else value.number)
    if value.sharding is not None:
        sharding = from_plain.read(value.sharding, value.shape, defined)
        chosen = None if value.is_compiled else Chooser.YOU
    elif value.number is None:
        sharding, chosen = unknown("", "the program does not use it, so it is not sent to any device"), None
    elif len(places) == 1:
        sharding, chosen = on_one_device(0, len(value.shape)), alone
    elif settled is not None:
        sharding, chosen = settled, Chooser.COMPILER
    else:
        sharding, chosen = unknown("", "it is left to the compiler, and nothing was compiled"), None
    sharding = with_device_id(propagation.named(sharding, meshes), places)
    kind, dtype = RESULT if value.is_result else ARGUMENT, short_dtype(value.dtype)
    shard_map = ShardingMap(value.shape, sharding, dtype, 0 if dtype == TOKEN else value.bits)
    return ShardedValue(value.name, kind, shard_map, chosen, is_sent=value.number is not None or value.is_result)


def with_device_id(sharding: Sharding, places: Sequence[DevicePlace]) -> Sharding:
    """The same; of one that lies on one device, with that device's id."""
    number = int(sharding.holders.ravel()[0]) if sharding.devices == 1 and sharding.is_known else len(places)
    return replace(sharding, only=places[number].id) if number < len(places) else sharding

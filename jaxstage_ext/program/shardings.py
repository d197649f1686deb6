"""The shardings and collectives of an Inspection, made of what it holds when they are first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxstage_ext.analysis.collectives import collective_table as tables
from jaxstage_ext.analysis.collectives.collective_ops import any_in
from jaxstage_ext.analysis.collectives.collective_rows import Program
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.collectives.interconnect import Links
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.sharding import from_plain, from_text, mesh_drawing, propagation
from jaxstage_ext.analysis.sharding.device_places import Place
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.mesh_drawing import Sheet
from jaxstage_ext.analysis.sharding.propagation import Chooser, Propagated
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, RESULT, Value, intermediates
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.sharding_wording import describe
from jaxstage_ext.analysis.sharding.slices import Sharding, on_one_device, unknown
from jaxstage_ext.analysis.sharding.value_tables import Shardings, table
from jaxstage_ext.core import stages
from jaxstage_ext.core.layout import value_shardings
from jaxstage_ext.core.recompile import propagation as recompiled_propagation
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.ir.hlo import document as hlo_document
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program import cost_inputs, refused_shardings
from jaxstage_ext.program.summary import short_dtype
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection

NOWHERE = Places(np.zeros(0, np.int64), (), ())


def read(inspection: Inspection) -> Shardings:
    """How arguments and results lie on the devices; of a call that JAX refused for that, how they were to lie.

    Raises Unavailable where nothing was lowered for another reason.
    """
    lowered = stages.unwrap(inspection.lowered)
    if not isinstance(lowered, jax.stages.Lowered):
        if (told := refused_shardings.read(inspection)) is not None:
            return told
        raise Unavailable(f"{inspection.name} was not lowered by JAX itself, so its shardings are not known")
    given = value_shardings.of_program(lowered)
    meshes = meshes_of(inspection, given)
    places = places_of(inspection)
    compiled = _boundaries(inspection, given, len(places))
    values = _named_by_caller(inspection, [_value(one, compiled, meshes, places) for one in given])
    look = partial(_intermediates, inspection)
    return Shardings(tuple(values), tuple(places), tuple(meshes), (), look)


def _named_by_caller(inspection: Inspection, values: list[Value]) -> list[Value]:
    """The arguments by the names of the function's own, where JAX only numbers them, as it does for pmap."""
    numbered = [place for place, value in enumerate(values) if value.name.startswith("flat_args[")]
    names = [name for name, _ in refused_shardings.leaves(inspection.call)] if numbered else []
    if len(names) != len(numbered):
        return values
    known = dict(zip(numbered, names, strict=True))
    return [replace(value, name=known.get(place, value.name)) for place, value in enumerate(values)]


def meshes_of(inspection: Inspection, given: Sequence[value_shardings.Value]) -> list[Mesh]:
    """The meshes of a program, those that its values name first."""
    named = [mesh for one in given if (mesh := from_plain.mesh_of(one.sharding)) is not None]
    written = from_text.meshes(inspection.documents["stablehlo"].text).values()
    return list(dict.fromkeys([*named, *(mesh for mesh in written if mesh.names)]))


def places_of(inspection: Inspection) -> list[Place]:
    """The devices that a program runs on, in the order of its device assignment."""
    return [Place(one.id, one.process, one.coords, one.core) for one in value_shardings.of_devices(inspection._staged)]


def _boundaries(
    inspection: Inspection, given: Sequence[value_shardings.Value], devices: int
) -> tuple[dict[int, Sharding], dict[int, Sharding]]:
    """What the compiler settled for the module's parameters and results, by number; empty where it did not."""
    if inspection._hlo_proto() is None:
        return {}, {}
    found = propagation.boundaries(inspection._module_columns, devices)
    ranks = [{one.number: len(one.shape) for one in given if one.is_result is kind} for kind in (False, True)]
    parameters, results = (
        {number: of(rank) for number, rank in its.items() if number is not None and (of := each.get(number))}
        for its, each in zip(ranks, found, strict=True)
    )
    return parameters, results


def _value(
    one: value_shardings.Value,
    compiled: tuple[dict[int, Sharding], dict[int, Sharding]],
    meshes: Sequence[Mesh],
    places: Sequence[Place],
) -> Value:
    chosen: Chooser | None = Chooser.YOU
    settled = compiled[one.is_result].get(-1 if one.number is None else one.number)
    if one.sharding is not None:
        sharding = from_plain.read(one.sharding, one.shape)
    elif one.number is None:
        sharding, chosen = unknown("", "the program does not use it, so it is not sent to any device"), None
    elif len(places) == 1:
        sharding, chosen = on_one_device(0, len(one.shape)), None
    elif settled is not None:
        sharding, chosen = settled, Chooser.COMPILER
    else:
        sharding, chosen = unknown("", "it is left to the compiler, and nothing was compiled"), None
    sharding = identified(propagation.named(sharding, meshes), places)
    kind = RESULT if one.is_result else ARGUMENT
    return Value(one.name, kind, ShardingMap(one.shape, sharding, short_dtype(one.dtype), one.bits), chosen)


def identified(sharding: Sharding, places: Sequence[Place]) -> Sharding:
    """The same; of one that lies on one device, with that device's id."""
    number = int(sharding.holders.ravel()[0]) if sharding.devices == 1 and sharding.is_known else len(places)
    return replace(sharding, only=places[number].id) if number < len(places) else sharding


Asked = tuple[bytes | None, list[str]]


def ask_propagation(inspection: Inspection, progress: Progress | None = None) -> Asked:
    """(the module as the partitioner got it or None, what the partitioner warned of). Compiles once more.

    Raises Unavailable where the worker cannot, and what `worker.ask` does.
    """
    return recompiled_propagation.recompile(inspection._staged, progress)


def propagated(inspection: Inspection) -> Propagated | None:
    """The module after propagation; None where nothing is propagated, on one device. Raises as `ask_propagation`."""
    dump, _ = inspection._propagation
    if dump is None:
        return None
    given = value_shardings.of_program(stages.unwrap(inspection.lowered))
    read = propagation.read(dump, len(places_of(inspection)), meshes_of(inspection, given))
    linked = hlo_document.sources(read.ops, inspection._table)
    frames = inspection._table.freeze()
    users = np.append(frames.user, -1)[linked.frame].tolist()
    labels = {frame: cost_inputs.label(frames, frame) for frame in set(users)}
    explicit = any(one.sharding and one.sharding.get("explicit") for one in given)
    return replace(read, lines=[labels[frame] for frame in users], frame=linked.frame.tolist(), explicit=explicit)


def _intermediates(inspection: Inspection) -> tuple[Value, ...]:
    module = propagated(inspection)
    if module is None:
        return ()
    return intermediates(module)


def collectives(inspection: Inspection, progress: Progress | None = None) -> Collectives:
    """The collectives of the optimised module. Raises Unavailable where there is none.

    What caused them is asked of the compiler once more; where that fails the table says why it is unknown.
    """
    ops = inspection._operations
    if not any_in(ops):
        return Collectives(ops, NOWHERE, (), devices=_devices(inspection))
    return _collectives(inspection, ops, _program(inspection, progress))


def exchanged(inspection: Inspection) -> Collectives:
    """The same table without causes, for which nothing is asked of the compiler. Raises as `collectives`."""
    if "collectives" in inspection.__dict__:
        return inspection.collectives
    ops = inspection._operations
    if not any_in(ops):
        return Collectives(ops, NOWHERE, (), devices=_devices(inspection))
    places, lowered = places_of(inspection), stages.unwrap(inspection.lowered)
    given = value_shardings.of_program(lowered) if isinstance(lowered, jax.stages.Lowered) else []
    known = meshes_of(inspection, given), links_of(inspection, places)
    return _collectives(inspection, ops, Program(len(places), *known, None, "it was not recompiled to find it"))


def _collectives(inspection: Inspection, ops: Module, program: Program) -> Collectives:
    return tables.read(ops, cost_inputs.located(inspection, ops), program)


def _program(inspection: Inspection, progress: Progress | None) -> Program:
    """What is to be known of the program beside its module; the compiler is asked once more."""
    lowered = stages.unwrap(inspection.lowered)
    if not isinstance(lowered, jax.stages.Lowered):
        return Program(_devices(inspection), why_unknown="JAX did not lower it")
    places = places_of(inspection)
    meshes = meshes_of(inspection, value_shardings.of_program(lowered))
    links = links_of(inspection, places)
    try:
        if progress is not None:
            inspection.propagate(progress)
        module, (_, warnings) = propagated(inspection), inspection._propagation
    except (RuntimeError, ValueError, OSError, MemoryError) as error:  # the rest of the table holds
        why = f"recompiling up to the partitioner failed: {str(error).splitlines()[0] if str(error) else error!r}"
        return Program(len(places), meshes, links, None, why)
    return Program(len(places), meshes, links, module, "it runs on one device" if module is None else "", warnings)


def _devices(inspection: Inspection) -> int:
    if isinstance(stages.unwrap(inspection.lowered), jax.stages.Lowered):
        return len(places_of(inspection))
    return int(getattr(inspection.compiled, "devices", 1) or 1)


def live(array: Any, name: str) -> tuple[str, Sheet | None]:
    """(which device holds which slice of an array, in words; the same drawn, None where there is nothing to draw)."""
    value, places = _live(array, name)
    text = describe(value.name, value.map, places)
    try:
        array.sharding.shard_shape(array.shape)
    except ValueError as error:
        text = f"{text}\nJAX refuses it: {' '.join(str(error).split())}"
    drawn = len(places) > 1 and value.map.fits
    return text, mesh_drawing.sheet(value, places) if drawn else None


def live_table(arrays: Sequence[tuple[str, Any]]) -> str:
    """The same of several arrays, one row each."""
    whole = table([_live(array, name)[0] for name, array in arrays])
    shown = ("value", "type", "sharding", "shard", "per device", "copies")
    return str(replace(whole, columns={name: whole.columns[name] for name in shown}))


def _live(array: Any, name: str) -> tuple[Value, list[Place]]:
    one, devices = value_shardings.of_array(array, name)
    places = [Place(device.id, device.process, device.coords, device.core) for device in devices]
    sharding = identified(from_plain.read(one.sharding or {}, one.shape), places)
    return Value(one.name, ARGUMENT, ShardingMap(one.shape, sharding, short_dtype(one.dtype), one.bits)), places


def links_of(inspection: Inspection, places: Sequence[Place]) -> Links:
    """The links of one device: half of its maker's figure for both directions, shared by the devices of a chip."""
    target = inspection.target
    hosts = [place.process for place in places]
    device = CATALOGUE.get(target.kind)
    if device is None:
        return Links(hosts=hosts, source="no link speed on file for this target")
    if device.interconnect is None:
        return Links(hosts=hosts, source=f"no link speed on file for {device.title}")
    each = (target.devices or 1) // (target.chips or 1) or 1
    coords = [place.coords for place in places if place.coords is not None]
    axes = target.topology.count("x") + 1 if target.platform == "tpu" and len(coords) == len(places) else 0
    torus = tuple(one[:axes] for one in coords) if axes else ()
    source = f"{device.title}, {device.interconnect / 2e9:.4g} GB/s per chip in one direction, published by its maker"
    return Links(device.interconnect / 2 / each, torus, hosts, source)

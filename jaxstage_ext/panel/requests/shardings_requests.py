"""The requests of the shardings tab: the table of values, and where one value lies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.analysis.sharding.value_tables import PER_PROCESS, Shardings
from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.questions.named_dimensions import known_dimensions
from jaxstage_ext.program.questions.propagated_module import propagation_dump
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.report.table import Column, Table

_VALUES = ("chosen by", "per device", "copies", "padding", "type", "shard", "kind", "line")
_SHAPES = ("per device", "type", PER_PROCESS, "shard")
"""Where there are several processes, side by side: of the whole, of what one of them holds, of what a device does.

The bytes come before them, so that they are in sight beside the map.
"""
_DIMENSIONS = "dimensions"
"""Of a value's axes, in order."""


def _shardings(
    programs: Programs, params: Params, progress: jobs.JobProgress
) -> tuple[Shardings, tuple[ShardedValue, ...]]:
    """The shardings, and the values to show: with intermediates if `all`."""
    program = given.program(programs, params)
    read = shardings(program)
    if not params.get("all"):
        return read, read.values
    progress("recompiling up to the partitioner")
    propagation_dump(program, progress.heard)
    return read, (*read.values, *read.intermediates)


def _get_shardings(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    shardings_read, values = _shardings(programs, params, progress)
    table = shardings_read.all if params.get("all") else shardings_read.table
    named = _with_dimensions(table, known_dimensions(given.program(programs, params)))
    names = ("value", "sharding", _DIMENSIONS, *(_SHAPES if PER_PROCESS in named.columns else ()), *_VALUES)
    titles = {name: name for name in names if name in named.columns}
    result, buffers = wire_form.packed_table(named, titles)
    places = [
        [device.id, device.process, list(device.coords) if device.coords is not None else None, device.core]
        for device in shardings_read.places
    ]
    meshes = shardings_read.meshes if shardings_read.notes else shardings_read.meshes[:1]
    more = {"places": places, "mesh": " and ".join(map(str, meshes)), "notes": list(shardings_read.notes)}
    return result | more | {"whole": bool(params.get("all")), "values": len(values)}, buffers


def _with_dimensions(table: Table, known: Dimensions | None) -> Table:
    """The table with the named dimensions of arguments, if someone has asked for these; it computes nothing."""
    if known is None:
        return table
    names = {leaf.name: known.axes_text(number) for number, leaf in enumerate(known.arguments)}
    column = Column([names.get(value, "") for value in table["value"]], doc="the named dimensions of its axes")
    return replace(table, columns={**table.columns, _DIMENSIONS: column})


def _get_map(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The shards of one value: how many there are, and the devices that hold each."""
    read, values = _shardings(programs, params, progress)
    value = values[given.integer(params, "value", 0, len(values) - 1)]
    shard_map, sharding = value.map, value.map.sharding
    shard = shard_map.shard_shape
    described: dict[str, Any] = {
        "name": value.name,
        "dtype": shard_map.dtype,
        "shape": list(shard_map.shape),
        "spec": sharding.shown,
        "chosen": value.chosen_by,
        "bytes": shard_map.shard_bytes,
        "local": wording.per_process(shard_map, read.places),
        "copies": shard_map.copies,
        "padding": shard_map.padding,
        "sums": sharding.shared(UNREDUCED),
        "own": sharding.shared(MANUAL),
    }
    if shard is None:
        return described | {"problem": sharding.problem or wording.OTHER_RANK, "tiles": []}, []
    mesh = sharding.mesh
    mesh_axes = {"names": list(mesh.names), "sizes": list(mesh.sizes)} if mesh is not None and mesh.names else None
    order = mesh.array.ravel().tolist() if mesh is not None and mesh_axes else []
    described |= {"problem": "", "shard": list(shard), "tiles": list(sharding.tiles), "mesh": mesh_axes}
    result, buffers = wire_form.packed({"holders": sharding.holders.ravel(), "order": np.array(order, np.int64)})
    return described | result, buffers


METHODS: dict[str, given.Method] = {"shardings": jobs.slow(_get_shardings), "sharding_map": jobs.slow(_get_map)}

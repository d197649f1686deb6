"""The requests of the shardings tab: the table of values, and where one value lies."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.panel.requests import table_form
from jaxstage_ext.program.propagated_module import propagation_dump
from jaxstage_ext.program.shardings import shardings

_VALUES = {
    "value": "value",
    "sharding": "sharding",
    "chosen by": "chosen by",
    "per device": "per device",
    "copies": "copies",
    "padding": "padding",
    "type": "type",
    "shard": "shard",
    "kind": "kind",
    "line": "line",
}


def _shardings(
    programs: Programs, params: Params, progress: jobs.JobProgress
) -> tuple[Shardings, tuple[ShardedValue, ...]]:
    """The shardings that are asked about, and the values to show: with intermediates if `all`."""
    program = given.program(programs, params)
    found = shardings(program)
    if not params.get("all"):
        return found, found.values
    progress("recompiling up to the partitioner")
    propagation_dump(program, progress.heard)
    return found, (*found.values, *found.intermediates)


def _get_shardings(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    found, values = _shardings(programs, params, progress)
    result, buffers = table_form.packed(found.all if params.get("all") else found.table, _VALUES)
    places = [
        [one.id, one.process, list(one.coords) if one.coords is not None else None, one.core] for one in found.places
    ]
    meshes = found.meshes if found.notes else found.meshes[:1]
    more = {"places": places, "mesh": " and ".join(map(str, meshes)), "notes": list(found.notes)}
    return result | more | {"whole": bool(params.get("all")), "values": len(values)}, buffers


def _get_map(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Where one value lies: into how many parts it is cut, and the devices of each."""
    _, values = _shardings(programs, params, progress)
    value = values[given.integer(params, "value", 0, len(values) - 1)]
    one, sharding = value.map, value.map.sharding
    shard = one.shard_shape
    told: dict[str, Any] = {
        "name": value.name,
        "dtype": one.dtype,
        "shape": list(one.shape),
        "spec": sharding.spec,
        "chosen": value.chosen_by,
        "bytes": one.shard_bytes,
        "copies": one.copies,
        "padding": one.padding,
        "sums": sharding.shared(UNREDUCED),
        "own": sharding.shared(MANUAL),
    }
    if shard is None:
        return told | {"problem": sharding.problem or wording.OTHER_RANK, "tiles": []}, []
    mesh = sharding.mesh
    laid = {"names": list(mesh.names), "sizes": list(mesh.sizes)} if mesh is not None and mesh.names else None
    order = mesh.array.ravel().tolist() if mesh is not None and laid else []
    told |= {"problem": "", "shard": list(shard), "tiles": list(sharding.tiles), "mesh": laid}
    return told, [table_form.whole(sharding.holders.ravel()), table_form.whole(order)]


METHODS: dict[str, given.Method] = {"shardings": jobs.slow(_get_shardings), "sharding_map": jobs.slow(_get_map)}

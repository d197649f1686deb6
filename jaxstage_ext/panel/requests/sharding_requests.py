"""The requests of the views of shardings, collectives and dtypes."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.sharded_values import Value
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.panel.requests import table_form
from jaxstage_ext.program.collectives import collectives, exchanges
from jaxstage_ext.program.dtypes import dtypes
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
_COLLECTIVES = {
    "collective": "collective",
    "line": "line",
    "time": "lower bound",
    "overlap": "overlap",
    "sent": "sent",
    "axes": "axes",
    "devices": "devices",
    "cause": "cause",
    "from": "from",
    "to": "to",
    "payload": "payload",
    "runs": "runs",
}
_CAUSES = ("cause", "from", "to")
_DTYPES = {
    "stage": "stage",
    "from": "from",
    "to": "to",
    "kind": "kind",
    "shape": "shape",
    "grows": "grows",
    "written": "written",
    "runs": "runs",
    "by": "by",
    "for": "for",
    "line": "line",
}


def _shardings(programs: Programs, params: Params, progress: jobs.Progress) -> tuple[Shardings, tuple[Value, ...]]:
    """The shardings that are asked about, and the values to show: with intermediates if `all`."""
    program = given.program(programs, params)
    found = shardings(program)
    if not params.get("all"):
        return found, found.values
    progress("recompiling up to the partitioner")
    propagation_dump(program, progress.heard)
    return found, (*found.values, *found.intermediates)


def _get_shardings(programs: Programs, params: Params, progress: jobs.Progress) -> Answer:
    found, values = _shardings(programs, params, progress)
    result, buffers = table_form.packed(found.all if params.get("all") else found.table, _VALUES)
    places = [
        [one.id, one.process, list(one.coords) if one.coords is not None else None, one.core] for one in found.places
    ]
    meshes = found.meshes if found.notes else found.meshes[:1]
    more = {"places": places, "mesh": " and ".join(map(str, meshes)), "notes": list(found.notes)}
    return result | more | {"whole": bool(params.get("all")), "values": len(values)}, buffers


def _get_map(programs: Programs, params: Params, progress: jobs.Progress) -> Answer:
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


def _get_collectives(programs: Programs, params: Params, progress: jobs.Progress) -> Answer:
    """The table; where it is to be `quick`, without what the compiler has to be asked for."""
    program, quick = given.program(programs, params), bool(params.get("quick"))
    if not quick:
        progress("recompiling up to the partitioner")
    found = exchanges(program) if quick else collectives(program, progress.heard)
    left_out = _CAUSES if quick else ()
    result, buffers = table_form.packed(found.table, {k: v for k, v in _COLLECTIVES.items() if k not in left_out})
    lists = {name: found.table[name] for name in ("groups", "meanwhile", "instruction")} | {"exposed": found.exposed}
    warnings = [{"text": str(one), "line": one.line} for one in found.warnings]
    more = {"more": lists, "warnings": warnings, "notes": list(found.notes), "headline": found.headline}
    return result | more, [*buffers, table_form.whole(found.table["row"])]


def _get_dtypes(programs: Programs, params: Params, progress: jobs.Progress) -> Answer:
    found = dtypes(given.program(programs, params))
    result, buffers = table_form.packed(found.table, _DTYPES)
    return result | {"headline": found.headline}, [*buffers, table_form.whole(found.table["row"])]


METHODS: dict[str, given.Method] = {
    "shardings": jobs.slow(_get_shardings),
    "sharding_map": jobs.slow(_get_map),
    "collectives": jobs.slow(_get_collectives),
    "dtypes": jobs.slow(_get_dtypes),
}

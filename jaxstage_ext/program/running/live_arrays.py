"""How arrays that the kernel holds lie on its devices: what `%sharding` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.analysis.sharding import from_plain, mesh_drawing
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh_drawing import Sheet
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.sharding_wording import describe, held_by, per_process
from jaxstage_ext.analysis.sharding.value_tables import PER_PROCESS, table
from jaxstage_ext.core.layout import value_shardings
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.questions.shardings import with_device_id
from jaxstage_ext.report.table import Column


def described(array: Any, name: str) -> tuple[str, Sheet | None]:
    """(which device holds which slice of an array, in words; the same drawn, None where there is nothing to draw)."""
    value, places = _value(array, name)
    text = describe(value.name, value.map, places)
    if own := held_by(value.map, places, jax.process_index()):
        text = f"{text}\n{own}"
    if _is_deleted(array):
        return f"{text.partition(chr(10))[0]}\nDeleted, as donation does: its devices hold nothing of it.", None
    try:
        array.sharding.shard_shape(array.shape)
    except ValueError as error:
        text = f"{text}\nJAX refuses it: {' '.join(str(error).split())}"
    drawn = len(places) > 1 and value.map.fits
    return text, mesh_drawing.sheet(value, places) if drawn else None


def described_all(arrays: Sequence[tuple[str, Any]]) -> str:
    """The same of several arrays, one row each."""
    values = [_value(array, name) for name, array in arrays]
    whole = table([value for value, _ in values])
    shown = ["value", "type", "sharding", "shard", "per device", "copies"]
    if any(local := [per_process(value.map, places) for value, places in values]):
        whole = replace(whole, columns={**whole.columns, PER_PROCESS: Column(local)})
        shown.insert(shown.index("per device"), PER_PROCESS)
    gone = [name for name, array in arrays if _is_deleted(array)]
    notes = (f"Deleted, as donation does: {', '.join(gone)}; their devices hold nothing of them.",) if gone else ()
    return str(replace(whole, columns={name: whole.columns[name] for name in shown}, notes=(*whole.notes, *notes)))


def _is_deleted(array: Any) -> bool:
    return isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer) and array.is_deleted()


def _value(array: Any, name: str) -> tuple[ShardedValue, list[DevicePlace]]:
    boundary, devices = value_shardings.of_array(array, name)
    places = [DevicePlace(device.id, device.process, device.coords, device.core) for device in devices]
    sharding = with_device_id(from_plain.read(boundary.sharding or {}, boundary.shape), places)
    return ShardedValue(
        boundary.name, ARGUMENT, ShardingMap(boundary.shape, sharding, short_dtype(boundary.dtype), boundary.bits)
    ), places

"""The order in which a module's instructions run."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.operations import Operations
from jaxstage_ext.ir.hlo.schema import INT64, Messages, build
from jaxstage_ext.ir.protowire import Longs

_MESSAGES: Messages = {
    "Sequence": {"instruction_ids": (1, INT64, True)},
    "Entry": {"key": (1, INT64, False), "value": (2, "Sequence", False)},
    "Schedule": {"sequences": (1, "Entry", True)},
    "Scheduled": {"schedule": (7, "Schedule", False)},
}
[_Module] = build(_MESSAGES, "Scheduled")


def positions(proto: bytes, ops: Operations) -> Longs | None:
    """Per instruction its place in the schedule of its computation, -1 for those that are not scheduled by themselves.

    None where the module has no schedule. Raises ValueError (DecodeError) on malformed bytes.
    """
    module = _Module.FromString(proto)
    if not module.HasField("schedule"):
        return None
    rows = np.arange(len(ops))
    ids = np.full(len(ops), -1, np.int64)
    found = ops.fields(rows, schema.INSTRUCTION_ID)[schema.INSTRUCTION_ID]
    ids[found.row] = found.value
    order = np.argsort(ids)
    place = np.full(len(ops), -1, np.int64)
    for entry in module.schedule.sequences:
        wanted = np.array(entry.value.instruction_ids, np.int64)
        at = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
        known = ids[at] == wanted
        place[at[known]] = np.flatnonzero(known)
    return place

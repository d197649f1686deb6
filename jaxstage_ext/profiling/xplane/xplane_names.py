"""The names of a profile's events, numbered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_events import PlaneEvents
from jaxstage_ext.profiling.xplane.xplane_wire import EventName, Plane
from jaxstage_ext.report.numbering import Numbering

UNNAMED = "(no name)"
"""The name of an event whose own the profile does not define."""


def numbered_names(planes: Sequence[Plane], events: Sequence[PlaneEvents]) -> tuple[tuple[str, ...], Longs]:
    """(the names, the name of each event)."""
    numbers = Numbering[str]()
    parts = [np.zeros(0, np.int64)]
    for plane, of in zip(planes, events, strict=True):
        ids, which = np.unique(of.metadata, return_inverse=True)
        known = plane.event_names
        names = [_shown(known[i]) if i in known else UNNAMED for i in ids.tolist()]
        parts.append(np.array([numbers[name] for name in names], np.int64)[which])
    return tuple(numbers), np.concatenate(parts)


def _shown(name: EventName) -> str:
    """Its name; an HLO instruction whose name is its whole text has a shorter one to be displayed."""
    return (name.display if name.display and name.name.startswith("%") else name.name) or UNNAMED

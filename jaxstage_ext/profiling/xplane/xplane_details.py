"""The profile's own fields of one event, read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_wire import Plane


class EventDetails:
    """Reads the stats of an event, by its index in the recording."""

    def __init__(self, planes: Sequence[Plane], plane: Longs, position: Longs, size: Longs) -> None:
        self._planes, self._position, self._size = planes, position, size.astype(np.int32)
        self._plane = plane.astype(np.int16 if len(planes) < 1 << 15 else np.int32)

    def __call__(self, event: int) -> dict[str, Any]:
        """The stats of an event and of its name; the event's own win, and malformed ones are left out."""
        plane, at = self._planes[int(self._plane[event])], int(self._position[event])
        parts = plane.wire.whole_fields(at, at + int(self._size[event]))
        name = plane.event_names.get(parts.integer(1))
        return plane.stats([*(name.stats if name else ()), *parts.spans(4)])

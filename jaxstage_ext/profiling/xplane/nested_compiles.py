"""What a host thread does within a compile is part of the compile, whatever its name: XLA's passes have hundreds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.recording import EventKind, Events


def marked(events: Events) -> npt.NDArray[np.uint8]:
    """The kinds of the events, where those of kind HOST within an event of kind COMPILE on their lane are COMPILE."""
    kind = events.kind.copy()
    for lane in np.unique(events.lane[kind == EventKind.COMPILE]).tolist():
        mine = slice(*np.searchsorted(events.lane, (lane, lane + 1)))
        end = events.end[mine]
        reach = np.maximum.accumulate(np.where(kind[mine] == EventKind.COMPILE, end, -1))
        inside = (kind[mine] == EventKind.HOST) & (end <= reach)
        kind[mine] = np.where(inside, EventKind.COMPILE, kind[mine])
    return kind

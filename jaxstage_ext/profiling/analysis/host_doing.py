"""What a host was seen to do, as data."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from jaxstage_ext.report.recording import HostLine


class HostCause(enum.Enum):
    """What a host does. The first three are seen on its main thread only."""

    LINE = "runs a line of Python"
    LAUNCH = "launches work"
    WAIT = "waits"
    HOST = "is in the runtime"
    COMPILE = "compiles"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class HostDoing:
    """What the host did for most of some idle time.

    Attributes:
      name: of the event.
      line: the line of Python, also where it compiles in it; None where the profile has none.
      share: of the idle time, 0 to 1.
      is_input: whether an iterator was asked for its next value for most of it.
      is_asker: whether the line is what asks it, and not one that it runs.
    """

    cause: HostCause
    name: str = ""
    line: HostLine | None = None
    share: float = 0.0
    is_input: bool = False
    is_asker: bool = False

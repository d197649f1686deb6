"""What tables of a timeline say of what they do not know."""

from __future__ import annotations

NO_OP = "the profile names no HLO instruction for it"
NO_LINE = "XLA or the profile gives no source line for it"
NO_SCOPE = "it has no name scope"
NO_MODULE = "the profile names no XLA module for it"
NO_TIME = "all events have a duration of 0"
NO_RANGES = "The profile has no ranges."
NO_WORK = "The profile has no device work."
FUSED = "A fusion of several lines counts for the line that does most of its work; how its time divides is unknown."
PARALLEL = "Work runs in parallel: shares can add up to more than 100%, and sums of events are not run time."

SHARE = "of the time in which the devices are busy, 0 to 1"
SHARE_OF_CALL = "of one call, 0 to 1"
BUSY = "device-seconds in which it runs itself; parallel work on one device counts once"
OF_CALL = "of one call, loops as often as they run; of collectives and copies what no computation hides"


def several(first: str, count: int) -> str:
    """The first of several names."""
    return f"{first} and {count - 1:,} more"

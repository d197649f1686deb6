"""What a comparison of timelines says."""

from __future__ import annotations

from jaxstage_ext.report.text.units import plural

NOT_IN_FIRST = "it did not run in the first"
NOT_IN_SECOND = "it did not run in the second"
NO_RATIO = "it took no time in one of them"
UNKNOWN_GROUP = "the profile does not name it"


def other_mode(one: str, other: str) -> str:
    """Why two timelines are not compared."""
    return f"cannot compare times of {one} with times of {other}: they are different quantities"


def per_step(mode: str, one: int, other: int) -> str:
    """What the times of a comparison are."""
    return f"Self time of {mode}, per step: {plural(one, 'step')} before, {plural(other, 'step')} after."

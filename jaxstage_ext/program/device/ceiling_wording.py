"""How the ceilings of this machine's CPU become known, in sentences without their full stop."""

from __future__ import annotations

from jaxstage_ext.core.targets.quick_ceilings import NotMeasured

BY_HAND = "%targets --measure, or jaxstage_ext.measure_ceilings(), measures them in a few seconds"
BY_LOOKING = "Open Answers, or read .answers, and they are measured in about a second"
AFTER_CELL = "They are measured, in about a second, once no cell is running; ask again then"


def remedy(reason: NotMeasured, failure: str = "") -> str:
    """What makes them known, by why they are not yet; `failure` is why the measurement failed."""
    if reason is NotMeasured.LEFT_ALONE:
        return BY_LOOKING
    if reason is NotMeasured.CELL_RUNS:
        return AFTER_CELL
    if reason is NotMeasured.FAILED:
        why = (failure.splitlines() or [""])[0].rstrip(".")
        return f"The quick measurement failed: {why}. {BY_HAND}"
    if reason is NotMeasured.SEVERAL_PROCESSES:
        return f"Several processes share this machine, so none of them measures; {BY_HAND}"
    return BY_HAND

"""How the ceilings of this machine's CPU become known, in sentences without their full stop."""

from __future__ import annotations

from jaxstage_ext.core.targets.quick_ceilings import NotMeasured
from jaxstage_ext.report.text.typed_forms import typed

BY_LOOKING = "Open Answers, or read .answers, and they are measured in about a second"
AFTER_CELL = "They are measured, in about a second, once no cell is running; ask again then"


def by_hand() -> str:
    """What the user can type."""
    what = typed("%targets --measure, or jaxstage_ext.measure_ceilings(),", "jaxstage_ext.measure_ceilings()")
    return f"{what} measures them in a few seconds"


def remedy(reason: NotMeasured, failure: str = "") -> str:
    """What makes them known, by why they are not yet; `failure` is why the measurement failed."""
    if reason is NotMeasured.LEFT_ALONE:
        return BY_LOOKING
    if reason is NotMeasured.CELL_RUNS:
        return AFTER_CELL
    if reason is NotMeasured.FAILED:
        why = (failure.splitlines() or [""])[0].rstrip(".")
        return f"The quick measurement failed: {why}. {by_hand()}"
    if reason is NotMeasured.SEVERAL_PROCESSES:
        return f"Several processes share this machine, so none of them measures; {by_hand()}"
    return by_hand()

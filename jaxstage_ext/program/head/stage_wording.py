"""What stands behind a stage's time, in words."""

from __future__ import annotations

from jaxstage_ext.core.stage.staged import Cache, CacheHit, Stage
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.text.units import scaled

_WORDS = {
    Cache.PROCESS: "cached",
    Cache.PERSISTENT: "from JAX's persistent cache",
    Cache.INSPECTION: "from the inspection cache",
    Cache.JOB: "cached",
}


def note(stage: Stage) -> str | None:
    """`cached; the first compile took 53 ms`; None for a stage that was computed for this call."""
    return None if stage.hit is None else _words(stage.name, stage.hit)


def first_time(stage: Stage) -> Figure | None:
    """What a stage took when it was computed, to compare it by; None where it was computed for this call."""
    if stage.hit is None:
        return None
    if stage.hit.first_seconds is None:
        return Figure(None, f"{_WORDS[stage.hit.cache]}, so what the {stage.name} itself took is unknown")
    by = f", compiled by process {stage.hit.process}" if stage.hit.process is not None else ""
    return Figure(stage.hit.first_seconds, remark=_WORDS[stage.hit.cache] + by)


def _words(stage: str, hit: CacheHit) -> str:
    if hit.process is not None:
        took = "" if hit.first_seconds is None else f" in {scaled(hit.first_seconds, 's')}"
        return f"compiled by process {hit.process}{took}, read here"
    first = "" if hit.first_seconds is None else f"; the first {stage} took {scaled(hit.first_seconds, 's')}"
    return _WORDS[hit.cache] + first

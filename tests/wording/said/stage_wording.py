"""Stages that were not computed for this call."""

from jaxstage_ext.core.staged import Cache, CacheHit, Stage
from jaxstage_ext.program import stage_wording

SAID = {
    "computed": stage_wording.note(Stage("compile")),
    **{f"{cache.name}": stage_wording.note(Stage("compile", hit=CacheHit(cache))) for cache in Cache},
    "PROCESS, 53 ms before": stage_wording.note(Stage("compile", hit=CacheHit(Cache.PROCESS, 0.053))),
}

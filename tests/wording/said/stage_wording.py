"""Stages that were not computed for this call."""

from jaxstage_ext.core.stage.staged import Cache, CacheHit, Stage
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.report.figure import Figure

NONE = Figure(None, "none")
SAID = {
    "computed": stage_wording.note(Stage("compile")),
    **{f"{cache.name}": stage_wording.note(Stage("compile", hit=CacheHit(cache))) for cache in Cache},
    "compared, computed": str(stage_wording.first_time(Stage("compile"))),
    **{
        f"compared, {cache.name}": (stage_wording.first_time(Stage("compile", hit=CacheHit(cache))) or NONE).reason
        for cache in Cache
    },
    "compiled elsewhere": [
        *(stage_wording.note(Stage("compile", hit=CacheHit(Cache.JOB, took, 0))) for took in (5.1, None)),
        (stage_wording.first_time(Stage("compile", hit=CacheHit(Cache.JOB, 5.1, 0))) or NONE).remark,
    ],
    "PROCESS, 53 ms before": stage_wording.note(Stage("compile", hit=CacheHit(Cache.PROCESS, 0.053))),
}

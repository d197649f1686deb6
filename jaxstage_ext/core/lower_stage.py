"""From a jaxpr to StableHLO."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core.stage_definition import StageDefinition
from jaxstage_ext.core.staged import LOWER, TRACE, Stage, Staged


def run(staged: Staged, stage: Stage) -> Any:
    """The `jax.stages.Lowered` of the trace, for the target's platform."""
    from jaxstage_ext.core.layout import meshes
    from jaxstage_ext.core.stageable import function_of, unwrap
    from jaxstage_ext.core.targets import cross_compile

    if not staged.target.is_local:
        return cross_compile.lower(unwrap(staged.value(TRACE)), staged.target)
    function, layout = function_of(staged), staged.call.layout
    if layout is not None and layout.is_abstract:
        return cross_compile.lower(unwrap(staged.value(TRACE)), cross_compile.here(staged.target))
    if hasattr(function, "trace"):
        return staged.value(TRACE).lower()
    with meshes.around(layout):
        return function.lower(*staged.call.args, **staged.call.kwargs)


DEFINITION = StageDefinition(
    name=LOWER,
    help="Stop after StableHLO: what JAX hands to XLA.",
    run=run,
    event="/jax/core/compile/jaxpr_to_mlir_module_duration",
)

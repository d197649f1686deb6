"""From a jaxpr to StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.stage.stage_definition import LOWER, TRACE, StageDefinition, StagedProgram

if TYPE_CHECKING:
    from jaxstage_ext.core.stage.staged import Stage, Staged
    from jaxstage_ext.report.document import Document


def run(staged: Staged, stage: Stage) -> Any:
    """The `jax.stages.Lowered` of the trace, for the target's platform."""
    from jaxstage_ext.core.call import has_method
    from jaxstage_ext.core.layout import meshes
    from jaxstage_ext.core.stage.stageable import function_of, unwrap
    from jaxstage_ext.core.targets import cross_compile

    if not staged.target.is_local:
        return cross_compile.lower(unwrap(staged.value(TRACE)), staged.target)
    if staged.call.given is not None:
        return staged.value(TRACE).lower()
    function, layout = function_of(staged), staged.call.layout
    if layout is not None and layout.is_abstract:
        return cross_compile.lower(unwrap(staged.value(TRACE)), cross_compile.here(staged.target))
    if has_method(function, "trace"):
        return staged.value(TRACE).lower()
    with meshes.around(layout):
        return function.lower(*staged.call.args, **staged.call.kwargs)


def stablehlo(program: StagedProgram) -> Callable[[], Document] | None:
    """How to read the StableHLO; the same module is read once."""
    from jaxstage_ext.core.inputs import constants
    from jaxstage_ext.core.jax_private import lowered_modules
    from jaxstage_ext.ir import cached_documents
    from jaxstage_ext.ir import stablehlo as reader
    from jaxstage_ext.store import cache

    lowered, table = program.jax_lowered, program.frame_table
    if lowered is None:
        return None

    def read() -> Document:
        is_kept = cache.enabled() and constants.spelled_out(program.jax_traced)  # else the key takes longest
        key = cache.key("stablehlo", lowered_modules.module_bytecode(lowered)) if is_kept else None
        return cached_documents.document(
            key,
            lambda: reader.read(*lowered_modules.stablehlo_texts(lowered), table, jaxpr=program.documents.get("jaxpr")),
            table,
        )

    return read


def count(program: StagedProgram) -> Mapping[str, int]:
    """The number of StableHLO operations."""
    document = program.documents.get("stablehlo")
    return {} if document is None else {"op": document.coverage.total}


DEFINITION = StageDefinition(
    name=LOWER,
    help="Stop after StableHLO: what JAX hands to XLA.",
    run=run,
    event="/jax/core/compile/jaxpr_to_mlir_module_duration",
    documents={"stablehlo": stablehlo},
    count=count,
)

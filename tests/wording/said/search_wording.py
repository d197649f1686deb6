"""How a search of layouts goes, and how much of the space it compared."""

from typing import Any

from jaxstage_ext.search import search_wording as wording
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import (
    CompiledFigures,
    CompiledState,
    CompileEffort,
    LayoutEstimate,
    LayoutsFound,
    ScoredLayout,
    SearchEnd,
)

MESH = {"data": 4, "model": 2}


def found(end: SearchEnd, lost: int = 0) -> LayoutsFound:
    return LayoutsFound((), 8, 432, 1000, lost, end, 12.0)


def layout(seconds: float | None, compiled: CompiledFigures | None = None) -> ScoredLayout:
    estimate = LayoutEstimate(seconds, seconds and 0.0, seconds and 0.0, 8, 8, 1.0)
    none: Any = None
    return ScoredLayout(0, none, MESH, LayoutKind.DATA_TENSOR, (), (), estimate, compiled)


COMPILED = CompiledFigures(CompiledState.COMPILED, CompileEffort.DEFAULT, least=0.1)
SAID: dict[str, object] = {
    "no budget": wording.no_budget(0),
    "progress": [wording.step(120, 432, 0.095), wording.step(1, 1, None)],
    "extent": [wording.extent(found(end)) for end in SearchEnd],
    "extent with lost layouts": wording.extent(found(SearchEnd.WHOLE, 3)),
    "best": [wording.best(found(SearchEnd.WHOLE), one) for one in (layout(0.095), layout(None), layout(0.1, COMPILED))],
    "estimates": wording.ESTIMATE,
    "not compiled": wording.NOT_COMPILED,
    "the compiler is silent": wording.COMPILER_SILENT,
}

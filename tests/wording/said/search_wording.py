"""How a search of layouts goes, and how much of the space it compared."""

from jaxstage_ext.search import search_wording as wording
from jaxstage_ext.search.layout_result import LayoutsFound, SearchEnd


def found(end: SearchEnd, lost: int = 0) -> LayoutsFound:
    return LayoutsFound((), 8, 432, 1000, lost, end, 12.0)


SAID: dict[str, object] = {
    "no budget": [wording.no_budget(0), wording.no_budget("60s")],
    "progress": [wording.step(120, 432, 0.095), wording.step(1, 1, None)],
    "done": wording.done(found(SearchEnd.WHOLE)),
    "extent": [wording.extent(found(end)) for end in SearchEnd],
    "extent with lost layouts": wording.extent(found(SearchEnd.WHOLE, 3)),
    "estimates": wording.ESTIMATE,
    "not compiled": wording.NOT_COMPILED,
    "the compiler is silent": wording.COMPILER_SILENT,
    "loops": wording.LOOPS_UNKNOWN,
}

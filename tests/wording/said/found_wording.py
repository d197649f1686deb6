"""Which layout to take, and by how much."""

from dataclasses import replace

from made_searches import FITS, LAYOUTS, ROOM, MadeSearch, found

from jaxstage_ext.search.decision_wording import listed
from jaxstage_ext.search.drawn import found_wording as wording
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_result import CompiledFigures, CompiledState, CompileEffort

ESTIMATED, COMPILED = found(), MadeSearch()
COMPILED.confirm(0)
OWN_IS_BEST = found(LAYOUTS[4:5])
FIRST = LAYOUTS[0]
COMPILES = [
    FITS,
    replace(FITS, state=CompiledState.DOES_NOT_FIT, fits=False),
    replace(FITS, state=CompiledState.FAILED, needed=None, reason="RESOURCE_EXHAUSTED"),
    replace(FITS, fits=None, needed=None, room=None),
]
TRIED = [replace(FIRST, compiled=figures) for figures in COMPILES]
UNKNOWN = replace(FIRST, candidate=None, estimate=replace(FIRST.estimate, compute=None))
TIMED = CompiledFigures(CompiledState.COMPILED, CompileEffort.DEFAULT, least=0.0912)
TOO_LARGE, SETTLED = MadeSearch(), MadeSearch()
TOO_LARGE.found = replace(
    TOO_LARGE.found, layouts=(replace(TOO_LARGE.found.layouts[0], compiled=COMPILES[1]), *TOO_LARGE.found.layouts[1:])
)
SETTLED.found = replace(
    SETTLED.found,
    layouts=tuple(
        replace(layout, compiled=replace(TIMED, least=least)) if least else layout
        for layout, least in zip(SETTLED.found.layouts, (0.12, 0.0912, None, None, None, None), strict=True)
    ),
)
FOLLOWED = replace(FIRST, candidate=LayoutCandidate((MeshAxis("model", 8, frozenset(["b"]), True, ("c", "a")),)))
OWN, OTHER = LAYOUTS[4], LAYOUTS[1]
COMPILED_BEST, COMPILED_OWN = (replace(one, number=n, compiled=TIMED) for n, one in enumerate((FIRST, OWN)))
SLOWER = replace(COMPILED_OWN, compiled=replace(TIMED, least=0.3))
SETTLED_OWN = found((COMPILED_BEST, *LAYOUTS[1:4], SLOWER))
SAID: dict[str, object] = {
    "take": [wording.take(one, ROOM) for one in (ESTIMATED, OWN_IS_BEST, found(LAYOUTS[:2]), found(()))],
    "nothing fits": wording.take(found(LAYOUTS[5:]), ROOM),
    "besides": [
        wording.besides(ESTIMATED, ROOM),
        wording.besides(COMPILED.found, ROOM),
        wording.besides(ESTIMATED, None),
        wording.besides(TOO_LARGE.found, ROOM),
        wording.besides(SETTLED.found, ROOM),
    ],
    "times of a call": [
        wording.call_time(replace(LAYOUTS[0], compiled=TIMED)),
        wording.call_time(replace(LAYOUTS[0], compiled=replace(TIMED, effort=CompileEffort.LOW))),
        wording.call_time(replace(LAYOUTS[0], estimate=replace(LAYOUTS[0].estimate, compute=None))),
    ],
    "own": [wording.own_said(one, ROOM) for one in (ESTIMATED, OWN_IS_BEST, found(LAYOUTS[:2]), SETTLED_OWN)],
    "titles": [wording.layout_title(layout) for layout in (*LAYOUTS, FOLLOWED)],
    "compiled": [
        wording.compiled_text(layout, ROOM) for layout in (FIRST, LAYOUTS[-1], *TRIED, SETTLED.found.layouts[0])
    ],
    "fit": [wording.fit(layout, ROOM) for layout in TRIED],
    "as fast": [
        wording.faster(FIRST, FIRST),
        wording.faster(OWN, FIRST),
        wording.faster(OWN, COMPILED_BEST),
        wording.faster(FIRST, replace(OTHER, compiled=TIMED)),
        wording.faster(SLOWER, COMPILED_BEST),
    ],
    "times": [wording.range_text(layout) for layout in (FIRST, UNKNOWN)],
    "what times count": [wording.counted(layout) for layout in (FIRST, UNKNOWN)],
    "as written": wording.layout_title(UNKNOWN),
    "against the best": [wording.ratio_text(FIRST, best) for best in (None, ESTIMATED.layouts[0], LAYOUTS[3])],
    "names": [listed(names) for names in (["a"], ["a", "b", "c"])],
    "offer": [wording.OFFER, wording.RUNS_ALREADY, wording.NOT_SEARCHED],
}

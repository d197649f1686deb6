"""Which layout to take, and by how much."""

from made_searches import LAYOUTS, ROOM, MadeSearch, found

from jaxstage_ext.search.drawn import found_wording as wording

ESTIMATED, COMPILED = found(), MadeSearch()
COMPILED.confirm(0)
OWN_IS_BEST = found(LAYOUTS[4:5])
SAID: dict[str, object] = {
    "take": [wording.take(one, ROOM) for one in (ESTIMATED, OWN_IS_BEST, found(LAYOUTS[:2]), found(()))],
    "nothing fits": wording.take(found(LAYOUTS[5:]), ROOM),
    "besides": [
        wording.besides(ESTIMATED, ROOM),
        wording.besides(COMPILED.found, ROOM),
        wording.besides(ESTIMATED, None),
    ],
    "own": [wording.own_said(one, ROOM) for one in (ESTIMATED, OWN_IS_BEST, found(LAYOUTS[:2]))],
    "titles": [wording.layout_title(layout) for layout in LAYOUTS],
    "compiled": [wording.compiled_text(layout) for layout in COMPILED.found.layouts[:2]],
    "offer": [wording.OFFER, wording.RUNS_ALREADY, wording.NOT_SEARCHED],
}

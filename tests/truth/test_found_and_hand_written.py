"""The layout that a search finds is as fast, as compiled, as the best of four that an expert writes by hand."""

from __future__ import annotations

import pytest
from hand_written_layouts import STEPS

import jaxstage_ext
from jaxstage_ext.search.layout_result import CompileEffort

EFFORTS = {CompileEffort.LOW: {"optimization_level": "O0"}, CompileEffort.DEFAULT: None}

pytestmark = [
    pytest.mark.usefixtures("kept_answers"),
    pytest.mark.seldom("forty compiles for a TPU; the order of layouts has cheap tests"),
]


@pytest.mark.parametrize("name", STEPS)
def test_the_layout_found_is_as_fast_as_the_best_written_by_hand(name: str) -> None:
    step, args, layouts = STEPS[name]()

    def seconds(title: str, effort: CompileEffort) -> float:
        mesh, specs = layouts[title]
        inspected = jaxstage_ext.inspect(
            step, *args, target="v5e:2x4", mesh=mesh, in_specs=specs, compiler_options=EFFORTS[effort]
        )
        return float(inspected.row().figures["time"].value)

    by_hand = {title: seconds(title, CompileEffort.LOW) for title in layouts}
    search = jaxstage_ext.find_shardings(step, *args, target="v5e:2x4", budget=300)
    found = search.best.compiled
    assert found is not None and found.fits and found.least is not None, search.best
    best = min(by_hand, key=lambda title: by_hand[title])
    assert found.least <= 1.02 * seconds(best, found.effort), (by_hand, search.best)

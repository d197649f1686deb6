"""What a layout costs against the best: of two that were compiled at the default effort by the compiles."""

from dataclasses import replace

import pytest
from made_searches import LAYOUTS

from jaxstage_ext.search.drawn.found_wording import ratio, ratio_text
from jaxstage_ext.search.layout_result import CompiledFigures, CompiledState, CompileEffort, ScoredLayout

BEST, OTHER = (replace(LAYOUTS[at], number=at) for at in (0, 3))


def compiled(layout: ScoredLayout, least: float | None, effort: CompileEffort = CompileEffort.DEFAULT) -> ScoredLayout:
    return replace(layout, compiled=CompiledFigures(CompiledState.COMPILED, effort, least=least))


def test_two_estimates() -> None:
    by_hand = (0.084 + 0.052 - 0.052 / 4) / (0.080 + 0.010 - 0.010 / 4)
    assert ratio(OTHER, BEST) == (pytest.approx(by_hand), False)
    assert ratio_text(OTHER, BEST) == "1.4x"


def test_two_compiles() -> None:
    assert ratio(compiled(OTHER, 0.3), compiled(BEST, 0.1)) == (pytest.approx(3.0), True)
    assert ratio_text(compiled(OTHER, 0.3), compiled(BEST, 0.1)) == "3x compiled"


@pytest.mark.parametrize(
    ("layout", "best"),
    [
        (OTHER, compiled(BEST, 0.1)),
        (compiled(OTHER, 0.3), BEST),
        (compiled(OTHER, 0.3, CompileEffort.LOW), compiled(BEST, 0.1)),
        (compiled(OTHER, None), compiled(BEST, 0.1)),
    ],
)
def test_a_compile_and_an_estimate_are_never_divided(layout: ScoredLayout, best: ScoredLayout) -> None:
    assert ratio(layout, best) == ratio(OTHER, BEST)

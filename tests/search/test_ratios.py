"""What a layout costs against the best: of two that were compiled at the default effort by the compiles."""

from dataclasses import replace

import pytest
from made_searches import LAYOUTS, ROOM, found

from jaxstage_ext.search.drawn.found_wording import compiled_text, ratio, ratio_text
from jaxstage_ext.search.layout_result import CompiledFigures, CompiledState, CompileEffort, ScoredLayout
from jaxstage_ext.search.layout_table import layout_table

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


def test_what_arguments_alone_exceed_does_not_fit_without_a_compile() -> None:
    """17 GB of arguments on 16 GB; what else a program needs comes on top of them."""
    table = layout_table(found(), ROOM)
    fits = dict(zip(table["arguments"], table["fits"], strict=True))
    assert fits == {one.estimate.argument_bytes: False if one is LAYOUTS[-1] else None for one in LAYOUTS}
    assert {row for row, name in table.reasons if name == "fits"} == set(range(len(LAYOUTS) - 1))
    assert compiled_text(LAYOUTS[-1], ROOM) != compiled_text(LAYOUTS[0], ROOM) == compiled_text(LAYOUTS[-1], None)

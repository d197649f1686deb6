"""Sentences of a search of layouts."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.report.text.units import duration, plural
from jaxstage_ext.search.layout_result import LayoutsFound, SearchEnd


def no_budget(given: Any) -> str:
    """Refuses a budget in which nothing is found."""
    return f"budget={given!r:.60} is not a time in which anything is found; give seconds, such as budget=60"


def step(tried: int, total: int, best: float | None) -> str:
    """`120 of 432 layouts, the best so far 95.1 ms by estimate`."""
    so_far = f", the best so far {duration(best)} by estimate" if best is not None else ""
    return f"{tried:,} of {plural(total, 'layout')}{so_far}"


def done(found: LayoutsFound) -> str:
    """`251 layouts estimated, 3 compiled`, once a search has ended."""
    compiled = sum(layout.compiled is not None for layout in found.layouts)
    return f"{plural(found.tried, 'layout')} estimated, {compiled} compiled"


def extent(found: LayoutsFound) -> str:
    """How much of the space was compared: `best of all 432 layouts`."""
    lost = f"; {plural(found.lost, 'layout')} could not be scored" if found.lost else ""
    if found.end is SearchEnd.WHOLE:
        return f"best of all {plural(found.tried, 'layout')}{lost}"
    why = {
        SearchEnd.BUDGET: "the time budget was spent",
        SearchEnd.CANCELLED: "the search was stopped",
        SearchEnd.PRUNED: "what each mesh axis does was tried alone first, then the best of these together",
    }[found.end]
    return f"best of {found.tried:,} layouts tried, out of up to {found.total:,}: {why}{lost}"


ESTIMATE = (
    "Times are estimates by shapes and Shardy's propagation, except compiled_time, which at low effort does not rank "
    "layouts. Whether a layout fits is known only of those compiled."
)
NOT_COMPILED = "not compiled; .confirm(number) compiles it"
COMPILER_SILENT = "the compiler does not say"
LOOPS_UNKNOWN = "the iterations of a loop that exchanges are unknown"

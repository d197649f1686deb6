"""A search of layouts as it is found, made by hand: no partitioner, no compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_result import (
    CompiledFigures,
    CompiledState,
    CompileEffort,
    LayoutEstimate,
    LayoutsFound,
    ScoredLayout,
    SearchEnd,
    SpecGroup,
)

GB = 10**9
ROOM = 16 * GB


def estimate(work: float, collectives: float, arguments: int) -> LayoutEstimate:
    """A layout of so many seconds of work and of collectives; a quarter of its work is bound by memory."""
    made = LayoutEstimate(0.75 * work, 0.25 * work, collectives, arguments, arguments // 3, 0.0)
    return replace(made, cost=made.middle or 0.0)


def axis(name: str, size: int, *splits: str, stores: bool = False) -> MeshAxis:
    return MeshAxis(name, size, frozenset(splits), stores)


def layout(
    kind: LayoutKind, axes: tuple[MeshAxis, ...], work: float, collectives: float, arguments: float, own: bool = False
) -> ScoredLayout:
    """One that is not compiled, `arguments` in GB; its place is given by `found`."""
    made = LayoutCandidate(axes)
    times = estimate(work, collectives, int(arguments * GB))
    return ScoredLayout(0, made, made.mesh, kind, (), (), times, is_own=own)


LAYOUTS = (
    layout(LayoutKind.DATA_TENSOR, (axis("data", 4, "batch"), axis("model", 2, "heads", "hidden")), 0.080, 0.010, 4.5),
    layout(LayoutKind.DATA, (axis("data", 8, "batch"),), 0.085, 0.020, 9.0),
    layout(LayoutKind.FSDP, (axis("data", 8, "batch", stores=True),), 0.088, 0.030, 1.2),
    layout(LayoutKind.TENSOR, (axis("model", 8, "heads", "hidden"),), 0.084, 0.052, 2.0),
    layout(LayoutKind.DATA_TENSOR, (axis("data", 2, "batch"), axis("model", 4, "hidden")), 0.090, 0.100, 3.0, own=True),
    layout(LayoutKind.REPLICATED, (axis("data", 8),), 0.6, 0.0, 17.0),
)


def found(layouts: tuple[ScoredLayout, ...] = LAYOUTS, **more: Any) -> LayoutsFound:
    """A search that tried these: in order, with the front."""
    ordered = sorted(layouts, key=lambda one: one.estimate.cost)
    smallest, front = float("inf"), set[int]()
    for place, one in enumerate(ordered):
        if one.estimate.argument_bytes < smallest:
            smallest = one.estimate.argument_bytes
            front.add(place)
    placed = tuple(replace(one, number=at, on_front=at in front) for at, one in enumerate(ordered))
    about = {
        "devices": 8,
        "tried": len(placed),
        "total": len(placed),
        "lost": 0,
        "end": SearchEnd.WHOLE,
        "seconds": 21.0,
    }
    return LayoutsFound(placed, **about | more)


def many(count: int) -> LayoutsFound:
    """So many layouts of all kinds, spread over both axes."""
    kinds = list(LayoutKind)
    made = []
    for at in range(count):
        one, other = (at * 7919) % 1009 / 1009, (at * 104_729) % 1013 / 1013
        axes = (axis("data", 4, "batch"), axis("model", 2, f"hidden_{at % 37}"))
        made.append(
            layout(kinds[at % len(kinds)], axes, 0.09 + 0.1 * one, 0.2 * other * one, 1 + 14 * other * (1.2 - one))
        )
    return found(tuple(made))


FITS = CompiledFigures(
    CompiledState.COMPILED, CompileEffort.LOW, 0.0932, 0.060, 0.022, 0.0112, int(6.3 * GB), ROOM, True, "", 4.8
)


@dataclass(eq=False)
class MadeSearch:
    """Answers as a `ProgramSearch` does; its compiles give `FITS`."""

    found: LayoutsFound = field(default_factory=found)
    title: str = "8 × v5e"
    room: int | None = ROOM
    compiles: int = 0
    opened: Any = None

    def sentences(self, number: int) -> tuple[str, ...]:
        one = self.found.layouts[number]
        axes = one.candidate.axes if one.candidate else ()
        return tuple(
            f"splitting {', '.join(sorted(each.splits))} over {each} saves 18 ms" for each in axes if each.splits
        )

    def spec_groups(self, number: int) -> tuple[SpecGroup, ...]:
        return (
            SpecGroup("params/layers/*/w_up", "params", (4096, 16384), ((), ("model",)), 12, 3 * GB, True),
            SpecGroup("params/layers/*/w_down", "params", (16384, 4096), (("model",), ()), 12, GB, True),
            SpecGroup("batch", "batch", (32, 1024), (("data",), ()), 1, 131_072, False),
        )

    def codes(self, number: int) -> Mapping[str, str]:
        return {
            "in_specs": "in_specs = ({'w_up': P(None, 'model'), 'w_down': P('model')}, P('data'))",
            "%%compile options": "--mesh data=4,model=2 --in-spec \"({'w_up': P(None, 'model')}, P('data'))\"",
        }

    def confirm(self, number: int, effort: Any = None, progress: Any = None) -> CompiledFigures:
        self.compiles += 1
        layouts = [*self.found.layouts]
        layouts[number] = replace(layouts[number], compiled=FITS)
        self.found = replace(self.found, layouts=tuple(layouts))
        return FITS

    def open_program(self, number: int, progress: Any = None) -> Any:
        return self.opened


def keep(program: Any, made: MadeSearch) -> MadeSearch:
    """Make it the program's own."""
    program.results.put("layout search", made)
    return made


def stopped_search(program: Any, fixed: Any, budget: Any, progress: Any) -> MadeSearch:
    """In the place of `search_program`: tells its best so far until it is stopped, and has one layout by then."""
    progress(0.0, "1 of 6 layouts, the best so far 95 ms by estimate")
    assert budget.cancel.wait(60)
    return keep(program, MadeSearch(found(LAYOUTS[:1], total=6, end=SearchEnd.CANCELLED)))

"""What is said of a search of layouts: what to take and by how much, what was compared, and what is only estimated."""

from __future__ import annotations

from collections.abc import Iterable

from jaxstage_ext.report.text.units import rounded, scaled
from jaxstage_ext.search import layout_choice
from jaxstage_ext.search.decision_wording import listed
from jaxstage_ext.search.drawn.layout_columns import PointState, best_of, state_of
from jaxstage_ext.search.layout_candidate import MeshAxis
from jaxstage_ext.search.layout_result import CompileEffort, LayoutsFound, ScoredLayout
from jaxstage_ext.search.search_wording import extent

NOTHING_FITS = "No layout fits: the arguments alone take more than the {} of one device in each."
NOTHING_RUNS = "No layout was found that runs."
OFFER = (
    "Scores every layout of the devices by the named dimensions of the arguments, without a compile; nothing is run. "
    "What is stopped keeps what it found."
)
RUNS_ALREADY = "another search of this call is under way"
NOT_SEARCHED = "the layouts of this call were not searched"


def take(found: LayoutsFound, room: int | None) -> str:
    """What to take, and how much faster that is than the user's own specs."""
    best = best_of(found, room)
    if best is None:
        return NOTHING_FITS.format(scaled(room, "B")) if room is not None and found.layouts else NOTHING_RUNS
    return _take(found, best)


def besides(found: LayoutsFound, room: int | None) -> str:
    """What the best layout was compared with, and whether it fits; "" where there is none."""
    best = best_of(found, room)
    return f"{compared(found, best)} {fit(best, room)}" if best is not None else ""


def _take(found: LayoutsFound, best: ScoredLayout) -> str:
    own, what = found.own, f"{layout_title(best)}, {call_time(best)}"
    if best.is_own:
        return f"Keep your own specs: {what}."
    if own is None:
        return f"Take {what}."
    return f"Take {what}: {faster(own, best)}."


def call_time(layout: ScoredLayout) -> str:
    """`at least 2.18 ms a call as compiled`, else `an estimated 94.9 ms a call`."""
    return _with_time(layout, " a call")


def _with_time(layout: ScoredLayout, of: str) -> str:
    least = layout.compiled_seconds
    if least is not None:
        return f"at least {scaled(least, 's')}{of} as compiled"
    return "time unknown" if layout.estimate.middle is None else f"an estimated {time_text(layout)}{of}"


def faster(own: ScoredLayout, best: ScoredLayout) -> str:
    """`1.8x as fast as your own specs (an estimated 171 ms)`."""
    times, by_compiles = ratio(own, best)
    is_mixed = best.compiled_seconds is not None and not by_compiles
    by = "by the estimate " if is_mixed else ""
    if is_mixed and times < 1:
        return f"your own specs were not compiled, by the estimate they are {_times(1 / times)} as fast"
    if times < 1.005:
        return f"{by}as fast as your own specs"
    known = own.estimate.middle is not None or by_compiles
    shown = f" ({_with_time(own, '')})" if known else ""
    return f"{by}{_times(times)} as fast as your own specs{shown}"


def ratio(layout: ScoredLayout, best: ScoredLayout) -> tuple[float, bool]:
    """How many times the time of the best one a layout takes, and whether that is of compiled times.

    Of two that were compiled at the default effort by what the compiles gave, else by the estimates.
    """
    compiled, least = layout.compiled_seconds, best.compiled_seconds
    if compiled is not None and least:
        return compiled / least, True
    return (layout.estimate.cost / best.estimate.cost if best.estimate.cost else 1.0), False


def _times(value: float) -> str:
    return f"{value:.2f}x" if value < 1.095 else f"{rounded(float(f'{value:.2g}'))}x"


def own_said(found: LayoutsFound, room: int | None) -> str:
    """`own: 1.8x the best`, beside the point of the user's specs; "" where there are none."""
    own, best = found.own, best_of(found, room)
    if own is None:
        return ""
    if best is None or best.is_own:
        return "own"
    times, by_compiles = ratio(own, best)
    return f"own: {_times(times)} the best{', as compiled' if by_compiles else ''}"


def ratio_text(layout: ScoredLayout, best: ScoredLayout | None) -> str:
    """`1.8x` by the estimates, `1.8x compiled` by what compiles gave; `best` of the best itself."""
    if best is None:
        return ""
    if layout.number == best.number:
        return "best"
    times, by_compiles = ratio(layout, best)
    return f"{_times(times)}{' compiled' if by_compiles else ''}"


def compared(found: LayoutsFound, best: ScoredLayout) -> str:
    """What the best one was compared with, and by what."""
    if not any(layout.estimate.cost < best.estimate.cost for layout in found.layouts[: best.number]):
        return f"By the estimate it is the {extent(found)}."
    place = f"By the estimate it is number {best.number + 1:,} of {extent(found).removeprefix('best of ')}"
    if best.compiled is not None and best.compiled.effort is CompileEffort.DEFAULT:
        return f"{place}; of those compiled at the default effort it is the fastest."
    return f"{place}; those before it do not fit or do not compile."


def fit(layout: ScoredLayout, room: int | None) -> str:
    """Whether a layout fits, and what that is known from."""
    state, compiled = state_of(layout), layout.compiled
    arguments = f"its arguments take {scaled(layout.estimate.argument_bytes, 'B')} of each device"
    if compiled is None:
        of = f", which has {scaled(room, 'B')}" if room is not None else ""
        return f"Not compiled yet, so whether it fits is not known; {arguments}{of}."
    needed = f"{scaled(compiled.needed, 'B')} needed" if compiled.needed is not None else "the memory needed is unknown"
    of = f" of {scaled(compiled.room, 'B')}" if compiled.room is not None else ""
    reason = f": {compiled.reason}" if compiled.reason else ""
    return {
        PointState.FITS: f"Compiled, it fits: {needed}{of}.",
        PointState.DOES_NOT_FIT: f"Compiled, it does not fit: {needed}{of}.",
        PointState.FAILED: f"Its compile failed{reason}.",
        PointState.COMPILED: f"Compiled: {needed}; whether that fits is not known{reason}.",
    }[state]


def compiled_text(layout: ScoredLayout, room: int | None) -> str:
    """`no`, or in a few words what the compile gave: `fits, 428 MB; 14.8 ms at low effort`."""
    compiled = layout.compiled
    if compiled is None:
        return "does not fit by its arguments" if layout_choice.is_known_too_large(layout, room) else "no"
    needed = f", {scaled(compiled.needed, 'B')}" if compiled.needed is not None else ""
    low = " at low effort" if compiled.effort is CompileEffort.LOW else ""
    least = f"; {scaled(compiled.least, 's')}{low}" if compiled.least is not None else ""
    return {
        PointState.FITS: f"fits{needed}{least}",
        PointState.DOES_NOT_FIT: f"does not fit{needed}",
        PointState.FAILED: "failed",
        PointState.COMPILED: f"compiles{needed}{least}",
    }[state_of(layout)]


def time_text(layout: ScoredLayout) -> str:
    """`94.9 ms`; `time unknown`."""
    middle = layout.estimate.middle
    return "time unknown" if middle is None else scaled(middle, "s")


def range_text(layout: ScoredLayout) -> str:
    """`94.9 ms, between 88.1 ms and 102 ms`."""
    least, most = layout.estimate.least, layout.estimate.most
    if least is None or most is None:
        return time_text(layout)
    return f"{time_text(layout)}, between {scaled(least, 's')} and {scaled(most, 's')}"


def layout_title(layout: ScoredLayout) -> str:
    """`data × tensor: batch over data=4, heads and hidden over model=2`."""
    if layout.candidate is None:
        return f"{layout.kind.value} as written: mesh {mesh_text(layout)}"
    said = [text for axis in layout.candidate.axes for text in _uses(axis)]
    return f"{layout.kind.value}: {', '.join(said)}" if said else layout.kind.value


def _uses(axis: MeshAxis) -> Iterable[str]:
    if axis.divides:
        yield f"{listed(axis.divides)} over {axis}"
    if axis.stores and not axis.follows:
        yield f"parameters stored over {axis.name if axis.splits else axis}"


def mesh_text(layout: ScoredLayout) -> str:
    """`data=4,model=2`; `1 device` without axes."""
    return ",".join(f"{name}={size}" for name, size in layout.mesh.items()) or "1 device"


def counted(layout: ScoredLayout) -> str:
    """What each part of an estimated time counts, and which time layouts are ordered by."""
    ordered = (
        f" Layouts are ordered by {time_text(layout)}: a quarter of what other work can hide counts as hidden."
        if layout.estimate.middle is not None
        else ""
    )
    return COUNTED + ordered


COUNTED = (
    "Compute: the matrix products and convolutions that arithmetic limits, at the peak of their dtype. Memory: the "
    "operations that memory bandwidth limits, with each argument read and each result written once. Exposed "
    "collectives: from other work hiding all that it can to hiding none."
)

"""What is said of a program's cost, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxstage_ext.analysis.cost.ceilings import BoundCondition, BoundDecision, Ceiling, Doubt, DoubtReason, Outcome
from jaxstage_ext.analysis.cost.work_range import Branch, RangeCause, RangeReason, WorkRange
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.report.text.units import share as percent

NO_EVENT = "the profile has no event of this instruction"
NO_RATE = "it computes nothing, or it was not measured"
NOT_RECORDED = "JAX recorded none"
NOT_COUNTED = "only in a branch that does not count: another branch of the conditional has more"
UNKNOWN_FOR_ALL = "unknown for every instruction that computes"
IN_BRANCH = "in a branch that may not run, counted as if it did"
MEMBER_UNKNOWN = "unknown for one of its members"
ALL_BRANCHES = (
    "Rows list every branch of a conditional as if it ran. Totals of lines and scopes count only the branch "
    "that does the most work; the range in the headline starts at the branch that does the least."
)
MEASURED = (
    "The ceilings are what was measured on this machine or set by hand, not a vendor's; a run can be faster than these "
    "lower bounds if the machine was busy when they were measured."
)
_MOST_REASONS = 2
_NOTED_SHARE = 0.01
"""From this share on, transcendental functions are named beside the FLOPs, and bytes on the chip beside the bytes."""


def headline(
    flops: WorkRange, moved: WorkRange, functions: float, near: float, host: float = 0.0, where: str = "on one device"
) -> str:
    """FLOPs, transcendental functions and bytes of a program, and what leaves them open.

    `near` is the share of the bytes that stay in memory on the chip, `host` that of the bytes in the host's memory;
    `where` says of which devices they are.
    """
    beside = f" and {transcendentals(functions)} transcendentals" if are_noted(functions, flops) else ""
    figures = f"{work(flops, 'FLOP')}{beside}, {work(moved, 'B')} moved{stays(near, host)}, in one run {where}"
    why = work_reasons(flops, "FLOP") or work_reasons(moved, "B")
    return f"{figures} ({why})" if why else figures


def are_noted(functions: float, flops: WorkRange) -> bool:
    """Whether the transcendental functions, which are no FLOPs, are enough to be named beside them."""
    return functions > 0 and functions >= _NOTED_SHARE * flops.least


def transcendentals(functions: float) -> str:
    """`64`, `1.07 G`."""
    return scaled(functions, "").strip()


def work(work: WorkRange, unit: str) -> str:
    """`1.2 GFLOP`, `1 to 1.2 GFLOP`, `at least 1 GFLOP (3 GFLOP with one iteration)`, `unknown FLOP`."""
    least, once = bounds(work, unit), scaled(work.counted, unit)
    loops = work.most is None and any(reason.cause is RangeCause.LOOP for reason in work.reasons)
    if not loops or least.endswith(once):
        return least
    return f"{least} ({once} with one iteration)" if work.least else f"{once} with one iteration"


def bounds(work: WorkRange, unit: str) -> str:
    """`1.2 GFLOP`, `1 to 1.2 GFLOP`, `at least 1.2 GFLOP`, `unknown FLOP`."""
    if work.is_unknown or (work.most is None and not work.least):
        return f"unknown {'FLOPs' if unit == 'FLOP' else 'bytes'}"
    least = scaled(work.least, unit)
    if work.most is None:
        return f"at least {least}"
    most = scaled(work.most, unit)
    return least if least == most else f"{least} to {most}"


INFERRED = "inferred: XLA dropped the source of most of it"
INFERRED_LINE = "inferred: XLA dropped its source"


def open_work(flops: WorkRange) -> str:
    """What leaves the FLOPs open, in a sentence; "" where they are known."""
    why = work_reasons(flops, "FLOP")
    return f"It does {work(flops, 'FLOP')} ({why})." if why else ""


def work_reasons(work: WorkRange, unit: str) -> str:
    """Why work is a range, in a few words; "" where it is one figure."""
    return "; ".join(_reasons(work.reasons, unit))


def _reasons(reasons: Sequence[RangeReason], unit: str) -> list[str]:
    """The reasons, those of one cause together."""
    texts = []
    for cause, text in ((RangeCause.LOOP, _loops), (RangeCause.BRANCHES, _branches), (RangeCause.UNKNOWN, _unknown)):
        of_cause = [reason for reason in reasons if reason.cause is cause]
        texts += [text(of_cause, unit)] if of_cause else []
    return texts


def _loops(reasons: Sequence[RangeReason], unit: str) -> str:
    loops = "the while loop" if len(reasons) == 1 else f"{len(reasons):,} while loops"
    return f"{loops}{_at(reasons)} of unknown length may run any number of times, or none"


def _branches(reasons: Sequence[RangeReason], unit: str) -> str:
    least, most = reasons[0].branches
    text = f"the conditional{_at(reasons[:1])} runs {branch(least, unit)} or {branch(most, unit)}"
    return text + (f", and {plural(len(reasons) - 1, 'conditional')} more" if len(reasons) > 1 else "")


def _unknown(reasons: Sequence[RangeReason], unit: str) -> str:
    why = list(dict.fromkeys(reason.why for reason in reasons))
    more = f", and {plural(len(why) - _MOST_REASONS, 'more reason')}" if len(why) > _MOST_REASONS else ""
    return f"not counted: {plural(len(reasons), 'instruction')} ({'; '.join(why[:_MOST_REASONS])}{more})"


def _at(reasons: Sequence[RangeReason]) -> str:
    lines = list(dict.fromkeys(reason.line for reason in reasons if reason.line))
    more = f" and {plural(len(lines) - _MOST_REASONS, 'more line')}" if len(lines) > _MOST_REASONS else ""
    return f" at {', '.join(lines[:_MOST_REASONS])}{more}" if lines else ""


def branch(branch: Branch, unit: str) -> str:
    """`its true branch (In [2]:5, 1.2 GFLOP)`, `branch 2 (0 FLOP)`."""
    name = f"its {'true' if branch.number else 'false'} branch" if branch.is_of_boolean else f"branch {branch.number}"
    return f"{name} ({f'{branch.line}, ' if branch.line else ''}{scaled(branch.amount, unit)})"


def not_counted(which: Iterable[bool], *columns: str) -> dict[tuple[int, str], str]:
    """The reasons of rows that are in a branch which does not count, in each of these columns."""
    return {(row, column): NOT_COUNTED for row, is_left_out in enumerate(which) if is_left_out for column in columns}


def verdict(
    outcome: Outcome,
    decision: BoundDecision,
    title: str,
    reasons: Sequence[DoubtReason],
    is_measured: bool = False,
    how_to_measure: str = "",
) -> str:
    """What bounds a program, in one sentence; where that is not decided, why not, and what is known."""
    if outcome is Outcome.NO_PEAKS:
        unlinked = [f"; {_unlinked(reason)}" for reason in reasons if reason.doubt is Doubt.LINK]
        remedy = f" {how_to_measure}." if how_to_measure else ""
        return f"Can't tell what bounds it: {no_peaks(title)}{''.join(unlinked)}.{remedy}"
    if outcome is Outcome.NO_WORK:
        return "Nothing is computed or moved."
    if outcome is Outcome.BOUND:
        ceiling = decision.ceiling
        takes = "exposed collectives" if ceiling is Ceiling.INTERCONNECT else f"{ceiling}-bound instructions"
        bound = f"{percent(decision.shares[ceiling])} of the {scaled(decision.seconds, 's')} lower bound on {title}"
        return f"Bound by {ceiling}: {takes} take {bound}."
    if decision.condition is not None:
        return f"{_conditional(decision.condition, title, reasons, is_measured)}{_known(decision, title)}"
    why = "; ".join(doubt(reason, title, is_measured) for reason in reasons)
    return f"Can't tell what bounds it: {why}.{_known(decision, title)}"


def expected(seconds: float, interval: tuple[float, float], rests_on: tuple[float, int], machine: str) -> str:
    """How long a CPU program is expected to take, and what that rests on."""
    (low, high), (held, programs) = interval, rests_on
    return (
        f"Expected: about {scaled(seconds, 's')} ({scaled(low, 's')} to {scaled(high, 's')}; "
        f"such a range held for {percent(held)} of {programs} programs measured on {machine})."
    )


NOT_EXPECTED_ELSEWHERE = "expected times rest on programs measured on a CPU; this one is for another device"
NOT_EXPECTED_OF_SEVERAL = "expected times rest on programs of one device; this one runs on several"
NOT_EXPECTED_BUSY = "the peaks of this machine's CPU were measured while it was busy"
NOT_EXPECTED_UNKNOWN = "the expected time is unknown, as the lower bound of a part of the program is"


def _conditional(condition: BoundCondition, title: str, reasons: Sequence[DoubtReason], is_measured: bool) -> str:
    """What bounds a program, and how long what is unknown would have to take to overturn that."""
    parts = [_unknown_part(reason, title, is_measured) for reason in reasons]
    what = " and ".join(part for part, _ in parts) + (" together" if len(parts) > 1 else "")
    takes = "takes" if len(parts) == 1 and _is_one(reasons[0]) else "take"
    limit, why = scaled(condition.seconds, "s"), "; ".join(dict.fromkeys(reason for _, reason in parts))
    return f"Bound by {condition.ceiling}, unless {what} {takes} more than {limit}: {why}."


def _is_one(reason: DoubtReason) -> bool:
    if reason.doubt in (Doubt.LINK, Doubt.FLOPS):
        return reason.instructions == 1
    return reason.doubt is Doubt.ON_CHIP or (reason.doubt is Doubt.FUNCTION and len(reason.what) == 1)


def _unknown_part(reason: DoubtReason, title: str, is_measured: bool) -> tuple[str, str]:
    """(what takes an unknown time, why it is unknown)."""
    source = "exactly known" if is_measured else "published"
    at = f" at {reason.line}" if reason.line else ""
    named = ", ".join(reason.what[:_MOST_REASONS]) + (", …" if len(reason.what) > _MOST_REASONS else "")
    many, it = plural(reason.instructions, "instruction"), "it" if _is_one(reason) else "them"
    if reason.doubt is Doubt.LINK:
        whole = "the collective" if _is_one(reason) else f"{reason.instructions:,} collectives"
        return whole, "; ".join(reason.what)
    if reason.doubt is Doubt.FLOPS:
        return f"{many}{at}", f"{'its' if _is_one(reason) else 'their'} FLOPs are not counted ({named})"
    if reason.doubt is Doubt.PEAK:
        return f"{named} operations ({many}{at})", f"the peak of {title} for {it} is not {source}"
    if reason.doubt is Doubt.FUNCTION:
        return f"{named} ({many}{at})", f"how long {title} takes for {it} is not {source}"
    if reason.doubt is Doubt.ON_CHIP:
        return "memory on the chip", f"its bandwidth, which {many} use, is not published"
    return f"moves to and from host memory ({many}{at})", "how fast they are depends on the host"


def _known(decision: BoundDecision, title: str) -> str:
    """The bound that is known."""
    if not decision.seconds:
        return ""
    most = max(_TAKES, key=lambda ceiling: decision.known[ceiling])
    known = f" Known: at least {scaled(decision.seconds, 's')} on {title}"
    return f"{known}, {percent(decision.known[most])} of it {_TAKES[most]}." if decision.known[most] else f"{known}."


_TAKES = {
    Ceiling.COMPUTE: "computation",
    Ceiling.MEMORY: "memory traffic",
    Ceiling.INTERCONNECT: "collectives",
}


def no_peaks(title: str) -> str:
    """That nothing is known of a device."""
    return f"the peaks of {title} are unknown"


def in_cache(size: int, bandwidth: float) -> str:
    """Which instructions the caches bound."""
    return (
        f"Instructions that move at most {scaled(size, 'B')} are bounded by the bandwidth of the caches "
        f"({scaled(bandwidth, 'B/s')}), larger ones by that of memory."
    )


def doubt(reason: DoubtReason, title: str, is_measured: bool = False) -> str:
    """Something that is unknown and could overturn the verdict."""
    source = "exactly known" if is_measured else "published"
    at = f" at {reason.line}" if reason.line else ""
    named = ", ".join(reason.what[:_MOST_REASONS]) + (", …" if len(reason.what) > _MOST_REASONS else "")
    many = plural(reason.instructions, "instruction")
    if reason.doubt is Doubt.LINK:
        return _unlinked(reason)
    if reason.doubt is Doubt.FLOPS:
        return f"the FLOPs of {many}{at} are not counted ({named})"
    if reason.doubt is Doubt.PEAK:
        return f"the peak of {title} for {named} ({many}{at}) is not {source}"
    if reason.doubt is Doubt.FUNCTION:
        return f"how long {title} takes for {named} ({many}{at}) is not {source}"
    if reason.doubt is Doubt.ON_CHIP:
        return f"the bandwidth of memory on the chip, which {many} use, is not published"
    if reason.doubt is Doubt.HOST:
        return f"how fast values move to and from host memory ({many}{at}) depends on the host and is not known"
    if reason.doubt is Doubt.LOOP:
        return f"how often the while loop{at} runs is unknown"
    return f"which branch of the conditional{at} runs is unknown"


def _unlinked(reason: DoubtReason) -> str:
    count = reason.instructions
    whose = "the collective's time is" if count == 1 else f"the times of {count:,} collectives are"
    return f"{'; '.join(reason.what)}, so {whose} unknown"


def left_out(only_move: int, unknown: int) -> str:
    """Which instructions a roofline chart cannot show; "" where it shows all."""
    moving = "instruction that only moves" if only_move == 1 else "instructions that only move"
    parts = [f"{only_move:,} {moving} data"] if only_move else []
    parts += [f"{unknown:,} whose FLOPs, bytes or peak are unknown"] if unknown else []
    return f"Not on the chart: {' and '.join(parts)}." if parts else ""


def stays(near: float, host: float = 0.0) -> str:
    """How many of the bytes moved use none of the device's memory bandwidth; "" for none."""
    where = (("memory on the chip", near), ("host memory", host))
    parts = [f"{percent(share)} of it in {name}" for name, share in where if share >= _NOTED_SHARE]
    return f" ({', '.join(parts)})" if parts else ""


def on_chip(share: float) -> str:
    """How many of the bytes stay on the chip."""
    return (
        f"{percent(share)} of the bytes stay in memory on the chip (VMEM): they use no HBM bandwidth, and the "
        "bandwidth of that memory is not published, so they bound nothing here."
    )


def in_host_memory(size: float) -> str:
    """How many of the bytes are in the host's memory."""
    return (
        f"Host memory: {scaled(size, 'B')} are read from or written to it, and how fast depends on the host: they "
        "use no bandwidth of the device's memory, and no lower bound here has their time."
    )


def unknown_flops(names: Sequence[str], instructions: int, share: float) -> str:
    """Whose FLOPs are unknown, and the share of the bytes that those instructions move."""
    listed = f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
    many = f"{len(names):,} of {instructions:,} instructions"
    return f"The FLOPs of {many} are unknown ({listed}); they move {percent(share)} of the bytes."


def unknown_trips(loops: Sequence[str]) -> str:
    """Which loops are of unknown length."""
    return f"How often {', '.join(loops[:3])} {'run' if len(loops) > 1 else 'runs'} is unknown: counted once."


def unknown_equations(unknown: int, equations: int, primitives: Sequence[str]) -> str:
    """How many equations have unknown FLOPs."""
    names = ", ".join(dict.fromkeys(primitives))
    return f"The FLOPs of {unknown:,} of {equations:,} equations are unknown ({names})."


def uncertain(equations: int, why: str) -> str:
    """How many equations may run more or less often than is counted."""
    return f"{plural(equations, 'equation')} {'are' if equations > 1 else 'is'} {why}."

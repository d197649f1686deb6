"""The cost of a program, its roofline, and what is unknown of them."""

from wordings import constants

from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost.ceilings import BoundCondition, BoundDecision, Ceiling, Doubt, DoubtReason, Outcome
from jaxstage_ext.analysis.cost.work_range import Branch, RangeCause, RangeReason, WorkRange

TITLE = "NVIDIA H100 SXM"
BRANCHES = (Branch(0, True, "", 0.0), Branch(1, True, "In [2]:5", 1.2e9))
LOOP = RangeReason(RangeCause.LOOP, "while.3", 7, "In [2]:4")
LOOP_OF_NO_LINE = RangeReason(RangeCause.LOOP, "while.4", 8, "")
CONDITIONAL = RangeReason(RangeCause.BRANCHES, "cond.1", 9, "In [2]:5", branches=BRANCHES)
SWITCH = RangeReason(
    RangeCause.BRANCHES, "cond.2", 9, "In [2]:6", branches=(Branch(0, False, "", 1e9), Branch(2, False, "", 2e9))
)
UNKNOWN = [RangeReason(RangeCause.UNKNOWN, f"call.{n}", n, "", f"my_op_{n} is a custom call") for n in range(4)]
SHARES = {Ceiling.COMPUTE: 0.9, Ceiling.MEMORY: 0.1, Ceiling.INTERCONNECT: 0.63}
KNOWN = {Ceiling.COMPUTE: 0.4, Ceiling.MEMORY: 0.0, Ceiling.INTERCONNECT: 0.0}
NOTHING = dict.fromkeys(KNOWN, 0.0)


def work(*reasons: RangeReason, most: float | None = None) -> WorkRange:
    return WorkRange(1e9, 1.2e9, most, reasons)


def decided(ceiling: Ceiling) -> str:
    return wording.verdict(Outcome.BOUND, BoundDecision(ceiling, 0.0147, SHARES, KNOWN), TITLE, ())


def undecided(
    outcome: Outcome, *reasons: DoubtReason, known: dict[Ceiling, float] = KNOWN, seconds: float = 0.0147, how: str = ""
) -> str:
    return wording.verdict(outcome, BoundDecision(Ceiling.UNKNOWN, seconds, {}, known), TITLE, reasons, False, how)


def conditional(*reasons: DoubtReason, is_measured: bool = False) -> str:
    decision = BoundDecision(Ceiling.UNKNOWN, 0.0147, {}, KNOWN, (), BoundCondition(Ceiling.MEMORY, 1.8e-3))
    return wording.verdict(Outcome.UNKNOWN_WORK, decision, TITLE, reasons, is_measured)


def doubt(kind: Doubt, instructions: int = 2, line: str = "In [2]:3") -> DoubtReason:
    return DoubtReason(kind, ("f8", "f4", "f6"), line, instructions)


ONE = WorkRange(1.2e9, 1.2e9, 1.2e9)
NO_LINK = DoubtReason(Doubt.LINK, ("no link speed on file",), "", 1)
TIMES = [kind for kind in Doubt if kind not in (Doubt.LOOP, Doubt.BRANCH)]
SAID = {
    **constants(wording),
    "work: one figure": wording.work(ONE, "FLOP"),
    "work: a range": wording.work(work(most=2e9), "B"),
    "work: without an end": wording.work(work(), "FLOP"),
    "work: unknown FLOPs": wording.work(WorkRange(0, 0, None), "FLOP"),
    "work: unknown bytes": wording.work(WorkRange(0, 0, None), "B"),
    "headline: figures alone": wording.headline(ONE, ONE, 0, 0),
    "headline: functions, on-chip and host memory": wording.headline(ONE, ONE, 1.07e9, 0.25, 0.5),
    "headline: a loop": wording.headline(work(LOOP), work(LOOP), 0, 0),
    "expected time": wording.expected(1.2e-3, (0.9e-3, 3.1e-3), (0.85, 40), "a CPU, 2 cores"),
    "open: no reason": wording.open_work(ONE),
    "open: a loop of unknown length": wording.open_work(work(LOOP)),
    "open: two loops": wording.open_work(work(LOOP, LOOP_OF_NO_LINE)),
    "open: loops at four lines": wording.open_work(work(*(LOOP._replace(line=f"In [2]:{n}") for n in range(4)))),
    "open: branches": wording.open_work(work(CONDITIONAL)),
    "open: three conditionals": wording.open_work(work(SWITCH, CONDITIONAL, CONDITIONAL)),
    "open: an unknown instruction": wording.open_work(work(UNKNOWN[0])),
    "open: four unknown instructions": wording.open_work(work(*UNKNOWN)),
    "rows left out": wording.not_counted([False, True], "flops").values(),
    **{f"bound by {ceiling.name}": decided(ceiling) for ceiling in SHARES},
    "nothing to bound": undecided(Outcome.NO_WORK),
    "no peaks": undecided(Outcome.NO_PEAKS, how="%targets --measure measures them"),
    "no peaks, no link speed": undecided(Outcome.NO_PEAKS, NO_LINK),
    "no link speed": undecided(Outcome.NO_LINK_SPEED, NO_LINK),
    "no link speed, nothing known": undecided(Outcome.NO_LINK_SPEED, NO_LINK, known=NOTHING, seconds=0.0),
    **{f"doubt: {kind.name}": wording.doubt(doubt(kind), TITLE) for kind in Doubt},
    **{f"doubt: {kind.name}, measured": wording.doubt(doubt(kind, 1, ""), TITLE, True) for kind in Doubt},
    **{
        f"known: {ceiling.name}": undecided(Outcome.UNKNOWN_WORK, doubt(Doubt.FLOPS), known={**NOTHING, ceiling: 0.63})
        for ceiling in KNOWN
    },
    "known: the time alone": undecided(Outcome.UNKNOWN_WORK, doubt(Doubt.FLOPS), known=NOTHING),
    **{f"condition: {kind.name}": conditional(doubt(kind)) for kind in TIMES},
    "condition: a collective": conditional(NO_LINK),
    "condition: measured": conditional(doubt(Doubt.FUNCTION, 1, ""), is_measured=True),
    "condition: two doubts": conditional(doubt(Doubt.FLOPS), doubt(Doubt.FUNCTION)),
    "caches": wording.in_cache(50_000_000, 5.5e12),
    "not on the chart": wording.left_out(1, 0),
    "not on the chart, of both kinds": wording.left_out(12, 3),
    "all on the chart": wording.left_out(0, 0),
    "on-chip memory": wording.on_chip(0.25),
    "host memory": wording.in_host_memory(1e9),
    "unknown FLOPs": wording.unknown_flops(["a", "b", "c", "d"], 40, 0.12),
    "a loop": wording.unknown_trips(["while.3"]),
    "loops": wording.unknown_trips(["while.3", "while.4"]),
    "equations": wording.unknown_equations(2, 40, ["eigh", "eigh"]),
    "one uncertain equation": wording.uncertain(1, wording.IN_BRANCH),
    "two uncertain equations": wording.uncertain(2, wording.IN_BRANCH),
}

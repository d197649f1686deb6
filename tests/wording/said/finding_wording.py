"""What is said of findings in general."""

from jaxstage_ext.findings import finding_wording as wording
from jaxstage_ext.findings.finding import CodeChange, Finding, Stake, StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.comparing.paired_figures import PairedFigure
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.figure import Figure

HALF = Stake(StakeMeasure.MEMORY, None, 16_800_000, 34_100_000)
FINDING = Finding(
    FindingKind.MISSING_DONATION,
    "params is not donated.",
    HALF,
    "In [2]:4",
    change=CodeChange("@partial(jax.jit, donate_argnames=('params',))", stage=lambda staged: staged),
    caveat="A donated array cannot be used after the call.",
)
WITHOUT_CHANGE = Finding(FindingKind.COLLECTIVE, "The all-reduce takes 1.2 ms.", Stake(StakeMeasure.TIME), "In [2]:4")


def pair(before: Figure, after: Figure, unit: str = "B") -> PairedFigure:
    return PairedFigure("size", "memory needed", "", unit, before, after)


SAID = {
    "compile log": wording.COMPILE_LOG,
    "session": wording.session(3, 2, 12, 4.2),
    "session: nothing found": wording.session(0, 1, 0, 0.0),
    "session: compiles alone": wording.session(1, 0, 12, 4.2),
    "session: nothing looked at": wording.session(0, 0, 0, 0.0),
    "session: waiting": wording.waiting_in_session((FindingKind.COLLECTIVE,)),
    "up to half": wording.stake(HALF),
    "exactly": wording.stake(Stake(StakeMeasure.TIME, 0.001, 0.001, 0.004)),
    "a range": wording.stake(Stake(StakeMeasure.SENT, 1_000, 2_000, 4_000)),
    "of an unknown whole": wording.stake(Stake(StakeMeasure.TIME, None, 0.001)),
    "at least this": wording.stake(Stake(StakeMeasure.HOST, 0.002)),
    "what to write": wording.change_in_short(FINDING),
    "unknown": wording.stake(Stake(StakeMeasure.MOVED)),
    "wrong results": wording.stake(Stake(StakeMeasure.RESULT)),
    "differing results": wording.stake(Stake(StakeMeasure.REPEATABILITY)),
    "without a change": wording.gain(WITHOUT_CHANGE),
    "in short, without a change": wording.in_short(WITHOUT_CHANGE),
    "in short": wording.in_short(FINDING),
    "in full": wording.in_full(FINDING),
    "in full, tried": wording.in_full(FINDING, wording.outcome(TrialOutcome.PAYS, 16_800_000, HALF)),
    "nothing found": wording.nothing_found([FindingKind.MISSING_DONATION, FindingKind.COLLECTIVE]),
    "nothing looked for": wording.nothing_found([]),
    "nothing found, in brief": wording.nothing_found_in(22),
    "nothing found yet": wording.nothing_yet([FindingKind.COLLECTIVE]),
    "not looked": wording.NOT_LOOKED,
    "more": wording.more(3),
    "more, in brief": wording.more_in(1),
    "waiting": wording.waiting([FindingKind.SLOW_PASS], 1.25),
    "waiting, of unknown length": wording.waiting([FindingKind.SLOW_PASS], None),
    "tried: a change of the result": wording.outcome(TrialOutcome.UNKNOWN, None, Stake(StakeMeasure.RESULT)),
    **{f"tried: {one.value}": wording.outcome(one, 16_800_000, HALF) for one in TrialOutcome},
    "tried: it costs something else": wording.outcome(
        TrialOutcome.PAYS, 2.5, Stake(StakeMeasure.COMPILE, whole=3.2), [pair(Figure(2_400_000), Figure(78_400_000))]
    ),
    "cannot be tried": wording.CANNOT_BE_TRIED,
    "label": wording.CHANGED,
    "does not compile": wording.does_not_compile(StageError("trace", "ValueError", "no such axis\nmore", None)),
    "figures": [wording.figure(one, "B") for one in (Figure(34_100_000), Figure(None, "not compiled"), Figure("yes"))],
    "at least": wording.figure(Figure(5.0, text="at least 5 s"), "s"),
    "a count": wording.figure(Figure(1200), ""),
    "differences": [
        wording.difference(pair(Figure(34_100_000), Figure(17_300_000))),
        wording.difference(pair(Figure(3), Figure(5), "")),
        wording.difference(pair(Figure(None), Figure(5))),
    ],
}

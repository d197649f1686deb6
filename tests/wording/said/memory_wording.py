"""The memory of a program."""

from typing import Any

from wordings import constants

from jaxstage_ext.analysis.cost.work_range import RangeCause, RangeReason, WorkRange
from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.analysis.memory.fit import DeviceMemory, Fit, FitVerdict
from jaxstage_ext.analysis.memory.memory_advice import MemoryAdvice, Part, Suggestion
from jaxstage_ext.analysis.memory.memory_checks import Check, CheckDifference, CheckedFigure
from jaxstage_ext.analysis.memory.spaces import Space

DEVICE = DeviceMemory("TPU v5e", 16_000_000_000)
NEEDED, ROOM = 8_000_000_000, 16_000_000_000
REASON = "no memory size on file"
NAMES = ("w", "v", "b", "c", "d")
SPACE = Space(0, "HBM", 1000, 12_000_000, 0, 3, 11_800_000)
SCHEDULED: Any = None
WORK, OPEN = (
    WorkRange(1e9, 1e9, 1e9),
    WorkRange(2e9, 2e9, None, (RangeReason(RangeCause.LOOP, "while", 3, "In [2]:4"),)),
)
MOVED = wording.NeededAndMoved(7_000_000, WORK)


def fit(verdict: FitVerdict, needed: int | None = NEEDED, room: int | None = ROOM, bound: int | None = None) -> str:
    return wording.fit(Fit(verdict, needed, room, REASON, bound), DEVICE)


def advice(kind: Suggestion, names: tuple[str, ...] = NAMES, line: str = "In [2]:3", can_try: bool = True) -> str:
    largest = Part(2_000_000, 3_000_000) if kind in (Suggestion.RESIDUALS, Suggestion.PADDING) else None
    return wording.advice(
        MemoryAdvice(kind, 4_000_000, names, line, largest, ("x",)), SCHEDULED, lambda _: None, can_try
    )


def live(
    kind: Kind, names: tuple[str, ...] = ("w",), donated: bool = False, traced: bool = True, last: str | None = None
) -> str:
    return wording.why_live(kind, names, donated, traced, last)


SAID = {
    **constants(wording),
    **{f"fit: {verdict.name}": fit(verdict) for verdict in FitVerdict},
    **{f"fit: {verdict.name}, needs unknown": fit(verdict, None) for verdict in FitVerdict},
    "fit: at most that": fit(FitVerdict.FITS, None, bound=NEEDED),
    "fit: at least that": fit(FitVerdict.DOES_NOT_FIT, None, bound=NEEDED * 100),
    "fit: tiny": fit(FitVerdict.FITS, 100),
    "fit: 40 times": fit(FitVerdict.DOES_NOT_FIT, NEEDED * 80),
    "share of room": wording.share_of_room(Fit(FitVerdict.FITS, NEEDED, ROOM)),
    "share of room, with a setting": wording.share_of_room(Fit(FitVerdict.FITS_IN_MORE, NEEDED * 2 - 10**9, ROOM)),
    "share of room, 40 times": wording.share_of_room(Fit(FitVerdict.DOES_NOT_FIT, NEEDED * 80, ROOM)),
    **{f"advice: {kind.name}": advice(kind) for kind in Suggestion},
    "advice: RESIDUALS of no line": advice(Suggestion.RESIDUALS, line=""),
    "advice: CONSTANTS without names": advice(Suggestion.CONSTANTS, ()),
    "advice: NOT_DONATED that cannot be tried": advice(Suggestion.NOT_DONATED, can_try=False),
    "advice: RESIDUALS that cannot be tried": advice(Suggestion.RESIDUALS, can_try=False),
    "advice: one name": advice(Suggestion.NOT_DONATED, ("w",)),
    **{
        f"check: {difference.name}": wording.check(Check(CheckedFigure.PEAK, 2_000, 1_000, difference, "VMEM", "HBM"))
        for difference in CheckDifference
    },
    "check: RESERVED": wording.check(Check(CheckedFigure.RESERVED, 2_000, 1_000, CheckDifference.UNEXPLAINED)),
    **{f"live: {kind.name}": live(kind) for kind in Kind},
    "live: donated": live(Kind.ARGUMENT, donated=True),
    "live: a result without a name": live(Kind.OUTPUT, ()),
    "live: RESIDUAL until": live(Kind.RESIDUAL, last="fusion.3"),
    "live: TEMPORARY until": live(Kind.TEMPORARY, last="fusion.3"),
    "live: not traced": live(Kind.TEMPORARY, traced=False),
    "moment": wording.moment(SPACE, "fusion.3"),
    "moment without an instruction": wording.moment(SPACE, ""),
    "donation: as written": wording.donation_trial((), MOVED, MOVED, ()),
    "donation: saves": wording.donation_trial(("x", "y"), wording.NeededAndMoved(6_000_000, WORK), MOVED, ("y",)),
    "donation: saves nothing and moves more": wording.donation_trial(
        ("x",), wording.NeededAndMoved(7_000_000, WorkRange(2e9, 2e9, 2e9)), MOVED, ()
    ),
    "donation: saves next to nothing and moves more": wording.donation_trial(
        ("x",), wording.NeededAndMoved(MOVED.needed - 125, WorkRange(2e9, 2e9, 2e9)), MOVED, ()
    ),
    "checkpoint: saves next to nothing": wording.checkpoint_trial(
        "dots_saveable", wording.PolicyCost(11_799_000, WORK), wording.PolicyCost(11_800_000, WORK)
    ),
    "checkpoint: saves": wording.checkpoint_trial(
        "dots_saveable", wording.PolicyCost(5_000_000, WORK), wording.PolicyCost(11_800_000, WORK)
    ),
    "checkpoint: saves nothing": wording.checkpoint_trial(
        "dots_saveable", wording.PolicyCost(11_800_000, WORK), wording.PolicyCost(11_800_000, WORK)
    ),
    "trial: as written": wording.trial("", wording.PolicyCost(11_800_000, WORK)),
    "trial: a policy": wording.trial(
        "nothing_saveable", wording.PolicyCost(5_000_000, WORK), wording.PolicyCost(11_800_000, WORK)
    ),
    "trial: a policy, open FLOPs": wording.trial(
        "dots", wording.PolicyCost(5_000_000, OPEN), wording.PolicyCost(11_800_000, WORK)
    ),
    "not compiled with a policy": wording.not_compiled("nothing_saveable"),
    "not counted": wording.not_compiled(""),
    "open FLOPs": wording.flops_open(OPEN),
    "residuals": wording.residuals(8_000_000, 2_000_000),
}

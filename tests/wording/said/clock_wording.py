"""What a timeline of several processes says of their clocks, and of who waits for whom."""

from typing import Any

from recordings import recording
from wordings import constants

from jaxstage_ext.profiling.analysis import clock_wording as wording
from jaxstage_ext.profiling.analysis.latest_process import LatestProcess
from jaxstage_ext.report.clock_skew import ClockSkew, NoSkew
from jaxstage_ext.report.recording import HostClocks

AHEAD = ClockSkew(1, 3_200_000_000, 100_000_000, 40, ("all-reduce",))
BEHIND = ClockSkew(2, -40_000_000, 9_000_000, 12, ("all-gather", "all-reduce"), 200_000_000, True)
SAME = ClockSkew(3, 20_000_000, 30_000_000, 5, ("all-reduce",))


def clocks(clock: HostClocks | None, **facts: Any) -> list[str]:
    return list(wording.clocks(recording([], clocks=clock, **facts)))


SAID = {
    **constants(wording),
    "clocks": [text for clock in HostClocks for text in clocks(clock)],
    "clocks of one profile": clocks(None),
    "no skew": [text for why in NoSkew for text in clocks(HostClocks.WALL, no_skew=why)],
    "no skew, one machine": clocks(HostClocks.ONE_MACHINE, no_skew=NoSkew.NOT_COMMON),
    "aligned": clocks(HostClocks.COLLECTIVES, skews=(AHEAD, BEHIND), origin=1),
    "aligned, no starts": clocks(HostClocks.COLLECTIVES, skews=(AHEAD, BEHIND)),
    "measured": clocks(HostClocks.ONE_MACHINE, skews=(AHEAD, BEHIND, SAME), origin=1),
    "nobody waits": list(wording.waits(None)),
    "waits": list(wording.waits(LatestProcess(1, 38, 40, 0.09, "all-reduce.1", "In [2]:8", 0.0021))),
    "waits, no line": list(wording.waits(LatestProcess(1, 1, 1, 0.09, "all-reduce.1", "", 0.09))),
}

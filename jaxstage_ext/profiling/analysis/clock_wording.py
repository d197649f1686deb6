"""By which clock the times of several profiles are, how their clocks differ, and who waits for whom, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from jaxstage_ext.profiling.analysis import table_wording
from jaxstage_ext.profiling.analysis.latest_process import LatestProcess
from jaxstage_ext.report.clock_skew import ClockSkew, NoSkew
from jaxstage_ext.report.recording import SECOND, HostClocks, Recording
from jaxstage_ext.report.text.units import duration, plural

NO_LINE = table_wording.NO_LINE
NO_LAST = "the processes begin it closer to each other than their clocks are known"
NO_WAITS = "No collective of all processes is in these profiles, so nobody waits for another."
_CLOCKS = {
    HostClocks.OWN: "The times of each begin at its own start, and those of two are not compared.",
    HostClocks.WALL: "Times are by the wall clock of each machine, from the start of the first profile on; how far the "
    "clocks differ is unknown.",
    HostClocks.ONE_MACHINE: "All times are by the clock of the one machine, from the start of the first profile on.",
    HostClocks.COLLECTIVES: "Times are by the clock of process 0; the others are aligned by the collectives that all "
    "processes leave together.",
}
_NO_SKEW = {
    NoSkew.NO_COLLECTIVE: "They cannot be aligned by collectives: not every profile has one that all devices take part "
    "in.",
    NoSkew.GROUPS: "They cannot be aligned by collectives: none is of all devices at once.",
    NoSkew.NOT_COMMON: "They cannot be aligned by collectives: none is in all profiles. Begin and end them at the same "
    "steps.",
}


def clocks(recording: Recording) -> Iterator[str]:
    """By which clock the times of several profiles are that were put together; nothing of a single one."""
    if recording.clocks is None:
        return
    yield _CLOCKS[recording.clocks]
    if recording.no_skew is not None and recording.clocks is not HostClocks.ONE_MACHINE:
        yield _NO_SKEW[recording.no_skew]
    for skew in recording.skews:
        yield _measured(skew) if recording.clocks is HostClocks.ONE_MACHINE else _skew(skew, recording.origin is None)


def _measured(skew: ClockSkew) -> str:
    if abs(skew.ahead) <= skew.uncertainty:
        return f"By {_collectives(skew)}, process {skew.process}'s clock is that of process 0 to {_uncertainty(skew)}."
    return (
        f"By {_collectives(skew)}, process {skew.process}'s clock seems {_ahead(skew)} that of process 0 "
        f"({_uncertainty(skew)}), which is not corrected."
    )


def _skew(skew: ClockSkew, has_no_starts: bool) -> str:
    drift = f" {_drift(skew)}" if skew.drift else ""
    order = " They are paired by their order." if skew.is_by_order else ""
    if has_no_starts:
        found = f"Process {skew.process} is aligned to {_uncertainty(skew)}, by {_collectives(skew)}."
    else:
        found = (
            f"Process {skew.process}'s clock is {_ahead(skew)} that of process 0 ({_uncertainty(skew)}, by "
            f"{_collectives(skew)}), which is corrected."
        )
    return f"{found}{drift}{order}"


def _ahead(skew: ClockSkew) -> str:
    return f"{duration(abs(skew.ahead) / SECOND)} {'ahead of' if skew.ahead >= 0 else 'behind'}"


def _uncertainty(skew: ClockSkew) -> str:
    return f"±{duration(skew.uncertainty / SECOND)}"


def _drift(skew: ClockSkew) -> str:
    way = "further ahead" if skew.drift > 0 else "back"
    return f"It moves {duration(abs(skew.drift) / SECOND)} {way} during the profile, which is not corrected."


def _collectives(skew: ClockSkew) -> str:
    return plural(skew.count, skew.kinds[0] if len(skew.kinds) == 1 else "collective")


def waits(latest: LatestProcess | None) -> Iterator[str]:
    """The process for which the others wait the most; nothing where that is not known."""
    if latest is None:
        return
    where = f"{latest.line} ({latest.op})" if latest.line else latest.op
    yield (
        f"Process {latest.process} is the last to begin {latest.times:,} of {plural(latest.count, 'collective')}, for "
        f"which the first waits {duration(latest.seconds)} in all, most at {where}: {duration(latest.typical)} each "
        "(median)."
    )

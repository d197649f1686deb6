"""What is said of on-device profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS
from jaxstage_ext.report.recording import Recording, TimeUnit
from jaxstage_ext.report.units import plural

NOT_DRAWN = (
    "This profile is in cycles of an SM clock that nobody gave, and is drawn with one: "
    "Timeline.from_mosaic(buffer, spec, sm_clock=1.98e9), for example; Timeline.by_range() counts its cycles"
)
NO_TIMES = (
    "This profile is in cycles of an SM clock that nobody gave, and a file or table of events has times: give the "
    "clock with Timeline.from_mosaic(buffer, spec, sm_clock=1.98e9), for example; Timeline.by_range() counts its cycles"
)
_CLOCKS = {
    "GLOBAL_TIMER": "placed in the profile by the GPU's global timer",
    "KERNEL_START": "placed where the kernel starts, because the GPU's global timer is not the profile's clock",
    "APART": "on a clock of their own, because the profile does not have the kernel",
}


def notes(recording: Recording) -> tuple[str, ...]:
    """What a reader of on-device ranges needs to know: the clock, what recording took, how they were placed."""
    facts = recording.device_facts
    return tuple(note for group in facts if group.startswith(FACTS) for note in _notes(facts[group], recording.unit))


def _notes(facts: Mapping[str, Any], unit: TimeUnit) -> Iterator[str]:
    kernel = facts["kernel"] or "the kernel"
    if unit is TimeUnit.CYCLE:
        yield (
            f"The ranges of {kernel} are in cycles, because nobody gave the clock of the SMs (sm_clock=1.98e9, for "
            "example); those of two SMs are not compared."
        )
    else:
        clock = f"{facts['sm_clock_hz'] / 1e9:.4g} GHz"
        yield f"The ranges of {kernel} count cycles, turned into time by an SM clock of {clock}."
    cycles, most = facts["overhead_cycles"], facts["most_overhead_cycles"]
    yield (
        f"Recording took about {plural(cycles, 'cycle')} for each entry and exit, which is subtracted: at most "
        f"{plural(most, 'cycle')} in one {facts['scope']}."
    )
    if place := facts.get("clock"):
        yield f"The ranges of {kernel} are {_CLOCKS[place.name]}."

"""What is said of on-device profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS
from jaxstage_ext.report.recording import Recording, TimeUnit
from jaxstage_ext.report.text.units import plural

NOT_DRAWN = (
    "This profile is in cycles of an SM clock that nobody gave, and is drawn with one: "
    "Timeline.from_mosaic(buffer, spec, sm_clock=1.98e9), for example; Timeline.by_range() counts its cycles"
)
NO_TIMES = (
    "This profile is in cycles of an SM clock that nobody gave, and a file or table of events has times: give the "
    "clock with Timeline.from_mosaic(buffer, spec, sm_clock=1.98e9), for example; Timeline.by_range() counts its cycles"
)
NO_WORDS = (
    "Only the whole profile that a Mosaic GPU kernel recorded can be written as .npz, from Timeline.from_mosaic or "
    "from such a file; to_chrome(path) writes any timeline"
)
_CLOCKS = {
    KernelClock.GLOBAL_TIMER: "placed in the profile by the GPU's global timer",
    KernelClock.KERNEL_START: (
        "placed where the kernel starts, because the GPU's global timer is not the profile's clock"
    ),
    KernelClock.APART: "on a clock of their own, because the profile does not have the kernel",
}


def notes(recording: Recording) -> tuple[str, ...]:
    """What a reader of on-device ranges needs to know: the clock, what recording took, how they were placed."""
    facts = recording.device_facts
    return tuple(note for group in facts if group.startswith(FACTS) for note in _notes(facts[group], recording.unit))


def _notes(facts: Mapping[str, Any], unit: TimeUnit) -> Iterator[str]:
    """Facts from a file may be of another version, or changed: what is not as it was written is not spoken of."""
    kernel = str(facts.get("kernel") or "the kernel")
    clock = _number(facts.get("sm_clock_hz"))
    if unit is TimeUnit.CYCLE:
        yield (
            f"The ranges of {kernel} are in cycles, because nobody gave the clock of the SMs (sm_clock=1.98e9, for "
            "example); those of two SMs are not compared."
        )
    elif clock is not None:
        yield f"The ranges of {kernel} count cycles, turned into time by an SM clock of {clock / 1e9:.4g} GHz."
    cycles, most = (_number(facts.get(name)) for name in ("overhead_cycles", "most_overhead_cycles"))
    if cycles is not None and most is not None:
        yield (
            f"Recording took about {plural(int(cycles), 'cycle')} for each entry and exit, which is subtracted: at "
            f"most {plural(int(most), 'cycle')} in one {facts.get('scope')}."
        )
    if facts.get("launch_known") is False:
        yield (
            f"Which block each {facts.get('scope')} belongs to is unknown: give grid= and block= of the launch to "
            "Timeline.from_mosaic."
        )
    if (place := facts.get("clock")) in list(KernelClock):
        yield f"The ranges of {kernel} are {_CLOCKS[KernelClock(str(place))]}."


def _number(value: Any) -> float | None:
    return value if type(value) in (int, float) else None

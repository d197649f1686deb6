"""The words of predicted timelines."""

from __future__ import annotations

from collections.abc import Mapping

from jaxstage_ext.analysis.predicted.replay import Drawn
from jaxstage_ext.analysis.predicted.steps import Role, Stream, TimeSource

MEMORY = "live buffers, arguments aside, by XLA's scheduler"
_LANES = {
    Stream.COMPUTE: "compute",
    Stream.COPY: "copies",
    Stream.COLLECTIVE: "collectives",
    Stream.BESIDE: "compute beside it",
}
_SOURCES = {
    TimeSource.XLA: "XLA's estimate",
    TimeSource.CYCLES: "XLA's estimated cycles",
    TimeSource.BOUND: "JAXStage's lower bound, since XLA gives no estimate",
    TimeSource.UNKNOWN: "unknown",
}


def lane(stream: Stream, number: int) -> str:
    """The name of a lane; what overlaps on a stream has several, counted from 0."""
    return f"{_LANES[stream]} {number + 1}" if number else _LANES[stream]


def details(drawn: Drawn) -> Mapping[str, str]:
    """What is said of one event beside its place and length."""
    step = drawn.step
    if drawn.is_marker:
        return {"time": f"what XLA counts for {'beginning' if step.role is Role.BEGIN else 'ending'} asynchronous work"}
    said = {"time": _SOURCES[step.by]}
    if step.role is Role.END:
        said["waited"] = f"{drawn.waited:.4g} µs at its end"
        if step.only_at_most:
            said["its own time"] = f"at most {step.latency:.4g} µs: other work hides all of it"
    return said | ({"runs": f"{drawn.times:g} times in one call; one is drawn"} if drawn.times != 1 else {})

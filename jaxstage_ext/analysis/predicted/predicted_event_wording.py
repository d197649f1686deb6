"""The words of predicted timelines."""

from __future__ import annotations

from collections.abc import Mapping

from jaxstage_ext.analysis.predicted.predicted_steps import EstimateSource, Role, Stream
from jaxstage_ext.analysis.predicted.replay import Drawn
from jaxstage_ext.report.text.units import duration

MEMORY = "live buffers, arguments aside, by XLA's scheduler"
_LANES = {
    Stream.COMPUTE: "compute",
    Stream.COPY: "copies",
    Stream.COLLECTIVE: "collectives",
    Stream.BESIDE: "compute beside it",
}
_SOURCES = {
    EstimateSource.XLA: "XLA's estimate",
    EstimateSource.CYCLES: "XLA's estimated cycles",
    EstimateSource.BOUND: "JAXStage's lower bound, since XLA gives no estimate",
    EstimateSource.UNKNOWN: "unknown",
}


def group(target: str) -> str:
    """Whose lanes they are."""
    return f"{target}, one device"


def lane(stream: Stream, number: int) -> str:
    """The name of a lane; what overlaps on a stream has several, counted from 0."""
    return f"{_LANES[stream]} {number + 1}" if number else _LANES[stream]


def details(drawn: Drawn) -> Mapping[str, str]:
    """What is said of one event beside its place and length."""
    step = drawn.step
    if step.branches:
        return {"branch": f"the longest of {step.branches} is drawn and counted"}
    if step.role is Role.LOOP:
        count = "an unknown number of" if step.count is None else f"{step.count:,}"
        return {"loop": f"one of {count} iterations is drawn"}
    if drawn.is_marker:
        return {"time": f"what XLA counts for {'beginning' if step.role is Role.BEGIN else 'ending'} asynchronous work"}
    said = {"time": _SOURCES[step.by]}
    if step.role is Role.END:
        said["waited"] = f"{duration(drawn.waited / 1e6)} at its end"
        if step.at_most is not None:
            said["its own time"] = (
                f"at most {duration(step.at_most / 1e6)}: other work hides all of it in XLA's schedule"
            )
    return said | ({"runs": f"{drawn.times:g} times in one call; one is drawn"} if drawn.times != 1 else {})

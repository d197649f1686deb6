"""What a reader has to know of how a profile was made, in sentences."""

from __future__ import annotations

from jaxstage_ext.profiling.capture.capture_facts import CaptureFacts, FirstRun
from jaxstage_ext.report.text.units import duration, plural

_FIRST = {
    FirstRun.DONATES: "The first run was profiled, because it donates arguments and a second run would not have them.",
    FirstRun.EFFECTS: "The first run was profiled, because it has side effects that a second run would repeat.",
    FirstRun.UNKNOWN: "The first run was profiled, because Python code may not be safe to run twice; --warm runs it "
    "once before.",
    FirstRun.ASKED: "The first run was profiled, as --cold asks.",
}
_NOTABLE, _MUCH = 0.05, 0.01


def sentences(facts: CaptureFacts) -> list[str]:
    """The sentences in the order in which views show them."""
    return [sentence for sentence in (_failed(facts), _first(facts), _eager(facts), *_host(facts)) if sentence]


def small_print(facts: CaptureFacts) -> list[str]:
    """What is said beside the timeline alone, as words without a full stop."""
    if facts.unsampled <= _MUCH * facts.seconds:
        return []
    unknown = duration(facts.unsampled)
    return [f"what the host ran is unknown for {unknown} (Python's lock was held, or the machine was busy)"]


def _failed(facts: CaptureFacts) -> str:
    if not facts.failed:
        return ""
    return f"The run ended with {facts.failed} after {duration(facts.seconds)}; what was recorded by then is shown."


def _first(facts: CaptureFacts) -> str:
    compiling = facts.compiling > _NOTABLE * facts.seconds
    if facts.first_run is FirstRun.LEFT_OUT or not (compiling or facts.first_run is not FirstRun.UNKNOWN):
        return _compiled(facts) if compiling else ""
    return " ".join(filter(None, (_compiled(facts) if compiling else "", _FIRST.get(facts.first_run, ""))))


def _compiled(facts: CaptureFacts) -> str:
    modules = f", {plural(facts.compiled, 'module')}" if facts.compiled else ""
    return f"JAX compiled for {duration(facts.compiling)} of {duration(facts.seconds)}{modules}."


def _eager(facts: CaptureFacts) -> str:
    if not facts.eager:
        return ""
    return f"It mostly ran op by op ({facts.eager:,} operations outside jax.jit); jax.jit compiles them as one program."


def _host(facts: CaptureFacts) -> list[str]:
    written = []
    if facts.python:
        written.append("Every Python call was traced, which makes the host slower than it is.")
    if not facts.command_buffers:
        written.append("Command buffers are off, so that kernels have names; this changes the timing.")
    return written

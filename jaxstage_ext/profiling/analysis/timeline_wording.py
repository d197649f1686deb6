"""What a timeline says in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxstage_ext.profiling.analysis.headline import Bound, Headline
from jaxstage_ext.profiling.analysis.host_activity import HostCause, HostDoing
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as predicted_wording
from jaxstage_ext.profiling.recorded_modules import COMMAND_BUFFER
from jaxstage_ext.report.recording import Lost
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import duration, plural
from jaxstage_ext.report.text.units import share as percent

NO_DEVICE_WORK = "Nothing ran on a device, as far as the profiler recorded."
NO_DEVICE_WORK_KEPT = "No work of a device is among the events that were kept; others of this profile are missing."

_MOSTLY = 0.5
_SMALL = 0.005
_LONGEST = 60
_FETCHES = "fetches input: it "
_WORTH_SAYING = 0.05
_DOES = {
    HostCause.LAUNCH: "launches work",
    HostCause.WAIT: "waits for results",
    HostCause.HOST: "is in the runtime",
    HostCause.COMPILE: "compiles",
    HostCause.UNKNOWN: "does something unknown",
}


def sentence(headline: Headline) -> str:
    """The line that takes the time, whether the devices idle, and what the host does then; that nothing ran."""
    if headline.predicted is not None:
        return f"{predicted_wording.banner(headline.predicted.prediction)} {findings_of_prediction(headline)}".rstrip()
    if headline.bound is Bound.NOTHING:
        return NO_DEVICE_WORK
    if headline.bound is Bound.CUT:
        return NO_DEVICE_WORK_KEPT
    if headline.bound is Bound.RANGES:
        who = plural(headline.recorders, "warp or warpgroup", "warps or warpgroups")
        return (
            f"{_shortened(headline.op)} takes {percent(headline.op_share)} of the time in ranges that {who} recorded."
        )
    parts = [f"{_leading(headline)}; {_idle(headline)}."]
    if headline.repeated and headline.idle >= _MOSTLY and not headline.unfinished:
        parts.append(_repeated(headline))
    if headline.unrecorded >= _WORTH_SAYING:
        parts.append(_unrecorded(headline))
    if headline.exposed_collective >= _WORTH_SAYING:
        parts.append(f"Collectives that no compute hides take {percent(headline.exposed_collective)} of the time.")
    if headline.exposed_copy >= _WORTH_SAYING:
        parts.append(f"Copies that no compute hides take {percent(headline.exposed_copy)} of the time.")
    if headline.line and headline.attributed < 1 - _SMALL:
        parts.append(f"{percent(1 - headline.attributed)} of the device time has no source line.")
    return " ".join(parts)


def findings_of_prediction(headline: Headline) -> str:
    """Of a prediction the line that takes the time, and what is exposed; "" of anything else."""
    if headline.predicted is None:
        return ""
    if headline.bound is Bound.NOTHING:
        return predicted_wording.NO_WORK
    said = (predicted_wording.longest(headline.predicted), predicted_wording.exposed(headline.predicted))
    return " ".join(filter(None, said))


def _repeated(headline: Headline) -> str:
    return (
        f"Each step calls {headline.repeated} {headline.calls:,} times from Python: with that loop inside one jax.jit "
        "function, as jax.lax.scan or fori_loop, it is one call."
    )


def _unrecorded(headline: Headline) -> str:
    return (
        f"For {percent(headline.unrecorded)} of the time the program runs on the CPU and XLA records no event: "
        "what it computes then is unknown."
    )


def _leading(headline: Headline) -> str:
    if headline.line:
        library = " (a library line)" if headline.is_library else " (inferred)" if headline.is_inferred else ""
        if headline.is_least:
            most = ", more than any other line that has events" if headline.may_trail else ""
            return (
                f"{headline.line}{library} takes at least {percent(headline.line_share)} of the time that the program "
                f"runs{most}"
            )
        return f"{headline.line}{library} takes {percent(headline.line_share)} of {_busy(headline)}"
    if headline.op:
        takes = f"{_shortened(headline.op)} takes {percent(headline.op_share)} of {_busy(headline)}"
        return f"{takes}, its source line is unknown{_of_buffer(headline.op)}"
    return "which line takes the time is unknown"


def _of_buffer(op: str) -> str:
    """What names the kernels of a command buffer, where nothing else does."""
    if not op.startswith(COMMAND_BUFFER):
        return ""
    magic = typed(", as %profile --command-buffers off does", "")
    return f"; XLA names its kernels where xla_gpu_enable_command_buffer= is set{magic}"


def _busy(headline: Headline) -> str:
    return "the recorded busy time" if headline.unfinished else "the busy time"


def _shortened(name: str) -> str:
    return shortened(name, _LONGEST)


def _idle(headline: Headline) -> str:
    if headline.unfinished:
        return "how long devices idle is unknown, because programs still ran when the recording ended"
    who = "the device" if headline.devices == 1 else f"the {headline.devices:,} devices"
    verb = "idles" if headline.devices == 1 else "idle"
    if headline.idle < _SMALL:
        return f"{who} never {verb}" if not headline.idle else f"{who} {verb} less than 1%"
    share = f"{percent(headline.idle)}" if headline.idle < 1 - _SMALL else "more than 99%"
    return f"{who} {verb} {share}{_gaps(headline)}{_cause(headline)}"


def _gaps(headline: Headline) -> str:
    if headline.bound is not Bound.LAUNCH:
        return ""
    return f" in {plural(headline.gaps, 'gap')} of {duration(headline.typical_gap)} (median) between kernels"


def _cause(headline: Headline) -> str:
    done = headline.doing
    if done.cause is HostCause.UNKNOWN:
        return ", and what the host does then is unknown"
    share = "mostly" if done.share >= _MOSTLY else f"{percent(done.share)} of that"
    at = f" ({headline.host_line})" if headline.host_line and (done.line is None or done.line.code) else ""
    if done.cause is HostCause.LINE and not (done.line and done.line.code):
        return f", {share} while the host is at {headline.host_line or _shortened(done.name.removeprefix('$'))}"
    if done.cause is HostCause.WAIT:
        return f", {share} while the host {doing(done)}{at}, so the host's main thread is not the cause"
    return f", {share} while the host {_FETCHES if done.is_input and not done.is_asker else ''}{doing(done)}{at}"


def doing(done: HostDoing) -> str:
    """What the host does: `runs next(batches)`, `waits in BlockUntilReady`, `compiles`."""
    if done.cause is HostCause.LINE:
        code = done.line.code if done.line is not None else ""
        return f"runs {code}" if code else f"runs {_shortened(done.name.removeprefix('$'))}"
    if done.cause is HostCause.WAIT:
        return f"waits in {done.line.code}" if done.line is not None and done.line.code else _DOES[done.cause]
    return f"{_DOES[done.cause]} ({_shortened(done.name)})" if done.name else _DOES[done.cause]


NO_HOST_LINE = "the profile has no line of Python for it; profile with --python to have them"
NO_HOST_EVENT = "the profile has no event of the host's main thread then"
NO_GAPS = "The devices are never idle."
OWN_STEPS = ""
NO_STEPS = "The profile has no steps: a row is one run of an XLA module."
NO_COMPILES = "Nothing was traced or compiled while the profiler recorded."


def loss(lost: Lost) -> str:
    """Why events are missing or uncertain, and where."""
    return f"{lost.loss.value}{f' ({lost.where})' if lost.where else ''}"


def losses(lost: Sequence[Lost], most: int = 8) -> Iterator[str]:
    """What is missing or uncertain, a sentence each; how many more there are, where that is more than `most`."""
    for each in lost[:most]:
        count = "an unknown number of events" if each.count is None else plural(each.count, "event")
        yield f"{count}: {loss(each)}"
    if len(lost) > most:
        yield f"{plural(len(lost) - most, 'more loss', 'more losses')} like these"


def coverage(kept: int, total: int, attributed: float, has_work: bool, unrecorded: float = 0.0) -> str:
    """How much of the profile is shown, and how much of the op time has a source line."""
    events = f"kept {kept:,} of {total:,} events"
    if not has_work:
        return events
    of = "the recorded device time" if unrecorded else "device time"
    without = f"; {duration(unrecorded)} of work has no event" if unrecorded else ""
    return f"{events}, attributed {percent(attributed)} of {of} to source lines{without}"


def without_event(unrecorded: float) -> str:
    """What the times of a table leave out."""
    return f"XLA recorded no event for {duration(unrecorded)} in which the program ran on the CPU."

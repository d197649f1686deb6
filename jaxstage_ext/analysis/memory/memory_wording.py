"""What is said of a program's memory, in words: the only sentences of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaxstage_ext.analysis.memory import contents
from jaxstage_ext.analysis.memory.buffers import Kind, ScheduledBuffers
from jaxstage_ext.analysis.memory.entry_values import Donation
from jaxstage_ext.analysis.memory.fit import DeviceMemory, Fit, Verdict
from jaxstage_ext.analysis.memory.memory_advice import Advice, Suggestion
from jaxstage_ext.analysis.memory.memory_checks import Check, Difference, Figure
from jaxstage_ext.analysis.memory.spaces import Space
from jaxstage_ext.report.units import plural, scaled

DONATIONS = {
    Donation.NOT_DONATED: "not donated",
    Donation.USED: "donated and used",
    Donation.UNUSED: "donation unused",
    Donation.ALIASED: "not donated, but its memory is used",
    Donation.PRUNED: "unused, pruned by JAX",
    Donation.DONATED_PRUNED: "donation unused: the argument was pruned by JAX",
}
SUGGESTIONS = {
    Suggestion.RESIDUALS: "Residuals of the backward pass",
    Suggestion.NOT_DONATED: "Not donated",
    Suggestion.DONATION_UNUSED: "Donation unused",
    Suggestion.PADDING: "Padding",
    Suggestion.GAPS: "Gaps between buffers",
    Suggestion.CONSTANTS: "Captured constants",
}
FIGURES = {Figure.RESERVED: "reserved", Figure.PEAK: "peak"}
NO_STATS = "XLA gave no figures of its own."
NO_STAT = "this version of XLA does not give this figure"
PRUNED = "pruned by JAX: the function does not use it, so it never reaches the device"
UNNAMED = "no Python name refers to it"
NO_LINE = "no source line is recorded"
NOT_TRACED = "what the backward pass keeps is unknown: the function was not traced here"
RECOMPUTED = (
    "Residuals are what the forward pass leaves for the backward pass, by the jaxpr. They are not the peak: what is "
    "not kept is recomputed and live again in the backward pass. Compile a policy to see its peak."
)
NO_TRIALS = "this program was not staged here, so it cannot be compiled with a policy"
AS_WRITTEN = "as written"


def fit(fit: Fit, device: DeviceMemory) -> str:
    """Whether a program fits on its device, in one sentence."""
    needed = scaled(fit.needed, "B")
    if fit.room is None:
        if fit.verdict is Verdict.COMPILED:
            return f"Fits: it needs {needed}; libtpu refuses what does not fit, and it compiled this."
        return f"Whether it fits is unknown: it needs {needed}; {device.reason}."
    room = scaled(fit.room, "B")
    if fit.verdict is Verdict.REFUSED:
        share = f"{fit.needed / fit.room:.0%}"
        return f"Does not fit: it needs {needed}, {share} of the {room} that libtpu gives a program on {device.title}."
    head = "Fits" if fit.fits else "Does not fit"
    text = f"{head}: it needs {needed} of the {room} of {device.title} ({_share(fit.needed, fit.room)})"
    if fit.exceeds_preallocation:
        text += "; JAX preallocates only 75% of a GPU's memory unless you set XLA_PYTHON_CLIENT_MEM_FRACTION"
    return text + "."


def _share(needed: int, room: int) -> str:
    share = needed / room
    if share >= 10:
        return f"{share:,.0f} times as much"
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.001 else "under 0.1%"


def advice(advice: Advice, scheduled: ScheduledBuffers) -> str:
    """How to save the memory that a suggestion concerns."""
    names, largest = _some(advice.names), advice.largest
    if advice.kind is Suggestion.RESIDUALS and largest:
        most = f"; {advice.line} keeps the most ({scaled(largest.bytes, 'B')})" if advice.line else ""
        return f"Use jax.checkpoint to recompute values in the backward pass{most}."
    if advice.kind is Suggestion.NOT_DONATED:
        return f"Donate {names}: results of the same shape could reuse the memory."
    if advice.kind is Suggestion.DONATION_UNUSED:
        return f"No result has the shape of {names}."
    if advice.kind is Suggestion.PADDING and largest:
        name = contents.title(scheduled, largest.value) or "an unnamed buffer"
        value = f"{name} {contents.shape(scheduled, largest.value)}"
        size = f"{scaled(largest.bytes, 'B')} of {scaled(largest.whole, 'B')}"
        return f"Tiles are padded to their full size; {value.strip()} wastes the most, {size}."
    if advice.kind is Suggestion.CONSTANTS:
        return f"Pass {names or 'them'} as arguments."
    return "Reserved, but not live at the peak."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def check(check: Check) -> str:
    """Why a figure differs from XLA's; "" where they agree."""
    if check.difference is Difference.NONE:
        return ""
    ours, xla = scaled(check.ours, "B"), scaled(check.xla or 0, "B")
    why = {
        Difference.UNEXPLAINED: "the reason is unknown",
        Difference.NO_TEMPORARIES: "on CPU, XLA's leaves out all temporaries",
        Difference.OTHER_MEMORY: f"XLA adds the temporaries of {check.other} to what {check.own} holds throughout",
        Difference.UNTRACED: "XLA's leaves out temporaries whose live ranges it does not record",
    }[check.difference]
    return f"{FIGURES[check.figure].capitalize()}: XLA says {xla}, JAXStage {ours}; {why}."


def why_live(kind: Kind, names: Sequence[str], donated: bool, traced: bool, last_reader: str | None) -> str:
    """Why a buffer is live, in a few words; `last_reader` is the instruction that reads it last."""
    if kind is Kind.ARGUMENT:
        return f"{', '.join(names)}, donated" if donated else ", ".join(names)
    if kind is Kind.OUTPUT:
        return ", ".join(names) or "result"
    if last_reader is None:
        return kind.title if traced else "XLA records no live range for it"
    return f"kept for the backward pass, until {last_reader}" if kind is Kind.RESIDUAL else f"until {last_reader}"


def moment(space: Space, instruction: str) -> str:
    """How much of a memory is reserved and how much is live at its peak; `instruction` runs then, "" unknown."""
    reserved, peak = scaled(space.reserved, "B"), scaled(space.peak, "B")
    return f"{space.name}: {reserved} reserved; peak of {peak} live" + (f" at {instruction}" if instruction else "")


class Taken(NamedTuple):
    """What a compiled program takes: live bytes at its peak, known FLOPs, and instructions whose FLOPs are unknown."""

    peak: int
    flops: float
    unknown: int


def trial(policy: str, taken: Taken, written: Taken | None) -> str:
    """What a program compiled with a checkpoint policy takes, beside the program as written."""
    head = f"{policy or AS_WRITTEN}: peak of {scaled(taken.peak, 'B')}"
    if written is None:
        return f"{head}, {_flops(taken)}."
    more = taken.flops - written.flops
    change = "" if taken.unknown or written.unknown or not written.flops else f", {more / written.flops:+.1%}"
    before = f"{scaled(written.peak, 'B')} and {_flops(written)} {AS_WRITTEN}"
    return f"{head}, {_flops(taken)} ({before}{change})."


def _flops(taken: Taken) -> str:
    return ("at least " if taken.unknown else "") + scaled(taken.flops, "FLOP")


def not_compiled(policy: str) -> str:
    """Why the peak under a policy is unknown."""
    return f"not compiled yet: .memory.with_policy({policy!r})" if policy else "not counted yet"


def flops_unknown(count: int) -> str:
    """Why what is recomputed is unknown."""
    return f"the FLOPs of {plural(count, 'instruction')} are unknown"


def residuals(saved: int, read: int) -> str:
    """How many bytes the backward pass keeps."""
    kept, arguments = scaled(saved, "B"), scaled(read, "B")
    return f"Kept for the backward pass: {kept}, and {arguments} of arguments, which are live anyway."

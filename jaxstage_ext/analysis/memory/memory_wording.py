"""What is said of a program's memory, in words: the only sentences of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.memory import contents
from jaxstage_ext.analysis.memory.buffers import Kind, ScheduledBuffers
from jaxstage_ext.analysis.memory.entry_values import Donation
from jaxstage_ext.analysis.memory.fit import GPU_SHARE, DeviceMemory, Fit, FitVerdict
from jaxstage_ext.analysis.memory.memory_advice import MemoryAdvice, Suggestion
from jaxstage_ext.analysis.memory.memory_checks import Check, CheckDifference, CheckedFigure
from jaxstage_ext.analysis.memory.spaces import Space
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.text.units import share as percent

DONATIONS = {
    Donation.NOT_DONATED: "not donated",
    Donation.USED: "donated and used",
    Donation.UNUSED: "donation unused",
    Donation.ALIASED: "not donated, but its buffer is reused",
    Donation.PRUNED: "unused, pruned by JAX",
    Donation.DONATED_PRUNED: "donation unused: the argument was pruned by JAX",
}
SUGGESTIONS = {
    Suggestion.RESIDUALS: "Residuals live at the peak",
    Suggestion.NOT_DONATED: "Not donated",
    Suggestion.DONATION_UNUSED: "Donation unused",
    Suggestion.DONATION_TAKEN: "Donation unused",
    Suggestion.DONATION_LEFT: "Donation unused",
    Suggestion.PADDING: "Padding",
    Suggestion.GAPS: "Gaps between buffers",
    Suggestion.CONSTANTS: "Captured constants",
}
FIGURES = {CheckedFigure.RESERVED: "total allocation", CheckedFigure.PEAK: "peak"}
FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"
"""The environment variable that sets the share of a GPU's memory that JAX takes."""
NO_STATS = "XLA gave no figures of its own."
NO_STAT = "this version of XLA does not give this figure"
PRUNED = "pruned by JAX: the function does not use it, so it never reaches the device"
UNNAMED = "no Python name refers to it"
NO_LINE = "no source line is recorded"
NOT_TRACED = "what the backward pass keeps is unknown: the function was not traced here"
RECOMPUTED = (
    "Residuals are the values that the forward pass saves for the backward pass, as counted on the jaxpr. They are not "
    "the peak: values that are not saved are recomputed and live again in the backward pass. "
    "Compile a policy to see its peak."
)
NO_TRIALS = "JAX did not trace this program here, so it cannot be compiled with a change; inspect the function itself"
AS_WRITTEN = "as written"
_USUAL = "dots_saveable"
_WORTH_SAYING = 0.005


def fit(fit: Fit, device: DeviceMemory) -> str:
    """Whether a program fits on its device, in one sentence."""
    if fit.verdict is FitVerdict.REFUSED:
        return f"Does not fit: {_refused(fit, device)}."
    needs = _needs(fit)
    if fit.verdict is FitVerdict.COMPILED:
        return f"Fits: {f'it {needs}; ' if needs else ''}libtpu refuses what does not fit, and it compiled this."
    if fit.verdict is FitVerdict.UNKNOWN:
        return f"Whether it fits is unknown: {f'it {needs}; ' if needs else ''}{fit.reason}."
    share = _share((fit.bound if fit.needed is None else fit.needed) or 0, fit.room or 1)
    of_room = f"it {needs} of the {scaled(fit.room or 0, 'B')} of {device.title} ({share})"
    if fit.verdict is FitVerdict.FITS_IN_MORE:
        return f"Fits only with {setting(fit)}: {of_room}, of which JAX takes {GPU_SHARE:.0%} by default."
    return f"{'Fits' if fit.fits else 'Does not fit'}: {of_room}."


def _needs(fit: Fit) -> str:
    """How much memory a program needs; "" unknown."""
    if fit.needed is not None:
        return f"needs {scaled(fit.needed, 'B')}"
    return "" if fit.bound is None else f"needs at {'most' if fit.fits else 'least'} {scaled(fit.bound, 'B')}"


def setting(fit: Fit) -> str:
    """The setting of JAX that gives a program the memory of a GPU that it needs."""
    return f"{FRACTION}={fit.fraction or 0:.2f}".replace("=0.", "=.")


def _refused(fit: Fit, device: DeviceMemory) -> str:
    room = f"the {scaled(fit.room or 0, 'B')} that libtpu gives a program on {device.title}"
    if fit.needed is None:
        return f"libtpu refused it, which needs more than {room}"
    return f"it needs {scaled(fit.needed, 'B')}, {percent(fit.needed / (fit.room or 1))} of {room}"


def share_of_room(fit: Fit) -> str:
    """How much of the device's memory a program needs; "" where that is unknown."""
    if fit.needed is None or not fit.room:
        return ""
    share = _share(fit.needed, fit.room)
    part = f"{share} as the device has" if share.endswith("much") else f"{share} of the device's memory"
    return f"{part}; {setting(fit)}" if fit.verdict is FitVerdict.FITS_IN_MORE else part


def _share(needed: int, room: int) -> str:
    share = needed / room
    if share >= 10:
        return f"{share:,.0f} times as much"
    return percent(share)


def advice(
    advice: MemoryAdvice, scheduled: ScheduledBuffers, title: Callable[[int], str | None], can_try: bool = True
) -> str:
    """How to save the memory that a suggestion concerns; `title` names a value. `can_try`: whether it can be tried."""
    names, largest = _some(advice.names), advice.largest
    if advice.kind is Suggestion.RESIDUALS and largest:
        most = f"{advice.line} keeps the most ({scaled(largest.bytes, 'B')}). " if advice.line else ""
        return f"{most}{_not_tried('What jax.checkpoint saves', '.memory.with_policy(' + repr(_USUAL) + ')', can_try)}"
    if advice.kind is Suggestion.NOT_DONATED:
        asked = ", ".join(map(repr, advice.asked))
        what = f"Results have the shape and dtype of {names}"
        return f"{what}; {_not_tried('what donating saves', f'.memory.with_donation({asked})', can_try)}"
    if advice.kind is Suggestion.DONATION_UNUSED:
        return f"No result has the shape and dtype of {names}."
    if advice.kind is Suggestion.DONATION_TAKEN:
        return f"Every result with the shape and dtype of {names} reuses the memory of {_some(advice.others)}."
    if advice.kind is Suggestion.DONATION_LEFT:
        return f"A result has the shape and dtype of {names}, but XLA did not reuse the memory."
    if advice.kind is Suggestion.PADDING and largest:
        name = title(largest.value) or "an unnamed buffer"
        value = f"{name} {contents.shape(scheduled, largest.value)}"
        size = f"{scaled(largest.bytes, 'B')} of {scaled(largest.whole, 'B')}"
        return f"Tiles are padded to their full size; {value.strip()} wastes the most, {size}."
    if advice.kind is Suggestion.CONSTANTS:
        return f"Held by the program, beside the kernel's own{f': {names}' if names else ''}."
    return "Reserved, but not live at the peak."


def _not_tried(what: str, call: str, can_try: bool) -> str:
    return f"{what} is not computed yet: {call} compiles it." if can_try else f"{what} is unknown: {NO_TRIALS}."


def _some(names: Sequence[str]) -> str:
    return some(names, 3)


def check(check: Check) -> str:
    """Why a figure differs from XLA's; "" where they agree."""
    if check.difference is CheckDifference.NONE:
        return ""
    ours, xla = scaled(check.ours, "B"), scaled(check.xla or 0, "B")
    why = {
        CheckDifference.UNEXPLAINED: "the reason is unknown",
        CheckDifference.NO_TEMPORARIES: "on CPU, XLA's leaves out all temporaries",
        CheckDifference.OTHER_MEMORY: f"XLA adds the temporaries of {check.other} to what {check.own} holds throughout",
        CheckDifference.HELD_ELSEWHERE: f"XLA adds what is held in {check.other}",
        CheckDifference.EMBEDDED: "XLA's leaves out the constants inside fusions",
        CheckDifference.UNTRACED: "XLA's leaves out temporaries whose live ranges it does not record",
    }[check.difference]
    return f"{FIGURES[check.figure].capitalize()}: XLA says {xla}, JAXStage {ours}; {why}."


GIVEN = "given by the caller"
"""Why an argument is live whose buffer has its name."""


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


class NeededAndMoved(NamedTuple):
    """What a compiled program needs of the device's own memory, and the bytes that it moves."""

    needed: int
    moved: WorkRange


def donation_trial(names: Sequence[str], now: NeededAndMoved, before: NeededAndMoved, unused: Sequence[str]) -> str:
    """What donating arguments does, by the compiled program beside the one as written."""
    needs = f"it needs {scaled(now.needed, 'B')} ({AS_WRITTEN}: {scaled(before.needed, 'B')})"
    if not names:
        return f"{AS_WRITTEN}: {scaled(before.needed, 'B')} needed, {cost_wording.work(before.moved, 'B')} moved."
    is_known = all(one.moved.is_exact and one.moved.counted for one in (now, before))
    change = now.moved.counted / before.moved.counted - 1 if is_known else 0.0
    moves = f" and moves {change:+.0%} bytes" if abs(change) >= _WORTH_SAYING else ""
    rest = f" No result takes the memory of {_some(unused)}." if unused else ""
    saved = before.needed - now.needed
    if saved > _WORTH_SAYING * before.needed:
        return f"Donate {_some(names)}: {needs}{moves}.{rest}"
    return f"Donating {_some(names)} saves {_little(saved)}: {needs}{moves}.{rest}"


def _little(saved: int) -> str:
    """What is saved where that is no reason to change anything."""
    return f"only {scaled(saved, 'B')}" if saved > 0 else "nothing"


def checkpoint_trial(policy: str, taken: PolicyCost, written: PolicyCost) -> str:
    """What `jax.checkpoint` with the best policy that was compiled does."""
    saved = written.peak - taken.peak
    if saved > _WORTH_SAYING * written.peak:
        return f"Use jax.checkpoint: {trial(policy, taken, written)}"
    return f"jax.checkpoint saves {_little(saved)}. {trial(policy, taken, written)}"


class PolicyCost(NamedTuple):
    """What a compiled program takes: live bytes at its peak, and FLOPs."""

    peak: int
    work: WorkRange


def trial(policy: str, taken: PolicyCost, written: PolicyCost | None = None) -> str:
    """What a program compiled with a checkpoint policy takes, beside the program as written."""
    head = f"{policy or AS_WRITTEN}: {_taken(taken)}"
    if written is None:
        return f"{head}."
    is_known = all(work.least == work.most and work.counted for work in (taken.work, written.work))
    change = f", {taken.work.counted / written.work.counted - 1:+.1%}" if is_known else ""
    return f"{head} ({AS_WRITTEN}: {_taken(written)}{change})."


def _taken(taken: PolicyCost) -> str:
    return f"peak of {scaled(taken.peak, 'B')}, {cost_wording.work(taken.work, 'FLOP')}"


def not_compiled(policy: str) -> str:
    """Why the peak under a policy is unknown."""
    return f"not compiled yet: .memory.with_policy({policy!r})" if policy else "not counted yet"


def flops_open(work: WorkRange) -> str:
    """Why FLOPs are not one figure."""
    return f"{cost_wording.work(work, 'FLOP')}: {cost_wording.work_reasons(work, 'FLOP')}"


def residuals(saved: int, read: int) -> str:
    """How many bytes the backward pass keeps."""
    kept, arguments = scaled(saved, "B"), scaled(read, "B")
    return f"Kept for the backward pass: {kept}, and {arguments} of arguments, which are live anyway."

"""What is said of a Timing, in words."""

from __future__ import annotations

import math

from jaxstage_ext.profiling.timing.run_times import RunTimes
from jaxstage_ext.profiling.timing.timing_modes import Noise, TimeSource, TimingMode
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.units import duration, plural, rounded, scaled
from jaxstage_ext.report.text.units import share as percent

_MODES = {
    TimingMode.KERNELS: "sum of kernel times, gaps left out",
    TimingMode.SPAN: "first kernel's start to last kernel's end, gaps in",
    TimingMode.WALL: "host clock, until the outputs are ready",
}
_CPU_MODES = {
    TimingMode.KERNELS: "sum of the times of XLA's ops on all threads; ops may run at the same time",
    TimingMode.SPAN: "first op's start to last op's end, gaps in",
}
_SOURCES = {TimeSource.DEVICE_TRACE: "by the profiler's device trace"}
_KERNELS_SHOWN = 30


def of_mode(mode: TimingMode, source: TimeSource | None = None) -> str:
    """What a mode measures."""
    return _CPU_MODES.get(mode, _MODES[mode]) if source is TimeSource.CPU_TRACE else _MODES[mode]


def text(timing: RunTimes) -> str:
    """The figures on one line, what they do not hold on the next, then a warning and kernels, where there are any."""
    lines = [f"{timing.title}: {figures(timing)}", f"  {quantity(timing)}; not counted: {apart(timing)}"]
    if said := warning(timing):
        lines.append(f"  {said}")
    return "\n".join([*lines, *_kernels(timing)])


def figures(timing: RunTimes) -> str:
    """`wall median 3.05 ms ± 0.04 ms (95%), quartiles 2.9 ms to 3.2 ms, minimum 2.51 ms, 57 runs`."""
    low, high = timing.quartiles
    sure = "" if timing.uncertainty is None else f" ± {scaled(timing.uncertainty, 's')} (95%)"
    parts = [
        f"{timing.mode} median {scaled(timing.median, 's')}{sure}",
        f"quartiles {scaled(low, 's')} to {scaled(high, 's')}",
        f"minimum {scaled(timing.minimum, 's')}",
        plural(timing.runs, "run"),
    ]
    return ", ".join(parts)


def quantity(timing: RunTimes) -> str:
    """What was measured, on what, and by what."""
    source = f", {_SOURCES[timing.source]}" if timing.source in _SOURCES else ""
    return f"{timing.mode} on {timing.device}: {of_mode(timing.mode, timing.source)}{source}"


def apart(timing: RunTimes) -> str:
    """What no run holds."""
    compiled = timing.compile_seconds
    parts = ["no compiling (it was compiled before)" if compiled is None else f"compiling {duration(compiled)}"]
    if timing.warm_up:
        more = len(timing.warm_up) - 1
        parts.append(f"first run {duration(timing.warm_up[0])}" + (f", {plural(more, 'warm-up run')}" if more else ""))
    return ", ".join(parts)


def warning(timing: RunTimes) -> str:
    """Why the figures cannot be relied upon; "" where they can."""
    interrupted = "Interrupted: these are the runs until then. " if timing.interrupted else ""
    noise = {
        Noise.NONE: "",
        Noise.TOO_FEW_RUNS: f"Too few runs ({timing.runs}) to state an uncertainty; give more time or runs.",
        Noise.WIDE_INTERVAL: f"Too noisy: the median is only known within {_uncertain(timing)}; close other programs, "
        "or give more time.",
        Noise.DRIFT: "Unsteady: later runs differ from earlier ones by more than the runs do; the machine's clock or "
        "load changed, or the function keeps state.",
    }[timing.noise]
    same = "" if timing.same_kernels else "Runs started different kernels; times are by name. "
    return f"{interrupted}{same}{noise}".strip()


def _uncertain(timing: RunTimes) -> str:
    share = (timing.uncertainty or 0.0) / timing.median if timing.median else math.inf
    return percent(share) if math.isfinite(share) else "an unknown share"


def html(timing: RunTimes) -> str:
    """The text as one block; nothing in it is markup."""
    return markup.block(map(markup.said, text(timing).split("\n")), wraps=True)


def _kernels(timing: RunTimes) -> list[str]:
    """The kernels by name, the longest first, each with its total in a run and how often it is started."""
    totals: dict[str, list[float]] = {}
    for kernel in timing.kernels or ():
        totals.setdefault(kernel.name, []).append(kernel.milliseconds / 1e3)
    ordered = sorted(totals.items(), key=lambda item: -sum(item[1]))
    lines = [
        f"  {scaled(sum(times), 's'):>10}  {name}" + (f" (started {len(times):,} times)" if len(times) > 1 else "")
        for name, times in ordered[:_KERNELS_SHOWN]
    ]
    more = len(ordered) - _KERNELS_SHOWN
    return [*lines, f"  and {plural(more, 'more kernel')}"] if more > 0 else lines


def different_modes(first: TimingMode, second: TimingMode) -> str:
    """Why two Timings cannot be compared."""
    return (
        f"{first} and {second} are different quantities ({_MODES[first]}; {_MODES[second]}); measure both with the "
        "same mode"
    )


def comparison(mode: TimingMode, times: float, low: float, high: float) -> str:
    """`1.25 times as fast by wall median (1.2 to 1.31)`."""
    ratio = f"{rounded(times)} times as fast by {mode} median"
    if math.isnan(low):
        return f"{ratio}; too few runs to say how sure that is"
    spread = f"{rounded(low)} to {rounded(high)}"
    return f"no clear difference by {mode} median ({spread})" if low <= 1 <= high else f"{ratio} ({spread})"

"""What is said of measured times."""

from __future__ import annotations

from jaxstage_ext.report.text.typed_forms import typed

NO_TIMES = "Unknown: the file has no times, and a module out of a file is not run here."
NO_RUNS = "the profile does not say how often the module ran"
NOT_SEEN = "the profile has no event of the module"
NO_EVENT = "the profile has no event of this instruction"
NO_FLOPS = "its FLOPs are unknown"
NO_BYTES = "its bytes are unknown"
NO_ROOF = "the least time that the device can take for it is unknown"
NOT_COUNTED = "a profile times operations; it does not count their work"
TIME_OF_HLO = "the lower bound by the device's peaks is that of the roofline"
TIME_OF_XLA = "XLA gives no time"


def not_measured(name: str, other_target: str = "") -> str:
    """What measures a program that was not profiled; what runs for it where it was compiled for another target."""
    how = _profiling(name)
    if other_target:
        return f"Not measured: nothing was run on {other_target}. {how} measures it on this machine's own devices."
    return f"Not measured; {how} measures it."


def not_profiled(name: str, is_file: bool = False, other_target: str = "") -> str:
    """Why a program has no timeline, and what makes one; a module out of a file has nothing that could run."""
    if is_file:
        return f"{name} is a module out of a file, which is not run here, so it has no profile"
    if other_target:
        return f"nothing was run on {other_target}; {_profiling(name)} profiles {name} on this machine's own devices"
    return f"{name} was not profiled; run {_profiling(name)}"


def _profiling(name: str) -> str:
    """The magic, or the function, with the call, where the function has a name that can be typed."""
    if all(map(str.isidentifier, name.split("."))):
        return typed(f"%profile {name}(...)", f"jaxstage_ext.profile({name}, ...)")
    return typed("%profile with its call", "jaxstage_ext.profile with its call")


def runs(count: int) -> str:
    """What a measured time is the mean of."""
    return f"Measured times are device time per run, the mean of {count:,} {'run' if count == 1 else 'runs'}."

"""A measured function."""

from dataclasses import replace

from wordings import constants

from jaxstage_ext.profiling.timing import timing_wording as wording
from jaxstage_ext.profiling.timing.run_times import KernelTime, RunTimes
from jaxstage_ext.profiling.timing.timing_modes import Noise, TimeSource, TimingMode

STEADY = tuple(3e-3 + n % 5 * 1e-6 for n in range(57))
WIDE, DRIFT = (1e-3, 3e-3) * 10, tuple(1e-3 + n * 1e-4 for n in range(30))
ONE = RunTimes("step", TimingMode.WALL, TimeSource.HOST_CLOCK, "CPU", STEADY)
SAMPLES = {Noise.NONE: STEADY, Noise.TOO_FEW_RUNS: STEADY[:3], Noise.WIDE_INTERVAL: WIDE, Noise.DRIFT: DRIFT}
NOISY = {noise: replace(ONE, samples=samples) for noise, samples in SAMPLES.items()}
assert [timing.noise for timing in NOISY.values()] == list(Noise)
KERNELS = tuple(KernelTime((f"fusion_{n % 32}", 1.0)) for n in range(33))
SAID = {
    **constants(wording),
    **{f"{mode.name} by {source.name}": wording.of_mode(mode, source) for mode in TimingMode for source in TimeSource},
    "by the host's clock": wording.text(ONE),
    "as HTML": wording.html(ONE),
    "compiled, with a first run": wording.text(replace(ONE, compile_seconds=1.25, warm_up=(4e-3,))),
    "compiled, with more runs before": wording.text(replace(ONE, compile_seconds=1.25, warm_up=(4e-3, 4e-3, 4e-3))),
    **{f"by {source.name}": wording.quantity(replace(ONE, source=source)) for source in TimeSource},
    **{f"noise: {noise.name}": wording.text(timing) for noise, timing in NOISY.items()},
    "a median of zero": wording.warning(replace(ONE, samples=(0.0,) * 10 + (1.0,) * 9)),
    "interrupted, other kernels": wording.warning(replace(ONE, interrupted=True, same_kernels=False)),
    "kernels": wording.text(replace(ONE, kernels=KERNELS)),
    "another mode": wording.different_modes(TimingMode.KERNELS, TimingMode.WALL),
    "faster": wording.comparison(TimingMode.WALL, 1.25, 1.2, 1.31),
    "no difference": wording.comparison(TimingMode.WALL, 1.01, 0.98, 1.02),
    "too few runs": wording.comparison(TimingMode.WALL, 1.25, float("nan"), float("nan")),
}

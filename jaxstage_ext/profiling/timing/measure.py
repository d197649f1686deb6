"""`jaxstage_ext.measure`: how long a function takes, warmed up, with compiling apart and a stated uncertainty."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxstage_ext.core.stage.events import hear
from jaxstage_ext.profiling.capture.session_lock import profiler_session
from jaxstage_ext.profiling.timing import jax_words, sample_sources, sampling
from jaxstage_ext.profiling.timing.measured_call import MeasuredCall, RefusedMeasurement, arrays_of, measured_call
from jaxstage_ext.profiling.timing.order_statistics import quantile
from jaxstage_ext.profiling.timing.run_times import KernelTime
from jaxstage_ext.profiling.timing.sampling import MOST_RUNS, Plan, SampleSource
from jaxstage_ext.profiling.timing.timing import Timing
from jaxstage_ext.profiling.timing.timing_modes import TimeSource, TimingMode
from jaxstage_ext.report.progress import Progress, silent

AUTO = "auto"
BACKEND_COMPILE = "/jax/core/compile/backend_compile_duration"
COMPILING = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
    BACKEND_COMPILE,
)
"""JAX's events of tracing, lowering and compiling."""


def measure(
    f: Callable[..., Any],
    *args: Any,
    mode: str = AUTO,
    aggregate: bool = True,
    setup: Callable[[], Any] | None = None,
    runs: int | None = None,
    seconds: float = 2.0,
    progress: Progress = silent,
    **kwargs: Any,
) -> tuple[Any, Timing]:
    """Run `f(*args, **kwargs)` repeatedly; give its outputs, and how long it takes.

    A function is jitted unless it is jitted or compiled already. Compiling and the first runs are kept out and shown
    apart. Ctrl-C ends the measurement with the runs until then.

    Args:
      f: a function, a `jax.jit` object, or a compiled function.
      *args: its arguments.
      mode: what to measure. "kernels": the sum of the times of kernels, gaps left out, by the profiler's trace; on a
        CPU, of XLA's ops on all threads, which may run at the same time. "span": from the first kernel's start to the
        last kernel's end, by the profiler's trace. "wall": the host's clock, until the
        outputs are ready. "auto": "wall" on a CPU, else "kernels".
      aggregate: False also lists the kernels, as (name, milliseconds); for mode "kernels".
      setup: called before every run, not timed: it returns the positional arguments, a tuple or a single value, in
        place of `args`. A function that donates its arguments needs it.
      runs: the number of runs that count; None runs until the median is known within 0.5 % (95 % confidence, 30 runs
        at least), or `seconds` have passed (3 runs at least).
      seconds: the budget of time.
      progress: called about twice a second with the seconds taken and the number of runs.
      **kwargs: keyword arguments of `f`. Bind an argument that has the name of a parameter of `measure` with
        `functools.partial`. Of JAX's `measure`, `iterations` is understood as `runs`, and `finalize` changes nothing,
        where `f` has no such arguments.

    Raises:
      Unavailable: no kernel was recorded, so that its time is unknown.
      ValueError: an unknown mode, or one that is unavailable here; kernels asked of another mode; in modes "kernels"
        and "span", no array among arguments or outputs; a function that donates its arguments, without `setup`.
      RuntimeError: another profiler session is recording (ProfilerBusy).
      Exception: what `f` raises.
    """
    return measured(
        f, args, kwargs, mode=mode, aggregate=aggregate, setup=setup, runs=runs, seconds=seconds, progress=progress
    )


def measured(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    mode: str = AUTO,
    aggregate: bool = True,
    setup: Callable[[], Any] | None = None,
    runs: int | None = None,
    seconds: float = 2.0,
    progress: Progress = silent,
    title: str = "",
) -> tuple[Any, Timing]:
    """`measure` of a call whose arguments are given apart from the options."""
    kwargs, runs = jax_words.understood(f, kwargs, runs)
    _check_options(mode, aggregate, runs, seconds)
    call = measured_call(f, args, kwargs, setup, title)
    plan = Plan(seconds, runs, progress)
    compiled, first = _first_run(call, plan)
    device = _device(call)
    chosen = _chosen(mode, aggregate, device.platform)
    if chosen is not TimingMode.WALL:
        _check_arrays(call, chosen)
    source, origin = _source(chosen, device)
    with _session(origin, call.title):
        warm_up = (first, *sampling.warm_up(call, plan))
        sampled = sampling.sample(call, source, plan)
    kernels, same = kernels_per_run([sample.kernels for sample in sampled.samples]) if not aggregate else (None, True)
    samples = tuple(sample.seconds for sample in sampled.samples)
    title = _device_title(device)
    timing = Timing(call.title, chosen, origin, title, samples, compiled, warm_up, kernels, same, sampled.interrupted)
    return call.outputs, timing


def _check_options(mode: str, aggregate: bool, runs: int | None, seconds: float) -> None:
    known = [AUTO, *TimingMode]
    if mode in jax_words.MODES:
        raise RefusedMeasurement(jax_words.MODES[mode])
    if mode not in known:
        raise RefusedMeasurement(f"mode={mode!r} is unknown; give {', '.join(map(repr, map(str, known)))}")
    if not aggregate and mode in (TimingMode.SPAN, TimingMode.WALL):
        raise RefusedMeasurement(f"aggregate=False lists kernels, and a {mode} is one time; give mode='kernels'")
    if runs is not None and (isinstance(runs, bool) or not isinstance(runs, int) or not 1 <= runs <= MOST_RUNS):
        raise RefusedMeasurement(f"runs={runs!r} is not a number of runs from 1 to {MOST_RUNS:,}")
    if not 0 < seconds < 1e6:
        raise RefusedMeasurement(f"seconds={seconds!r} is not a number of seconds such as 2")


def _first_run(call: MeasuredCall, plan: Plan) -> tuple[float | None, float]:
    """Seconds of compiling, None where it was compiled before; and of the first run without that."""
    call.prepare()
    with hear() as heard:
        began = plan.now()
        call.first_run()
        took = plan.now() - began
    parts = [heard.durations[event] for event in COMPILING if event in heard.durations]
    compiled = sum(parts) if BACKEND_COMPILE in heard.durations else None
    return compiled, max(took - sum(parts), 0.0)


def _device(call: MeasuredCall) -> Any:
    """The device that the outputs are on; JAX's default one where there is none."""
    for array in arrays_of(call.outputs):
        with contextlib.suppress(Exception):
            return min(array.devices(), key=lambda device: device.id)
    return jax.local_devices()[0]


def _device_title(device: Any) -> str:
    return "CPU" if device.platform == "cpu" else str(device.device_kind)


def _chosen(mode: str, aggregate: bool, platform: str) -> TimingMode:
    if mode != AUTO:
        return TimingMode(mode)
    return TimingMode.WALL if platform == "cpu" and aggregate else TimingMode.KERNELS


def _check_arrays(call: MeasuredCall, mode: TimingMode) -> None:
    if call.setup is None and not arrays_of(tuple(call.given)):
        raise RefusedMeasurement(
            f"mode='{mode}' needs an array among the arguments: XLA computes a function of constants when it compiles; "
            "pass its arrays as arguments, or use mode='wall'"
        )
    if not arrays_of(call.outputs):
        raise RefusedMeasurement(
            f"mode='{mode}' needs an array among the outputs: XLA removes what no output uses; return the result, or "
            "use mode='wall'"
        )


def _source(mode: TimingMode, device: Any) -> tuple[SampleSource, TimeSource]:
    """What times the runs. JAX's own binding of CUPTI ends the process where a profile was taken before (JAX 0.11)."""
    if mode is TimingMode.WALL:
        return sample_sources.HostClock(), TimeSource.HOST_CLOCK
    traced = sample_sources.ProfilerTrace(mode, sample_sources.recorded_by_profiler)
    return traced, TimeSource.CPU_TRACE if device.platform == "cpu" else TimeSource.DEVICE_TRACE


def _session(source: TimeSource, title: str) -> contextlib.AbstractContextManager[None]:
    if source is TimeSource.HOST_CLOCK:
        return contextlib.nullcontext()
    return profiler_session(f"measure({title})")


Kernels = Sequence[tuple[str, float]]
"""(name, seconds) in the order of their start."""


def kernels_per_run(runs: Sequence[Kernels]) -> tuple[tuple[KernelTime, ...], bool]:
    """Each kernel with the median of its time over the runs, and whether all runs started the same kernels.

    Kernels of one name are the same where they are as many-th in their run; the order is that of the first run. Where
    runs did not start the same, the kernels of one name are added up in each run.
    """
    columns = [_numbered(kernels) for kernels in runs]
    same = all(column.keys() == columns[0].keys() for column in columns)
    if not same:
        columns = _by_name(runs)
    medians = ((key[0], 1e3 * quantile([column[key] for column in columns], 0.5)) for key in columns[0])
    return tuple(map(KernelTime, medians)), same


def _numbered(kernels: Kernels) -> dict[tuple[str, int], float]:
    counts: Counter[str] = Counter()
    numbered = {}
    for name, seconds in kernels:
        numbered[name, counts[name]] = seconds
        counts[name] += 1
    return numbered


def _by_name(runs: Sequence[Kernels]) -> list[dict[tuple[str, int], float]]:
    names = dict.fromkeys((name, 0) for kernels in runs for name, _ in kernels)
    totals = [dict.fromkeys(names, 0.0) for _ in runs]
    for kernels, total in zip(runs, totals, strict=True):
        for name, seconds in kernels:
            total[name, 0] += seconds
    return totals

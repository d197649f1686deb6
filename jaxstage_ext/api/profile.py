"""The public `profile`: run a function under the profiler, from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.api.inspect import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.stage.stageable import call_name
from jaxstage_ext.profiling.capture.capture import MOST_EVENTS, Capture, CaptureOptions, wait_for
from jaxstage_ext.profiling.capture.capture_facts import FirstRun
from jaxstage_ext.program.running import profile_run
from jaxstage_ext.program.running.profile_run import RunPlan


def profile(
    f: Callable[..., Any],
    *args: Any,
    steps: int = 1,
    warm: bool = False,
    cold: bool = False,
    python: bool = False,
    sample: bool = True,
    limit: int = MOST_EVENTS,
    sm_clock: float | None = None,
    **kwargs: Any,
) -> tuple[Any, Inspection]:
    """Run `f(*args, **kwargs)` under the profiler, in memory; give its outputs and an Inspection with the timeline.

    A jitted function is compiled first, and run once unprofiled unless it donates arguments or has side effects; its
    Inspection has everything. Any other function runs as it is, and its Inspection has what the profile says.

    Args:
      f: a function, or a `jax.jit` object.
      *args: its arguments.
      steps: how many times it runs, each shown as a step.
      warm: whether to run it once before, unprofiled, whatever it is.
      cold: whether to profile the first run, compiles included.
      python: whether to trace every Python call, which slows Python down.
      sample: whether to sample, each millisecond, the line that Python is at.
      limit: the most events to keep.
      sm_clock: frequency of the GPU's SMs in hertz, for what Mosaic GPU kernels record on the device; by default the
        one that the profile gives.
      **kwargs: keyword arguments of `f`. Bind an argument that has the name of a parameter of `profile` with
        `functools.partial`.

    Raises:
      ProfilerBusy: where another profiler records in this process; nothing has run then.
      CannotRun: where an argument is deleted, or would be before the last step.
      Exception: what `f` raises. Its attribute `inspection` has what was recorded by then.
    """
    capture_options = CaptureOptions(steps, python, sample, limit, sm_clock)

    def run() -> Any:
        return f(*args, **kwargs)

    if has_method(f, "trace") or has_method(f, "lower"):
        inspection = inspect(f, *args, **kwargs)
        outputs = _of_call(inspection, RunPlan(run, warm, cold), capture_options)
        return outputs, inspection
    return _of_python(Call(f), run, warm or (steps > 1 and not cold), cold, capture_options)


def _of_call(inspection: Inspection, plan: RunPlan, options: CaptureOptions) -> Any:
    try:
        return profile_run.profile_calls(inspection.program, plan, Capture(inspection.name, options))
    except BaseException as error:
        _attach(error, inspection)
        raise


def _of_python(
    call: Call, run: Callable[[], Any], is_warmed: bool, cold: bool, options: CaptureOptions
) -> tuple[Any, Inspection]:
    capture, outputs = Capture(f"{call_name(call)}()", options), None
    first = FirstRun.LEFT_OUT if is_warmed else FirstRun.ASKED if cold else FirstRun.UNKNOWN
    profile_run.check_profiler(capture)
    if is_warmed:
        wait_for(run())
    try:
        with capture.recording():
            for _ in range(options.steps):
                with capture.step() as results:
                    results.append(outputs := run())
    except BaseException as error:
        if (program := profile_run.recorded(capture, first)) is not None:
            _attach(error, Inspection(program))
        raise
    program = profile_run.recorded(capture, first)
    assert program is not None
    return outputs, Inspection(program)


def _attach(error: BaseException, inspection: Inspection) -> None:
    if isinstance(error, Exception) and inspection.program.timeline is not None:
        error.inspection = inspection  # type: ignore[attr-defined]

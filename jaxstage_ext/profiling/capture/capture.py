"""Run code under the profiler, in memory: what XLA recorded, what the host's thread was at, what JAX compiled."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.jax_private import launched_work, profiler
from jaxstage_ext.core.jax_private.mosaic_dumps import MosaicDump, recorded_dumps
from jaxstage_ext.profiling.capture.compile_times import CompileTime, compile_times
from jaxstage_ext.profiling.capture.sampler import Samples, sampled
from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy, profiler_session
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.uninterrupted import surely, uninterrupted

MOST_EVENTS = 1_000_000
"""Events of a capture that are kept, unless the user sets another limit."""
_WAITING = "wait for the results"


@dataclass(frozen=True)
class CaptureOptions:
    """How to capture."""

    steps: int = 1
    """How many times the code runs."""
    python: bool = False
    """Whether every Python call is traced, which slows Python down."""
    sample: bool = True
    """Whether the host's thread is sampled."""
    limit: int = MOST_EVENTS
    """The most events to keep."""
    sm_clock: float | None = None
    """Frequency of the SMs in hertz, for what Mosaic GPU kernels record on the device; None for the one that the
    profile gives."""


_SECOND_SESSION = "ALREADY_EXISTS: Another profil"
_PROFILES_ITSELF = (
    "The code that was profiled runs JAX's own profiler, and a process has one profiler session at a time: profile it "
    "without that, or run it alone and open what it wrote with {}."
)


def holder(title: str) -> str:
    """What a profile of that title is called where its session is in somebody's way."""
    return f"{typed('%%profile', 'the profile')} of {title}"


@dataclass(eq=False)
class Capture:
    """A run under the profiler."""

    title: str
    """What ran."""
    options: CaptureOptions = field(default_factory=CaptureOptions)
    data: bytes = b""
    """The XSpace that XLA's profiler gave, serialised; empty before the run."""
    error: BaseException | None = None
    """What the code raised; what had been recorded by then is kept."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    """Unix time in nanoseconds of the start and end of each step, results included."""
    samples: Samples | None = None
    """Where the host's thread was; None if it was not sampled."""
    compiled: list[CompileTime] = field(default_factory=list)
    """What JAX traced, lowered and compiled meanwhile."""
    on_device: list[MosaicDump] = field(default_factory=list)
    """The profiles that Mosaic GPU kernels recorded on the device."""
    start: int = 0
    end: int = 0
    """`start`, `end`: Unix time in nanoseconds."""
    _wait_for_launched: Callable[[], None] = field(default=lambda: None, repr=False)

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record the block, after what was launched before has ended. What it raises goes on, after what was recorded
        is in `data`.

        Raises:
          ProfilerBusy: before anything of the block runs, where another profiler records in this process.
        """
        around = contextlib.ExitStack()
        try:
            self._wait_for_launched = launched_work.waiting()
            self._wait_for_launched()
            with uninterrupted():
                self._begin(around)
            yield
        except BaseException as error:
            self.error = error
            if _SECOND_SESSION in str(error):
                error.add_note(_PROFILES_ITSELF.format(typed("%timeline", "jaxstage_ext.load")))
            raise
        finally:
            surely(around.close)

    def _begin(self, around: contextlib.ExitStack) -> None:
        around.enter_context(profiler_session(holder(self.title)))
        self.compiled = around.enter_context(compile_times())
        around.callback(self._stop, profiler.start_session(self.options.python))
        self.on_device = around.enter_context(recorded_dumps())
        self.samples = around.enter_context(sampled()) if self.options.sample else None
        self.start = time.time_ns()
        around.callback(self._note_end)

    def _note_end(self) -> None:
        self.end = time.time_ns()

    @contextlib.contextmanager
    def step(self) -> Iterator[list[Any]]:
        """One step of the recording, which ends when its results are there and what it launched has ended."""
        import jax

        number, results, start = len(self.steps), list[Any](), time.time_ns()
        try:
            with jax.profiler.StepTraceAnnotation(f"step {number}", step_num=number):
                yield results
                with jax.profiler.TraceAnnotation(_WAITING):
                    wait_for(results)
                    self._wait_for_launched()
        finally:
            self.steps.append((start, time.time_ns()))

    def _stop(self, session: Any) -> None:
        try:
            self.data = profiler.stop_session(session)
        except RuntimeError as error:
            raise ProfilerBusy(
                f"another profiler session began while {self.title} ran, so that nothing was recorded "
                f"({str(error).splitlines()[0]}); stop it and profile once more"
            ) from None


def wait_for(results: Any) -> None:
    """Wait until the results are there, and what else runs on the devices. Raises what computing the results raises."""
    import jax

    jax.block_until_ready(results)  # type: ignore[no-untyped-call]
    for array in jax.live_arrays():  # type: ignore[no-untyped-call]
        with contextlib.suppress(Exception):  # deleted meanwhile, or its own failure, which is not of these results
            array.block_until_ready()

"""Profiling a call or other code: whether it may run twice, the runs, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core import executables
from jaxstage_ext.profiling.capture.capture import Capture, holder, wait_for
from jaxstage_ext.profiling.capture.capture_facts import FirstRun, facts_of
from jaxstage_ext.profiling.capture.captured_recording import recording_of
from jaxstage_ext.profiling.capture.session_lock import profiler_session
from jaxstage_ext.program.head.call_arguments import deleted
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.cached_modules import with_cached_modules
from jaxstage_ext.program.source.linked_timeline import linked
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.uninterrupted import uninterrupted


class CannotRun(DeliberateError, ValueError):
    """A call cannot be run as often as was asked. The message, one line, says why and what to do."""


@dataclass(frozen=True)
class RunPlan:
    """How to run a call."""

    run: Callable[[], Any]
    """Runs it once and gives its value."""
    warm: bool = False
    cold: bool = False
    """`warm`, `cold`: whether the user wants a run before the capture, or none."""
    fresh: bool = False
    """Whether each run makes its own arguments."""
    warm_up: Callable[[], Any] | None = None
    """The run before the capture, where it is another one."""
    command_buffers: bool = True
    """Whether XLA could use them."""


def first_run(program: Program, plan: RunPlan) -> FirstRun:
    """Whether a staged call is run once before the capture, and if not, why."""
    if plan.warm or plan.cold:
        return FirstRun.LEFT_OUT if plan.warm else FirstRun.ASKED
    if donated(program):
        return FirstRun.DONATES
    return FirstRun.EFFECTS if has_effects(program) else FirstRun.LEFT_OUT


def donated(program: Program) -> bool:
    """Whether the call's run deletes arguments."""
    lowered = program.jax_lowered
    leaves = jax.tree.leaves(lowered.args_info, is_leaf=_is_argument) if lowered is not None else []
    return any(getattr(leaf, "donated", False) for leaf in leaves)


def _is_argument(value: Any) -> bool:
    return hasattr(value, "donated")


def has_effects(program: Program) -> bool:
    """Whether the program does more than to compute its results: it prints, or calls Python for its side effects."""
    traced = program.jax_traced
    return traced is not None and bool(traced.jaxpr.effects)


def profile_calls(program: Program, plan: RunPlan, capture: Capture) -> Any:
    """Run a staged call under the profiler, as often as the capture's options say, and give the last value.

    The program gets the timeline, also of what was recorded before a run raised; that is raised on.

    Raises:
      CannotRun: where an argument is deleted, or would be before the last run.
      ProfilerBusy: where another profiler records in this process; nothing has run then.
    """
    value, first = None, first_run(program, plan)
    _check(program, plan, capture.options.steps + (first is FirstRun.LEFT_OUT))
    check_profiler(capture)
    with executables.reused():
        if first is FirstRun.LEFT_OUT:
            wait_for((plan.warm_up or plan.run)())
        try:
            with capture.recording():
                for _ in range(capture.options.steps):
                    with capture.step() as results:
                        results.append(value := plan.run())
        finally:
            if capture.data:
                program.timeline = linked(with_cached_modules(recording_of(capture)), program)
                program.captured = facts_of(capture, program.timeline.recording, first, plan.command_buffers)
    return value


def check_profiler(capture: Capture) -> None:
    """Raise ProfilerBusy where another profiler records in this process."""
    with uninterrupted(), profiler_session(holder(capture.title)):
        pass


def _check(program: Program, plan: RunPlan, runs: int) -> None:
    if names := deleted(program):
        raise CannotRun(f"deleted, as donation does: {', '.join(names[:4])}; make it again, then profile the call")
    if runs > 1 and not plan.fresh and donated(program):
        raise CannotRun(
            f"{program.name} donates arguments, so it cannot run {runs} times on the same ones; "
            f"{_repeated(program.name, runs)}, "
            "or profile one run"
        )


def _repeated(name: str, runs: int) -> str:
    """How a call that donates is profiled several times."""
    return typed(
        f"put an assignment such as state = {name}(state, ...) in a cell below %%profile -n {runs}",
        f"profile a function that assigns state = {name}(state, ...)",
    )


def recorded(capture: Capture, first: FirstRun, cell: str | None = None) -> RecordedProgram | None:
    """The program of code that is not one staged call; None where nothing was recorded."""
    if not capture.data:
        return None
    program = RecordedProgram.of(recording := recording_of(capture), cell)
    program.captured = facts_of(capture, recording, first)
    return program

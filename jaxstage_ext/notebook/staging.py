"""Take the calls of a cell through the stages under one panel."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.notebook.cells.toplevel_await import interruptible
from jaxstage_ext.notebook.failures import as_in_a_plain_cell, in_one_line
from jaxstage_ext.notebook.interrupts import Interrupts
from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.report.text.public_paths import public_text
from jaxstage_ext.report.view_parts import in_one_line as named_in_one_line

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.core.options.option_sets import OptionSet
    from jaxstage_ext.core.targets.target import Target
    from jaxstage_ext.core.targets.worker_requests import Limits
    from jaxstage_ext.notebook.lines.versus import Earlier
    from jaxstage_ext.panel.showing.printed import View
    from jaxstage_ext.program.program import Program


LOCAL = "local"


@dataclass(frozen=True)
class CompilePlan:
    """What to compile for, with what, the limits of a compile in a worker, and what to compare with."""

    targets: tuple[Target, ...]
    limits: Limits
    option_sets: tuple[OptionSet, ...] = ()
    earlier: Earlier | None = None


def compile_plan(
    kind: str, options: Namespace, option_sets: tuple[OptionSet, ...] = (), earlier: Earlier | None = None
) -> CompilePlan:
    """The targets and limits of a magic's line. Raises UsageError for an invalid target or a missing package."""
    from jaxstage_ext.core.targets import cross_compile, prepared
    from jaxstage_ext.core.targets.target import TargetError, parse_all

    try:
        targets = parse_all(getattr(options, "target", None) or "local")
        if getattr(options, "isolate", False):
            if options.no_isolate:
                raise UsageError("--isolate and --no-isolate contradict each other; drop one of them")
            targets = tuple(map(cross_compile.isolated, targets))
        for target in targets if stage_list.makes_executable(kind) else ():
            cross_compile.check(target)
    except TargetError as error:
        raise UsageError(str(error)) from None
    if getattr(options, "run", False) and not any(target.is_local for target in targets):
        reason = "--isolate compiles in another process" if getattr(options, "isolate", False) else "no target is local"
        raise UsageError(f"--run needs an executable in this kernel, but {reason}")
    if stage_list.makes_executable(kind):
        prepared.start(targets)
    return CompilePlan(targets, _limits(options), option_sets, earlier)


def _limits(options: Namespace) -> Limits:
    from jaxstage_ext.core.targets import worker_requests

    timeout = getattr(options, "timeout", None) or worker_requests.USUAL.timeout
    return worker_requests.Limits(timeout, getattr(options, "memory", None), getattr(options, "no_isolate", False))


def in_kernel() -> CompilePlan:
    """That of what is to be run: for the kernel's own device, also where the program is large."""
    from jaxstage_ext.core.targets import target, worker_requests

    return CompilePlan((target.LOCAL,), worker_requests.Limits(large_here=True))


def check_import() -> None:
    """Raise UsageError, in one line, where JAX is missing. No device is looked for, which would take it from others."""
    try:
        import jax  # noqa: F401
    except ImportError as error:
        reason = public_text(str(error))
        raise UsageError(
            f"JAX cannot be imported in this kernel ({reason}); install it with: pip install jax"
        ) from None


def check_jax() -> None:
    """Raise UsageError, in one line, where JAX is missing, finds no device, or would not survive its environment."""
    check_import()
    import jax

    from jaxstage_ext.core.options import environment_check

    try:
        environment_check.check()
    except environment_check.EnvironmentRefused as error:
        raise UsageError(str(error)) from None
    try:
        jax.local_devices()
    except Exception as error:  # a plugin that JAX_PLATFORMS names may fail in its own way
        why = (str(error).splitlines() or [""])[0] if isinstance(error, RuntimeError) else ""
        raise UsageError(f"JAX finds no device: {why or named_in_one_line(error)}") from None


def check_values(calls: Sequence[Call], runner: str = "--run", otherwise: str = "drop --run") -> None:
    """Raise UsageError where an argument is a shape, which `runner` cannot run on; `otherwise` is what to do."""
    import jax

    from jaxstage_ext.core.inputs.captured import is_valueless

    for call in calls:
        if any(is_valueless(leaf) for leaf in jax.tree.leaves((call.args, dict(call.kwargs)))):
            raise UsageError(
                f"{runner} needs values, but the arguments of {call.name} are shapes; call it with arrays, or "
                f"{otherwise}"
            )


def stage(
    ip: Any,
    calls: Sequence[Call],
    kind: str,
    quiet: bool,
    plan: CompilePlan | None = None,
    then: Callable[[Sequence[Inspection]], None] | None = None,
) -> tuple[tuple[Inspection, ...], BaseException | None]:
    """Run the stages up to `kind` of each call, for each target, and show their progress unless `quiet`.

    `then` is what to do, before the end is shown, with those whose stages have all succeeded.

    Returns an Inspection of each call, and the exception to raise for the first failure. It
    makes the cell fail with one line, since the panel shows JAX's error.
    """
    from jaxstage_ext.api.inspect import prepare

    wanted = (plan.targets, plan.limits, plan.option_sets, plan.earlier) if plan else ()
    groups = [prepare(call, kind, *wanted) for call in calls]
    programs = [inspection.program for group in groups for inspection in group]
    pending = tuple(each for group in groups for each in group if not each.program.is_earlier)
    with Interrupts() as interrupts:
        shown = None if quiet else _show(programs)
        stopped = _advance(interrupts, pending, lambda: shown.refresh(programs) if shown else None, then)
        if shown:
            stopped = _finish(shown, programs) or stopped
        if interrupts.kept and stopped is None:
            stopped = KeyboardInterrupt()
    return tuple(group[0] for group in groups), _failure(ip, pending, stopped, quiet)


def _advance(
    interrupts: Interrupts,
    pending: Sequence[Inspection],
    on_change: Callable[[], None],
    then: Callable[[Sequence[Inspection]], None] | None,
) -> BaseException | None:
    """Run the stages, and `then`. What ends them, but is not the error of a stage, is returned."""
    try:
        with interrupts.raised():
            for inspection in pending:
                inspection.advance(on_change)
                if inspection.error is not None and inspection.error.interrupted:
                    break
            if then is not None and all(inspection.error is None for inspection in pending):
                then(pending)
    except BaseException as error:
        return error
    return None


def survey(line: str) -> str:
    """The output of `%targets`."""
    from jaxstage_ext.core.targets import survey

    if line.strip():
        raise UsageError(
            f"%targets takes only --log or --measure, not {line.strip()!r}; to compile for one: %compile -t v5e:2x2"
        )
    return survey.text()


def worker_log(names: Sequence[str]) -> str:
    """The output of `%targets --log`, for a platform or for the platform of a target."""
    from jaxstage_ext.core.targets.target import TargetError, parse
    from jaxstage_ext.worker import pool

    name = names[0] if len(names) == 1 else ""
    try:
        platform = {"gpu": "cuda"}.get(name, name) if name in (*pool.PLATFORMS, "gpu") else parse(name).platform
    except TargetError:
        raise UsageError(
            f"--log must be followed by cpu, tpu, gpu or a target such as v5e:2x2, not {' '.join(names)!r}"
        ) from None
    return pool.log(platform) or f"no compile worker for {name} was started by this kernel"


def _finish(shown: View, programs: Sequence[Program]) -> BaseException | None:
    """Show the final state, twice if it is interrupted; what keeps it from being shown is returned."""
    try:
        shown.finish(programs)
    except KeyboardInterrupt as error:
        shown.finish(programs)
        return error
    except BaseException as error:
        return error
    return None


def _show(programs: Sequence[Program]) -> View:
    from jaxstage_ext.panel.showing import display

    display.MOST_PANELS = JAXStage.instance().most_panels
    return display.show(programs)


def show_made(programs: Sequence[Program]) -> BaseException | None:
    """Show programs whose stages have run elsewhere. What keeps them from being shown is returned."""
    return _finish(_show(programs), programs)


def shown_failure(ip: Any, inspection: Inspection, quiet: bool) -> BaseException | None:
    """What a stage of an inspection raised, shown as the magics of stages do: the panel, and one line."""
    if not quiet:
        _finish(_show([inspection.program]), [inspection.program])
    return _failure(ip, [inspection], None, quiet)


def _failure(
    ip: Any, inspections: Sequence[Inspection], stopped: BaseException | None, quiet: bool
) -> BaseException | None:
    errors = [error for inspection in inspections if (error := inspection.error) is not None]
    interrupted = next((error.exception for error in errors if error.interrupted), None)
    if isinstance(stop := stopped or interrupted, KeyboardInterrupt):
        return in_one_line(stop, "stopped; the panel shows how far it got")
    if stop is not None:
        return in_one_line(stop, "this ended the stages; the panel shows how far they got")
    failed = next((inspection for inspection in inspections if inspection.error is not None), None)
    if failed is None or failed.error is None or failed.error.exception is None:
        return None
    if quiet:
        return _untold(ip, failed, failed.error.exception)
    return in_one_line(failed.error.exception, "see the panel above", _said(failed))


def _untold(ip: Any, failed: Inspection, error: BaseException) -> BaseException:
    """Without a panel: what the error means in one line, where that is known, else the error as it is."""
    from jaxstage_ext.program.mistakes import explained_error

    told = explained_error.error_explanation(failed.program)
    if not told or failed.error is None:
        return without_our_frames(ip, error)
    first = next(iter(failed.error.message.splitlines()), "")
    return in_one_line(error, f"JAX says: {first[:300]}", told)


def _said(failed: Inspection) -> str:
    """What the panel says of an error: its explanation, else JAX's message without addresses and our frames."""
    from jaxstage_ext.program.mistakes import explained_error

    return explained_error.error_explanation(failed.program) or (failed.error.message if failed.error else "")


def execute(ip: Any, inspections: Sequence[Inspection]) -> Any:
    """The value of running the local executable; a tuple if there are several calls."""
    local = [_local(inspection) for inspection in inspections]
    for inspection in local:
        if (large := inspection.program.staged.large) is not None:
            raise UsageError(f"--run needs an executable in this kernel, but {large.why_elsewhere}")
    failure: BaseException | None = None
    try:
        with interruptible():
            values = [inspection.execute() for inspection in local]
        return values[0] if len(values) == 1 else tuple(values)
    except BaseException as error:
        failure = error
    if any(inspection.ran_out for inspection in local) and refresh_shown(local):
        raise in_one_line(failure, "see the panel above for what uses the memory")
    raise without_our_frames(ip, failure)


def _local(inspection: Inspection) -> Inspection:
    """The first one for the kernel's own device, with the first set of compile options."""
    return next(each for each in inspection.targets.values() if each.target.name == LOCAL)


def ran_out(error: BaseException, plan: CompilePlan) -> bool:
    """Whether a statement of the cell ran out of memory on the kernel's own device, and the magic compiles for it."""
    from jaxstage_ext.program.device import out_of_memory

    return out_of_memory.is_out_of_memory(error) and any(target.is_local for target in plan.targets)


def compile_after_failure(
    ip: Any, calls: Sequence[Call], kind: str, error: BaseException, quiet: bool, plan: CompilePlan
) -> tuple[Inspection, ...]:
    """Compile the calls of a cell that ran out of memory, and show their memory. Returns an Inspection of each."""
    from jaxstage_ext.program.device import out_of_memory

    inspections, _ = stage(ip, calls, kind, quiet, plan)
    for local in map(_local, inspections):
        local.program.ran_out = out_of_memory.failed_run(error, local.name, elsewhere=True)
    refresh_shown(inspections)
    return inspections


def refresh_shown(inspections: Sequence[Inspection]) -> bool:
    """Update the panels of these Inspections. False where none of them has a panel."""
    from jaxstage_ext.panel.showing import display

    return display.refresh_shown([inspection.program for inspection in inspections])


def without_our_frames(ip: Any, error: BaseException) -> BaseException:
    """The error as an ordinary cell shows it: without the frames of this package."""
    from jaxstage_ext.core.stage import stage_error

    return as_in_a_plain_cell(ip, error, stage_error.without_our_frames(error).__traceback__)

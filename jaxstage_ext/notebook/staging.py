"""Take the calls of a cell through the stages under one panel."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.core import stage_list
from jaxstage_ext.core.call import Call
from jaxstage_ext.notebook.failures import as_in_a_plain_cell, in_one_line
from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.notebook.toplevel_await import interruptible

if TYPE_CHECKING:
    from jaxstage_ext.core.targets.requests import Limits
    from jaxstage_ext.core.targets.target import Target


@dataclass(frozen=True)
class Aim:
    """What to compile for, and what that may take."""

    targets: tuple[Target, ...]
    limits: Limits


def aim(kind: str, options: Namespace) -> Aim:
    """What a magic's line asks for. Raises UsageError for what cannot be, or lacks a package."""
    from jaxstage_ext.core.targets import cross_compile
    from jaxstage_ext.core.targets.target import TargetError, parse_all

    try:
        targets = parse_all(getattr(options, "target", None) or "local")
        if getattr(options, "isolate", False):
            targets = tuple(map(cross_compile.isolated, targets))
        for target in targets if stage_list.makes_executable(kind) else ():
            cross_compile.check(target)
    except TargetError as error:
        raise UsageError(str(error)) from None
    if getattr(options, "run", False) and not any(target.is_local for target in targets):
        reason = (
            "--isolate compiles it in another process" if getattr(options, "isolate", False) else "no target is local"
        )
        raise UsageError(f"--run needs an executable in this kernel, but {reason}")
    return Aim(targets, _limits(options))


def _limits(options: Namespace) -> Limits:
    from jaxstage_ext.core.targets import requests

    timeout = getattr(options, "timeout", None) or requests.USUAL.timeout
    return requests.Limits(timeout, getattr(options, "memory", None))


def check_jax() -> None:
    """Raise UsageError in one line where JAX is missing or finds no device."""
    try:
        import jax
    except ImportError as error:
        raise UsageError(f"JAX cannot be imported in this kernel ({error}); install it with: pip install jax") from None
    try:
        jax.local_devices()
    except RuntimeError as error:
        first = (str(error).splitlines() or ["no reason given"])[0]
        raise UsageError(f"JAX finds no device: {first}") from None


def check_values(calls: Sequence[Call]) -> None:
    """Raise UsageError where `--run` would have to run on a shape."""
    import jax

    for call in calls:
        if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves((call.args, dict(call.kwargs)))):
            raise UsageError(
                f"--run needs values, but {call.name} is given shapes; call it with arrays or leave --run out"
            )


def stage(
    ip: Any, calls: Sequence[Call], kind: str, quiet: bool, at: Aim | None = None
) -> tuple[tuple[Any, ...], BaseException | None]:
    """Run the stages up to `kind` of each call in turn, for each target, shown as they go unless `quiet`.

    Returns an Inspection of each call and what to raise for the first failure:
    the panel shows JAX's error, so it is one line, and the cell counts as failed.
    """
    from jaxstage_ext.inspection import prepare

    wanted = (at.targets, at.limits) if at else ()
    groups = [prepare(call, kind, *wanted) for call in calls]
    pending = tuple(inspection for group in groups for inspection in group)
    shown = None if quiet else _show(pending)
    stopped: BaseException | None = None
    try:
        with interruptible():
            for inspection in pending:
                inspection.advance(lambda: shown.refresh(pending) if shown else None)
                if inspection.error is not None and inspection.error.interrupted:
                    break
    except KeyboardInterrupt as error:
        stopped = error
    if shown:
        stopped = _finish(shown, pending) or stopped
    return tuple(group[0] for group in groups), _failure(ip, pending, stopped, quiet)


def survey(line: str) -> str:
    """What `%targets` prints."""
    from jaxstage_ext.core.targets import survey

    if line.strip():
        raise UsageError(
            f"%targets takes no arguments but --log, not {line.strip()!r}; use one as in %compile -t v5e:2x2"
        )
    return survey.text()


def worker_log(of: Sequence[str]) -> str:
    """What `%targets --log` prints: of a platform, or of the one that a target is compiled by."""
    from jaxstage_ext.core.targets.target import TargetError, parse
    from jaxstage_ext.worker import pool

    name = of[0] if len(of) == 1 else ""
    try:
        platform = {"gpu": "cuda"}.get(name, name) if name in (*pool.PLATFORMS, "gpu") else parse(name).platform
    except TargetError:
        raise UsageError(
            f"--log wants one of cpu, tpu, gpu or a target such as v5e:2x2, not {' '.join(of)!r}"
        ) from None
    return pool.log(platform) or f"no compile worker for {name} was started here"


def _finish(shown: Any, pending: Sequence[Any]) -> BaseException | None:
    """Show the end. An interrupt while large documents are read is kept, and the reading goes on once more."""
    try:
        with interruptible():
            shown.finish(pending)
    except KeyboardInterrupt as error:
        shown.finish(pending)
        return error
    return None


def _show(pending: Sequence[Any]) -> Any:
    from jaxstage_ext.panel import display

    display.MOST_PANELS = JAXStage.instance().most_panels
    return display.show(pending)


def _failure(ip: Any, inspections: Sequence[Any], stopped: BaseException | None, quiet: bool) -> BaseException | None:
    errors = [i.error for i in inspections if i.error is not None]
    interrupted = [e.exception for e in errors if e.interrupted]
    if stopped or interrupted:
        return in_one_line(stopped or interrupted[0], "stopped; the panel shows how far it came")
    if not errors:
        return None
    first = errors[0].exception
    if quiet and first is not None:
        return _without_our_frames(ip, first)
    return in_one_line(first, "the panel above tells where")


def execute(ip: Any, inspections: Sequence[Any]) -> Any:
    """The value of the executable that this kernel has; a tuple if there are several calls."""
    local = [inspection.targets["local"] for inspection in inspections]
    failure: BaseException | None = None
    try:
        with interruptible():
            values = [one.execute() for one in local]
        return values[0] if len(values) == 1 else tuple(values)
    except BaseException as error:
        failure = error
    if any(one.ran_out for one in local) and show_again(local):
        raise in_one_line(failure, "the panel above shows what takes the memory")
    raise _without_our_frames(ip, failure)


def ran_out(error: BaseException, at: Aim) -> bool:
    """Whether a statement of the cell died of memory, on what a target of the magic's stands for."""
    from jaxstage_ext.program import out_of_memory

    return out_of_memory.is_one(error) and any(target.is_local for target in at.targets)


def tell(ip: Any, calls: Sequence[Call], kind: str, died: BaseException, quiet: bool, at: Aim) -> tuple[Any, ...]:
    """Compile the calls of a cell that died of memory, and show what they take. Returns an Inspection of each."""
    from jaxstage_ext.program import out_of_memory

    inspections, _ = stage(ip, calls, kind, quiet, at)
    for local in (inspection.targets["local"] for inspection in inspections):
        local.ran_out = out_of_memory.told(died, local.name, elsewhere=True)
    show_again(inspections)
    return inspections


def show_again(inspections: Sequence[Any]) -> bool:
    """Have the panels of these Inspections tell what they hold now. False where there is none."""
    from jaxstage_ext.panel import display

    return display.show_again(inspections)


def _without_our_frames(ip: Any, error: BaseException) -> BaseException:
    from jaxstage_ext.core.stage_error import without_our_frames

    return as_in_a_plain_cell(ip, error, without_our_frames(error).__traceback__)

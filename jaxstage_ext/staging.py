"""Take the calls of a cell through the stages under one panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import Call
from jaxstage_ext.failures import as_in_a_plain_cell, in_one_line
from jaxstage_ext.settings import JAXStage
from jaxstage_ext.toplevel_await import interruptible


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


def stage(ip: Any, calls: Sequence[Call], kind: str, quiet: bool) -> tuple[tuple[Any, ...], BaseException | None]:
    """Run the stages up to `kind` of each call in turn, shown as they go unless `quiet`.

    Returns the Inspections and what to raise for the first failure: the panel
    shows JAX's error, so it is one line, and the cell counts as failed.
    """
    from jaxstage_ext.inspection import plan

    pending = tuple(plan(call, kind) for call in calls)
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
    return pending, _failure(ip, pending, stopped, quiet)


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
    from jaxstage_ext.views import display

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
    """The value of the compiled executable; a tuple if there are several."""
    failure: BaseException | None = None
    try:
        with interruptible():
            values = [inspection.execute() for inspection in inspections]
        return values[0] if len(values) == 1 else tuple(values)
    except BaseException as error:
        failure = _without_our_frames(ip, error)
    raise failure


def _without_our_frames(ip: Any, error: BaseException) -> BaseException:
    from jaxstage_ext.errors import without_our_frames

    return as_in_a_plain_cell(ip, error, without_our_frames(error).__traceback__)

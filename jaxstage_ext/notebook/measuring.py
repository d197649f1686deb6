"""`%%profile --measure`: how long a call takes, in place of its timeline."""

from __future__ import annotations

import ast
import functools
import inspect
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.ir.source import is_outside
from jaxstage_ext.notebook import calls as calling
from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cell import execute
from jaxstage_ext.notebook.toplevel_await import interruptible

if TYPE_CHECKING:
    from jaxstage_ext.profiling.timing import Timing

_OF_PROFILES = ("steps", "warm", "cold", "python", "no_sampling", "limit", "command_buffers", "save", "quiet")


def check(options: Namespace) -> None:
    """Raise UsageError for options that are of a profile alone, or of a measurement alone."""
    if not options.measure:
        if (given := next((name for name in ("mode", "setup") if getattr(options, name)), None)) is not None:
            raise UsageError(f"--{given} is an option of --measure; add --measure, or drop it")
        return
    for name in _OF_PROFILES:
        if getattr(options, name) not in (None, False, 1 if name == "steps" else None):
            raise UsageError(f"--{name.replace('_', '-')} is of a profile, and --measure makes none; drop one of them")


async def measured(ip: Any, options: Namespace, call: ast.Call | None, file: str, space: dict[str, Any]) -> Timing:
    """The Timing of a call. Raises what the call raises, and UsageError for what cannot be measured."""
    if call is None:
        raise UsageError("--measure takes one call, such as %%profile --measure step(params, batch)")
    name = calling.title(call.func)
    fn, args, mappings = await execute(ip, calling.parts(call), file, "eval", space)
    kwargs = calling.merged(name, mappings)
    setup = await execute(ip, _thunk(options.setup, call), file, "eval", space) if options.setup else None
    failure: BaseException
    try:
        with interruptible():
            return _measure(fn, args, kwargs, options.mode or "auto", setup)
    except Exception as error:
        is_refusal = isinstance(error, (TypeError, ValueError, RuntimeError)) and _is_ours(error)
        failure = UsageError(" ".join(str(error).split())) if is_refusal else staging.without_our_frames(ip, error)
    raise failure


def _measure(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, setup: Any) -> Timing:
    from jaxstage_ext.profiling.measure import measure

    own = inspect.signature(measure).parameters
    if own.keys() & kwargs.keys():
        fn, kwargs = functools.partial(fn, **kwargs), {}
    return measure(fn, *args, mode=mode, setup=setup, **kwargs)[1]


def _thunk(text: str, call: ast.Call) -> ast.expr:
    """A function without parameters that evaluates an expression, which `--setup` is."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise UsageError(f"cannot parse --setup {text!r}: {error.msg}") from None
    arguments = ast.arguments([], [], None, [], [], None, [])
    return ast.fix_missing_locations(ast.copy_location(ast.Lambda(arguments, body), call))


def _is_ours(error: BaseException) -> bool:
    """Whether this package raised the error, and not what it ran."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and is_outside(traceback.tb_frame.f_code.co_filename)

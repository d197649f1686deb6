"""The frames of JAX around a compile event, whose locals hold what the event does not say.

Frames and what is read from them must not outlive the event: they hold the arguments of the user's call.
"""

from __future__ import annotations

import operator
import os
import sys
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

import jax
import jaxlib
from jax._src import array as _array
from jax._src import dispatch as _dispatch
from jax._src import pjit as _pjit
from jax._src import stages as _stages
from jax._src import traceback_util as _traceback_util
from jax._src.interpreters import pxla as _pxla
from jax._src.util import HashablePartial

TRACE_EVENT = _dispatch.JAXPR_TRACE_EVENT
LOWER_EVENT = _dispatch.JAXPR_TO_MLIR_MODULE_EVENT
COMPILE_EVENT = _dispatch.BACKEND_COMPILE_EVENT

_FOLDERS = tuple(os.path.dirname(module.__file__ or "") + os.sep for module in (jax, jaxlib))
_PJIT, _PXLA, _STAGES = (module.__file__ for module in (_pjit, _pxla, _stages))
_DISPATCH, _BOUNDARY = _dispatch.__file__, _traceback_util.__file__

_CALL, _AOT_TRACE, _INNER = (_PJIT, "cache_miss"), (_PJIT, "jit_trace"), (_PJIT, "call_impl_cache_miss")
_AOT_LOWER, _AOT_COMPILE = (_STAGES, "lower"), (_STAGES, "compile")
_AHEAD_OF_TIME = frozenset({_AOT_TRACE, _AOT_LOWER, _AOT_COMPILE})
_TIMER_FRAMES = ("__enter__", "__exit__")
_NAMES = frozenset(
    {"cache_miss", "jit_trace", "call_impl_cache_miss", "_infer_params", "lower", "compile", *_TIMER_FRAMES}
)
_is_jax: dict[str, bool] = {}
_MOST_FILES = 20_000


def is_jax(file: str) -> bool:
    """Whether code of this file name is JAX's or jaxlib's."""
    known = _is_jax.get(file)
    if known is None:
        if len(_is_jax) > _MOST_FILES:
            _is_jax.clear()
        known = _is_jax[file] = file.startswith(_FOLDERS)
    return known


@dataclass(slots=True)
class EventFrames:
    """JAX's frames around one event."""

    timer: Any = None
    """What JAX times the stage with; the same object at its begin and its end."""
    stage: FrameType | None = None
    """The frame that does the stage's work."""
    infer: FrameType | None = None
    """The one that looks at the arguments, of a trace."""
    driver: FrameType | None = None
    """The one that runs the stages of one call."""
    call: FrameType | None = None
    """The one that has the user's arguments, which a backward pass lacks."""
    outside: FrameType | None = None
    """The innermost one that is not JAX's."""
    error: BaseException | None = None
    """The exception that ends the stage; None where it ends well."""

    @property
    def is_inner(self) -> bool:
        """Whether JAX runs a jitted function inside a transformation."""
        return self.driver is not None and _key(self.driver) == _INNER

    @property
    def is_ahead_of_time(self) -> bool:
        return self.driver is not None and _key(self.driver) in _AHEAD_OF_TIME


def event_frames(frame: FrameType | None) -> EventFrames:
    """The frames outward from JAX's function that raises the event."""
    frames = EventFrames()
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if not (_is_jax.get(file) or is_jax(file)):
            frames.outside = frame
            return frames
        name = code.co_name
        if name not in _NAMES:
            pass
        elif file == _PJIT:
            _take_pjit(frames, frame, name)
        elif file == _STAGES:
            if frames.driver is None and name in ("lower", "compile"):
                frames.driver = frame
        elif file == _DISPATCH and frames.timer is None and name in _TIMER_FRAMES:
            frames.timer, frames.stage = frame.f_locals.get("self"), frame.f_back
        frame = frame.f_back
    return frames


def end_frames(frame: FrameType | None) -> EventFrames:
    """The frames of the event of a stage's end: what times it, and the frame that did its work."""
    while frame is not None and frame.f_code.co_filename != _DISPATCH:
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "__exit__":
        return EventFrames()
    given = frame.f_locals
    return EventFrames(timer=given.get("self"), stage=frame.f_back, error=given.get("exc_value"))


def _take_pjit(frames: EventFrames, frame: FrameType, name: str) -> None:
    if name in ("cache_miss", "jit_trace"):
        frames.driver = frames.driver or frame
        if frames.call is None and not _is_stage_of_aot(frames):
            frames.call = frame
    elif name == "call_impl_cache_miss":
        frames.driver = frames.driver or frame
    elif name == "_infer_params" and frames.call is None:
        frames.infer = frames.infer or frame


def _is_stage_of_aot(frames: EventFrames) -> bool:
    """Whether a Traced or a Lowered runs the stage: a call further out is of another function."""
    return frames.driver is not None and frames.driver.f_code.co_filename == _STAGES


def _key(frame: FrameType) -> tuple[str | None, str]:
    return frame.f_code.co_filename, frame.f_code.co_name


def local(frame: FrameType | None, name: str) -> Any:
    """A local of one of JAX's frames; None where it has none of that name."""
    return None if frame is None else frame.f_locals.get(name)


@dataclass(slots=True)
class JittedCall:
    """The call that a `call` frame is of: what was given to `jax.jit`, its options, and the arguments."""

    fun: Any
    options: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def jitted_call(frame: FrameType) -> JittedCall:
    """The call that a `call` frame is of."""
    given = frame.f_locals
    if frame.f_code.co_name == "jit_trace":
        jitted = given["jit_func"]
        return JittedCall(jitted._fun, jitted._jit_info, given["args"], given["kwargs"])
    return JittedCall(given["fun"], given["jit_info"], given["args"], given["kwargs"])


_plain_options: dict[Any, Any] = {}
_MOST_OPTIONS = 1024


def jit_options(info: Any) -> Any:
    """A copy of what `jax.jit` was given without what is the function's own, whose defaults may be large; shared."""
    key = _options(info)
    try:
        known = _plain_options.get(key)
    except Exception:  # values that cannot be hashed
        return _without_function(info)
    if known is None:
        if len(_plain_options) >= _MOST_OPTIONS:
            _plain_options.clear()
        known = _plain_options[key] = _without_function(info)
    return known


def _without_function(info: Any) -> Any:
    return info._replace(fun_sourceinfo="", fun_signature=None)


_OPTIONS = tuple(name for name in _pjit.PjitInfo._fields if name not in ("fun_sourceinfo", "fun_signature"))
_options = operator.attrgetter(*_OPTIONS)


@dataclass(slots=True)
class Leaves:
    """The dynamic arguments of a call: their tree, their types, and themselves."""

    tree: Any
    avals: tuple[Any, ...]
    values: list[Any]


def leaves(frames: EventFrames) -> Leaves | None:
    """The dynamic arguments as JAX has flattened them; None where no frame has them."""
    if frames.infer is not None and frames.stage is not None:
        given, stage = frames.infer.f_locals, frames.stage.f_locals
        tree = stage.get("in_tree_filtered")
        if tree is None:
            tree = stage["avals_ft"].tree_without_statics
        return Leaves(tree, tuple(given["avals"]), given["dynargs"])
    params = local(frames.call, "p")
    if params is not None:
        values = frames.call.f_locals["args_flat"] if frames.call is not None else []
        return Leaves(params.in_tree, tuple(params.in_avals), values[len(params.consts) :])
    return None


def lowered_types(frames: EventFrames) -> tuple[Any, ...]:
    """The types that a module is lowered for, which alone a backward pass tells."""
    return tuple(local(frames.stage, "in_avals") or ())


def is_inner_operation(frames: EventFrames) -> bool:
    """Whether what JAX runs inside a transformation is a function of its own, such as that of `jnp.sum`."""
    jaxpr = local(frames.driver, "jaxpr")
    return jaxpr is not None and is_jax(jaxpr.jaxpr.debug_info.func_filename or "")


def inner_types(frames: EventFrames) -> tuple[Any, ...]:
    """The types that a jitted function has inside a transformation, such as those of a whole batch; empty elsewhere."""
    jaxpr = local(frames.driver, "jaxpr") if frames.is_inner else None
    return () if jaxpr is None else tuple(jaxpr.in_avals)


def traced(frames: EventFrames) -> Any:
    """The jaxpr that the call's stages work on, as the trace made it; None where no frame has it."""
    params = local(frames.call, "p")
    if params is not None:
        return params.params["jaxpr"]
    if frames.driver is not None and frames.driver.f_code.co_filename == _STAGES:
        given = getattr(frames.driver.f_locals.get("self"), "_params", None)
        return given.get("jaxpr") if given is not None else None
    return None


def is_operation(frames: EventFrames, fun: Any) -> bool:
    """Whether a call is of one of JAX's own functions, such as a primitive's, rather than of one jitted by the user."""
    if type(fun) is not FunctionType:
        return type(fun) is HashablePartial and _is_called_by_jax(frames.call)
    if fun.__dict__.get("_apply_primitive"):
        return True
    if "__wrapped__" in fun.__dict__ or not is_jax(fun.__code__.co_filename):
        return False
    module = sys.modules.get(fun.__module__)
    named = vars(module).get(fun.__name__) if module is not None else None
    return getattr(named, "_fun", None) is fun or _is_called_by_jax(frames.call)


def _is_called_by_jax(frame: FrameType | None) -> bool:
    frame = frame.f_back if frame is not None else None
    while frame is not None and frame.f_code.co_filename == _BOUNDARY:
        frame = frame.f_back
    return frame is not None and is_jax(frame.f_code.co_filename)


def is_array(kind: type) -> bool:
    """Whether it is the type of JAX's arrays."""
    return kind is _ARRAY


_ARRAY: Any = _array.ArrayImpl


def placement(leaf: Any) -> Any:
    """The sharding of a committed array of JAX, deleted ones too; None of anything else."""
    return leaf._sharding if type(leaf) is _ARRAY and leaf._committed else None

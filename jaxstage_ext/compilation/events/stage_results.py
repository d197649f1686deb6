"""What a stage made, taken from its frame when it ends, and its record where stages run ahead of time one by one."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from jaxstage_ext.compilation.events import trace_counts
from jaxstage_ext.compilation.events.kept_artefacts import MOST_OPERATIONS, KeptArtefacts, constant_bytes
from jaxstage_ext.compilation.events.running_stages import RunningStage
from jaxstage_ext.compilation.persistent import watching
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry, StageName
from jaxstage_ext.core.jax_private import compile_frames, given_options, jaxprs
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, local
from jaxstage_ext.core.jax_private.outlined_jaxprs import outlined
from jaxstage_ext.core.jax_private.xla_executables import ReadExecutable

_MOST = 512


class StageOrigins:
    """The records whose jaxpr or module is alive. Neither is kept alive."""

    def __init__(self) -> None:
        self._made: OrderedDict[int, tuple[weakref.ref[Any], CompileRecord]] = OrderedDict()

    def add(self, made: Any, record: CompileRecord) -> None:
        """A record's stage made this jaxpr or module."""
        self._made[id(made)] = weakref.ref(made), record
        while len(self._made) > _MOST:
            self._made.popitem(last=False)

    def of(self, made: Any) -> CompileRecord | None:
        """The record whose stage made it; None where it is not known."""
        ref, record = self._made.get(id(made), (None, None))
        return record if ref is not None and ref() is made else None

    def clear(self) -> None:
        """Forget all."""
        self._made.clear()


_kept, _operations = KeptArtefacts(), KeptArtefacts(MOST_OPERATIONS)
_origins = StageOrigins()


def origin(frames: EventFrames) -> CompileRecord | None:
    """The record of what a stage works on that runs ahead of time; None where it is not known."""
    if not frames.is_ahead_of_time:
        return None
    module, jaxpr = local(frames.stage, "computation"), compile_frames.traced(frames)
    return _origins.of(module if module is not None else jaxpr)


def begins_compile(record: CompileRecord, frames: EventFrames) -> None:
    """A compile begins: its module, which may have been lowered for an earlier record, and its options."""
    record.artefacts.module = _kept_module(local(frames.stage, "computation"), local(frames.stage, "host_callbacks"))
    record.compiler_options = tuple(local(frames.stage, "compiler_options_kvs") or ())


def take(ended: RunningStage, frames: EventFrames) -> None:
    """What the stage that ends has made, and how it failed."""
    record, stage, error = ended.record, ended.run.stage, frames.error
    if error is not None:
        ended.run.failed = type(error).__name__
        record.failed = quietly(ended.run.failed, _first_line, error)
    if stage is StageName.TRACE:
        ended.run.was_cached = quietly(None, trace_counts.trace_ends, ended.before)
    elif stage is StageName.COMPILE:
        record.persistent = quietly(None, watching.take)
    if error is None:
        quietly(None, _TAKE[stage], ended, frames)


def release_executables() -> None:
    """The user has cleared JAX's caches, and wants the memory."""
    _kept.release_executables()
    _operations.release_executables()


def drop() -> None:
    """Let go of all that the stages made."""
    _kept.drop()
    _operations.drop()
    _origins.clear()


def _take_trace(ended: RunningStage, frames: EventFrames) -> None:
    jaxpr = local(frames.stage, "jaxpr")
    if jaxpr is None:
        return
    if ended.run.was_cached is None and _origins.of(jaxpr) is not None:
        ended.run.was_cached = True
    _origins.add(jaxpr, ended.record)
    ended.record.effects = quietly(None, effectful_operations, jaxpr)
    ended.record.artefacts.constants = constant_bytes(jaxpr)
    ended.record.artefacts.jaxpr, ended.record.artefacts.made_jaxpr = outlined(jaxpr), weakref.ref(jaxpr)
    _keep(ended.record)


def _take_lowering(ended: RunningStage, frames: EventFrames) -> None:
    made = local(frames.stage, "lowering_result")
    module = getattr(made, "module", None)
    if module is not None:
        _origins.add(module, ended.record)
        ended.record.artefacts.module = _kept_module(module, getattr(made, "host_callbacks", None))
        ended.record.artefacts.made_module = weakref.ref(module)
        _keep(ended.record)


def _kept_module(module: Any, callbacks: Any) -> Any:
    """The module; a copy where it has Python callbacks, since JAX keeps an executable as long as its module lives."""
    return module.operation.clone() if callbacks and module is not None else module


def _take_executable(ended: RunningStage, frames: EventFrames) -> None:
    kept = ended.record.artefacts
    executable = local(frames.stage, "xla_executable")
    kept.executable = ReadExecutable(executable) if local(frames.stage, "host_callbacks") else executable
    kept.options = local(frames.stage, "compile_options")
    kept.devices, ended.record.processes = _devices(local(frames.stage, "da"))
    by_name = dict(local(frames.stage, "compiler_options_kvs") or ())
    kept.given = given_options.remember_heard(local(frames.stage, "computation"), by_name, kept.options)
    _keep(ended.record)


_last_devices: tuple[Any, tuple[Any, ...], tuple[int, ...]] = (None, (), ())


def _devices(given: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The devices of a compile, which most compiles share, and the processes that they are of."""
    global _last_devices
    last, devices, processes = _last_devices
    if given is not last:
        devices = tuple(given or ())
        processes = tuple(sorted({int(getattr(device, "process_index", 0)) for device in devices}))
        _last_devices = given, devices, processes
    return devices, processes


_TAKE = {StageName.TRACE: _take_trace, StageName.LOWER: _take_lowering, StageName.COMPILE: _take_executable}


def _keep(record: CompileRecord) -> None:
    (_operations if record.entry is Entry.EAGER else _kept).keep(record)


def _first_line(error: BaseException) -> str:
    """The type and the first line of an exception, without its own `__str__`."""
    args: Any = BaseException.__dict__["args"].__get__(error)
    text = args[0] if args and type(args[0]) is str else ""
    line = text.strip().partition("\n")[0][:200]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


_T = TypeVar("_T")


def quietly(default: _T, ask: Callable[..., _T], *given: Any) -> _T:
    """What `ask` reads of JAX's frames, or the default if it fails, which is counted: the user's call goes on.

    An interrupt is the user's, and is raised.
    """
    try:
        return ask(*given)
    except Exception as error:
        LOG.fault(error)
        return default


_DEEPEST, _MOST_EQUATIONS = 20, 4


def effectful_operations(jaxpr: Any) -> tuple[str, ...]:
    """The names of the operations that a jaxpr's effects are of, such as `debug_print`, `io_callback`, `swap`.

    JAX dispatches a program with effects from Python at each call; `jax.pure_callback` has none.
    """
    if not jaxpr.effects:
        return ()
    names = dict.fromkeys(_effectful(jaxpr, 0))
    return tuple(names)[:_MOST_EQUATIONS] or ("an operation",)


def _effectful(jaxpr: Any, depth: int) -> Iterator[str]:
    """The innermost ones."""
    for eqn in jaxpr.eqns:
        if not eqn.effects:
            continue
        inner = jaxprs.inner_jaxprs(eqn) if depth < _DEEPEST else []
        deeper = [name for one in inner for name in _effectful(one, depth + 1)]
        yield from deeper or [str(eqn.primitive.name)]

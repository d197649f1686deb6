"""What looking must leave as it was: the settings of JAX, Python and the process, and what JAX has compiled."""

from __future__ import annotations

import builtins
import gc
import locale
import logging
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import jax
import jax._src.monitoring as monitoring
import jax.numpy as jnp
import numpy as np
from jax._src import api, config

_COMPILES = "/jax/core/compile/"
"""How the names of the events begin that JAX raises when it traces, lowers or compiles."""


def taken() -> dict[str, Any]:
    """The state by name, in values that compare."""
    return dict(_of_jax()) | dict(_of_python()) | dict(_of_process())


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is no longer what it was, one line each."""
    return [f"{name}: {_shown(before[name], after[name])}" for name in before if before[name] != after[name]]


def _shown(before: Any, after: Any) -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {*before, *after}
        changed = sorted(str(key) for key in keys if before.get(key) != after.get(key))
        return f"changed {', '.join(changed)}"[:400]
    if isinstance(before, tuple | list) and len(before) < 1000:
        new = [each for each in after if each not in before]
        gone = [each for each in before if each not in after]
        return f"new {new!r}, gone {gone!r}"[:400]
    return f"was {before!r}"[:200] + f", is {after!r}"[:200]


def _of_jax() -> Iterator[tuple[str, Any]]:
    yield "jax.config", dict(jax.config.values)
    yield "settings of this thread", {name: _local(each) for name, each in config.config_states.items()}
    yield "names in the trace context", tuple(config.trace_context_names())
    yield "trace context", tuple(map(_comparable, config.trace_context()))
    yield "check for NaN", (_local(api._post_hook_state), api._post_hook_state.get_global())
    yield (
        "JAX's listeners",
        (
            len(monitoring.get_event_listeners()),
            len(monitoring.get_event_duration_listeners()),
            len(monitoring._event_time_span_listeners),
            len(monitoring._scalar_listeners),
        ),
    )
    yield "JAX's functions", [id(getattr(jax, name)) for name in ("jit", "grad", "vmap", "device_put", "make_jaxpr")]


def _local(state: Any) -> Any:
    return _comparable(state.get_local()) if hasattr(state, "get_local") else None


def _comparable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | tuple | type(None)) else repr(value)


def _of_python() -> Iterator[tuple[str, Any]]:
    yield "filters of warnings", list(warnings.filters)
    yield "warnings.showwarning", warnings.showwarning
    yield "logging", dict(_loggers())
    yield "numpy's errors and printing", (np.geterr(), repr(np.get_printoptions()))
    yield "random state", (random.getstate(), np.random.get_state()[1].tolist(), np.random.get_state()[2])
    yield "hooks", (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.displayhook, sys.breakpointhook)
    yield "tracing and profiling", (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile())
    monitor: Any = getattr(sys, "monitoring", None)
    if monitor is not None:
        tools = [monitor.get_tool(number) for number in range(6)]
        yield "sys.monitoring", [tool and (tool, monitor.get_events(at)) for at, tool in enumerate(tools)]
    yield "standard streams", (sys.stdin, sys.stdout, sys.stderr)
    yield "built-in functions", {name: id(value) for name, value in _builtins().items()}
    yield "finders", (list(map(type, sys.meta_path)), len(sys.path_hooks), list(sys.path))
    yield "limits", (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits())
    yield "garbage collector", (gc.isenabled(), gc.get_threshold(), len(gc.callbacks))


def _builtins() -> dict[str, Any]:
    own = ("_", "get_ipython", "display")  # IPython's; pybind11 keeps its state there too
    return {name: value for name, value in vars(builtins).items() if name not in own and "pybind11" not in name}


def _loggers() -> Iterator[tuple[str, Any]]:
    yield "", (logging.root.level, list(logging.root.handlers), logging.root.manager.disable)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        handlers = [each for each in getattr(logger, "handlers", ()) if type(each) is not logging.NullHandler]
        if isinstance(logger, logging.Logger) and (handlers or logger.level or logger.filters or logger.disabled):
            yield name, (logger.level, list(logger.handlers), list(logger.filters), logger.propagate, logger.disabled)


def _of_process() -> Iterator[tuple[str, Any]]:
    yield "environment", dict(os.environ)
    yield "signal handlers", {each.name: signal.getsignal(each) for each in signal.Signals}
    yield "blocked signals", signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield "timers", (signal.getitimer(signal.ITIMER_REAL), signal.getitimer(signal.ITIMER_PROF))
    yield "threads", sorted(thread.name for thread in threading.enumerate())
    yield "open files", sorted(_open_files())
    yield "working directory, umask, locale", (os.getcwd(), _umask(), locale.setlocale(locale.LC_ALL))


def _open_files() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
        except OSError:  # the listing itself
            continue
        yield f"{number} {path}"


def _umask() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


class Compiled:
    """Functions that were compiled, and called from C++, before something is looked at."""

    def __init__(self) -> None:
        self.traced = 0
        self._x, self._tree = jnp.arange(6.0).reshape(2, 3), {"a": jnp.ones(3), "b": (jnp.ones(2), 3.0)}
        jitted = jax.jit(self._count(lambda x: jnp.tanh(x) @ x.T))
        of_tree = jax.jit(self._count(lambda tree, n: jax.tree.map(lambda v: v * n, tree)), static_argnums=1)
        nested = jax.jit(self._count(lambda x: jitted(x) + jax.grad(lambda v: jitted(v).sum())(x).sum()))
        gradient = jax.jit(jax.value_and_grad(self._count(lambda x: jnp.sin(x).sum())))
        keyed = jax.jit(self._count(lambda key: jax.random.normal(key, (2,))))
        key = jax.random.PRNGKey(0)
        self._calls: dict[str, Callable[[], Any]] = {
            "a jitted function": lambda: jitted(self._x),
            "with a pytree and a static argument": lambda: of_tree(self._tree, 2),
            "one that calls another": lambda: nested(self._x),
            "a jitted gradient": lambda: gradient(self._x),
            "with a random key": lambda: keyed(key),
            "eager operations": lambda: jnp.sin(self._x) + self._x,
        }
        for _ in range(3):
            for call in self._calls.values():
                call()
        self._python = {name: _python_calls(call) for name, call in self._calls.items()}

    def _count(self, function: Any) -> Any:
        def counted(*args: Any) -> Any:
            self.traced += 1
            return function(*args)

        return counted

    def problems(self) -> list[str]:
        """What the next call of each does that calls before did not, one line each."""
        found = []
        for name, call in self._calls.items():
            before, events = self.traced, []
            with _heard(events.append):
                python = _python_calls(call)
            if self.traced != before or events:
                found.append(f"{name} is traced or compiled again: {sorted(set(events))}")
            elif python > self._python[name]:
                found.append(f"{name} runs {python} Python functions of JAX's, {self._python[name]} before")
        return found


class _heard:
    """Inside the block the names of JAX's compile events of any thread are told."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def __enter__(self) -> None:
        monitoring.register_event_duration_secs_listener(self._hear)

    def __exit__(self, *error: object) -> None:
        monitoring.unregister_event_duration_listener(self._hear)

    def _hear(self, event: str, seconds: float, **facts: Any) -> None:
        if event.startswith(_COMPILES):
            self._tell(event.removeprefix(_COMPILES))


def _python_calls(call: Callable[[], Any]) -> int:
    """How many functions of JAX's, in Python, a call runs: none where it stays in C++."""
    count = 0

    def profiler(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call" and "/jax/" in frame.f_code.co_filename

    former = sys.getprofile()
    sys.setprofile(profiler)
    try:
        call()
    finally:
        sys.setprofile(former)
    return count

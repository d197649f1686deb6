"""JAX's own call of XLA, watched for the time of one stage."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jax._src import config as _config
from jax._src.interpreters import mlir as _mlir

from jaxstage_ext.core.jax_private.replaced_function import ReplacedFunction

_watched = threading.local()


@dataclass(frozen=True)
class BackendCompile:
    """What JAX hands to XLA. Equal `parts` on the same `client` make equal executables."""

    client: Any = field(repr=False)
    parts: tuple[bytes, bytes, bytes]
    """The module's bytecode with locations, the serialised options, the devices' ids."""
    overrides: Mapping[str, Any]
    """The options that were set by name."""
    options: Any = field(default=None, repr=False)
    """JAX's CompileOptions."""
    devices: Any = field(default=None, repr=False)
    """The DeviceList that it runs on."""
    spans: bool = False
    """Whether it runs on devices of several processes."""

    def serialized(self, executable: Any) -> bytes:
        """A LoadedExecutable as bytes. Raises what the backend raises."""
        return bytes(executable.serialize())

    def loaded(self, data: bytes) -> Any:
        """The LoadedExecutable of another process's `serialized`, for this process. Raises what the backend raises."""
        return self.client.deserialize_executable(data, self.devices, self.options)


Watcher = Callable[[BackendCompile, Callable[[], Any]], Any]


@contextlib.contextmanager
def watch_backend_compile(watcher: Watcher) -> Iterator[None]:
    """Inside the block this thread's compiles are `watcher(what, compile)`, which gives the executable.

    It is not asked about a compile that must be one: with Python callbacks, guided by a profile of its own runs, dumped
    by XLA_FLAGS, or where JAX's signature is another than we know.
    """
    outer = getattr(_watched, "watcher", None)
    with _compiling.replaced():
        _watched.watcher = watcher
        try:
            yield
        finally:
            _watched.watcher, _watched.is_replaced = outer, False


def _watched_through(compile_: Callable[..., Any]) -> Any:
    def watched(*args: Any, **kwargs: Any) -> Any:
        watcher: Watcher | None = getattr(_watched, "watcher", None)
        if watcher is None or (what := _backend_compile(compile_, args, kwargs)) is None:
            return compile_(*args, **kwargs)
        return _asked(watcher, what, lambda: compile_(*args, **kwargs))

    return watched


_compiling = ReplacedFunction("compile_or_get_cached", _watched_through)


def leave_out(seconds: float) -> None:
    """Of the compile that runs in this thread, seconds that neither compiling nor reading took."""
    _watched.left_out = seconds


def left_out() -> float:
    """The seconds to leave out of the compile that ends in this thread now; the next has its own."""
    seconds, _watched.left_out = getattr(_watched, "left_out", 0.0), 0.0
    return float(seconds)


def _asked(watcher: Watcher, what: BackendCompile, compile_: Callable[[], Any]) -> Any:
    _watched.is_replaced = True

    def compiled() -> Any:
        _watched.is_replaced = False
        return compile_()

    return watcher(what, compiled)


def is_replaced() -> bool:
    """Whether the compile that ends in this thread now was not made, since a watcher had its executable."""
    return bool(getattr(_watched, "is_replaced", False))


def _backend_compile(
    compile_: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> BackendCompile | None:
    try:
        given = inspect.signature(compile_).bind(*args, **kwargs).arguments
        devices = list(given["devices"].flatten())
        if given["host_callbacks"] or given.get("pgle_profiler"):
            return None
        options = given["compile_options"]
        if options.executable_build_options.debug_options.xla_dump_to or _config.jax_dump_ir_to.value:
            return None
        module = _mlir.module_to_bytecode(given["computation"])
        ids = ",".join(str(device.id) for device in devices).encode()
        parts = (module, bytes(options.SerializeAsString()), ids)
        spans = len({device.process_index for device in devices}) > 1
        overrides = dict(options.env_option_overrides)
        return BackendCompile(given["backend"], parts, overrides, options, given["executable_devices"], spans)
    except (KeyError, TypeError, AttributeError):
        return None

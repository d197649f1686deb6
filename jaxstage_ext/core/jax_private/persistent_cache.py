"""JAX's persistent compilation cache: the folder in use, its limits, and the compile that asks it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from jax._src import cache_key as _cache_key
from jax._src import compilation_cache as _compilation_cache
from jax._src import config as _config
from jax._src import distributed as _distributed
from jax._src import xla_bridge as _backends

_cache_any: Any = _compilation_cache
_config_any: Any = _config
_distributed_any: Any = _distributed
_backends_any: Any = _backends
_COMPILER = os.path.join("jax", "_src", "compiler.py")
_PXLA = os.path.join("jax", "_src", "interpreters", "pxla.py")
_DISPATCH = os.path.join("jax", "_src", "dispatch.py")
_MOST_FRAMES = 40
ZLIB, ZSTANDARD = "zlib", "zstandard"
_FIRST_BYTES = {b"\x28\xb5\x2f\xfd": ZSTANDARD, b"\x78": ZLIB}
SUFFIX, USED_SUFFIX = "-cache", "-atime"
"""What JAX adds to a key: for the entry, and for the file with the time of its last use, where the size is limited."""


@dataclass(frozen=True, slots=True)
class CacheState:
    """What JAX has made of its cache so far."""

    folder: str
    """Of the cache that JAX has opened; "" where it has opened none."""
    set_folder: str
    """`jax_compilation_cache_dir`, which JAX reads once; "" where it is not set."""
    is_enabled: bool
    """`jax_enable_compilation_cache`, which JAX reads once."""
    was_asked: bool
    """Whether a compile has made JAX decide if it uses a cache; `uses` is that decision."""
    uses: bool
    was_opened: bool
    """Whether JAX has tried to open a folder, which it does once."""
    evicts: bool
    """Whether the size of the folder is limited."""
    max_size: int
    """The limit in bytes; -1 without one."""

    @property
    def next_folder(self) -> str:
        """The folder that the next compile will use, as far as that can be known before JAX has opened it."""
        if self.folder or self.was_opened or not self.is_enabled or (self.was_asked and not self.uses):
            return self.folder
        return self.set_folder


def state() -> CacheState:
    """What JAX has made of its cache so far; nothing is opened by asking."""
    cache = _cache_any._cache
    inner = getattr(cache, "_base_cache", cache)  # jax_compilation_cache_check_contents wraps it
    evicts = bool(getattr(inner, "eviction_enabled", False))
    return CacheState(
        "" if cache is None else str(cache._path),
        _config_any.compilation_cache_dir.value or "",
        bool(_config_any.enable_compilation_cache.value),
        bool(_cache_any._cache_checked),
        bool(_cache_any._cache_used),
        bool(_cache_any._cache_initialized),
        evicts,
        int(inner.max_size) if evicts else int(_config_any.compilation_cache_max_size.value),
    )


def wants_keys() -> bool:
    """Whether JAX makes a key for each compile that runs now, and has or opens a folder for the entry."""
    return bool(_cache_any._cache_used) and bool(next_folder())


def failed_to_open(error: BaseException) -> bool:
    """Whether an exception came from JAX's opening of the folder, which `jax_raise_persistent_cache_errors` raises."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "_initialize_cache" and code.co_filename == _cache_any.__file__:
            return True
        trace = trace.tb_next
    return False


def folder_in_use() -> str:
    """The folder that JAX has opened; "" where it has opened none."""
    cache = _cache_any._cache
    return "" if cache is None else str(cache._path)


def next_folder() -> str:
    """The folder that the next compile will use: `state().next_folder`, which costs more."""
    if _cache_any._cache is None and not _config_any.compilation_cache_dir.value:
        return ""
    return state().next_folder


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """What JAX does not write: programs that compile faster, and entries that are smaller."""

    seconds: float
    bytes: int


def write_limits() -> WriteLimits:
    """`jax_persistent_cache_min_compile_time_secs` and `jax_persistent_cache_min_entry_size_bytes` now."""
    return WriteLimits(
        float(_config_any.persistent_cache_min_compile_time_secs.value),
        int(_config_any.persistent_cache_min_entry_size_bytes.value),
    )


def no_writes() -> contextlib.AbstractContextManager[None]:
    """Inside the block, this thread's compiles leave no entry in JAX's persistent cache."""
    held: contextlib.AbstractContextManager[None] = _config_any.persistent_cache_min_compile_time_secs(float("inf"))
    return held


def is_first_process() -> bool:
    """Whether this is the process that writes entries."""
    return bool(_distributed_any.global_state.process_id == 0)


def keys_differ_between_processes() -> bool:
    """Whether the key of a program is another in each process of a job, as on CPUs.

    There the topology of which JAX's key holds a fingerprint is that of the process that asks.
    """
    return bool(_backends_any.backends_are_initialized()) and _backends_any.default_backend() == "cpu"


def checks_contents() -> bool:
    """`jax_compilation_cache_check_contents`, with which JAX compiles an entry's program at its first use."""
    return bool(_config_any.compilation_cache_check_contents.value)


def compression() -> str:
    """What JAX's key of an entry says that it is compressed with: "zstandard" where that package is in use, or "zlib".

    With Python 3.14 it says "zlib" of entries that Python's own zstd compresses: `packing`.
    """
    return ZLIB if _cache_any.zstandard is None else ZSTANDARD


def packing() -> str:
    """What JAX compresses entries with: "zstandard" by Python's zstd (3.14) or by that package, or "zlib"."""
    return compression() if _python_zstd() is None else ZSTANDARD


def packing_of(start: bytes) -> str:
    """What an entry is compressed with, by its first four bytes; "" where they are of no entry."""
    return next((name for first, name in _FIRST_BYTES.items() if start.startswith(first)), "")


def can_unpack(entry: bytes) -> bool:
    """Whether this kernel has what an entry says that it is compressed with; zlib is always there."""
    return packing_of(entry[:4]) != ZSTANDARD or packing() == ZSTANDARD


def _python_zstd() -> Any:
    return getattr(_cache_any, "zstd", None)


@dataclass(frozen=True, slots=True)
class ExecutableDigest:
    """What is known of an entry's executable, which is not loaded, and unpacked a piece at a time."""

    sha256: str
    """Of the executable."""
    size: int
    """Its bytes."""
    is_named: bool
    """Whether it holds the name that was looked for."""


_PIECE = 1 << 20
_TIME_BYTES = 4
"""With which an entry begins: the seconds of its compile (`combine_executable_and_time`)."""
MOST_UNPACKED = 2**32
"""Bytes of an executable; the message that it is has at most two gigabytes."""


def digest(entry: bytes, name: str = "") -> ExecutableDigest:
    """Of an entry's executable. Raises what the decompressor raises where it is damaged, ValueError if too large."""
    hashed, size, wanted, found, rest = hashlib.sha256(), -_TIME_BYTES, name.encode(), not name, b""
    for piece in _unpacked(entry):
        held = piece[max(-size, 0) :]
        size += len(piece)
        if size > MOST_UNPACKED:
            raise ValueError(f"it unpacks to more than {MOST_UNPACKED:,} bytes")
        hashed.update(held)
        found = found or _holds(rest + held, wanted)
        rest = held[-len(wanted) - 1 :]
    return ExecutableDigest(hashed.hexdigest(), max(size, 0), found)


def _holds(data: bytes, name: bytes) -> bool:
    """Whether a name stands in the data that does not go on."""
    at = data.find(name)
    while at >= 0:
        after = data[at + len(name) : at + len(name) + 1]
        if not (after.isalnum() or after in (b"_", b".")):
            return True
        at = data.find(name, at + 1)
    return False


def _unpacked(entry: bytes) -> Iterator[bytes]:
    """What an entry holds, in pieces: of zlib, or of what JAX unpacks with, Python's zstd, zstandard or else zlib."""
    stream: Any
    is_zlib = packing_of(entry[:4]) == ZLIB
    if (python := _python_zstd()) is not None and not is_zlib:
        stream, left = python.ZstdDecompressor(), entry
        while not stream.eof:
            yield stream.decompress(left, _PIECE)
            if left == b"" and stream.needs_input:
                raise zlib.error("incomplete or truncated stream")
            left = b""
        return
    if _cache_any.zstandard is not None and not is_zlib:
        with _cache_any.zstandard.ZstdDecompressor().stream_reader(entry) as reader:
            while piece := reader.read(_PIECE):
                yield piece
        return
    stream, left = zlib.decompressobj(), entry
    while not stream.eof:
        piece = stream.decompress(left, _PIECE)
        left = stream.unconsumed_tail
        if not piece and not left and not stream.eof:
            raise zlib.error("incomplete or truncated stream")
        yield piece


def entry_bytes(executable: Any) -> int:
    """The size of the entry that JAX would write. Raises where the executable cannot be serialised."""
    return len(_cache_any.compress_executable(bytes(4) + executable.serialize()))


@dataclass(slots=True)
class CacheRequest:
    """A compile that asks the cache."""

    key: str
    """Of its entry."""
    module_name: str
    """With which the key begins."""
    module: Any
    devices: Any
    options: Any
    backend: Any
    """`module`, `devices`, `options`, `backend`: what the key is made of."""
    has_callbacks: bool
    """Whether the program calls Python, which jax 0.10 does not write."""


def current_request() -> CacheRequest | None:
    """The compile that asks the cache in this thread now; None where no frame of it is on the stack."""
    frame = _frame(_COMPILER, "compile_or_get_cached")
    if frame is None:
        return None
    local = frame.f_locals
    names = ("cache_key", "module_name", "computation", "devices", "compile_options", "backend")
    values: list[Any] = [local.get(name) for name in names]
    key, name, module, devices, options, backend = values
    if key is None or name is None or module is None or devices is None or options is None or backend is None:
        return None
    return CacheRequest(key, name, module, devices, options, backend, bool(local.get("host_callbacks")))


def writes_callbacks() -> bool:
    """Whether this JAX writes programs that call Python: from 0.12 on."""
    return not hasattr(_cache_key, "IgnoreCallbacks")


def compiled_now() -> Any:
    """The executable of the compile that ends in this thread now; None where it failed."""
    frame = _frame(_PXLA, "_cached_compilation")
    return None if frame is None else frame.f_locals.get("xla_executable")


def failure_now() -> BaseException | None:
    """The exception with which the compile that ends in this thread failed."""
    frame = _frame(_DISPATCH, "__exit__")
    return None if frame is None else frame.f_locals.get("exc_value")


def failed_in_cache(error: BaseException) -> str:
    """Whether an exception came from an entry that was "read" or "written"; "" where it came from neither."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.endswith(_COMPILER) and code.co_name in ("_cache_read", "_cache_write"):
            return "read" if code.co_name == "_cache_read" else "written"
        trace = trace.tb_next
    return ""


def _frame(file: str, function: str) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == function and frame.f_code.co_filename.endswith(file):
            return frame
        frame = frame.f_back
    return None

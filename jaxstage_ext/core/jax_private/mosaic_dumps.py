"""The profiles that Mosaic GPU kernels record on the device: taken as they reach the host, left out while lowering.

With `profile_space` and `profile_dir`, JAX adds to a kernel a `jax.debug.callback` that writes a file named
`<kernel>-<ns>-trace.json` through `ProfilerSpec.dump`. That file adds cycles to nanoseconds; the words hold more.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from jaxstage_ext.core.jax_private.jaxprs import nested_equations

_PROFILER = "jax.experimental.mosaic.gpu.profiler"
_DUMPERS = ("jax._src.pallas.mosaic_gpu.pallas_call_registration", "jax.experimental.mosaic.gpu.core")
"""The modules whose global `jax` makes the callback: for Pallas kernels, and for kernels of Mosaic GPU itself."""
_PALLAS = "jax._src.pallas.mosaic_gpu.core"
"""What a program with such a Pallas kernel has imported."""
_FILE = re.compile(r"(?:(?P<kernel>.*)-)?[0-9]+-trace\.json")
_replacing = threading.RLock()
_wait: Callable[[], Any] = jax.effects_barrier


@dataclass(frozen=True, eq=False)
class MosaicDump:
    """A profile buffer as it reached the host."""

    words: npt.NDArray[np.uint32] = field(repr=False)
    """A copy of the buffer."""
    spec: Any
    """JAX's `ProfilerSpec`."""
    grid: tuple[int, ...]
    block: tuple[int, ...]
    """`grid`, `block`: sizes of the launch."""
    kernel: str
    """The name of the kernel; "" for one of Mosaic GPU itself, which JAX does not name."""
    file: str
    """What JAX wrote of it."""
    time: int
    """Unix time in nanoseconds at which it reached the host."""
    error: str = ""
    """What JAX's own dump raised; "" if it did not."""


@contextlib.contextmanager
def recorded_dumps() -> Iterator[list[MosaicDump]]:
    """Inside the block, every buffer that JAX dumps is put into the list too, in the order in which they come.

    JAX writes its own file all the same, once for each compile: of later runs it writes none, with a warning, and these
    are put into the list too. Where its dump raises, the error is kept with the buffer instead of ending the program.
    It waits for what is under way when the block ends, because dumps come late. Kernels whose Mosaic GPU
    modules are imported only within the block are not seen.
    """
    dumps: list[MosaicDump] = []
    profiler = sys.modules.get(_PROFILER)
    if profiler is None:
        yield dumps
        return
    with contextlib.ExitStack() as around:
        around.enter_context(_replaced(profiler.ProfilerSpec, "dump", lambda dump: _keeping(dump, dumps)))
        for module in _dumpers():
            around.enter_context(_replaced(module, "open", lambda _: _open_again))
        try:
            yield dumps
        finally:
            with contextlib.suppress(Exception):  # of other callbacks of the program, which JAX raises where it waits
                _wait()


def _keeping(dump: Callable[..., Any], dumps: list[MosaicDump]) -> Callable[..., Any]:
    def kept(self: Any, buffer: Any, f: Any, grid: tuple[int, ...], block: tuple[int, ...]) -> Any:
        now, error = time.time_ns(), ""
        try:
            return dump(self, buffer, f, grid, block)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        finally:
            file = str(getattr(f, "name", ""))
            words = np.array(buffer, copy=True)
            dumps.append(MosaicDump(words, self, tuple(grid), tuple(block), kernel_of(file), file, now, error))

    return kept


def _dumpers() -> list[Any]:
    return [module for name in _DUMPERS if (module := sys.modules.get(name)) is not None]


def _open_again(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """What is to be opened anew and is there already is a file that nobody keeps."""
    try:
        return open(file, mode, *args, **kwargs)
    except FileExistsError:
        return _NotKept(str(file))


class _NotKept(io.StringIO):
    """Text that is written in place of a file that is there already."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def kernel_of(file: str) -> str:
    """The kernel whose profile JAX wrote to a file; "" where the file's name has none."""
    match = _FILE.fullmatch(os.path.basename(file))
    return (match["kernel"] or "") if match else ""


@contextlib.contextmanager
def without_dumps() -> Iterator[list[str]]:
    """Inside the block, kernels are lowered by this thread without the callback that dumps their profile.

    It is what makes them lower for a GPU that is not in this machine: a callback is lowered for this machine's devices
    only. The list gets the name of each kernel whose dump was left out.
    """
    left_out: list[str] = []
    if _PALLAS in sys.modules:  # JAX imports what lowers its kernels when it lowers the first, which is too late here
        with contextlib.suppress(ImportError):
            importlib.import_module(_DUMPERS[0])
    modules = [module for module in _dumpers() if hasattr(module, "jax")]
    with contextlib.ExitStack() as around:
        for module in modules:
            around.enter_context(_replaced(module, "jax", lambda real: _JaxWithoutDumps(real, left_out)))
        yield left_out


class _JaxWithoutDumps:
    """The module `jax` as those modules see it: its `debug.callback` leaves out the dump of a profile."""

    def __init__(self, real: Any, left_out: list[str]) -> None:
        self._real, self._left_out, self._thread = real, left_out, threading.get_ident()
        self.debug = self

    def callback(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != self._thread or function.__name__ != "dump_profile":
            return self._real.debug.callback(function, *args, **kwargs)
        self._left_out.append(_dumped_kernel(function))
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _dumped_kernel(function: Any) -> str:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return next((kernel_of(cell.cell_contents) for name, cell in cells if name == "out_file"), "")


@contextlib.contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """An attribute replaced by what `make` makes of it, one replacement at a time in the process.

    One that the owner does not have, such as a builtin in a module, is made of None and is gone afterwards.
    """
    with _replacing:
        real = vars(owner).get(name)
        setattr(owner, name, make(real))
    try:
        yield
    finally:
        with _replacing:
            if real is None:
                delattr(owner, name)
            else:
                setattr(owner, name, real)


def profiled_kernels(traced: Any) -> list[str]:
    """The names of a trace's kernels that record a profile on the device, in their order."""
    if traced is None:
        return []
    given = [(eqn, eqn.params.get("compiler_params")) for eqn, _ in nested_equations(traced.jaxpr.jaxpr)]
    return [
        str(eqn.params.get("name") or "the kernel")
        for eqn, params in given
        if getattr(params, "profile_space", 0) and getattr(params, "profile_dir", "")
    ]

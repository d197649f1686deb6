"""The executables that this process has compiled for inspections, so that an equal module is not compiled twice.

A cell that is run a second time makes a new function, which JAX compiles anew. Where the module for XLA equals, byte
for byte, one that was compiled here with the same options for the same devices, JAX gets that executable. Everything
around it (trees, shardings, donation) JAX builds for the new function, so what is shown is what runs.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from jaxstage_ext.core import shared_executables
from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.core.jax_private import given_options, jax_options, lowered_modules
from jaxstage_ext.core.jax_private.compile_watch import BackendCompile, watch_backend_compile
from jaxstage_ext.core.jax_private.jax_options import ConfiguredOptions
from jaxstage_ext.core.options.file_options import environment_names_files, names_files, of_process
from jaxstage_ext.core.shared_executables import SharedExecutable
from jaxstage_ext.store import cache
from jaxstage_ext.worker.compile_environment import current

_made = cache.table(1_000_000_000, most=32)
MOST_COMPARED_CONSTANTS = 4 << 20
"""Bytes of the arrays in a program whose executable is kept for an equal module."""
_SIZE_FACTOR, _LARGEST_MODULE = 256, 1 << 20
"""An executable counts as this many times its module's bytecode, as far as that is no larger."""


@dataclass(frozen=True)
class ReusableExecutable:
    """One compile by XLA."""

    key: str
    """Of what was compiled; the same for every executable that must be equal."""
    seconds: float
    """That XLA took for it."""
    executable: Any = field(repr=False)
    client: Any = field(repr=False)
    reused: bool = False
    """Whether it was compiled for an earlier inspection."""
    given: ConfiguredOptions | None = field(default=None, repr=False)
    """The options that XLA was given; None where JAX does not say them."""
    process: int | None = None
    """The other process of the job that compiled it; None where this one did."""
    took: float | None = None
    """Seconds that it took here, to compile or to read, where JAX's event has more in it: waiting, writing."""


@dataclass(frozen=True)
class CompiledHere:
    """What a compile in this process came to.

    Attributes:
      value: what was compiled.
      made: the compile that its executable came from; None where that is not known.
      sharing: of a program of several processes, whether they share it.
    """

    value: Any
    made: ReusableExecutable | None
    sharing: Sharing


def compile(lowered: Any, make: Callable[[], Any], constants: int = 0) -> CompiledHere:  # noqa: A001
    """What `make` compiles.

    `constants` are the bytes of the arrays in the program: to compare many takes as long as to compile them.
    """
    if (why := _incomparable(lowered, constants)) is not None:
        return CompiledHere(make(), None, why)
    seen: list[tuple[ReusableExecutable | None, Sharing]] = []

    def watcher(what: BackendCompile, compile_: Callable[[], Any]) -> Any:
        if names_files(what.overrides):
            return compile_()
        if not what.spans:
            seen.append((made := _compiled(what, compile_), Sharing.OWN_DEVICES))
            return made.executable
        if (why := _unshared(what)) is not None:
            seen.append((None, why))
            return compile_()
        shared, made = _shared(what, compile_)
        seen.append((made, shared.sharing))
        return shared.executable

    with watch_backend_compile(watcher):
        value = make()
    return CompiledHere(value, *(seen[-1] if seen else (None, Sharing.OPTIONS)))


def _incomparable(lowered: Any, constants: int) -> Sharing | None:
    """Why a program is compiled whatever was compiled before; None where equal ones may be found."""
    if constants > MOST_COMPARED_CONSTANTS:
        return Sharing.CONSTANTS
    if lowered_modules.holds_python(lowered):
        return Sharing.PYTHON
    if not cache.enabled() or of_process() or environment_names_files(current()):
        return Sharing.OPTIONS
    return None


def _unshared(what: BackendCompile) -> Sharing | None:
    return Sharing.OPTIONS if given_options.is_profiled() else shared_executables.why_not(what)


def _shared(what: BackendCompile, compile_: Callable[[], Any]) -> tuple[SharedExecutable, ReusableExecutable]:
    """The executable of several processes, and how this one came to it."""
    given = jax_options.recorded_options(what.options)
    shared = shared_executables.compiled(what, compile_)
    return shared, ReusableExecutable(
        shared.key,
        shared.seconds,
        shared.executable,
        what.client,
        reused=shared.read_seconds is not None,
        given=given,
        process=shared.process,
        took=shared.took,
    )


@contextlib.contextmanager
def reused() -> Iterator[None]:
    """In the block this thread's calls of jitted functions take what was compiled here before, where it is equal."""
    if not cache.enabled() or of_process() or environment_names_files(current()):
        yield
        return
    with watch_backend_compile(
        lambda what, compile_: (
            compile_() if what.spans or names_files(what.overrides) else _compiled(what, compile_).executable
        )
    ):
        yield


def _compiled(what: BackendCompile, compile_: Callable[[], Any]) -> ReusableExecutable:
    key = cache.key("executable", str(id(what.client)), *what.parts)
    known: ReusableExecutable | None = _made.get(key)
    if known is not None:
        return replace(known, reused=True)
    started = time.perf_counter()
    with given_options.hear_options() as given:
        executable = compile_()
    seconds = time.perf_counter() - started
    made = ReusableExecutable(key, seconds, executable, what.client, given=given[-1] if given else None)
    module = len(what.parts[0])
    _made.put(key, made, module + _SIZE_FACTOR * min(module, _LARGEST_MODULE))
    return made

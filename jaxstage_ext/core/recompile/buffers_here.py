"""The buffer assignment of a program for a GPU or TPU that this kernel holds: XLA dumps it in one more compile here.

A worker would open the device a second time. JAX's own compile gives no assignment there: its memory statistics have
one on CPUs alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from jaxstage_ext.core.jax_private import persistent_cache, xla_executables
from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.own_work import own_work
from jaxstage_ext.report.unavailable import Unavailable

_OWN_KEY = {"xla_dump_full_hlo_config": False}
"""An option that changes nothing but the key in JAX's persistent cache, whose entry would not be compiled."""
_LARGEST = 512 << 20
"""Bytes above which an assignment is not read."""


def compile_here(
    lowered: jax.stages.Lowered, options: Mapping[str, Any]
) -> tuple[bytes, Mapping[str, int], str | None]:
    """(The HloProto with the buffer assignment, XLA's memory statistics, the error of a compile that did not fit).

    It takes as long as the compile did, and nothing can stop it. JAX's persistent cache gets no entry of it.

    Raises:
      Unavailable: XLA dumped no assignment, or one that is too large.
      JaxRuntimeError: what the compile raised before buffers were assigned.
    """
    stats: Mapping[str, int] = {}
    failed: jax.errors.JaxRuntimeError | None = None
    with tempfile.TemporaryDirectory(prefix="jaxstage-buffers-") as folder, own_work(), persistent_cache.no_writes():
        dumped = {**options, "xla_dump_to": folder, "xla_dump_hlo_as_proto": True, **_OWN_KEY}
        try:
            compiled = flag_values.compile_lowered(lowered, dumped)
            stats = xla_executables.memory_of_loaded(compiled.runtime_executable())
        except jax.errors.JaxRuntimeError as error:
            failed = error
        proto = _dumped(Path(folder))
    if proto is None:
        raise failed or Unavailable("XLA dumped no buffer assignment of it")
    return proto, stats, None if failed is None else str(failed)


def _dumped(folder: Path) -> bytes | None:
    files = sorted(folder.glob("*after_optimizations.hlo.pb"), key=lambda path: path.stat().st_size)
    if not files:
        return None
    if (size := files[-1].stat().st_size) > _LARGEST:
        raise Unavailable(f"its buffer assignment is {size:,} bytes, above {_LARGEST:,}")
    return files[-1].read_bytes()

"""Profiles for tests: captured in this process, and the real ones of other devices where they are at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRACES = Path(__file__).parents[3] / "shared" / "traces"
XPLANES = ("amd_gfx95x_jax_te_attention", "amd_mi300x_jax08_conv", "amd_mi300x_jax_legacy_conv", "nvidia_v100_tf")


def trace_bytes(name: str) -> bytes:
    """A real profile of another device; the test is skipped where it is absent."""
    if not (path := TRACES / name).exists():
        pytest.skip(f"the profile {name} is not at hand")
    return path.read_bytes()


def captured(run: Callable[[], Any]) -> bytes:
    """The xplane of a run, by JAX's own profiler."""
    import jax
    from jax._src.lib import _profiler

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    session = _profiler.ProfilerSession(options)
    try:
        jax.block_until_ready(run())
    finally:
        data: bytes = session.stop()
    return data

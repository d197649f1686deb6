"""The buffer that a kernel's on-device profile takes is named where its memory is listed."""

from __future__ import annotations

import inspect

import jax.numpy as jnp
import pytest
from absent import needs
from mosaic_kernels import profiled_kernel

import jaxstage_ext

plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
pytestmark = pytest.mark.skipif(
    "out_type" not in inspect.signature(plgpu.kernel).parameters, reason="the kernel of the helper is of newer JAX"
)


def test_the_profile_s_buffer_is_named(tmp_path: object) -> None:
    """Two blocks of one warpgroup each, 16 entries of 4 words: u32[128], 512 B."""
    needs("h100")
    inspection = jaxstage_ext.inspect(profiled_kernel(str(tmp_path)), jnp.ones(128), target="h100")
    [note] = [line for line in str(inspection.memory).splitlines() if "profile_space" in line]
    [buffer] = [name for name in inspection.memory.peak_set["buffer"] if str(name).endswith("{1}")]
    assert note == f"{buffer}, 512 B, is the buffer that scale records its profile into (profile_space)."


def test_a_kernel_without_a_profile_has_none() -> None:
    needs("h100")
    inspection = jaxstage_ext.inspect(lambda x: jnp.tanh(x) + 1, jnp.ones(128), target="h100")
    assert "profile_space" not in str(inspection.memory)

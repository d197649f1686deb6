"""Pallas kernels for Mosaic GPU that record a profile on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest


def profiled_kernel(folder: str, **params: Any) -> Callable[[Any], Any]:
    """A function of f32[128] whose kernel, `scale`, records the scopes `load` and, within `outer`, `multiply`."""
    plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")

    def scale(x_ref: Any, o_ref: Any) -> None:
        with jax.named_scope("load"):
            x = x_ref[...]
        with jax.named_scope("outer"):
            with jax.named_scope("multiply"):
                y = x * 2
            o_ref[...] = y

    given = plgpu.CompilerParams(profile_space=16, profile_dir=folder, **params)
    shape = jax.ShapeDtypeStruct((128,), jnp.float32)

    def doubled(x: Any) -> Any:
        return plgpu.kernel(scale, compiler_params=given, grid=(2,), grid_names=("i",), out_type=shape)(x)

    return doubled

"""Pallas kernels of Triton and of Mosaic GPU, for GPUs that are not in this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.experimental import pallas as pl
from mosaic_kernels import profiled_kernel

import jaxstage_ext
from jaxstage_ext.core.jax_private import triton_kernels

pytestmark = pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated:DeprecationWarning")
X = jax.ShapeDtypeStruct((256, 64), jnp.float32)


def of_triton(body: Any, dtype: Any = jnp.float32) -> Any:
    triton = pytest.importorskip("jax.experimental.pallas.triton")

    def kernel(x_ref: Any, o_ref: Any) -> None:
        o_ref[...] = body(x_ref[...])

    def fn(x: Any) -> Any:
        shape, block = jax.ShapeDtypeStruct(x.shape, dtype), pl.BlockSpec((64, 64), lambda i: (i, 0))
        given = triton.CompilerParams(num_warps=4)
        call = pl.pallas_call(kernel, shape, grid=(4,), in_specs=[block], out_specs=block, compiler_params=given)
        return call(x) + 1

    return fn


@pytest.mark.parametrize("target", ["h100", "a100", "b200"])
def test_a_triton_kernel_compiles_for_a_gpu_that_is_not_here(target: str) -> None:
    needs("cuda")
    ins = jaxstage_ext.inspect(of_triton(lambda x: jnp.exp(x) * 2), X, target=target)
    assert "__gpu$xla.gpu.triton" in str(ins.documents["hlo"].text)
    [kernel] = [row for row in ins.kernels.values() if row.kind == "Pallas (Triton)"]
    assert kernel.instructions[0].startswith("pallas_call")
    assert kernel.stages["ptx"] is None
    assert kernel.stages["ttir"] == "XLA dumped none for it; the HLO's backend_config holds it as MLIR bytecode"
    capability = {"h100": "sm_90a", "a100": "sm_80", "b200": "sm_100"}[target]
    assert f".target {capability}" in kernel.text("ptx")


def test_each_gpu_has_its_own_compute_capability() -> None:
    """float8_e4m3fn exists from 8.9 on; the same trace is lowered for one after the other."""
    needs("cuda")
    fn = of_triton(lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32))
    assert jaxstage_ext.inspect(fn, X, target="h100", stage="lower").lowered is not None
    with pytest.raises(NotImplementedError, match="cannot cast to `float8_e4m3fn`"):
        jaxstage_ext.inspect(fn, X, target="a100", stage="lower")
    both = jaxstage_ext.inspect(jax.jit(fn), X, target=["h100", "a100"], stage="lower").targets
    assert [each.summary()["error"] is None for each in both.values()] == [True, False]


def test_jax_is_asked_as_before_once_it_is_lowered() -> None:
    jaxstage_ext.inspect(of_triton(jnp.sin), X, target="h100", stage="lower")
    with triton_kernels.lowered_for(None):
        if jax.__version_info__ >= (0, 12):
            with pytest.raises(RuntimeError, match="No supported GPU devices found"):
                jax.jit(of_triton(jnp.sin)).trace(X).lower(lowering_platforms=("cuda",))
        else:  # which takes compute capability 9.0 where there is no GPU
            jax.jit(of_triton(jnp.sin)).trace(X).lower(lowering_platforms=("cuda",))


def test_a_mosaic_kernel_is_said_to_be_compiled_at_load(tmp_path: Path) -> None:
    needs("cuda")
    ins = jaxstage_ext.inspect(profiled_kernel(str(tmp_path)), jnp.ones(128), target="h100")
    text = str(ins.kernels)
    assert text.startswith("0 kernels, 1 of Mosaic GPU compiled at load\n")
    assert "Mosaic GPU compiles it where the program is loaded on its GPU" in text
    assert "a step that a library" not in text

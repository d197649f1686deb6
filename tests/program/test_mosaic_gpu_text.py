"""Kernels of Mosaic GPU have their module as text: what JAX itself put into the custom call."""

from __future__ import annotations

from inspect import signature
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

import jaxstage_ext
from jaxstage_ext.program.machine_code.kernels import _mlir_string
from jaxstage_ext.report.unavailable import Unavailable

X = jnp.ones((128, 128))


def plus_one(x_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...] + 1.0


def test_the_module_of_a_mosaic_gpu_kernel_is_text_with_its_source() -> None:
    needs("h100")
    plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
    result = "out_type" if "out_type" in signature(plgpu.kernel).parameters else "out_shape"
    kernel = plgpu.kernel(
        plus_one, grid=(1,), grid_names=("g",), **{result: jax.ShapeDtypeStruct(X.shape, jnp.float32)}
    )

    def added(x: Any) -> Any:
        return kernel(x)

    found = jaxstage_ext.inspect(added, X, target="h100").kernels
    [row] = [row for row in found.rows if row.kind == "Pallas or Mosaic GPU kernel"]
    document = row.document("mosaic")
    assert document.text.startswith("module @plus_one attributes {mosaic_gpu.arch_major = 9")
    assert "func.func @plus_one_mosaic_gpu" in document.text and "arith.constant 1.000000e+00 : f32" in document.text
    at = next(number for number, line in enumerate(document.lines, 1) if "arith.constant 1.000000e+00" in line)
    span = document.source_of(at)
    assert span is not None and (span.function.rpartition(".")[2], span.line) == (
        "added",
        added.__code__.co_firstlineno + 1,
    )
    with pytest.raises(Unavailable, match="Mosaic GPU compiles it where the program is loaded"):
        row.text("ptx")


def test_another_kernel_has_none() -> None:
    needs("h100")
    found = jaxstage_ext.inspect(lambda x: jnp.tanh(x) + 1, X, target="h100").kernels
    with pytest.raises(Unavailable, match="not a kernel of Mosaic GPU"):
        found.rows[0].text("mosaic")


@pytest.mark.parametrize(
    ("written", "module"),
    [(r'"ML\EFR\01\22\5Cx"', b'ML\xefR\x01"\\x'), (r'"a\"b"', b'a"b'), (r'"\0A"', b"\n"), ('""', b"")],
)
def test_how_mlir_escapes_bytes(written: str, module: bytes) -> None:
    line = f'%k = f32[] custom-call(), backend_config={{hash = "\\17", module = {written}, use = true}}'
    assert _mlir_string(line, "module") == module


def test_a_line_without_a_module() -> None:
    assert _mlir_string("%k = f32[] custom-call()", "module") is None

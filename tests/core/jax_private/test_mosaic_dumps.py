"""The profiles of Mosaic GPU kernels as they reach the host, with JAX's own dump and callback on the CPU."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mosaic_buffers import TrueRange, TrueTrace, written
from mosaic_kernels import profiled_kernel

from jaxstage_ext.core.jax_private.mosaic_dumps import kernel_of, recorded_dumps, without_dumps

profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")


def dumping(folder: Path, words: Any, space: int = 4) -> Any:
    """A jitted function with the callback that JAX gives a kernel with a profile; its words are its argument."""
    spec = profiler.ProfilerSpec(4 * space, dump_path=str(folder))
    spec.intern_name("load")

    def dump_profile(buffer: Any) -> None:
        with open(folder / "scale-17-trace.json", "w") as file:
            spec.dump(buffer, file, grid=(1, 1, 1), block=(128, 1, 1))

    @jax.jit
    def step(buffer: Any) -> Any:
        jax.debug.callback(dump_profile, buffer)
        return buffer + 1

    return step(words)


WORDS = written([TrueTrace(1_000, 3, (TrueRange(0, 50, 90),))], 16)


def test_a_buffer_is_kept_and_jax_writes_its_file_all_the_same(tmp_path: Path) -> None:
    with recorded_dumps() as dumps:
        dumping(tmp_path, jnp.asarray(WORDS))
    [dump] = dumps
    assert np.array_equal(dump.words, WORDS) and dump.kernel == "scale" and dump.error == ""
    assert (dump.grid, dump.block, dump.spec.interned_names) == ((1, 1, 1), (128, 1, 1), {"load": 0})
    assert len(json.loads(Path(dump.file).read_text())["traceEvents"]) == 2


def test_nothing_is_kept_after_the_block(tmp_path: Path) -> None:
    real = profiler.ProfilerSpec.dump
    with recorded_dumps() as dumps:
        pass
    assert profiler.ProfilerSpec.dump is real
    dumping(tmp_path, jnp.asarray(WORDS))
    assert dumps == []


def test_a_buffer_that_jax_cannot_dump_is_kept_with_what_it_raised(tmp_path: Path) -> None:
    words = WORDS.copy()
    words[2] = 100
    with recorded_dumps() as dumps:
        assert dumping(tmp_path, jnp.asarray(words)).shape == (16,)
    assert dumps[0].error.startswith("RuntimeError: Insufficient space") and np.array_equal(dumps[0].words, words)


def test_later_runs_of_a_compile_are_kept_though_jax_writes_one_file_for_all(tmp_path: Path) -> None:
    """JAX names the file while it lowers and opens it with "x": on an H200 each run but the first was lost."""
    registration = importlib.import_module("jax._src.pallas.mosaic_gpu.pallas_call_registration")

    def opened(path: str) -> Any:
        return open(path, "x")

    jax_s = FunctionType(opened.__code__, vars(registration))
    spec = profiler.ProfilerSpec(16, dump_path=str(tmp_path))
    spec.intern_name("load")
    path = str(tmp_path / "scale-17-trace.json")
    with recorded_dumps() as dumps:
        for _ in range(3):
            with jax_s(path) as file:
                spec.dump(WORDS, file, grid=(1, 1, 1), block=(128, 1, 1))
    assert [(dump.kernel, dump.error) for dump in dumps] == [("scale", "")] * 3
    assert len(json.loads(Path(path).read_text())["traceEvents"]) == 2
    assert "open" not in vars(registration)
    with pytest.raises(FileExistsError):
        jax_s(path)


def test_what_the_block_raises_goes_on_with_the_dumps_kept(tmp_path: Path) -> None:
    def failing() -> None:
        dumping(tmp_path, jnp.asarray(WORDS))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), recorded_dumps() as dumps:
        failing()
    assert len(dumps) == 1


@pytest.mark.parametrize(
    ("file", "kernel"),
    [("/a/b-c/scale-1-trace.json", "scale"), ("a-b-12-trace.json", "a-b"), ("12-trace.json", ""), ("x.json", "")],
)
def test_the_kernel_of_a_file(file: str, kernel: str) -> None:
    assert kernel_of(file) == kernel


def test_a_kernel_with_a_profile_lowers_without_a_gpu(tmp_path: Path) -> None:
    traced = jax.jit(profiled_kernel(str(tmp_path))).trace(jnp.ones(128))
    with pytest.raises((ValueError, RuntimeError)):
        traced.lower(lowering_platforms=("cuda",))
    with without_dumps() as left_out:
        text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert left_out == ["scale"] and "mosaic_gpu_v2" in text and "tensor<128xui32>" in text
    with pytest.raises((ValueError, RuntimeError)):
        traced.lower(lowering_platforms=("cuda",))


def test_other_callbacks_are_lowered_as_they_are(tmp_path: Path) -> None:
    def both(x: Any) -> Any:
        jax.debug.print("{}", x[0])
        return profiled_kernel(str(tmp_path))(x)

    with pytest.raises((ValueError, RuntimeError)), without_dumps():
        jax.jit(both).trace(jnp.ones(128)).lower(lowering_platforms=("cuda",))

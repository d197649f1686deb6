"""What a recompile in the worker gave is kept under everything that decides it, and not kept where files do."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.options import autotune, file_options
from jaxstage_ext.core.recompile import machine_code, pass_pipeline, preparation, recompiled_buffers
from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.store import cache
from jaxstage_ext.worker import compile_environment, pool
from jaxstage_ext.worker.inside.version_encoder import VersionEncoder

X = np.ones((4, 4), np.float32)
RESULTS = 'version: 3\nresults { device: "CUDA: 9.0, DNN version: 9.1.2" hlo: "{ dot }" version: 1 }\n'
TEXT = "HloModule m\n\nENTRY %main (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n"


def passes(text: str) -> dict[str, Any]:
    """The answer of a worker that saw a pass leave this text."""
    encoder = VersionEncoder()
    encoder.add(text)
    head = {"passes": [["", "dce", 1e-3, None]], "notes": [], "text_bytes": len(text)}
    return {"head": head, "parts": encoder.pack()}


def assignment() -> bytes:
    """A module of one parameter with XLA's buffer assignment of it."""
    instruction = b"\x0a\x01a\x12\x09parameter\x1a\x02\x10\x0b\x98\x02\x01"
    computation = {"name": "main", "instructions": [instruction], "id": 1, "root_id": 1}
    module = schema.Module(name="m", computations=[computation], entry_computation_id=1)
    dumped = schema.Dumped(hlo_module=module.SerializeToString())
    dumped.buffer_assignment.buffer_allocations.add(size=4)
    return bytes(dumped.SerializeToString())


ASSIGNMENT = assignment()
ANSWERS: dict[str, Any] = {
    "passes": passes(TEXT),
    "memory": {"proto": ASSIGNMENT, "stats": {"temp_size_in_bytes": 4}, "error": None},
    "kernels": {"head": {"kernels": {}, "launches": [], "left_out": []}, "parts": [], "same": True},
    "bundles": [("fusion.1", zlib.compress(b"{ nop }\n"))],
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that workers are asked for; what they answer is made up."""
    methods: list[str] = []

    def ask(platform: str, request: dict[str, Any], *args: Any, **how: Any) -> Any:
        methods.append(request["method"])
        return ANSWERS[request["method"]]

    monkeypatch.setattr(pool, "ask", ask)
    return methods


def lowered(target: str = "cpu:2", **options: Any) -> Inspection:
    inspection = inspect(lambda x: jnp.tanh(x @ x), X, target=target, stage="lower")
    inspection.program.staged.call = replace(inspection.program.staged.call, compiler_options=options)
    return inspection


def kernels(inspection: Inspection) -> Any:
    prepared = preparation.prepared(inspection.program.staged)
    return machine_code.dumped(prepared, "HloModule m", True, inspection.program.staged.limits, None)


def bundles(inspection: Inspection) -> Any:
    return machine_code.final_bundles(
        preparation.prepared(inspection.program.staged), inspection.program.staged.limits, None
    )


RECOMPILES: dict[str, Callable[[Inspection], Any]] = {
    "passes": lambda inspection: pass_pipeline.recompile_passes(inspection.program.staged).versions[0],
    "memory": lambda inspection: recompiled_buffers.recompile(inspection.program.staged),
    "kernels": kernels,
    "bundles": bundles,
}
each_recompile = pytest.mark.parametrize("method", RECOMPILES)


@each_recompile
def test_the_same_program_is_recompiled_once(method: str, asked: list[str]) -> None:
    first, second = (RECOMPILES[method](lowered()) for _ in range(2))
    assert asked == [method]
    assert first == second


@each_recompile
def test_a_dump_that_is_cut_is_an_error_that_is_not_kept(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(platform: str, request: dict[str, Any], *args: Any, **how: Any) -> Any:
        raise pool.RequestFailed("DumpCut", "XLA's dump module_0000.m.txt is cut; set TMPDIR to another folder")

    inspection = lowered()
    cache.use_folder(tmp_path)
    monkeypatch.setattr(pool, "ask", cut)
    for _ in range(2):
        with pytest.raises(OSError, match="is cut; set TMPDIR to another folder"):
            RECOMPILES[method](inspection)
    assert not list(tmp_path.iterdir())


@each_recompile
def test_two_autotune_files_under_one_path_have_two_answers(method: str, asked: list[str], tmp_path: Path) -> None:
    needs("h100")
    file = tmp_path / "results.txt"
    for hlo in ("{ dot }", "{ another dot }"):
        file.write_text(RESULTS.replace("{ dot }", hlo))
        RECOMPILES[method](lowered("h100", **{autotune.LOAD: str(file)}))
    assert asked == [method, method]


@each_recompile
@pytest.mark.parametrize("variable", ["LIBTPU_INIT_ARGS", "XLA_FLAGS"])
def test_options_in_the_environment_have_an_answer_each(
    method: str, variable: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("--xla_some_option=1", "--xla_some_option=2", "--xla_some_option=1"):
        monkeypatch.setenv(variable, value)
        RECOMPILES[method](lowered())
    assert asked == [method, method]


@each_recompile
@pytest.mark.parametrize(
    "options", [{"xla_dump_to": "dumps"}, {"xla_gpu_per_fusion_autotune_cache_dir": "cache"}], ids=["dump", "folder"]
)
def test_options_that_name_files_are_recompiled_each_time(
    method: str, options: dict[str, Any], asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        RECOMPILES[method](lowered(**options))
    assert asked == [method, method]


@each_recompile
@pytest.mark.parametrize("flags", ["--xla_dump_to=dumps", "--xla_gpu_kernel_cache_file=kernels", "flags.txt"])
def test_files_that_the_environment_names_are_read_each_time(
    method: str, flags: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", flags)
    for _ in range(2):
        RECOMPILES[method](lowered())
    assert asked == [method, method]


def test_the_folder_of_a_toolkit_is_no_such_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/usr/local/cuda --xla_cpu_enable_fast_math=true")
    assert not file_options.environment_names_files(compile_environment.current())
    assert not file_options.names_files({"xla_backend_optimization_level": 1, "xla_gpu_kernel_cache_file": ""})


def cell(kernel: int) -> Any:
    """A function out of a cell of the kernel with that process id."""
    space: dict[str, Any] = {}
    source = "def f(x):\n    return x * 3 + 1\n"
    exec(compile(source, f"/tmp/ipykernel_{kernel}/1234.py", "exec"), space)
    return space["f"]


def test_a_later_kernel_has_the_passes_with_names_of_its_own(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.use_folder(tmp_path)
    shown = []
    for kernel in (4711, 8472):
        text = TEXT.replace("\n\n", f'\n\nFileNames\n1 "/tmp/ipykernel_{kernel}/1234.py"\n\n', 1)
        monkeypatch.setitem(ANSWERS, "passes", passes(text))
        cache.clear()
        inspection = inspect(cell(kernel), X, target="cpu:1", stage="lower")
        shown.append(pass_pipeline.recompile_passes(inspection.program.staged).versions.with_metadata(0))
    assert asked == ["passes"]
    assert [f"ipykernel_{kernel}" in text for kernel, text in zip((4711, 8472), shown, strict=True)] == [True, True]
    assert "ipykernel_4711" not in shown[1]

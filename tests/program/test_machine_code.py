"""Machine code: which kernels a program has, what runs them, what each takes; against other tools that say so."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs, unavailable
from counted_calls import calls_of

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.program.machine_code import kernel_rows
from jaxstage_ext.program.machine_code.kernel_types import Kernels
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool
from jaxstage_ext.worker.inside import disassemble
from tests.golden.record import load_programs

pytestmark = pytest.mark.usefixtures("kept_answers")

PROGRAMS = load_programs().PROGRAMS
NEEDED = {"v5e:2x2": "tpu", "h100": "cuda"}


def softmax(x, w):
    return jax.nn.softmax(jnp.tanh(x @ w)).sum()


SOFTMAX = (softmax, jnp.ones((64, 128)), jnp.ones((128, 128)))


def layers(x, *weights):
    """Alike, so that their gradients are."""
    for w in weights:
        x = jax.nn.softmax(jnp.tanh(x @ w))
    return x.sum()


def gradient(count: int) -> tuple[Any, ...]:
    every = tuple(range(1, count + 1))
    return (jax.grad(layers, every), jnp.ones((64, 128)), *(jnp.ones((128, 128)) for _ in every))


@functools.cache
def inspected(target: str, name: str) -> Inspection:
    """An inspection of a named program; programs that cannot be made for the target here skip the test."""
    needs(target)
    made = {
        "softmax": lambda: SOFTMAX,
        "gradient of 4": lambda: gradient(4),
        "gradient of 2": lambda: gradient(2),
        "identity": lambda: (identity, jnp.ones(3)),
    }
    function, *arguments = made[name]() if name in made else flat(*PROGRAMS[name])
    try:
        return jaxstage_ext.inspect(function, *arguments, target=target)
    except Unavailable as refused:
        if "JAX 0.12's does" not in str(refused):
            raise
        pytest.skip(str(refused))


def flat(function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
    return (function, *arguments)


def identity(x):
    return x


def kernels(target: str, name: str) -> Kernels:
    return inspected(target, name).kernels


def parts(table: Kernels) -> dict[str, dict[str, bytes]]:
    return table.rows[0].source._parts  # type: ignore[union-attr, no-any-return]


def tool(name: str) -> str:
    return packages._in_toolkit(f"bin/{name}") or shutil.which(name) or unavailable(f"{name} is not installed")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", ["local", "cpu:2"])
def test_cpu_kernels_are_the_symbols_of_the_object_files(target: str, tmp_path: Path) -> None:
    nm, table = tool("nm"), kernels(target, "spread_out")
    symbols = {}
    for name, part in parts(table).items():
        (tmp_path / f"{name}.o").write_bytes(zlib.decompress(part["object"]))
        for line in run(nm, "-S", "--defined-only", str(tmp_path / f"{name}.o")).splitlines():
            _, size, _, symbol = line.split()
            symbols[symbol] = int(size, 16)
    assert symbols == {row.name: row.figures.code_bytes for row in table.rows if row.name}


def test_cpu_instructions_are_as_many_as_objdump_lists(tmp_path: Path) -> None:
    objdump, table = tool("objdump"), kernels("cpu:1", "softmax")
    assert parts(table)
    for name, part in parts(table).items():
        (tmp_path / "a.o").write_bytes(zlib.decompress(part["object"]))
        listed = run(objdump, "-d", "--no-show-raw-insn", str(tmp_path / "a.o"))
        assert table[name].figures.instructions == len(re.findall(r"^ +[0-9a-f]+:\t", listed, re.MULTILINE))


@pytest.mark.parametrize("tool", ["capstone", "objdump"])
def test_both_disassemblers_agree_on_counts_and_calls(tool: str) -> None:
    if tool not in (packages.disassembler(), "objdump") or (tool == "objdump" and not shutil.which(tool)):
        unavailable(f"{tool} is not installed: {packages.CAPSTONE_PIP}")
    objects = {name: part["object"] for name, part in parts(kernels("cpu:1", "scan")).items()}
    found = disassemble.disassemble(objects, tool)
    other = kernels("cpu:1", "scan")
    assert {name: one["count"] for name, one in found.items()} == {k: other[k].figures.instructions for k in found}
    assert found["wrapped_broadcast"]["text"].startswith("wrapped_broadcast:\n")


def test_each_cpu_kernel_is_tied_to_the_instruction_that_runs_it_and_to_the_source() -> None:
    inspection = inspected("local", "spread_out")
    hlo = inspection.documents["hlo"]
    assert any(row.name for row in inspection.kernels.rows)
    for row in inspection.kernels.rows:
        first = row.rows[0][0]
        assert any(f"%{row.instructions[0]} = " in line for line in hlo.lines)
        assert row.name in ("", row.instructions[0])
        if row.name:
            lines = {str(row.document("asm").source_of(2)), str(row.document("llvm").source_of(10))}
            assert str(hlo.source_of(_row(hlo.lines, row.instructions[0]) + 1)) in lines
        assert first <= _row(hlo.lines, row.instructions[0])


def _row(lines: list[str], name: str) -> int:
    return next(row for row, line in enumerate(lines) if f"%{name} = " in line)


def test_a_kernel_that_several_instructions_share_names_them_all() -> None:
    """Four layers; XLA emits what is alike once."""
    table = kernels("cpu:1", "gradient of 4")
    generated = [row for row in table.rows if row.kind in ("loop fusion", "input fusion")]
    assert all(row.name for row in generated)
    assert max(len(row.instructions) for row in generated) >= 4
    every = [name for row in table.rows for name in row.instructions]
    assert len(every) == len(set(every))


def test_a_small_loop_is_one_kernel_and_what_is_in_it_has_no_row_of_its_own() -> None:
    table = kernels("cpu:1", "while_loop")
    assert [(row.name, row.kind) for row in table.rows if row.name] == [("call_kernel", "call")]
    assert all("copy" in row.kind for row in table.rows if not row.name)
    assert len(table["call"].rows) > 1


def test_library_calls_have_no_kernel_and_say_so() -> None:
    row = next(row for row in kernels("cpu:1", "conv").rows if row.kind == "convolution")
    assert row.name == ""
    assert row.figures.code_bytes is row.figures.instructions is None
    assert row.figures.reason == kernel_rows.NO_KERNEL
    with pytest.raises(Unavailable, match=f"convolution.*{kernel_rows.NO_KERNEL}"):
        row.text("asm")


def test_llvm_ir_before_and_after_its_passes() -> None:
    kernel = next(row for row in kernels("cpu:1", "softmax").rows if row.name)
    assert f"@{kernel.name}(" in kernel.text("llvm0")
    assert f"@{kernel.name}(" in kernel.text("llvm")
    assert kernel.text("llvm0") != kernel.text("llvm")
    document = kernel.document("llvm")
    opens = next(row for row, line in enumerate(document.lines) if line.startswith("define"))
    assert document.lines[document.fold_end[opens]] == "}"


@pytest.mark.parametrize("target", ["local", "h100"])
def test_a_program_that_computes_nothing_has_no_kernels(target: str) -> None:
    assert str(kernels(target, "identity")).startswith(("no kernels", "0 kernels"))


def test_what_gpu_kernels_take_is_what_ptxas_says_of_their_ptx(tmp_path: Path) -> None:
    table = kernels("h100", "softmax")
    ptxas, nvdisasm = tool("ptxas"), tool("nvdisasm")
    named = [row for row in table.rows if row.name]
    assert named
    for row in named:
        (tmp_path / "a.ptx").write_text(row.text("ptx"))
        done = subprocess.run(
            [ptxas, "-v", "-arch=sm_90a", "a.ptx", "-o", "a.cubin"], cwd=tmp_path, capture_output=True, text=True
        )
        stack, stores, loads = map(int, re.findall(r"(\d+) bytes (?:stack|spill)", done.stderr))
        figures = row.figures
        assert figures.registers == int(re.search(r"Used (\d+) reg", done.stderr)[1])  # type: ignore[index]
        assert (figures.stack, figures.spill_stores, figures.spill_loads) == (stack, stores, loads)
        listed = re.findall(r"/\*[0-9a-f]{4}\*/ +(.*?) *;", run(nvdisasm, "-c", str(tmp_path / "a.cubin")))
        shown = re.findall(r"/\*[0-9a-f]{4}\*/ +(.*?) *(?=//|$)", row.text("sass"), re.MULTILINE)
        assert [re.sub(" +", " ", one) for one in shown] == [re.sub(" +", " ", one) for one in listed]
        while listed[-1] == "NOP":
            listed.pop()
        assert figures.instructions == len(listed)


def test_spills_are_counted() -> None:
    """A PTX that cannot do with the registers it is given."""
    values = range(60)
    body = [f"ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];" for i in values]
    body += [f"st.volatile.global.f32 [%rd1+{4 * i}], %f{i};" for i in reversed(values)]
    text = "\n".join(
        [
            ".version 8.0",
            ".target sm_90a",
            ".address_size 64",
            ".visible .entry tight(.param .u64 p)",
            ".maxnreg 24",
            "{",
            ".reg .f32 %f<60>;",
            ".reg .b64 %rd<2>;",
            "ld.param.u64 %rd1, [p];",
            *body,
            "ret;",
            "}",
        ]
    )
    from jaxstage_ext.ir.machine import ptx

    found = disassemble.assemble({"tight": zlib.compress(text.encode())}, tool("ptxas"))["tight"]
    said = ptx.resources(found["log"])["tight"]
    assert said.spill_stores > 0
    assert said.spill_loads > 0
    assert said.registers <= 24


def test_sass_names_the_line_of_ptx_it_came_from() -> None:
    row = next(row for row in kernels("h100", "softmax").rows if row.name)
    lines = row.text("ptx").split("\n")
    loads = re.findall(r"LDG\S* .*// PTX (\d+)", row.text("sass"))
    assert loads
    assert all(re.search(r"ld\.global|cp\.async", lines[int(number) - 1]) for number in loads)


def test_gpu_kernels_are_tied_by_what_launches_them() -> None:
    table = kernels("h100", "gradient of 2")
    hlo = inspected("h100", "gradient of 2").documents["hlo"]
    names = [name for row in table.rows for name in row.instructions]
    assert all(f"%{name} = " in hlo.text for name in names)
    assert not table.notes
    assert max(len(row.instructions) for row in table.rows) >= 2
    triton = next(row for row in table.rows if row.kind == "Triton fusion")
    assert "tt." in triton.text("ttir")
    assert len(triton.grid) == len(triton.threads) == 3


def test_a_library_gemm_is_a_step_without_a_kernel() -> None:
    needs("h100")
    try:
        inspection = jaxstage_ext.inspect(
            *SOFTMAX, target="h100", compiler_options={"xla_gpu_enable_triton_gemm": False}
        )
    except Unavailable as refused:
        pytest.skip(str(refused))
    row = next(row for row in inspection.kernels.rows if not row.name)
    assert row.kind == "custom-call to __cublas$lt$matmul"
    assert row.figures.registers is None
    assert "?" in str(inspection.kernels)


def test_a_pallas_kernel_for_tpus_is_shown_with_its_own_source_lines() -> None:
    needs("v5e:2x2")
    from jax.experimental import pallas as pl

    def doubled(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def function(x):
        return pl.pallas_call(doubled, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x) + 1

    inspection = jaxstage_ext.inspect(function, jnp.ones((128, 128)), target="v5e:2x2")
    row = next(row for row in inspection.kernels.rows if row.kind == "Pallas")
    document = row.document("mosaic")
    line = next(n for n, text in enumerate(document.lines, 1) if "arith.mulf" in text)
    source = document.source_of(line)
    assert source is not None
    assert source.line == doubled.__code__.co_firstlineno + 1
    others = [row for row in inspection.kernels.rows if row.kind != "Pallas"]
    assert others
    with pytest.raises(Unavailable, match="has no Mosaic: not a Pallas kernel"):
        others[0].text("mosaic")


def test_vliw_bundles_come_from_a_process_that_leaves_nothing_behind(tmp_path: Path, monkeypatch: Any) -> None:
    import tempfile

    table = kernels("v5e:2x2", "softmax")
    fusion = next(row for row in table.rows if row.kind.endswith("fusion"))
    assert fusion.figures.instructions is None
    assert "asked for" in str(fusion.figures.reason)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = pool.running()
    text = fusion.text("bundles")
    assert re.search(r"^ +0x1 +: +\{.*\}", text, re.MULTILINE)
    assert fusion.figures.instructions == len(re.findall(r"^ *(?:0x[0-9a-f]+|\d+) +\w* *:", text, re.MULTILINE))
    assert pool.running() == before
    assert not list(tmp_path.iterdir())


def test_kernels_are_found_by_symbol_and_by_instruction_and_misspellings_are_told() -> None:
    table = kernels("cpu:1", "softmax")
    row = next(row for row in table.rows if row.name)
    assert table[row.instructions[0]] is table[row.name] is row
    with pytest.raises(KeyError, match=r"no kernel and no HLO instruction 'fusion\.99'"):
        table["fusion.99"]
    with pytest.raises(Unavailable, match=r"'ptx' is not a stage of .*; there are llvm0, llvm, asm"):
        row.text("ptx")


def test_the_table_in_pandas_keeps_unknown_unknown() -> None:
    pd = pytest.importorskip("pandas")
    frame = kernels("cpu:1", "softmax").to_pandas()
    assert pd.isna(frame["registers"]).all()
    assert frame["code_bytes"].dropna().min() > 0
    assert {str(frame[name].dtype) for name in ("registers", "code_bytes", "instructions")} == {"Int64"}


def test_the_table_as_json_has_units_and_reasons() -> None:
    listed = kernels("cpu:1", "softmax")
    table = Table.from_json(listed.to_json())
    assert table == listed.table
    assert table.columns["code_bytes"].unit == "B"
    assert table["HLO instructions"] == [list(row.instructions) for row in listed.rows]
    for at, row in enumerate(listed.rows):
        assert table.reasons.get((at, "registers")) == row.figures.reason


def test_nothing_compiled_is_said_in_one_line() -> None:
    inspection = jaxstage_ext.inspect(jnp.sin, 1.0, stage="lower")
    with pytest.raises(Unavailable, match="was not compiled here"):
        _ = inspection.kernels


def test_a_missing_tool_is_named_with_its_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.program.machine_code import kernel_rows

    table = kernels("cpu:1", "spread_out")
    monkeypatch.setattr(packages, "disassembler", lambda: None)
    program = table.rows[0].source
    name = next(row.name for row in table.rows if row.name)
    lacks = kernel_rows._lacks("asm", parts(table)[name], "")
    assert lacks == 'needs capstone or binutils\' objdump: pip install "jaxstage-ext[asm]"'
    figures = program.figures(table[name])  # type: ignore[union-attr]
    assert figures.code_bytes
    assert "counting instructions needs capstone" in str(figures.reason)


@pytest.mark.parametrize("target", ["cpu:1", "h100"])
def test_a_second_look_at_the_same_program_compiles_nothing(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    first = again_inspected(target).kernels
    asked = calls_of(monkeypatch, Prepared, "ask")
    second = again_inspected(target).kernels
    assert second == first
    assert [row.grid for row in second.rows] == [row.grid for row in first.rows]
    name = next(row.name for row in first.rows if row.name)
    assert second[name].text("llvm") == first[name].text("llvm")
    assert asked == []


def again_inspected(target: str) -> Inspection:
    """An inspection of its own each time, of one program."""
    inspection = inspected(target, "spread_out")
    return Inspection(Program(inspection.program.staged))

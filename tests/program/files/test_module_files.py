"""Modules out of files: they say what the same module says when JAX made it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.program.kinds.module_program import opened
from jaxstage_ext.report.unavailable import Unavailable


def step(w: Any, x: Any) -> Any:
    hidden = jnp.tanh(x @ w)
    return {"loss": hidden.sum(), "hidden": hidden.astype(jnp.bfloat16)}


W, X = jnp.ones((8, 16)), jnp.ones((4, 8))


@pytest.fixture(scope="module")
def own() -> Inspection:
    return jaxstage_ext.inspect(jax.jit(step), W, X)


@pytest.fixture(scope="module")
def files(own: Inspection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    proto = own.compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    (folder / "step.hlo.pb").write_bytes(proto)
    (folder / "step.txt").write_text(own.compiled.as_text())
    (folder / "step.mlir").write_text(own.lowered.as_text(debug_info=True))
    (folder / "step.mlirbc").write_bytes(export.export(jax.jit(step))(W, X).mlir_module_serialized)
    (folder / "before.hlo").write_text(own.lowered.compiler_ir("hlo").as_hlo_text())
    return folder


def load(path: Path, **how: Any) -> Inspection:
    loaded = jaxstage_ext.load(path, **how)
    assert isinstance(loaded, Inspection)
    return loaded


@pytest.mark.parametrize("name", ["step.hlo.pb", "step.txt"])
def test_a_file_of_hlo_counts_what_the_function_counts(files: Path, own: Inspection, name: str) -> None:
    read = load(files / name)
    assert [stage["state"] for stage in read.summary()["stages"]] == ["not given", "not given", "given"]
    assert str(read.cost.work.table) == str(own.cost.work.table)
    assert read.program.platform == "cpu"
    assert f"test_module_files.py:{step.__code__.co_firstlineno + 1}" in str(read.cost.work.by("line"))


@pytest.mark.parametrize("name", ["step.mlir", "step.mlirbc"])
def test_a_file_of_stablehlo_is_compiled_for_a_target(files: Path, own: Inspection, name: str) -> None:
    read = load(files / name)
    assert [stage["state"] for stage in read.summary()["stages"]] == ["not given", "given"]
    compiled = load(files / name, target="local")
    assert compiled.cost.work.total_flops == own.cost.work.total_flops
    assert compiled.documents["stablehlo"].text.count("stablehlo.") == own.documents["stablehlo"].text.count(
        "stablehlo."
    )


def test_the_module_of_a_file_compiles_to_the_hlo_of_the_function(files: Path) -> None:
    compiled = load(files / "step.mlir", target="cpu:1")
    own = jaxstage_ext.inspect(jax.jit(step), W, X, target="cpu:1")
    assert compiled.documents["hlo"].text == own.documents["hlo"].text
    assert compiled.memory.space().peak == own.memory.space().peak
    passes = [[re.sub(r"-\d+$", "", name) for name in each.passes.table["name"]] for each in (compiled, own)]
    assert passes[0] == passes[1]


def test_hlo_before_the_passes_is_compiled_too(files: Path, own: Inspection) -> None:
    compiled = load(files / "before.hlo", target="local")
    assert compiled.cost.work.total_flops == own.cost.work.total_flops


def test_compiled_hlo_is_not_compiled_once_more(files: Path) -> None:
    with pytest.raises(UnreadableModule, match="compiled already"):
        load(files / "step.txt", target="local")


def test_an_unknown_device_bounds_nothing(files: Path) -> None:
    read = load(files / "step.hlo.pb")
    assert "the peaks of the device of the file are unknown" in str(read.cost)
    facts = {fact["label"]: fact for fact in read.summary()["facts"]}
    assert not facts["memory needed"]["known"]
    assert "machine" not in read.summary()["views"]
    with pytest.raises(ValueError, match="was read from a file"):
        read.execute()


@pytest.mark.parametrize(
    ("name", "cut", "says"),
    [
        ("step.hlo.pb", 300, "step.hlo.pb is damaged"),
        ("step.mlir", 700, "step.mlir cannot be read as StableHLO text"),
        ("step.mlirbc", 100, "step.mlirbc cannot be read as StableHLO bytecode"),
        ("step.txt", 200, "step.txt cannot be read as HLO text"),
    ],
)
def test_a_damaged_file_is_told_by_name(files: Path, tmp_path: Path, name: str, cut: int, says: str) -> None:
    (tmp_path / name).write_bytes((files / name).read_bytes()[:cut])
    with pytest.raises(UnreadableModule, match=says):
        load(tmp_path / name)


def test_a_module_with_a_shape_of_unknown_size_opens_and_is_not_compiled() -> None:
    kind = b"tensor<?xf32>"
    text = b"module @m { func.func @main(%a: " + kind + b' loc("x")) -> ' + kind + b" { return %a : " + kind + b" } }"
    shown = Inspection.of(opened(text, "dynamic"))
    assert shown.summary()["signature"] == "m(x: f32[?]) -> f32[?]"
    with pytest.raises(Unavailable, match=r"x is tensor<\?xf32>: XLA compiles known sizes alone"):
        _ = shown.memory
    with pytest.raises(Unavailable, match=r"x is tensor<\?xf32>, 1 of whose sizes is not known"):
        _ = shown.shardings


def test_a_sharded_module_keeps_its_devices() -> None:
    mesh = jax.sharding.AbstractMesh((4,), ("data",))
    placed = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("data")))
    own = jaxstage_ext.inspect(lambda x: x.sum(0), placed, target="cpu:4")
    program = opened(own.lowered.as_text(debug_info=True).encode(), "sharded", None, (own.target,))
    read = Inspection.of(program)
    assert read.documents["hlo"].text == own.documents["hlo"].text
    assert str(read.collectives.table) == str(own.collectives.table)


def test_what_jax_dump_ir_to_wrote_says_what_opens(tmp_path: Path) -> None:
    jax.config.update("jax_dump_ir_to", str(tmp_path))
    try:
        jax.jit(lambda x: jnp.sin(x @ x)).lower(jnp.ones((8, 8))).compile()
    finally:
        jax.config.update("jax_dump_ir_to", "")
    *_, module = sorted(path.name for path in tmp_path.glob("*.mlir"))
    with pytest.raises(
        UnreadableModule,
        match=re.escape(f"as JAX_DUMP_IR_TO writes them; open one, for example {tmp_path.name}/{module}"),
    ):
        jaxstage_ext.load(tmp_path)
    opens = jaxstage_ext.load(tmp_path / module)
    assert isinstance(opens, Inspection)
    assert "stablehlo.sine" in opens.documents["stablehlo"].text
    (tmp_path / "jax_000000_f.jaxpr.txt").write_text(str(jax.make_jaxpr(jnp.sin)(1.0)))
    with pytest.raises(UnreadableModule, match=r"jax_000000_f\.jaxpr\.txt is the text of a jaxpr, which JAX does not"):
        jaxstage_ext.load(tmp_path / "jax_000000_f.jaxpr.txt")

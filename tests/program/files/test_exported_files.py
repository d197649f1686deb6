"""What `jax.export` serialised opens as the function itself does."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError
from jax import export
from magic_shell import fresh_shell

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.given import exported as exported_files
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.ir.wire import exported_form
from jaxstage_ext.report.unavailable import Unavailable

W, X = {"dense": jnp.ones((8, 16))}, jnp.ones((4, 8))


def step(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w["dense"]).sum()


def serialised(*platforms: str) -> bytes:
    return bytes(export.export(jax.jit(step), platforms=platforms or None)(W, X).serialize())


def load(source: Any, **how: Any) -> Inspection:
    loaded = jaxstage_ext.load(source, **how)
    assert isinstance(loaded, Inspection)
    return loaded


def test_it_counts_what_the_function_counts(tmp_path: Path) -> None:
    (tmp_path / "step.bin").write_bytes(serialised())
    read, own = load(tmp_path / "step.bin"), jaxstage_ext.inspect(jax.jit(step), W, X)
    assert read.cost.work.total_flops == own.cost.work.total_flops
    assert read.name == "step"
    assert "args[0]['dense']" in str(read.layouts.values["value"])


@pytest.mark.usefixtures("no_workers_left")
def test_it_is_compiled_for_the_platforms_that_it_was_exported_for() -> None:
    data = serialised("cpu", "tpu")
    assert str(load(data, target="v5e:2x2").target) == "v5e:2x2"
    with pytest.raises(Unavailable, match="it was exported for cpu and tpu, not for cuda"):
        load(data, target="h100")


def test_a_damaged_one_is_told_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_files, "TIMEOUT", 5.0)
    data, rng = serialised(), random.Random(7)
    for attempt in range(6):
        broken = bytearray(data)
        for _ in range(30):
            broken[rng.randrange(200, len(broken))] = rng.randrange(256)
        (tmp_path / f"{attempt}.bin").write_bytes(broken)
        try:
            load(tmp_path / f"{attempt}.bin")
        except ValueError as error:  # a change may leave it whole
            assert f"{attempt}.bin" in str(error) or isinstance(error, Unavailable), error
    (tmp_path / "cut.bin").write_bytes(data[: len(data) // 2])
    with pytest.raises(UnreadableModule, match=r"cut\.bin"):
        load(tmp_path / "cut.bin")


def test_one_that_jax_reads_without_end_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fuzzing finds such files in every thousand or so, at other places in each version."""
    monkeypatch.setattr(exported_files, "TIMEOUT", 0.0)
    with pytest.raises(UnreadableModule, match=r"the exported function is damaged.*: JAX read it for 0 s and came to"):
        load(serialised())


def test_a_module_without_main_is_told() -> None:
    broken = serialised().replace(b"main", b"niam")
    with pytest.raises(UnreadableModule, match=r"the exported function is damaged.*"):
        load(broken)


def test_symbolic_axes_take_their_sizes(tmp_path: Path) -> None:
    (b,) = export.symbolic_shape("b")
    exported = export.export(jax.jit(lambda x: x @ x.T), platforms=("cpu", "tpu"))(
        jax.ShapeDtypeStruct((b, 16), jnp.float32)
    )
    data = bytes(exported.serialize())
    for target in ("local", "v5e:2x2"):
        assert load(data, target=target, dims={"b": 8}).cost.work.total_flops == 2 * 8 * 8 * 16
    with pytest.raises(ValueError, match="axis b is symbolic: give a size with --dim b=8"):
        load(data)
    with pytest.raises(ValueError, match="no axis of the exported function is named c"):
        load(data, dims={"b": 8, "c": 1})
    (tmp_path / "gram.bin").write_bytes(data)
    with fresh_shell() as shell:
        found = shell.ip.run_line_magic("inspect", f"{tmp_path / 'gram.bin'} --dim b=4")
        assert found.cost.work.total_flops == 2 * 4 * 4 * 16
        for line, said in (("--dim b", "is not an axis size such as b=8"), ("--dim", "needs a size")):
            with pytest.raises(UsageError, match=said):
                shell.ip.run_line_magic("inspect", f"{tmp_path / 'gram.bin'} {line}")


def test_without_flatbuffers_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data = serialised()
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(Unavailable, match="pip install flatbuffers"):
        load(data)


def test_other_files_are_not_taken_for_one() -> None:
    golden = Path(__file__).parents[2] / "golden"
    files = [path for path in golden.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert not [path for path in files if exported_form.is_exported(path.read_bytes()[:4096])]
    assert exported_form.is_exported(serialised()[:4096])


def sharded(*platforms: str, devices: int = 16) -> bytes:
    """A function of `devices` devices, the sum of an array of which each holds a part."""
    mesh = jax.sharding.AbstractMesh((devices,), ("x",))
    x = jax.ShapeDtypeStruct((devices, 4), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("x")))
    return bytes(export.export(jax.jit(lambda x: x.sum()), platforms=platforms or None)(x).serialize())


def test_a_sharded_function_is_lowered_on_the_mesh_that_it_was_exported_with() -> None:
    """Each device adds up 4 floats, 16 bytes, and all of them exchange 4 bytes: by hand."""
    read = load(sharded(devices=4), target="cpu:4")
    argument = read.shardings.values[0].map
    assert (argument.shard_bytes, argument.sharding.spec) == (16, "P('x', None)")
    assert [(row["collective"], row["payload"]) for row in read.collectives.table.rows()] == [("all-reduce", 4)]


def test_what_does_not_run_here_is_shown_and_names_a_target() -> None:
    for data, example in ((sharded(), "cpu:16"), (serialised("tpu"), "v5e:2x2")):
        read = load(data)
        assert "stablehlo" in read.documents
        with pytest.raises(Unavailable, match=f"name a target, such as {example}"):
            _ = read.cost.work
        with pytest.raises(Unavailable, match=r"larger target|it is lowered for tpu, not for cpu"):
            _ = read.memory
    with pytest.raises(Unavailable, match="devices, but cpu:2 has 2"):
        load(sharded(), target="cpu:2")

"""What `jax.export` serialised opens as the function itself does."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export

import jaxstage_ext
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.inspection import Inspection
from jaxstage_ext.ir import exported_form
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


def test_a_damaged_one_is_told_by_its_name(tmp_path: Path) -> None:
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


def test_without_flatbuffers_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data = serialised()
    for name in [name for name in sys.modules if name.startswith("jax._src.export.serialization")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(Unavailable, match="pip install flatbuffers"):
        load(data)


def test_other_files_are_not_taken_for_one() -> None:
    golden = Path(__file__).parents[2] / "golden"
    files = [path for path in golden.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert not [path for path in files if exported_form.is_exported(path.read_bytes()[:4096])]
    assert exported_form.is_exported(serialised()[:4096])

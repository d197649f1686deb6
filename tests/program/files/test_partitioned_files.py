"""Files of modules that run on several devices: they keep their devices, also where the file does not count them."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.program.questions.collectives import exchanges
from jaxstage_ext.report.unavailable import Unavailable

MESH = jax.sharding.AbstractMesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


@pytest.fixture(scope="module")
def own() -> Inspection:
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=jax.NamedSharding(MESH, jax.P("data", "model")))
    return jaxstage_ext.inspect(lambda x: jnp.tanh(x @ x).sum(), x, target="cpu:4")


@pytest.fixture(scope="module")
def files(own: Inspection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("partitioned")
    before = own.lowered.compiler_ir("hlo")
    (folder / "before.txt").write_text(before.as_hlo_text())
    (folder / "before.hlo.pb").write_bytes(before.as_serialized_hlo_module_proto())
    (folder / "after.hlo.pb").write_bytes(own.program.executable.proto)
    return folder


def load(path: Path, **how: str) -> Inspection:
    loaded = jaxstage_ext.load(path, **how)
    assert isinstance(loaded, Inspection)
    return loaded


@pytest.mark.parametrize("name", ["before.txt", "before.hlo.pb"])
def test_hlo_before_the_passes_is_compiled_for_all_its_devices(name: str, files: Path, own: Inspection) -> None:
    read = load(files / name, target="cpu:4")
    assert read.cost.work.total_flops == own.cost.work.total_flops
    assert str(read.collectives.table["sent"]) == str(own.collectives.table["sent"])
    refused = load(files / name, target="cpu:2").error
    assert refused is not None
    assert "4 devices, but cpu:2 has 2" in refused.message


def test_the_collectives_of_a_compiled_file_are_those_of_the_function(files: Path, own: Inspection) -> None:
    read = load(files / "after.hlo.pb")
    assert list(read.collectives.table["sent"]) == list(own.collectives.table["sent"])
    assert len(read.collectives.table["sent"]) > 0
    assert "collectives" in str(read.answers)
    assert read.program.compiled.devices == 4


def test_before_the_partitioner_collectives_are_unknown(files: Path) -> None:
    read = load(files / "before.txt")
    assert any("has not run on this module" in said for said in read.answers["answer"])
    with pytest.raises(Unavailable, match="has not run on this module"):
        exchanges(read.program)
    assert "This is HLO before or between XLA's passes" in " ".join(str(read).replace("│", "").split())
    assert [document["title"] for document in read.summary()["documents"] if document["kind"] == "hlo"] == [
        "HLO, not optimised"
    ]

"""Files for several devices: their number and the shardings follow from what the file says, in every spelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jaxstage_ext
from jaxstage_ext.report.unavailable import Unavailable

MODULE = """module @m ATTRIBUTES{
  func.func public @main(%a: tensor<8x4xf32> SHARDING) -> tensor<f32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>)
      -> tensor<f32>
    return %0 : tensor<f32>
  }
}
"""
FOUR = "attributes {mhlo.num_partitions = 4 : i32} "
GSPMD = '{mhlo.sharding = "{devices=[4,1]<=[4]}"}'
PMAP = """module @pmap attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
SHARDED_HLO = """HloModule m, num_partitions=4

ENTRY e {
  a = f32[8,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  t = (f32[4], s32[]) parameter(1), sharding={{replicated}, {maximal device=3}}
  b = f32[8,4] add(a, a)
  c = f32[] constant(0)
  ROOT r = (f32[8,4], f32[]) tuple(b, c), sharding={{devices=[4,1]0,1,2,3}, {replicated}}
}
"""


def module(sharding: str, attributes: str = "") -> str:
    return MODULE.replace("SHARDING", sharding).replace("ATTRIBUTES", attributes)


def load(folder: Path, text: str, **how: Any) -> Any:
    (folder / "m.txt").write_text(text)
    return jaxstage_ext.load(folder / "m.txt", **how)


@pytest.mark.parametrize(
    "text",
    [
        module(GSPMD, FOUR),
        module(GSPMD),
        module('{mhlo.sharding = "{devices=[4,1]0,1,2,3}"}'),
        module('{mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"}'),
        module('{mhlo.sharding = "\\08\\03\\1A\\02\\04\\01\\22\\04\\00\\01\\02\\03"}'),
        module('{sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}, {}]>}'),
        module('{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}').replace(
            "{\n", '{\n  sdy.mesh @mesh = <["x"=4]>\n', 1
        ),
    ],
    ids=["GSPMD", "no number", "V1", "transposed", "serialised", "Shardy's own mesh", "Shardy"],
)
def test_four_devices_hold_a_quarter_each(text: str, tmp_path: Path) -> None:
    """32 floats over four devices: 32 bytes each. With one sum each they add up 7 pairs, and exchange 4 bytes."""
    shown = load(tmp_path, text)
    assert len(shown.shardings.places) == 4
    assert next(iter(shown.shardings.table["per device"])) == 32
    compiled = load(tmp_path, text, target="cpu:4")
    assert [(row["collective"], row["payload"]) for row in compiled.collectives.table.rows()] == [("all-reduce", 4)]
    assert compiled.memory.space().peak < 128


def test_a_module_of_before_shardy_is_compiled_without_it(tmp_path: Path) -> None:
    """With Shardy on, XLA ends the process."""
    options = load(tmp_path, module(GSPMD, FOUR), target="cpu:4").options
    assert "use_shardy_partitioner" not in list(options["option"])
    options = load(tmp_path, module(""), target="cpu:4").options
    assert "use_shardy_partitioner" in list(options["option"])


def test_what_is_too_large_for_this_machine_names_a_target(tmp_path: Path) -> None:
    text = module('{mhlo.sharding = "{devices=[8,1,2]<=[16] last_tile_dim_replicate}"}')
    shown = load(tmp_path, text)
    assert len(shown.shardings.places) == 16
    with pytest.raises(Unavailable, match=r"the module is for 16 devices, but local has \d; .*, such as cpu:16"):
        _ = shown.memory
    with pytest.raises(Unavailable, match="name a target, such as cpu:16"):
        _ = shown.cost.work
    with pytest.raises(Unavailable, match="the module is for 16 devices, but cpu:2 has 2"):
        _ = load(tmp_path, text, target="cpu:2").shardings


@pytest.mark.parametrize("text", [PMAP, PMAP.replace(" attributes {mhlo.num_replicas = 2 : i32}", "")])
def test_replicas_are_devices(text: str, tmp_path: Path) -> None:
    """As `jax.pmap` wrote it, each replica with a value of its own."""
    compiled = load(tmp_path, text, target="cpu:2")
    assert [value.map.copies for value in compiled.shardings.values] == [1, 1]
    [row] = compiled.collectives.table.rows()
    assert (row["collective"], row["payload"]) == ("all-reduce", 16)


def test_hlo_before_the_partitioner_says_its_shardings_and_counts_the_whole(tmp_path: Path) -> None:
    read = load(tmp_path, SHARDED_HLO)
    assert list(read.shardings.table["per device"]) == [64, 16, 4, 32, 4]
    assert "before it is partitioned, on all devices together" in read.cost.headline
    assert "it is not partitioned for its 4 devices yet" in str(read.cost)


def test_partitioned_hlo_says_the_types_of_all_shards_together(tmp_path: Path) -> None:
    compiled = load(tmp_path, module(GSPMD, FOUR), target="cpu:4")
    (tmp_path / "m.hlo.pb").write_bytes(compiled.compiled.proto)
    read = jaxstage_ext.load(tmp_path / "m.hlo.pb")
    assert isinstance(read, jaxstage_ext.Inspection)
    rows = [(row["type"], row["per device"]) for row in read.shardings.table.rows()]
    assert rows == [("f32[8,4]", 32), ("f32[]", 4)]
    assert "HLO counts the part of one of 4 devices" in str(read.cost)


def test_libraries_of_another_platform_do_not_fit_here(tmp_path: Path) -> None:
    text = """func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = stablehlo.custom_call @cusolver_getrf_ffi(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }"""
    shown = load(tmp_path, text)
    with pytest.raises(Unavailable, match="it calls libraries that cuda has, and cpu has not"):
        _ = shown.memory
    with pytest.raises(Unavailable, match="name a target, such as h100"):
        _ = shown.cost.work

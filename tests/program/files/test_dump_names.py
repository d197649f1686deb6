"""Dumps whose files are named otherwise: with the time, as gzip; and what lies beside them."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jaxstage_ext
from jaxstage_ext.api.xla_dump import XlaDump
from jaxstage_ext.ir.dumps import dump_index

PROGRAM = "import jax, jax.numpy as jnp; jax.jit(lambda x: jnp.tanh(x @ x).sum()).lower(jnp.ones((8, 8))).compile()"
FLAGS = "--xla_dump_hlo_as_proto --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.* --xla_dump_emitter_re=llvm"


def dumped(folder: Path, flags: str) -> Path:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder} {FLAGS} {flags}"
    subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "XLA_FLAGS": flags}, check=True)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumped(tmp_path_factory.mktemp("plain"), "")


def opened(folder: Path) -> XlaDump:
    loaded = jaxstage_ext.load(folder)
    assert isinstance(loaded, XlaDump)
    return loaded


@pytest.mark.parametrize("flag", ["--xla_dump_include_timestamp", "--xla_dump_compress_protos"])
def test_a_dump_says_the_same_whatever_its_files_are_called(flag: str, plain: Path, tmp_path: Path) -> None:
    read, own = opened(dumped(tmp_path, flag))["jit__lambda"], opened(plain)["jit__lambda"]
    assert str(read.cost.work.table) == str(own.cost.work.table)
    assert read.memory.space().peak == own.memory.space().peak
    assert str(read.passes.table) == str(own.passes.table)
    assert list(read.kernels) == list(own.kernels)
    assert len(list(own.kernels)) > 1


def test_files_without_the_time_belong_to_their_module(tmp_path: Path) -> None:
    for name in ("17.module_0001.jit_f.before_optimizations.txt", "module_0001.jit_f.obj-file.x.o"):
        (tmp_path / name).write_text("x")
    [module] = dump_index.read(tmp_path)
    assert module.holds == "HLO before the passes, object code"


def test_modules_of_two_processes_are_told_apart_by_the_time(tmp_path: Path) -> None:
    for time in (17, 18):
        (tmp_path / f"{time}.module_0001.jit_f.before_optimizations.txt").write_text(
            f"HloModule of_{time}\n\nENTRY e {{\n  ROOT c = f32[] constant(1)\n}}\n"
        )
    dump = opened(tmp_path)
    with pytest.raises(KeyError, match=re.escape("17.module_0001.jit_f, 18.module_0001.jit_f")):
        dump["jit_f"]
    assert "of_18" in dump["18.module_0001.jit_f"].documents["hlo"].text


def test_links_that_lead_nowhere_do_not_hide_the_rest(plain: Path, tmp_path: Path) -> None:
    path = opened(plain).modules[-1].module_file()
    assert path is not None
    (tmp_path / path.name).write_bytes(path.read_bytes())
    for name, to in (
        ("module_0090.jit_g.before_optimizations.txt", "nowhere"),
        ("module_0091.jit_h.txt", "module_0091.jit_h.txt"),
    ):
        (tmp_path / name).symlink_to(to)
    os.mkfifo(tmp_path / "module_0092.jit_i.before_optimizations.txt")
    assert [module.key for module in opened(tmp_path).modules] == [".".join(path.name.split(".")[:2])]


def test_a_pass_and_code_that_are_cut_are_told_by_name(plain: Path, tmp_path: Path) -> None:
    names = [path.name for path in plain.iterdir() if ".jit__lambda." in path.name]
    for name in names:
        data = (plain / name).read_bytes()
        is_cut = name.endswith(".ir-with-opt.ll") or ".after_pipeline-start" in name
        (tmp_path / name).write_bytes(data[: len(data) // 2] if is_cut else data)
    inspection = opened(tmp_path)["jit__lambda"]
    with pytest.raises(ValueError, match=r"module_\S+ is cut after [\d,]+ bytes; copy or dump it once more$"):
        _ = inspection.passes
    damaged = {name for name in names if name.endswith(".ir-with-opt.ll")}
    assert {note.partition("left out, damaged: ")[2] for note in inspection.kernels.notes} >= damaged


def test_a_gzip_file_that_is_cut_is_told_by_name(tmp_path: Path) -> None:
    name = "module_0001.jit_f.cpu_after_optimizations.hlo.pb.gz"
    (tmp_path / name).write_bytes(gzip.compress(os.urandom(1000))[:300])
    with pytest.raises(ValueError, match=f"{re.escape(name)}: the gzip file is cut off"):
        opened(tmp_path)["jit_f"]


BEFORE = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT a = f32[4] add(p, p)\n}\n"
AFTER = BEFORE.replace("HloModule m", "HloModule m, is_scheduled=true").replace("add", "multiply")


@pytest.mark.parametrize("name", ["jit_step", "SyncTensorsGraph.6428", "a.b.c", "cluster_1"])
@pytest.mark.parametrize("prefix", ["gfx942_gpu", "gfx90a_gpu", "sm_9.0_gpu", "sm_100a_gpu", "gpu", "cpu"])
def test_a_module_is_found_whatever_it_and_its_device_are_called(name: str, prefix: str, tmp_path: Path) -> None:
    """AMD GPUs have other names, and those of torch-xla's modules hold dots and numbers."""
    stem = f"module_0009.{name}"
    (tmp_path / f"{stem}.before_optimizations.txt").write_text(BEFORE)
    (tmp_path / f"{stem}.{prefix}_after_optimizations.txt").write_text(AFTER)
    (tmp_path / f"{stem}.0003.fusion.after_fusion.before_dce.txt").write_text(BEFORE)
    (tmp_path / f"{stem}.ptx").write_text("//")
    [module] = dump_index.read(tmp_path)
    assert (module.name, module.platform, len(module.files)) == (name, prefix.rpartition("_")[2], 4)
    assert module.holds == "optimised HLO, passes, PTX"
    assert "multiply" in opened(tmp_path)[name].documents["hlo"].text


def test_a_name_that_breaks_lines_does_not_break_the_list(tmp_path: Path) -> None:
    (tmp_path / "module_0001.jit_g\n.before_optimizations.txt").write_text(BEFORE)
    listed = opened(tmp_path)
    assert "jit_g\n" not in str(listed)
    with pytest.raises(KeyError, match="it has 'jit_g") as raised:
        listed["f"]
    assert "\n" not in raised.value.args[0]

"""Folders that XLA dumped into: each module says what an inspection of its function says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jaxstage_ext
from jaxstage_ext.api.xla_dump import XlaDump
from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.panel.showing import display
from jaxstage_ext.report.unavailable import Unavailable

PROGRAM = """
import jax, jax.numpy as jnp
def step(w, x):
    hidden = jnp.tanh(x @ w)
    return hidden.sum(), hidden
def other(x):
    return jnp.cumsum(x)
w, x = jax.numpy.ones((8, 16)), jax.numpy.ones((4, 8))
jax.jit(step).lower(w, x).compile()
jax.jit(other).lower(x).compile()
jax.jit(other).lower(w).compile()
"""
FLAGS = "--xla_dump_hlo_as_proto --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.* --xla_dump_emitter_re=llvm"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dump")
    (folder / "program.py").write_text(PROGRAM)
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder / 'xla'} {FLAGS}"
    subprocess.run([sys.executable, "program.py"], cwd=folder, env={**os.environ, "XLA_FLAGS": flags}, check=True)
    return folder / "xla"


@pytest.fixture(scope="module")
def dump(folder: Path) -> XlaDump:
    loaded = jaxstage_ext.load(folder)
    assert isinstance(loaded, XlaDump)
    return loaded


def test_the_modules_are_listed_with_what_there_is_of_each(dump: XlaDump, folder: Path) -> None:
    assert [name for name in dump if name in ("jit_step", "jit_other")] == ["jit_step", "jit_other", "jit_other"]
    row = dump.table["module"].index("jit_step")
    assert dump.table["platform"][row] == "cpu"
    assert {"optimised HLO", "buffers", "passes", "LLVM IR"} <= set(dump.table["holds"][row].split(", "))
    files = [path for path in folder.iterdir() if ".jit_step." in path.name]
    assert dump.table["files"][row] == len(files)
    assert dump.table["size"][row] == sum(path.stat().st_size for path in files)
    assert "modules in xla" in repr(dump)


def test_a_module_has_what_its_function_has(dump: XlaDump, folder: Path) -> None:
    space: dict[str, Any] = {}
    exec(compile(PROGRAM, str(folder.parent / "program.py"), "exec"), space)
    own, read = jaxstage_ext.inspect(space["step"], space["w"], space["x"]), dump["jit_step"]
    assert str(read.cost.work.table) == str(own.cost.work.table)
    assert read.memory.space().peak == own.memory.space().peak
    assert str(read.memory.peak_set["size"]) == str(own.memory.peak_set["size"])
    changed = [{version.name for version in each.passes.passes if version.changed} for each in (read, own)]
    assert changed[0] - {"outside a pass"} == changed[1] - {"outside a pass"}
    assert list(read.kernels) == list(own.kernels)
    assert read.kernels["wrapped_tanh"].text("llvm") == own.kernels["wrapped_tanh"].text("llvm")
    assert read.summary()["views"] == ["findings", "code", "answers", "cost", "memory", "layouts", "passes", "machine"]


def test_a_module_says_its_types_and_that_a_file_has_no_times(dump: XlaDump) -> None:
    read = dump["jit_step"]
    assert read.summary()["signature"] == "jit_step(f32[8,16], f32[4,8]) -> (f32[], f32[4,16])"
    time = read.answers["answer"][-1]
    assert time == "Unknown: the file has no times, and a module out of a file is not run here."


def test_the_files_are_left_as_they_are(dump: XlaDump, folder: Path) -> None:
    before = sorted((path.name, path.stat().st_size) for path in folder.iterdir())
    inspection = dump["jit_step"]
    assert len(inspection.passes.passes)
    assert len(inspection.kernels)
    assert sorted((path.name, path.stat().st_size) for path in folder.iterdir()) == before


def test_a_module_is_chosen_by_its_number_where_its_name_is_not_enough(dump: XlaDump) -> None:
    with pytest.raises(KeyError, match="2 modules are named 'jit_other'; choose one by its number"):
        dump["jit_other"]
    numbers = [module.number for module in dump.modules if module.name == "jit_other"]
    assert dump[numbers[0]].documents["hlo"].text != dump[numbers[1]].documents["hlo"].text
    with pytest.raises(KeyError, match="no module 'jit_missing'; it has"):
        dump["jit_missing"]


def test_a_module_is_found_by_the_name_of_its_function(dump: XlaDump) -> None:
    assert repr(dump["step"]) == repr(dump["jit_step"])
    with pytest.raises(KeyError, match="2 modules are named 'other'"):
        dump["other"]
    with pytest.raises(KeyError, match="the dump has no module 'absent'"):
        dump["absent"]


def test_the_list_says_how_a_module_is_opened(dump: XlaDump) -> None:
    [number] = [module.number for module in dump.modules if module.name == "jit_step"]
    assert repr(dump[number]) == repr(dump["jit_step"])
    told = repr(dump).splitlines()[-1]
    assert told.startswith("To open one, give its name or number: dump[")
    largest = max(dump.modules, key=lambda module: module.size)
    assert f"dump['{largest.name}']" in told


def test_in_a_notebook_it_is_a_panel_of_its_modules(dump: XlaDump, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dump._repr_mimebundle_() == {"text/plain": repr(dump)}
    monkeypatch.setattr(display, "in_notebook", lambda: True)
    made = dump._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    assert data["text/plain"] == repr(dump)
    assert {display.WIDGET_VIEW, display.MIME_TYPE} & data.keys()
    assert all(module.name in data["text/html"] for module in dump.modules)


def test_a_module_that_cannot_be_opened_is_only_listed(
    dump: XlaDump, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "in_notebook", lambda: True)
    damaged = shutil.copytree(folder, tmp_path / "xla")
    for file in damaged.glob("*jit_step*hlo*"):
        file.write_bytes(b"\xff" * 40)
    listed = jaxstage_ext.load(damaged)
    made = listed._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    assert "jit_step" in data["text/plain"] and "jit_other" in data["text/html"]


def test_memory_that_the_dump_holds_is_not_said_to_be_missing(dump: XlaDump) -> None:
    inspection = dump["jit_step"]
    assert "a file of HLO holds no analysis" not in repr(inspection)
    assert "not computed yet: open Memory, or read .memory" in " ".join(repr(inspection).replace("│", " ").split())
    assert inspection.memory.fit.needed is not None
    assert "memory needed unknown" not in repr(inspection)


def test_a_module_is_compiled_for_a_target_from_before_its_passes(dump: XlaDump) -> None:
    compiled = dump.module("jit_step", target="cpu:1")
    assert str(compiled.target) == "cpu:1"
    assert compiled.cost.work.total_flops == dump["jit_step"].cost.work.total_flops
    assert compiled.lowered is not None


def test_what_was_not_dumped_is_unavailable_with_the_flag(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        if path.name.endswith("cpu_after_optimizations.txt"):
            shutil.copy(path, tmp_path)
    loaded = jaxstage_ext.load(tmp_path)
    assert isinstance(loaded, XlaDump)
    inspection = loaded["jit_step"]
    assert inspection.summary()["views"] == ["findings", "code", "answers", "cost", "layouts"]
    with pytest.raises(Unavailable, match="--xla_dump_hlo_pass_re"):
        _ = inspection.passes
    with pytest.raises(Unavailable, match="--xla_dump_emitter_re"):
        _ = inspection.kernels
    with pytest.raises(Unavailable, match="--xla_dump_hlo_as_proto"):
        _ = inspection.memory


def test_a_damaged_dump_is_told_by_its_file(folder: Path, tmp_path: Path) -> None:
    name = next(path.name for path in folder.iterdir() if path.name.endswith("jit_step.cpu_after_optimizations.hlo.pb"))
    (tmp_path / name).write_bytes((folder / name).read_bytes()[:400])
    loaded = jaxstage_ext.load(tmp_path)
    assert isinstance(loaded, XlaDump)
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        loaded["jit_step"]


@pytest.mark.parametrize(
    ("name", "platform", "holds"),
    [
        ("module_0003.jit_f.sm_9.0_gpu_after_optimizations.txt", "gpu", "optimised HLO"),
        ("module_0003.jit_f.tpu_after_optimizations.hlo.pb", "tpu", "optimised HLO, buffers"),
        ("module_0003.jit_f.before_optimizations.txt", "", "HLO before the passes"),
        ("module_0003.jit_f.ptx", "", "PTX"),
        ("module_0003.jit_f.debug_options", "", "no HLO"),
    ],
)
def test_names_say_what_a_file_is(tmp_path: Path, name: str, platform: str, holds: str) -> None:
    (tmp_path / name).write_text("x")
    [module] = dump_index.read(tmp_path)
    assert (module.number, module.name, module.platform, module.holds) == (3, "jit_f", platform, holds)

"""Dump folders and object files that are not as they should be: fewer kernels, never an error."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from jaxstage_ext.ir.machine import kernel_artefacts
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts, Launch
from jaxstage_ext.worker.inside import bundles, elf, kernel_dump
from jaxstage_ext.worker.inside.log import LogTail

SEQUENCE = """001: kCopy [source | next=002 (1)] kCopy
002: kCustomKernel [prev=001 (1) | sink] fusion_2 grid: [8, 1, 1] threads: [64, 2, 1]  shared_memory: 16 bytes
  body:
    000: kCommandBuffer [source | sink]
        002: kCustomKernel [source | sink] fusion_2 grid: [8, 1, 1] threads: [64, 2, 1]  shared_memory: 16 bytes
"""
METADATA = "".join(
    f'thunk_info {{\n profile_annotation: "{name}"\n thunk_id: {i}\n}}\n'
    for i, name in enumerate(("copy.1", "fusion.2"), 1)
)


def read(folder: Path, largest: int = 1 << 20) -> KernelArtefacts:
    """What the kernel makes of what the worker packed."""
    return kernel_artefacts.read(**kernel_dump.read(folder, largest))


def test_files_are_put_together_by_the_kernels_that_they_define(tmp_path: Path) -> None:
    (tmp_path / "m.jit_f.part.v2.ir-no-opt.ll").write_text('define ptr @"a b"() {\n}\n')
    (tmp_path / "m.jit_f.part.v2.ir-with-opt.ll").write_text(
        'define ptr @"a b"() {\n}\ndefine private void @x() {\n}\n'
    )
    (tmp_path / "m.jit_f.obj-file.part.v2.o").write_bytes(b"no object at all")
    (tmp_path / "m.jit_f.1.ptx").write_text(".visible .entry fusion_2(\n)\n{\n}\n.func helper()\n{\n}\n")
    (tmp_path / "m.jit_f.fusion.2.ttir.txt").write_text("module { tt.func public @fusion_2(%a: i32) {} }")
    (tmp_path / "m.jit_f.fusion.2.before_validation.ttir.txt").write_text("module { tt.func @fusion_2() {} }")
    found = read(tmp_path)
    assert {name: sorted(part) for name, part in found.kernels.items()} == {
        "a b": ["llvm", "llvm0", "object"],
        "fusion_2": ["ptx", "ttir"],
    }
    assert b"(%a: i32)" in zlib.decompress(found.kernels["fusion_2"]["ttir"])
    assert (found.launches, found.left_out) == ([], [])


def test_each_step_counts_once_and_is_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "m.jit_f.thunk_sequence.txt").write_text(SEQUENCE)
    (tmp_path / "m.jit_f.thunk_metadata.txt").write_text(METADATA)
    copy, fusion = read(tmp_path).launches
    assert copy == Launch("copy.1", "Copy")
    assert fusion == Launch("fusion.2", "CustomKernel", "fusion_2", (8, 1, 1), (64, 2, 1), 16)


def test_what_is_too_large_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "m.jit_f.1.ptx").write_text(".visible .entry fusion_2(")
    assert read(tmp_path, largest=10) == KernelArtefacts({}, [], ["m.jit_f.1.ptx"])


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(10), b"\x7fELF\x02\x01" + b"\xff" * 100])
def test_a_damaged_object_file_is_none(data: bytes) -> None:
    assert elf.read(data) is None


def test_of_libtpus_dumps_only_final_bundles_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "dump-llo"
    with bundles.kept(folder, LogTail(tmp_path / "log")) as found:
        (folder / "17-fusion.1-71-schedule-analysis_final_bundles.txt").write_text("no")
        (folder / "17-fusion.1-72-final_bundles.txt").write_text("yes\n")
        (folder / "17-fusion.1-01-original.txt").write_text("no")
    assert [(name, zlib.decompress(text)) for name, text in found] == [("fusion.1", b"yes\n")]
    assert not list(folder.iterdir())

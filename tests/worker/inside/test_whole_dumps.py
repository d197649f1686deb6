"""A dump that lacks a file or the end of one is an error, wherever it is cut; a whole one is read."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.ir.passes import pipeline
from jaxstage_ext.worker.inside import dump_files, kernel_dump, pass_dump, pass_log, whole_files, whole_passes
from jaxstage_ext.worker.inside.dump_room import DumpCut
from jaxstage_ext.worker.inside.pass_log import Ran
from jaxstage_ext.worker.inside.whole_passes import FIRST, LAST, START, Dump

BLOCK = 512


def dumped(folder: Path, flags: Mapping[str, Any]) -> Path:
    """What XLA dumps of a program for the CPU."""
    step = jax.jit(jax.grad(lambda x: jnp.sum(jax.nn.softmax(jnp.tanh(x @ x)) ** 2)))
    step.lower(np.ones((16, 16), np.float32)).compile({"xla_dump_to": str(folder), **flags})
    return folder


@pytest.fixture(scope="module")
def of_passes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumped(tmp_path_factory.mktemp("passes"), pass_dump.FLAGS)


@pytest.fixture(scope="module")
def of_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumped(tmp_path_factory.mktemp("kernels"), kernel_dump.FLAGS)


@pytest.fixture(scope="module")
def of_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumped(tmp_path_factory.mktemp("memory"), dump_files.FLAGS)


def collected(dump: Path, tmp_path: Path, change: Callable[[Path], None] = lambda folder: None) -> dict[str, Any]:
    """What `pass_dump` makes of a dump that was changed before it is read."""
    folder = tmp_path / "dump"
    folder.mkdir()

    def compile_(flags: Mapping[str, Any]) -> None:
        staging = tmp_path / "staging"
        shutil.copytree(dump, staging)
        change(staging)
        for path in sorted(staging.iterdir(), key=lambda path: (FIRST not in path.name, path.name)):
            path.rename(folder / path.name)  # at once, as the reader may look at any time
        shutil.rmtree(staging)

    return pass_dump.collect(compile_, folder, tmp_path / "log", early=False)


def numbered(dump: Path) -> list[Path]:
    return sorted(path for path in dump.iterdir() if pass_dump._NUMBERED.match(path.name))


def modules(dump: Path) -> list[Path]:
    """The dumps of modules that `pass_dump` reads."""
    named = [path for name in (FIRST, LAST) for path in dump.glob(f"*{name}.txt")]
    return [path for path in numbered(dump) if pass_dump._DUMP.fullmatch(path.name)] + named


def test_a_whole_dump_is_read(of_passes: Path, tmp_path: Path) -> None:
    answer = collected(of_passes, tmp_path)
    assert len(pipeline.pipeline(answer["head"], answer["parts"]).versions) > 5
    assert answer["head"]["notes"] == [] and not (tmp_path / "dump").exists()


def test_a_module_that_is_cut_anywhere_is_not_whole(of_passes: Path, tmp_path: Path) -> None:
    rng = random.Random(0)
    copy = tmp_path / "copy.txt"
    assert len(modules(of_passes)) > 5
    for path in modules(of_passes):
        data = path.read_bytes()
        assert whole_files.is_whole_module(path), path.name
        ends = [data.rfind(b"\n\n", 0, rng.randrange(len(data) - 1)) + 2 for _ in range(3)]
        for size in {0, 1, len(data) - 1, *ends, *(rng.randrange(len(data)) for _ in range(3))} - {len(data)}:
            copy.write_bytes(data[:size])
            if whole_files.is_whole_module(copy):
                assert b"\nENTRY " not in data[:size], "a cut between two computations, before the entry"


@pytest.mark.parametrize("place", [0, 1, 7, -2, -1])
@pytest.mark.parametrize("size", [0, BLOCK, -BLOCK])
def test_passes_with_a_cut_module_are_an_error(place: int, size: int, of_passes: Path, tmp_path: Path) -> None:
    def cut(folder: Path) -> None:
        path = modules(folder)[place]
        path.write_bytes(path.read_bytes()[:size])

    with pytest.raises(DumpCut, match=r"is cut after [\d,]+ bytes; make room"):
        collected(of_passes, tmp_path, cut)


def test_passes_of_which_a_dump_is_missing_are_an_error(of_passes: Path, tmp_path: Path) -> None:
    assert len(numbered(of_passes)) > 5
    for number, path in enumerate(numbered(of_passes)[:-1]):
        with pytest.raises(DumpCut, match=r"dump \d+ of \d+ that XLA wrote of module_\d+\..* is missing"):
            collected(of_passes, folder_in(tmp_path, number), without(path))


@pytest.mark.parametrize("name", [FIRST, LAST])
def test_passes_without_the_module_before_or_after_them_are_an_error(
    name: str, of_passes: Path, tmp_path: Path
) -> None:
    [path] = of_passes.glob(f"*{name}.txt")
    with pytest.raises(DumpCut, match=f"dump of the module {name.replace('_', ' ')} is missing"):
        collected(of_passes, tmp_path, without(path))


def without(path: Path) -> Callable[[Path], None]:
    return lambda folder: (folder / path.name).unlink()


def folder_in(tmp_path: Path, number: int) -> Path:
    made = tmp_path / str(number)
    made.mkdir()
    return made


RAN = [Ran("one"), Ran("one", "dce", next="cse"), Ran("one", "cse"), Ran("two"), Ran("two", "fusion")]
DUMPS = [
    Dump("", FIRST, "", 0),
    Dump("one", START, "dce", 0),
    Dump("one", "cse", "end", 1),
    Dump("two", START, "fusion", 1),
    Dump("", LAST, "", 2),
]


def checked(dumps: list[Dump], ran: list[Ran], cut_short: bool = False) -> None:
    whole_passes.check({"module_0000.m": {0, 1, 2}}, dumps, ran, cut_short)


def test_dumps_are_counted_against_the_log() -> None:
    checked(DUMPS, RAN)
    checked(DUMPS, [])  # where nothing is logged
    for lacks in ([DUMPS[0], *DUMPS[2:]], [*DUMPS[:3], DUMPS[4]]):
        with pytest.raises(DumpCut, match="logged 2 pipelines of passes and dumped 1"):
            checked(lacks, RAN)
    with pytest.raises(DumpCut, match="dumped pass cse, which its log does not name"):
        checked(DUMPS, [ran for ran in RAN if ran.name != "cse"])
    with pytest.raises(DumpCut, match="logged 1 pipelines of passes and dumped 2"):
        checked(DUMPS, RAN[:3])


def test_a_compile_that_was_left_may_have_begun_what_it_has_not_dumped() -> None:
    checked(DUMPS[:3], RAN, cut_short=True)
    with pytest.raises(DumpCut, match="logged 2 pipelines"):
        checked([DUMPS[0], *DUMPS[3:]], RAN, cut_short=True)


def test_a_log_that_is_cut_ends_with_a_pass_that_did_not() -> None:
    line = "I1121 13:21:36.964749   17750 hlo_pass_pipeline.cc:303] "
    log = f"{line}Running HLO pass pipeline on module m: one\n{line}  HLO pass dce\n"
    assert pass_log.read(log, "m") == [Ran("one")]
    with pytest.raises(DumpCut, match="dumped pass cse"):
        checked([*DUMPS[:3], DUMPS[4]], pass_log.read(log, "m"))


CODE = (".ir-no-opt.ll", ".ir-with-opt.ll", ".o")


def test_whole_machine_code_is_whole(of_kernels: Path) -> None:
    assert {path.suffix for path in of_kernels.iterdir()} >= {".ll", ".o"}
    whole_files.check_code(of_kernels)


def cuts(data: bytes, rng: random.Random) -> Iterator[int]:
    """Where a full disk may cut a file: after a block, also where a line happens to end there."""
    yield from range(0, len(data) - 1, BLOCK)
    for _ in range(20):
        yield max(data.rfind(b"\n", 0, rng.randrange(BLOCK, max(len(data), BLOCK + 1))) + 1, BLOCK)


@pytest.mark.parametrize("suffix", CODE)
def test_machine_code_that_is_cut_anywhere_is_an_error(suffix: str, of_kernels: Path, tmp_path: Path) -> None:
    rng = random.Random(0)
    paths = list(of_kernels.glob(f"*{suffix}"))
    assert paths
    for path in paths:
        data = path.read_bytes()
        for size in {cut for cut in cuts(data, rng) if cut < len(data)}:
            (tmp_path / path.name).write_bytes(data[:size])
            with pytest.raises(DumpCut, match=r"is cut after [\d,]+ bytes"):
                whole_files.check_code(tmp_path)
        (tmp_path / path.name).unlink()


PTX = ".version 8.7\n.target sm_90a\n.address_size 64\n\n.visible .entry fusion_2(\n)\n{\n}\n"
LLVM = """define ptx_kernel void @fusion_2(ptr %a) #0 {
  ret void, !dbg !0
}
attributes #0 = { "x" }
!0 = !{!"a !7 }"}
"""
SEQUENCE = "001: kCopy [source | next=002 (1)] kCopy\n002: kCustomKernel [prev=001 (1) | sink] fusion_2\n"


def gpu(folder: Path, **other: str) -> None:
    files = {"1.ir-with-opt.ll": LLVM, "1.ptx": PTX, "thunk_sequence.txt": SEQUENCE, "thunk_metadata.txt": "a {\n}\n"}
    for name, text in (files | other).items():
        (folder / f"module_0001.jit_f.{name}").write_text(text)


def test_machine_code_of_a_gpu_is_whole_or_an_error(tmp_path: Path) -> None:
    gpu(tmp_path)
    whole_files.check_code(tmp_path)
    for name, text in {
        "1.ptx": PTX[:-2],
        "1.ir-with-opt.ll": LLVM.replace("!0 = ", "!1 = "),
        "thunk_sequence.txt": SEQUENCE.splitlines(keepends=True)[0],
        "thunk_metadata.txt": "a {\n",
    }.items():
        gpu(tmp_path, **{name: text})
        with pytest.raises(DumpCut, match=f"{name} is cut"):
            whole_files.check_code(tmp_path)


def test_a_kernel_of_which_no_ptx_was_dumped_is_an_error(tmp_path: Path) -> None:
    gpu(tmp_path)
    (tmp_path / "module_0001.jit_f.1.ptx").unlink()
    with pytest.raises(DumpCut, match="LLVM IR of kernel fusion_2, and no PTX"):
        whole_files.check_code(tmp_path)


def test_kernels_without_their_launches_are_an_error(tmp_path: Path) -> None:
    gpu(tmp_path)
    (tmp_path / "module_0001.jit_f.thunk_sequence.txt").unlink()
    with pytest.raises(DumpCut, match="dumped 1 kernels, and not the steps that run them"):
        whole_files.check_code(tmp_path)


def test_code_that_defines_nothing_may_be_empty(tmp_path: Path) -> None:
    gpu(tmp_path, **{"2.ir-with-opt.ll": 'target triple = "nvptx64"\n', "2.ptx": ""})
    whole_files.check_code(tmp_path)
    gpu(tmp_path, **{"1.ptx": ""})
    with pytest.raises(DumpCut, match=r"1\.ptx is cut after 0 bytes"):
        whole_files.check_code(tmp_path)


def test_a_buffer_assignment_that_is_cut_anywhere_is_an_error(of_memory: Path) -> None:
    """A field's length says where it ends; one that ends where another begins lacks the other."""
    assert dump_files.read_buffers(of_memory, None, ended=True)
    [path] = of_memory.glob(f"*{LAST}.hlo.pb")
    data = path.read_bytes()
    try:
        for size in {*range(0, len(data), 97), *range(len(data) - 40, len(data)), *range(20)}:
            with pytest.raises(DumpCut, match="is cut after"):
                whole_files.check_proto(data[:size], path, 1, 3)
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(DumpCut, match="is cut after"):
            dump_files.read_buffers(of_memory, None, ended=True)
    finally:
        path.write_bytes(data)


@pytest.mark.parametrize(
    "data", [b"\x0a", b"\x0a\x80", b"\xff" * 30, b"\x0a\x05abc", b"\x0b\x00", b"\x09abc", b"\x0d\0\0"]
)
def test_what_is_no_message_is_cut(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.pb").write_bytes(data)
    with pytest.raises(DumpCut):
        whole_files.check_proto(data, tmp_path / "a.pb", 1)

"""The flags of the installed XLA, read out of its library."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import embedded_protos, xla_flags
from jaxstage_ext.core.options.xla_flags import Flag, Flags


@pytest.fixture(scope="module")
def known() -> Flags:
    return xla_flags.installed()


def test_the_installed_jaxlib_says_its_flags(known: Flags) -> None:
    assert known.problem == ""
    assert len(known.by_name) > 250
    assert all(name.startswith("xla_") for name in known.by_name)
    level = known.by_name["xla_backend_optimization_level"]
    assert (level.type, level.many, level.default) == ("int32", False, "3")
    assert known.by_name["xla_cpu_enable_fast_math"].type == "bool"
    assert known.by_name["xla_gpu_auto_spmd_partitioning_memory_budget_ratio"].type == "float"
    assert known.by_name["xla_backend_extra_options"].type == "message"


def test_enums_have_their_values(known: Flags) -> None:
    assert known.by_name["xla_step_marker_location"].values["STEP_MARK_NONE"] == 2
    buffers = known.by_name["xla_gpu_enable_command_buffer"]
    assert buffers.many
    assert buffers.values["FUSION"] == 1
    assert "FUSION" in (buffers.default or "").split(",")
    assert "TRITON" in known.by_name["xla_gpu_experimental_autotune_backends"].values
    assert all(flag.values for flag in known.by_name.values() if flag.type == "enum")


def test_every_flag_is_one_that_jaxlib_takes(known: Flags) -> None:
    """jaxlib's own answer to each name: a wrong value, never a name that it does not know."""
    import jax

    lowered = jax.jit(lambda x: x + 1).lower(1.0)
    typed = [f for f in known.by_name.values() if f.type in ("bool", "int32", "int64", "float", "enum")]
    assert len(typed) > 100
    for flag in typed[::10]:
        with pytest.raises(Exception, match=f"setting option {flag.name}"):
            lowered.compile(compiler_options={flag.name: "no such value"})


def test_a_default_is_what_this_process_uses() -> None:
    """XLA_FLAGS changes it; what jaxlib leaves out is told apart from what it sets."""
    names = ("xla_dump_max_hlo_modules", "xla_cpu_enable_fast_math", "xla_dump_to")
    code = (
        "from jaxstage_ext.core.options.xla_flags import installed as i; "
        f"print(*(i().by_name[n].default for n in {names}))"
    )
    for given, seen in (("--xla_dump_max_hlo_modules=7 --xla_cpu_enable_fast_math=true", "7 True"), ("", "-1 False")):
        done = subprocess.run([sys.executable, "-c", code], env=_env(XLA_FLAGS=given), capture_output=True, text=True)
        assert done.stdout.strip() == f"{seen} {xla_flags.UNSET}", done.stderr


def test_defaults_that_cannot_be_read_are_unknown_and_names_stay() -> None:
    read = xla_flags.read(jax_options.xla_library(), b"\x1a\x04junk")
    assert len(read.by_name) > 250
    assert {flag.default for flag in read.by_name.values()} == {None}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"nothing of use " * 1000, "has no descriptor of its flags"),
        (b"", "cannot be read"),
        (b"\n\x0dxla/xla.proto\x12\x03xla", "no DebugOptions among the embedded descriptors"),
        (b'\n\x0dxla/xla.proto\x12\x03xla"\x20\n\x0cDebugOptions\xff\xff\xff', "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_another_library_is_a_reason_and_no_error(tmp_path: Path, content: bytes | None, problem: str) -> None:
    library = tmp_path / "libother.so"
    if content is not None:
        library.write_bytes(content)
    read = xla_flags.read(library, b"")
    assert not read.by_name
    assert problem in read.problem
    assert "libother.so" in read.problem


def test_a_descriptor_on_the_edge_of_a_chunk_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_protos, "_CHUNK", 64)
    library = tmp_path / "lib.so"
    for before in range(50, 70):
        library.write_bytes(b"\0" * before + b"\n\x07a.proto\x12\x01a" + b"\0" * 100)
        assert embedded_protos.find(library, ("a.proto",))["a.proto"].startswith(b"\n\x07a.proto\x12\x01a\0")


def test_matching_takes_words_in_any_order(known: Flags) -> None:
    names = [flag.name for flag in known.matching("math fast-CPU")]
    assert "xla_cpu_enable_fast_math" in names
    assert names == sorted(names)
    assert len(known.matching("")) == len(known.by_name)
    assert known.matching("no_such_thing") == []


def test_flags_are_read_once_and_fast() -> None:
    assert xla_flags.installed() is xla_flags.installed()
    started = time.process_time()
    xla_flags.read(jax_options.xla_library(), jax_options.compile_options())
    assert time.process_time() - started < 2


def test_a_flag_is_plain() -> None:
    assert Flag("xla_a", "bool").default is None


def _env(**more: str) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(Path(xla_flags.__file__).parents[2]), **more}

"""What assertions promise to survive: another version of XLA, and every instruction named anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import jaxstage_ext
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.testing import CompiledProgram

GOLDEN = Path(__file__).parents[1] / "golden"
Open = Callable[[str], CompiledProgram]
VERSIONS = sorted(path.name for path in GOLDEN.glob("jax-*"))
assert len(VERSIONS) > 1

pytestmark = [
    pytest.mark.once("files of both versions, read without JAX's"),
    pytest.mark.parametrize("version", VERSIONS),
    pytest.mark.parametrize("named", ["as XLA names them", "anew"]),
]


@pytest.fixture
def program(version: str, named: str, tmp_path: Path) -> Open:
    """Opens a golden module, its instructions named as XLA does or otherwise."""

    def opened(name: str) -> CompiledProgram:
        golden = GOLDEN / version / name / "hlo.pb"
        if named == "anew":
            (tmp_path / "hlo.pb").write_bytes(renamed(golden.read_bytes(), jaxstage_ext.load(golden).program.module))
            golden = tmp_path / "hlo.pb"
        return CompiledProgram(jaxstage_ext.load(golden))

    return opened


def renamed(proto: bytes, module: Module) -> bytes:
    """A serialised module whose instructions have other names of the same length; they refer to each other by number.

    A name is the first field of its message, behind its length.
    """
    for number, name in enumerate(module.names):
        other = bytes([97 + number // 25, 97 + number % 25])
        field = b"\x0a%c" % len(name)
        assert field + name in proto and len(other) <= len(name)
        proto = proto.replace(field + name, field + other.ljust(len(name), b"z"))
    return proto


@pytest.mark.parametrize(
    ("name", "kind", "line"), [("shard_map", "all-gather", "programs.py:94"), ("pmap", "all-reduce", "programs.py:86")]
)
def test_collectives_are_counted_by_kind_and_named_by_line(program: Open, name: str, kind: str, line: str) -> None:
    """The one in the program's source: `all_gather` of shard_map, `psum` of pmap."""
    one = program(name).collectives(at_most={kind: 1, "all-to-all": 0, "collective-permute": 0})
    with pytest.raises(AssertionError, match=f"1 {kind}, at most 0 allowed") as failed:
        one.collectives(at_most={kind: 0})
    assert line in str(failed.value)
    assert not re.search(r"psum\.|all_gather\.|zz", str(failed.value).partition("allowed")[2])


def test_work_is_that_of_a_count_by_hand(program: Open) -> None:
    """A sum of two arrays of 1,024 floats: one operation an element, two arrays of 4,096 B read and one written."""
    one = program("pallas").flops(at_most=1024).bytes_moved(at_most=3 * 4096)
    for check, enough in ((one.flops, 1024), (one.bytes_moved, 3 * 4096)):
        with pytest.raises(AssertionError, match="at most"):
            check(at_most=enough - 1)


def test_what_a_file_does_not_tell_is_unknown_with_the_reason(program: Open) -> None:
    one = program("scan")
    for check in (
        lambda: one.memory(at_most="1 GB"),
        lambda: one.dtype_of("x @ w"),
        lambda: one.no_finding("promotion"),
    ):
        with pytest.raises(AssertionError, match="unknown"):
            check()

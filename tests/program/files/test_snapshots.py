"""Snapshots of HLO, serialised and as text, as `--xla_dump_hlo_snapshots` and the multihost runner write them."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from google.protobuf import text_format

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.given import text_protos


@pytest.fixture(scope="module")
def proto() -> bytes:
    compiled = jax.jit(lambda w, x: jnp.tanh(x @ w)).lower(jnp.ones((8, 16)), jnp.ones((4, 8))).compile()
    return bytes(compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())


def delimited(number: int, data: bytes) -> bytes:
    """A field of a message, by number."""
    size, digits = len(data), []
    while True:
        digits.append(size & 0x7F | (0x80 if size > 0x7F else 0))
        size >>= 7
        if not size:
            return bytes([number << 3 | 2, *digits]) + data


def flops(path: Path) -> float:
    loaded = jaxstage_ext.load(path)
    assert isinstance(loaded, Inspection)
    return loaded.cost.work.total_flops


def test_a_serialised_snapshot_opens(proto: bytes, tmp_path: Path) -> None:
    """`HloSnapshot { HloProto hlo = 1; }`, `HloProto { HloModuleProto hlo_module = 1; }`: xla/service/hlo.proto."""
    (tmp_path / "snapshot.pb").write_bytes(delimited(1, delimited(1, proto)) + delimited(4, b"cpu"))
    assert flops(tmp_path / "snapshot.pb") == 2 * 4 * 8 * 16


@pytest.mark.parametrize(
    "around",
    [
        "hlo_module {{\n{}}}\npartitions {{ arguments {{ f32s: 1 }} }}\n",
        '# comment\nhlo {{\n  hlo_module: {{\n{}}}\n}}\nexecution_platform: "cpu {{"\n',
        "{}",
        "hlo_module {{\n{}  a_field_of_another_version: 3\n}}\n",
    ],
    ids=["unoptimised snapshot", "snapshot", "module", "another version"],
)
def test_a_snapshot_as_text_opens(around: str, proto: bytes, tmp_path: Path) -> None:
    message = text_protos._message()()
    message.ParseFromString(proto)
    (tmp_path / "snapshot.pbtxt").write_text(around.format(text_format.MessageToString(message)))
    assert flops(tmp_path / "snapshot.pbtxt") == 2 * 4 * 8 * 16

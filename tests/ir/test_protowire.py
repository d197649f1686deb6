"""The columnar protobuf reader, against protobuf itself."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from jaxstage_ext.ir.hlo import module
from jaxstage_ext.ir.wire import protowire

KIND = descriptor_pb2.FieldDescriptorProto


def message_class(packed: bool):
    file = descriptor_pb2.FileDescriptorProto(name=f"t{packed}.proto", package="t", syntax="proto3")
    message = file.message_type.add(name="M")
    for name, number, kind, label in [
        ("text", 1, KIND.TYPE_STRING, KIND.LABEL_OPTIONAL),
        ("number", 35, KIND.TYPE_INT64, KIND.LABEL_OPTIONAL),
        ("many", 36, KIND.TYPE_INT64, KIND.LABEL_REPEATED),
        ("real", 24, KIND.TYPE_FLOAT, KIND.LABEL_OPTIONAL),
        ("wide", 25, KIND.TYPE_DOUBLE, KIND.LABEL_OPTIONAL),
        ("parts", 99, KIND.TYPE_BYTES, KIND.LABEL_REPEATED),
    ]:
        field = message.field.add(name=name, number=number, type=kind, label=label)
        if name == "many":
            field.options.packed = packed
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.M"))


CLASSES = {packed: message_class(packed) for packed in (True, False)}
INT64 = st.integers(-(2**63), 2**63 - 1)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.text(max_size=300),
            "number": INT64,
            "many": st.lists(INT64, max_size=5),
            "real": st.floats(width=32, allow_nan=False),
            "wide": st.floats(allow_nan=False),
            "parts": st.lists(st.binary(max_size=200), max_size=3),
        }
    ),
    max_size=8,
)


def laid_out(blobs: list[bytes]):
    sizes = np.array([len(blob) for blob in blobs], np.int64)
    end = np.cumsum(sizes)
    raw = b"".join(blobs)
    return raw, protowire.buffer(raw), end - sizes, end


@given(MESSAGES, st.booleans())
def test_columns_hold_what_protobuf_reads(messages, packed: bool) -> None:
    made = [CLASSES[packed](**fields) for fields in messages]
    raw, data, start, end = laid_out([m.SerializeToString() for m in made])
    fields = protowire.read(data, start, end, (1, 35, 36))
    assert protowire.strings(raw, fields[1], len(made)) == [m.text.encode() for m in made]
    numbers = np.zeros(len(made), np.int64)
    numbers[fields[35].row] = fields[35].value
    assert numbers.tolist() == [m.number for m in made]
    owner, value = protowire.packed(data, fields[36])
    assert list(zip(owner.tolist(), value.tolist(), strict=True)) == [
        (i, v) for i, m in enumerate(made) for v in m.many
    ]


@given(MESSAGES, st.booleans())
def test_a_message_alone_is_read_as_among_others(messages, packed: bool) -> None:
    blobs = [CLASSES[packed](**fields).SerializeToString() for fields in messages]
    _, data, start, end = laid_out(blobs)
    among = protowire.read(data, start, end, (1, 24, 35, 36, 99))
    for row in range(len(blobs)):
        alone = protowire.read(data, start[row : row + 1], end[row : row + 1], (1, 24, 35, 36, 99))
        for number, field in alone.items():
            here = among[number].row == row
            assert not field.row.any() and len(field.row) == here.sum()
            assert (field.offset == among[number].offset[here]).all() and (field.size == among[number].size[here]).all()
            assert number == 24 or (field.value == among[number].value[here]).all()


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_refused_or_read_never_worse(blob: bytes) -> None:
    _, data, start, end = laid_out([blob])
    with contextlib.suppress(ValueError):
        protowire.read(data, start, end, (1, 36))


@given(st.binary(max_size=300))
def test_damaged_modules_are_refused_with_an_error_of_ours(blob: bytes) -> None:
    whole = (Path(__file__).parents[1] / "golden/jax-0.12.0.1/small/hlo.pb").read_bytes()
    for damaged in (blob, whole[: len(blob) * 10], whole[:500] + blob + whole[500:]):
        with contextlib.suppress(ValueError, DecodeError):
            module.parse(damaged)


def test_a_varint_that_never_ends_is_refused() -> None:
    _, data, start, end = laid_out([b"\xff" * 40])
    with pytest.raises(ValueError, match="varint"):
        protowire.read(data, start, end, (1,))


def test_the_leading_message_is_read_whatever_follows_it() -> None:
    message = b"\x0a\x02ab\x10\x96\x01\x1d\0\0\0\0\x22\x01c"
    for noise in (b"", b"\0\0", b"\x0b", b"\x0a\xff\xff\xff\xff\x0f", b"\xff" * 12):
        assert list(protowire.leading_fields(message + noise)) == [(1, b"ab"), (4, b"c")]
    assert list(protowire.leading_fields(b"\x0a\x05ab")) == []

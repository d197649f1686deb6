"""Values of large constants are left out of a parsed module, and nothing else is."""

from __future__ import annotations

import contextlib
import random

import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.ir.hlo import large_literals, schema
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.wire import protowire

LITERAL = schema.INSTRUCTION_LITERAL


def field(number: int, content: bytes) -> bytes:
    return large_literals._varint(number << 3 | 2) + large_literals._varint(len(content)) + content


def module(*literals: int) -> bytes:
    """A module whose instructions have literals of these sizes, between other fields."""
    instructions = [
        field(schema.INSTRUCTION_NAME, b"c%d" % at)
        + (field(LITERAL, bytes(size)) if size else b"")
        + b"\xa8\x02\x2a"  # instruction_id, a varint
        + b"\x91\x08" + bytes(8)  # an unknown field of 64 bits
        for at, size in enumerate(literals)
    ]  # fmt: skip
    body = b"".join(field(schema.COMPUTATION_INSTRUCTIONS, each) for each in instructions)
    computation = field(1, b"main") + body + b"\x28\x07"
    return field(1, b"m") + field(schema.MODULE_COMPUTATIONS, computation) + field(2, b"entry")


LARGE = large_literals.LARGE


@pytest.mark.parametrize(
    ("whole", "left"),
    [
        ((5 * LARGE,), (0,)),
        ((LARGE + 1, 7, 0, 3 * LARGE), (0, 7, 0, 0)),
        ((LARGE, 9), (LARGE, 9)),
        ((LARGE // 2, LARGE // 2, LARGE // 2), (LARGE // 2, LARGE // 2, LARGE // 2)),
    ],
)
def test_only_large_literals_go(whole: tuple[int, ...], left: tuple[int, ...]) -> None:
    """What stays is byte for byte the message that was made without them."""
    assert large_literals.cut(module(*whole)) == module(*left)


def test_a_module_of_many_instructions_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_literals, "MOST_FIELDS", 50)
    proto = module(*[0] * 60, 5 * LARGE)
    assert large_literals.cut(proto) is proto


def test_damaged_bytes_are_refused_as_before() -> None:
    dice, proto = random.Random(0), module(3 * LARGE, 4)
    for _ in range(300):
        damaged = bytearray(proto)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.choice((dice.randrange(40), -dice.randrange(1, 60)))] = dice.randrange(256)
        if dice.random() < 0.3:
            del damaged[dice.randrange(len(damaged)) :]
        with contextlib.suppress(ValueError):
            hlo.parse(bytes(damaged))


def test_a_captured_array_is_not_kept_with_the_module() -> None:
    """4 MB are captured; the shape, from which every table takes the bytes, is there."""
    w = np.random.default_rng(0).standard_normal((1000, 1000)).astype(np.float32)
    ins = inspect(lambda x: jnp.tanh(x @ w).sum(), jnp.ones((8, 1000)))
    parsed = ins.program.module
    assert len(ins.program.proto()) > w.nbytes
    assert len(parsed.raw) < 20_000
    assert w.nbytes in parsed.shapes.bytes[parsed.rows(b"constant")]
    data, ends = np.frombuffer(parsed.raw, np.uint8), parsed.end
    fields = protowire.read(data, ends - np.diff(ends, prepend=0), ends, (LITERAL,))[LITERAL]
    assert (fields.size < LARGE).all()
    assert "4.03 MB" in str(ins.cost)  # 4 * 1000 * 1000 captured, 4 * 8 * 1000 given

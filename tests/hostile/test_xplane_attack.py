"""Damaged and forged profiles: an error, or a recording that is sound and says what JAX's own reader says."""

from __future__ import annotations

import random
import warnings
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.profiling.xplane.xplane import UNNAMED
from jaxstage_ext.report.recording import NONE, Recording
from tests.helpers.attack import Attack
from tests.helpers.big_profiles import delimited, varint
from tests.helpers.profiles import captured


@pytest.fixture(scope="module")
def profile() -> bytes:
    step = jax.jit(lambda x: jax.lax.fori_loop(0, 2, lambda _, c: jnp.tanh(c @ c), x).sum())
    step(jnp.ones((8, 8))).block_until_ready()
    return captured(lambda: [step(jnp.ones((8, 8))) for _ in range(2)])


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _spliced(data: bytes, rng: random.Random) -> bytes:
    a, b, c = (rng.randrange(len(data)) for _ in range(3))
    return data[:a] + data[b : b + rng.randrange(200)] + data[c:]


def _garbage(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    junk = rng.randbytes(rng.randrange(1, 40))
    return data[:at] + junk + data[at + len(junk) * rng.randrange(2) :]


def _huge_numbers(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + varint(rng.choice((2**63, 2**64 - 1, 2**62, 2**31))) + data[at + rng.randrange(3) :]


def _forged(data: bytes, rng: random.Random) -> bytes:
    """One more plane, whole, with any numbers in its events."""
    number = lambda: rng.choice((0, 1, -1, 2**31, 2**62, -(2**63), rng.randrange(2**40)))  # noqa: E731
    events = b""
    for _ in range(rng.randrange(6)):
        stat = delimited(4, b"\x08" + varint(number()) + bytes([rng.choice((0x18, 0x20, 0x38))]) + varint(number()))
        event = b"\x08" + varint(number()) + b"\x10" + varint(number()) + b"\x18" + varint(number())
        events += delimited(4, event + stat * rng.randrange(3))
    line = delimited(2, rng.randbytes(3)) + b"\x18" + varint(number()) + events
    name = rng.choice((b"/device:GPU:0", b"/host:CPU", b"/device:TPU:99999999999", b"Task Environment", b"\xff"))
    return data + delimited(1, delimited(2, name) + delimited(3, line) * rng.randrange(1, 3))


MUTATIONS = (_cut, _flipped, _spliced, _garbage, _huge_numbers, _forged)


def _check_sound(recording: Recording, rng: random.Random) -> None:
    events = recording.events
    assert len(events) <= recording.total
    assert (events.start >= 0).all()
    assert (events.duration >= 0).all()
    assert (events.end >= events.start).all()
    for column, known in ((events.lane, recording.lanes), (events.name, recording.names)):
        assert ((column >= 0) & (column < len(known))).all()
    assert ((events.op >= NONE) & (events.op < len(recording.ops))).all()
    assert ((recording.ops.module >= 0) & (recording.ops.module < len(recording.modules))).all()
    order = np.lexsort((-events.duration, events.start, events.lane))
    assert (events.start[order] == events.start).all()
    assert (events.lane[order] == events.lane).all()
    if len(events):
        recording.details(rng.randrange(len(events)))


def _same_as_jax(data: bytes, recording: Recording) -> str:
    """Compares a recording that says nothing is lost with what JAX reads, which is in whole nanoseconds."""
    if recording.lost:
        return "with its losses"
    try:
        profile = jax.profiler.ProfileData.from_serialized_xspace(data)
    except RuntimeError:
        return "that JAX cannot read"
    theirs: Counter[tuple[str, int]] = Counter()
    for plane in profile.planes:
        for line in plane.lines:
            theirs.update((event.name or UNNAMED, int(event.duration_ns)) for event in line.events)
    rows = zip(recording.events.name.tolist(), recording.events.duration.tolist(), strict=True)
    assert Counter((recording.names[name], duration // 1000) for name, duration in rows) == theirs
    return "as JAX reads it"


def test_mutated_profiles(profile: bytes, request: pytest.FixtureRequest) -> None:
    attack = Attack("xplanes", attempts=10_000, in_ci=600, request=request)
    warnings.simplefilter("ignore")
    for rng in attack:
        data = rng.choice(MUTATIONS)(profile, rng)
        try:
            recording = xplane.read(data, "damaged")
        except UnreadableProfile as e:
            assert "damaged is not an xplane profile" in str(e)
            attack.ended("refused")
            continue
        _check_sound(recording, rng)
        op_links.places(recording)
        attack.ended(f"read {_same_as_jax(data, recording)}")

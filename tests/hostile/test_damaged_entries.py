"""Entries of the inspection cache that were damaged, moved or made up: each is a miss, and the right answer is shown.

Damaged below a right checksum too. What no check can tell is left out: another figure where a figure belongs.
"""

from __future__ import annotations

import json
import random
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attack import Attack
from counted_calls import calls_of

from jaxstage_ext import inspect
from jaxstage_ext.core.recompile import machine_code, pass_pipeline, preparation, recompiled_buffers
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.store import cache, entry
from jaxstage_ext.store.disk import Disk
from jaxstage_ext.worker import pool

BOMB = zlib.compress(bytes(40_000_000))
JUNK: tuple[Any, ...] = (True, {"junk": [1]}, [None, {"junk": 1}])
NEGATIVE = (-7, -1.5e300)
"""What takes the place of a value of JSON: of a type, or below zero, as no value there is."""
FIGURES = {"cost", "memory", "stats"}
"""Of XLA's, of which some are -1."""


def compiled(staged: Staged) -> Any:
    made = cross_compile.compile(unwrap(staged.value(LOWER)), staged.call.fn, staged.target, staged.limits, True, {})
    return made.text, made.proto, made.seconds, made.cost, made.memory


def passes(staged: Staged) -> Any:
    found = pass_pipeline.recompile_passes(staged)
    return [(step.name, step.version, step.seconds, step.after) for step in found], list(found.versions), found.complete


def kernels(staged: Staged) -> Any:
    return machine_code.dumped(preparation.prepared(staged), compiled(staged)[0], True, staged.limits, None)[0]


def bundles(staged: Staged) -> Any:
    return machine_code.final_bundles(preparation.prepared(staged), staged.limits, None)


ANSWERS: dict[str, Callable[[Staged], Any]] = {
    "compile": compiled,
    "passes": passes,
    "memory": recompiled_buffers.recompile,
    "kernels": kernels,
    "bundles": bundles,
}


@dataclass
class Kept:
    """A program whose answers are right, and the entry that holds each."""

    staged: Staged
    right: dict[str, Any]
    keys: dict[str, str]
    entries: dict[str, bytes]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """Workers compile each thing once; later they are asked in vain, and answer the same."""
    answers: dict[str, Any] = {"bundles": [("fusion.1", zlib.compress(b"{ nop }\n")), ("TLP", zlib.compress(b"{}\n"))]}
    real, stored = pool.ask, {}

    def ask(platform: str, request: dict[str, Any], *args: Any, **how: Any) -> Any:
        method = request["method"]
        if threading.current_thread() is not threading.main_thread():
            return real(platform, request, *args, **how)  # a job that a test before this one began
        if method not in answers:
            answers[method] = real(platform, request, *args, **how)
        return dict(answers[method]) if isinstance(answers[method], dict) else answers[method]

    def store(key: str, head: Any, *parts: bytes) -> None:
        stored[key] = entry.pack(key, head, parts)
        real_store(key, head, *parts)

    real_store = cache.store
    monkeypatch.setattr(pool, "ask", ask)
    staged = inspect(
        jax.grad(lambda x: jnp.sum(jnp.tanh(x @ x))), np.ones((8, 8), np.float32), target="cpu:2"
    ).program.staged
    cache.clear()
    monkeypatch.setattr(cache, "store", store)
    right, keys = {}, {}
    for kind, answer in ANSWERS.items():
        right[kind] = answer(staged)
        keys[kind] = next(key for key in reversed(stored) if key not in keys.values())
    monkeypatch.setattr(cache, "store", real_store)
    monkeypatch.setattr(entry, "MOST_INFLATED", 30_000_000)
    cache.use_folder(tmp_path)
    yield Kept(staged, right, keys, {kind: stored[key] for kind, key in keys.items()})
    pool.close_all()


def values(node: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything in a piece of JSON."""
    yield place
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in inner:
        yield from values(value, (*place, name))


def replaced(node: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[place[0]] = replaced(copy[place[0]], place[1:], value)
    return copy


def fields_of(data: bytes) -> tuple[Any, bytes]:
    start = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:start]), data[start:]


def with_fields(fields: Any, rest: bytes) -> bytes:
    raw = json.dumps(fields).encode()
    return len(raw).to_bytes(8, "little") + raw + rest


def other_value(data: bytes, rng: random.Random, kept: Kept) -> bytes:
    fields, rest = fields_of(data)
    place = rng.choice(list(values(fields)))
    return with_fields(replaced(fields, place, rng.choice(JUNK if FIGURES & {*place} else JUNK + NEGATIVE)), rest)


def other_fields(data: bytes, rng: random.Random, kept: Kept) -> bytes:
    fields, rest = fields_of(data)
    name = rng.choice([*fields, *fields["head"], "new"])
    where = fields["head"] if name in fields["head"] else fields
    where.pop(name, None) if name != "new" else where.update(new=1)
    return with_fields(fields, rest)


def other_parts(data: bytes, rng: random.Random, kept: Kept) -> bytes:
    fields, _ = fields_of(data)
    head, parts = entry.unpack(fields["key"], data)
    foreign = entry.unpack(*rng.choice([(kept.keys[kind], raw) for kind, raw in kept.entries.items()]))[1]
    if not parts:
        return entry.pack(fields["key"], head, foreign)
    at = rng.randrange(len(parts))
    old, junk = parts[at], rng.randbytes(rng.randrange(200))
    parts[at : at + 1] = rng.choice(
        [[], [old, old], [old[: len(old) // 2]], [old + b"x"], [b""], [junk], [zlib.compress(junk)], [BOMB], foreign]
    )
    return entry.pack(fields["key"], head, parts)


def other_s_entry(data: bytes, rng: random.Random, kept: Kept) -> bytes:
    """Another kind's, under its own key or under this one."""
    kind = rng.choice([kind for kind, raw in kept.entries.items() if raw != data])
    head, parts = entry.unpack(kept.keys[kind], kept.entries[kind])
    return entry.pack(rng.choice([kept.keys[kind], fields_of(data)[0]["key"]]), head, parts)


def junk(data: bytes, rng: random.Random, kept: Kept) -> bytes:
    cut, more = rng.randrange(len(data)), rng.randbytes(rng.randrange(1, 100))
    deep = b"[" * rng.choice([10, 100_000])
    size = rng.choice([0, 1 << 20, 1 << 63]).to_bytes(8, "little")
    return rng.choice([data[:cut], data + more, more, b"", size + data[8:], with_fields([], b"")[:8] + deep])


def flipped(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


BELOW_THE_CHECKSUM = (other_value, other_fields, other_parts, other_s_entry, junk)


def damage(kept: Kept, kind: str, rng: random.Random, folder: Path) -> str:
    """Put a damaged entry into the folder; how it was damaged."""
    key, data = kept.keys[kind], kept.entries[kind]
    path = folder / f"{key}.jaxstage"
    change = rng.choice([*BELOW_THE_CHECKSUM, None])
    if change is not None:
        Disk(folder).put(key, change(data, rng, kept))
        return change.__name__
    Disk(folder).put(key, data)
    raw = path.read_bytes()
    other = folder / f"{rng.choice(list(kept.keys.values()))}.jaxstage"
    whole = rng.choice([flipped(raw, rng), raw[: rng.randrange(len(raw))], raw + b"x"])
    path.write_bytes(other.read_bytes() if other != path and other.exists() and rng.random() < 0.3 else whole)
    return "file"


def test_damaged_entries(kept: Kept, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    attack = Attack("damaged entries", attempts=2_000, in_ci=300, request=request)
    for rng in attack:
        kind = rng.choice(list(ANSWERS))
        how = damage(kept, kind, rng, tmp_path)
        cache.clear()
        damaged = (tmp_path / f"{kept.keys[kind]}.jaxstage").read_bytes()
        right = ANSWERS[kind](kept.staged) == kept.right[kind]
        assert right, (kind, how)
        now = (tmp_path / f"{kept.keys[kind]}.jaxstage").read_bytes()
        attack.ended("missed and stored anew" if now != damaged else "read, and right")
        assert cache.trouble() is None
    assert attack.outcomes["missed and stored anew"] > 0.9 * attack.attempts


def test_a_whole_entry_is_read(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reverse: what was stored is found, or all damage would be a miss."""
    for kind, key in kept.keys.items():
        cache.put(key, kept.entries[kind])
    cache.clear()
    asked = calls_of(monkeypatch, pool, "ask")
    for kind, answer in ANSWERS.items():
        assert answer(kept.staged) == kept.right[kind]
    assert asked == []

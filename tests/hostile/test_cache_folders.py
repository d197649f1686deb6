"""What lies in a folder of JAX's persistent cache that is no entry: nothing waits for it, and nothing outside moves."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from attack import Attack

from jaxstage_ext.compilation.persistent import cache_entries, damaged_entries, entry_check
from jaxstage_ext.compilation.persistent.cache_entries import KeysSeen


def pipe(path: Path, rng: random.Random) -> None:
    os.mkfifo(path)


def device(path: Path, rng: random.Random) -> None:
    path.symlink_to(rng.choice(["/dev/zero", "/dev/full", "/dev/null"]))


def loop(path: Path, rng: random.Random) -> None:
    path.symlink_to(path.name)


def to_nowhere(path: Path, rng: random.Random) -> None:
    path.symlink_to(path.parent / "nowhere" / "x")


def folder(path: Path, rng: random.Random) -> None:
    path.mkdir()


def huge(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    os.truncate(path, 40_000_000_000)


def junk(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.choice([b"", b"\x78", b"\x28\xb5\x2f\xfd"]) + rng.randbytes(rng.randrange(300)))


def to_outside(path: Path, rng: random.Random) -> None:
    path.symlink_to(path.parent.parent / "outside")


KINDS: tuple[Callable[[Path, random.Random], None], ...] = (
    pipe, device, loop, to_nowhere, folder, huge, junk, to_outside,
)  # fmt: skip
NAMES = ("jit_f-" + "a" * 64, "<script>", "a\nb", "", "..", "\udcff", "x" * 200)


def test_what_is_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("JAXSTAGE_RECORDS_DIR", str(tmp_path / "records"))
    outside = tmp_path / "outside"
    outside.write_bytes(b"the user's")
    attack = Attack("cache folders", 2_000, 200, request)
    for number, rng in enumerate(attack):
        cache = tmp_path / str(number)
        cache.mkdir()
        for name in rng.sample(NAMES, 3):
            kind = rng.choice(KINDS)
            kind(cache / f"{name}-cache", rng)
            attack.ended(kind.__name__)
        for entry in cache_entries.read(str(cache), KeysSeen(), verify=True).entries:
            path = str(cache / f"{entry.key}-cache")
            assert entry_check.check(path, None) is entry.check
            if entry.is_damaged:
                assert Path(damaged_entries.set_aside(path)).parent == cache
        assert outside.read_bytes() == b"the user's"

"""The inspection cache: what was put is found, whatever is wrong with the folder is a miss and never an error."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.store import cache, entry, trusted_folder
from jaxstage_ext.store.disk import Disk


@pytest.fixture(autouse=True)
def as_at_the_start() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()
    cache.enable(True)
    cache.use_folder(None)
    cache._state.memory.resize(cache.MEMORY)


def forgotten(key: str) -> bytes | None:
    """What a kernel that starts now would find."""
    cache.clear()
    return cache.get(key)


def entry_file(folder: Path) -> Path:
    [path] = folder.glob("*.jaxstage")
    return path


def test_what_was_put_is_found_and_nothing_else() -> None:
    key = cache.key("compile", b"module")
    assert cache.get(key) is None
    cache.put(key, b"text")
    assert cache.get(key) == b"text"
    assert cache.get(cache.key("compile", b"module2")) is None


def test_every_part_counts_and_where_one_ends() -> None:
    keys = [cache.key(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), (b"ab", "c"), ())]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys)


def test_a_key_changes_with_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.key("x")
    monkeypatch.setattr(cache, "_versions", lambda: ("99", "99", "99"))
    assert cache.key("x") != before


def test_memory_forgets_what_was_used_longest_ago() -> None:
    cache._state.memory.resize(100)
    keys = [cache.key(str(i)) for i in range(4)]
    for key in keys[:3]:
        cache.put(key, bytes(30))
    assert cache.get(keys[0]) is not None
    cache.put(keys[3], bytes(30))
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True]
    cache.put(keys[1], bytes(101))
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True]


def test_a_later_kernel_finds_it_in_the_folder(tmp_path: Path) -> None:
    cache.use_folder(tmp_path / "made" / "anew")
    cache.put(cache.key("x"), b"data")
    assert forgotten(cache.key("x")) == b"data"
    cache.use_folder(None)
    assert forgotten(cache.key("x")) is None


def damaged(raw: bytes) -> Iterator[bytes]:
    for at in (0, 20, len(raw) - 1):
        yield raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
    yield from (b"", raw[:10], raw[:-1], raw + b"x", raw[:60], b"\x80\x04junk", raw.replace(b"cache 1", b"cache 2"))


def test_a_damaged_cut_or_foreign_entry_is_a_miss_and_is_replaced(tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    key = cache.key("x")
    cache.put(key, b"data" * 100)
    raw = entry_file(tmp_path).read_bytes()
    for other in damaged(raw):
        entry_file(tmp_path).write_bytes(other)
        assert forgotten(key) is None
        cache.put(key, b"new")
        assert forgotten(key) == b"new"
    assert cache.trouble() is None


def test_an_entry_under_another_s_name_is_a_miss(tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    cache.put(cache.key("x"), b"data")
    entry_file(tmp_path).rename(tmp_path / f"{cache.key('y')}.jaxstage")
    assert forgotten(cache.key("y")) is None


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling"])
def test_what_is_no_file_is_a_miss(kind: str, tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    key = cache.key("x")
    path = tmp_path / f"{key}.jaxstage"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        (tmp_path / "elsewhere").write_bytes(b"x")
        path.symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    assert forgotten(key) is None and cache.trouble() is None
    cache.put(key, b"data")
    assert cache.get(key) == b"data"


@pytest.mark.parametrize("where", ["a file", "/proc/1/nothing", "a\0b"])
def test_a_folder_that_cannot_be_is_one_note(where: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("x")
    cache.use_folder(tmp_path / where)
    key = cache.key("x")
    for _ in range(3):
        assert forgotten(key) is None
        cache.put(key, b"data")
        assert cache.get(key) == b"data"
    note = cache.trouble()
    assert note is not None and "cannot be" in note and "recomputed" in note
    assert cache.trouble() is None


def test_a_full_disk_is_one_note_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.use_folder(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        cache.put(cache.key("x"), bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())
    note = cache.trouble()
    assert note is not None and os.strerror(errno.EFBIG) in note
    cache.put(cache.key("x"), b"small")
    assert forgotten(cache.key("x")) == b"small"


def test_the_folder_keeps_its_limit_and_the_oldest_go_first(tmp_path: Path) -> None:
    cache.use_folder(tmp_path, 10_000)
    other = tmp_path / "somebody's.txt"
    other.write_bytes(bytes(50_000))
    keys = [cache.key(str(i)) for i in range(12)]
    for i, key in enumerate(keys):
        cache.put(key, bytes(900))
        os.utime(tmp_path / f"{key}.jaxstage", (i, i))
        assert forgotten(keys[0]) is not None, "looking at it keeps it young"
    assert sum(path.stat().st_size for path in tmp_path.glob("*.jaxstage")) <= 10_000
    assert [forgotten(key) is not None for key in keys] == [True, False, False, *[True] * 9]
    cache.put(cache.key("large"), bytes(20_000))
    assert forgotten(cache.key("large")) is None
    assert other.exists()


def test_what_a_killed_kernel_did_not_finish_goes(tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    old, young = tmp_path / f"{trusted_folder.UNFINISHED}old", tmp_path / f"{trusted_folder.UNFINISHED}young"
    for path in (old, young):
        path.write_bytes(b"x")
    os.utime(old, (1, 1))
    cache.put(cache.key("x"), b"data")
    assert not old.exists() and young.exists()


SEVERAL = textwrap.dedent("""
    import sys
    from pathlib import Path
    from jaxstage_ext.store.disk import Disk
    disk = Disk(Path(sys.argv[1]), 60_000)
    for i in range(300):
        key = f"{i % 20:064x}"
        found = disk.get(key)
        assert found is None or found == bytes([i % 20]) * 5000
        disk.put(key, bytes([i % 20]) * 5000)
""")


def test_several_kernels_share_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SEVERAL, str(tmp_path)]
    kernels = [subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE) for _ in range(4)]
    assert [(kernel.wait(), kernel.communicate()[1]) for kernel in kernels] == [(0, b"")] * 4
    assert all(Disk(tmp_path).get(path.stem) is not None for path in tmp_path.glob("*.jaxstage"))
    assert not list(tmp_path.glob(f"{trusted_folder.UNFINISHED}*"))
    assert sum(path.stat().st_size for path in tmp_path.glob("*.jaxstage")) <= 60_000


def whole(head: dict[str, Any], parts: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    return head, parts


def test_a_head_and_its_parts_come_back() -> None:
    key = cache.key("x")
    cache.store(key, {"seconds": 1.5, "notes": ["ü"]}, b"text", b"", bytes(range(256)))
    assert cache.load(key, whole) == ({"seconds": 1.5, "notes": ["ü"]}, [b"text", b"", bytes(range(256))])
    cache.store(key, {})
    assert cache.load(key, whole) == ({}, [])


def packed(fields: Any, *parts: bytes) -> bytes:
    """An entry with this JSON, whatever it is."""
    raw = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return len(raw).to_bytes(8, "little") + raw + b"".join(parts)


def fields(**other: Any) -> dict[str, Any]:
    return {"key": cache.key("x"), "head": {}, "sizes": [3]} | other


NOT_WRITTEN = {
    "nothing": lambda: b"",
    "junk": lambda: b"junk",
    "a huge head": lambda: b"\xff" * 20,
    "a list": lambda: packed([]),
    "the form of earlier versions": lambda: packed([{}, [3]], b"abc"),
    "another key's": lambda: packed(fields(key=cache.key("y")), b"abc"),
    "no key": lambda: packed({"head": {}, "sizes": [3]}, b"abc"),
    "a head that is a list": lambda: packed(fields(head=[]), b"abc"),
    "one field more": lambda: packed(fields(more=1), b"abc"),
    "sizes that are not a list": lambda: packed(fields(sizes={"0": 3}), b"abc"),
    "a negative size": lambda: packed(fields(sizes=[5, -2]), b"abc"),
    "a size of true": lambda: packed(fields(sizes=[True, 2]), b"abc"),
    "a size of 3.0": lambda: packed(fields(sizes=[3.0]), b"abc"),
    "a huge size": lambda: packed(fields(sizes=[3, 1 << 70]), b"abc"),
    "a part too short": lambda: packed(fields(), b"ab"),
    "a part too long": lambda: packed(fields(), b"abcd"),
    "bytes behind no part": lambda: packed(fields(sizes=[]), b"abc"),
    "not a number": lambda: packed(fields(head={"seconds": float("nan")}), b"abc"),
    "infinity": lambda: packed(fields(head={"seconds": float("inf")}), b"abc"),
    "lists in lists": lambda: packed(b"[" * 200_000),
    "a number of 10,000 digits": lambda: packed(b'{"key": ' + b"1" * 10_000),
}


@pytest.mark.parametrize("what", NOT_WRITTEN)
def test_what_store_did_not_write_is_a_miss_and_is_removed(what: str, tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    cache.put(cache.key("x"), NOT_WRITTEN[what]())
    for _ in range(2):
        assert cache.load(cache.key("x"), whole) is None
        cache.clear()
    assert not list(tmp_path.iterdir()), "with a right checksum, and removed all the same"
    assert cache.trouble() is None


def test_an_entry_that_its_reader_does_not_know_is_a_miss_and_is_removed(tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    cache.store(cache.key("x"), {"names": ["a"]}, b"abc")
    assert cache.load(cache.key("x"), lambda head, parts: head["seconds"]) is None
    assert cache.get(cache.key("x")) is None and not list(tmp_path.iterdir())


def test_what_is_inflated_is_bounded() -> None:
    bomb = zlib.compress(bytes(20_000_000))
    assert entry.inflated(zlib.compress(b"data")) == b"data"
    for packed_part in (bomb, zlib.compress(b"data")[:-1], zlib.compress(b"data") + b"x", b"junk", b""):
        with pytest.raises(ValueError, match=r"inflate|deflated"):
            entry.inflated(packed_part, 1_000_000)


def test_a_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    cache.use_folder(tmp_path / "made" / "anew")
    cache.put(cache.key("x"), b"data")
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "made", tmp_path / "made" / "anew")]
    assert modes == [0o700, 0o700] and entry_file(tmp_path / "made" / "anew").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o703])
def test_a_folder_that_others_may_write_to_is_refused_with_the_reason(mode: int, tmp_path: Path) -> None:
    key, folder = cache.key("x"), tmp_path / "shared"
    cache.use_folder(folder)
    cache.put(key, b"data")
    folder.chmod(mode)
    before = entry_file(folder).stat().st_mtime_ns
    assert forgotten(key) is None, "somebody else may have written it"
    cache.put(cache.key("y"), b"data")
    cache.remove(key)
    assert [path.stat().st_mtime_ns for path in folder.iterdir()] == [before], "nothing written, removed or touched"
    refused = cache.trouble() or ""
    assert f"{folder} is not used (others may write to it, its mode is d" in refused and "chmod go-w" in refused
    folder.chmod(0o700)
    assert forgotten(key) == b"data"


def test_a_folder_where_others_can_only_add_gives_this_user_s_own_files(tmp_path: Path) -> None:
    """As /tmp, whose files only their owners replace."""
    folder, key = tmp_path / "sticky", cache.key("x")
    folder.mkdir()
    folder.chmod(0o1777)
    cache.use_folder(folder)
    cache.put(key, b"data")
    assert forgotten(key) == b"data"
    entry_file(folder).chmod(0o666)
    assert forgotten(key) is None, "anybody may have written into it"
    assert cache.trouble() is None


def test_another_user_s_folder_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, folder = cache.key("x"), tmp_path / "cache"
    cache.use_folder(folder)
    cache.put(key, b"data")
    foreign(monkeypatch, folder)
    assert forgotten(key) is None
    note = cache.trouble() or ""
    assert f"{folder} is not used (it belongs to user 4711, and this process runs as user " in note


def test_a_parent_that_became_a_link_to_another_s_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, theirs = cache.key("x"), tmp_path / "theirs" / "cache"
    cache.use_folder(tmp_path / "ours" / "cache")
    cache.put(key, b"data")
    theirs.mkdir(parents=True)
    (theirs / f"{key}.jaxstage").write_bytes(entry_file(tmp_path / "ours" / "cache").read_bytes())
    (tmp_path / "ours").rename(tmp_path / "away")
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    foreign(monkeypatch, theirs)
    assert forgotten(key) is None and "belongs to user 4711" in (cache.trouble() or "")


def test_another_user_s_file_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = cache.key("x")
    cache.use_folder(tmp_path)
    cache.put(key, b"data")
    foreign(monkeypatch, entry_file(tmp_path))
    assert forgotten(key) is None


def foreign(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Make a file or folder another user's, as far as `fstat` tells."""
    real, inode = os.fstat, path.stat().st_ino

    def fstat(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        fields = list(status)
        fields[stat.ST_UID] = 4711
        return os.stat_result(fields) if status.st_ino == inode else status

    monkeypatch.setattr(os, "fstat", fstat)


def test_settings_act(tmp_path: Path) -> None:
    settings = JAXStage()
    settings.cache_dir = str(tmp_path)
    cache.put(cache.key("x"), b"data")
    assert forgotten(cache.key("x")) == b"data"
    settings.cache = False
    assert cache.get(cache.key("x")) is None
    settings.cache = True
    assert cache.get(cache.key("x")) == b"data"
    settings.cache_dir = ""
    assert forgotten(cache.key("x")) is None


def test_the_environment_names_the_folder(tmp_path: Path) -> None:
    code = "from jaxstage_ext.store import cache; cache.put(cache.key('x'), b'data')"
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {cache.FOLDER: str(tmp_path)},
    )
    cache.use_folder(tmp_path)
    assert cache.get(cache.key("x")) == b"data"

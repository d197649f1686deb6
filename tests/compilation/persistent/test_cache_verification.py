"""Damaged entries, against the bytes that were changed; flags that change in a running kernel."""

from __future__ import annotations

import os
import tracemalloc
import warnings
import zlib
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from cache_folder import CacheFolder

from jaxstage_ext.compilation.persistent import (
    cache_entries,
    damaged_entries,
    entry_check,
    flag_watch,
    process_tally,
    record_store,
)
from jaxstage_ext.compilation.persistent.cache_entries import KeysSeen
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.flag_watch import PersistentCacheWarning
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.persistent_cache import ExecutableDigest
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.kernel_settings import DamagedPolicy

X = np.ones((4, 4), np.float32)


def square(x: Any) -> Any:
    return x @ x


def cube(x: Any) -> Any:
    return x @ x @ x


def flip(file: Path, at: float = 0.5) -> None:
    """One bit of the file, at the same time of writing as before."""
    status, data = file.stat(), bytearray(file.read_bytes())
    data[int(len(data) * at)] ^= 4
    file.write_bytes(data)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def run_twice(folder: CacheFolder) -> None:
    for _ in range(2):
        folder.compile(square, X)


@pytest.mark.filterwarnings("ignore:Error reading")
def test_a_damaged_entry_is_reported_once_and_left_there(folder: CacheFolder) -> None:
    file = folder.file(folder.compile(square, X).key)
    file.write_bytes(b"junk" + file.read_bytes())
    with pytest.warns(PersistentCacheWarning, match="set_aside") as warned:
        run_twice(folder)
    [said] = [each for each in warned if each.category is PersistentCacheWarning]
    assert file.name in str(said.message)
    assert "\n" not in str(said.message)
    assert said.filename == __file__ or "cache_folder" in said.filename
    assert file.exists()


def test_a_damaged_entry_is_set_aside_and_written_anew(folder: CacheFolder) -> None:
    kernel_settings.change(damaged_entries=DamagedPolicy.SET_ASIDE)
    key = folder.compile(square, X).key
    flip(folder.file(key))
    damaged = folder.file(key).read_bytes()
    with pytest.warns(PersistentCacheWarning, match="set aside"):
        made = folder.compile(square, X)
    assert made.outcome is CacheOutcome.WRITTEN
    assert (folder.path / f"{key}-cache.damaged").read_bytes() == damaged
    assert folder.file(key).read_bytes() != damaged
    assert persistent_cache.digest(folder.file(key).read_bytes()).size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert folder.compile(square, X).outcome is CacheOutcome.HIT
    assert process_tally.tally().set_aside == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("at", [0.1, 0.3, 0.6, 0.9])
def test_every_flip_is_found(folder: CacheFolder, at: float) -> None:
    key = folder.compile(square, X).key
    record = record_store.records_of(str(folder.path)).get(key)
    assert record
    assert entry_check.check(str(folder.file(key)), record.seal) is EntryCheck.VERIFIED
    flip(folder.file(key), at)
    entry_check._kept._checks.clear()  # the same time of writing, as a failing disk leaves it
    assert entry_check.check(str(folder.file(key)), record.seal) is EntryCheck.DAMAGED


def test_zstandard_has_no_checksum_so_that_a_changed_entry_is_a_suspect(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = folder.compile(square, X).key
    record = record_store.records_of(str(folder.path)).get(key)
    assert record
    size = folder.file(key).stat().st_size
    folder.file(key).write_bytes(b"\x28\xb5\x2f\xfd".ljust(size, b"\0"))
    monkeypatch.setattr(
        persistent_cache, "digest", lambda data, name="": ExecutableDigest("another executable", 18, is_named=True)
    )
    monkeypatch.setattr(persistent_cache, "can_unpack", lambda data: True)
    check = entry_check.check(str(folder.file(key)), record.seal)
    assert check is EntryCheck.CHANGED
    assert check.is_suspect
    folder.file(key).write_bytes(b"\x28\xb5\x2f\xfd".ljust(size + 5, b"\0"))  # compiled anew without JAXStage
    assert entry_check.check(str(folder.file(key)), record.seal) is EntryCheck.NOT_VERIFIED


def test_an_entry_that_another_process_compiled_anew_is_not_blamed(folder: CacheFolder) -> None:
    """Its compile time differs, which is in the file; its executable is the same."""
    from jax._src import compilation_cache

    key = folder.compile(square, X).key
    whole = compilation_cache.decompress_executable(folder.file(key).read_bytes())
    executable, _ = compilation_cache.extract_executable_and_time(whole)
    other = compilation_cache.compress_executable(compilation_cache.combine_executable_and_time(executable, 7))
    folder.file(key).write_bytes(other)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = folder.compile(square, X)
    assert (made.outcome, made.check) == (CacheOutcome.HIT, "verified")


def test_an_entry_with_the_bytes_of_another_is_a_suspect(folder: CacheFolder) -> None:
    """Whoever exchanged them: its own program is not in it, or the file is that of another entry."""
    first, second = folder.compile(square, X).key, folder.compile(cube, X).key
    files = [folder.file(key) for key in (first, second)]
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, reversed(contents), strict=True):
        file.write_bytes(content)
    record = record_store.records_of(str(folder.path)).get(first)
    assert record
    assert entry_check.check(str(files[0]), record.seal) is EntryCheck.CHANGED
    entries = {entry.key: entry for entry in cache_entries.read(str(folder.path), KeysSeen(), verify=True).entries}
    assert all(entries[key].is_damaged for key in (first, second))


def test_an_entry_is_checked_in_pieces(folder: CacheFolder) -> None:
    """300 MB of zeros in a file of 300 kB, of which no more than some megabytes are held at once."""
    key = folder.compile(square, X).key
    folder.file(key).write_bytes(zlib.compress(bytes(300_000_000), 9))
    tracemalloc.start()
    assert entry_check.check(str(folder.file(key)), None) is EntryCheck.NOT_VERIFIED
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000


def test_a_file_is_hashed_once_for_each_version(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    key = folder.compile(square, X).key
    read = []
    whole = entry_check._checked
    monkeypatch.setattr(entry_check, "_checked", lambda *args: read.append(args) or whole(*args))
    for _ in range(3):
        assert folder.compile(square, X).key == key
    assert len(read) == 1


@pytest.mark.filterwarnings("ignore:Error reading")
def test_a_folder_where_entries_cannot_be_renamed_keeps_them(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_settings.change(damaged_entries=DamagedPolicy.SET_ASIDE)
    key = folder.compile(square, X).key
    folder.file(key).write_bytes(b"junk")

    def refuse(*args: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(damaged_entries.os, "replace", refuse)
    with pytest.warns(PersistentCacheWarning, match="could not be set aside: Permission denied"):
        made = folder.compile(square, X)
    assert made.outcome is CacheOutcome.UNREADABLE


@pytest.mark.parametrize("junk", [b"", b"JAXStage record 1\n", b"\x00" * 500], ids=["empty", "cut", "zeros"])
def test_junk_among_the_records_is_no_record(folder: CacheFolder, junk: bytes) -> None:
    key = folder.compile(square, X).key
    store = record_store.records_of(str(folder.path))
    assert store.get(key)
    (store.path / f"{key}.record").write_bytes(junk)
    assert store.get(key) is None
    made = folder.compile(square, X)
    assert (made.outcome, made.check) == (CacheOutcome.HIT, "not verified")


def test_a_record_of_another_folder_is_no_record(folder: CacheFolder, tmp_path: Path) -> None:
    key = folder.compile(square, X).key
    mine = record_store.records_of(str(folder.path))
    other = record_store.records_of(str(tmp_path / "other"))
    other.path.mkdir(parents=True)
    (other.path / f"{key}.record").write_bytes((mine.path / f"{key}.record").read_bytes())
    assert mine.get(key)
    assert other.get(key) is None


def test_nothing_of_ours_is_in_the_folder_of_jax(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.compile(square, X)
    names = [file.name for file in folder.path.iterdir()]
    assert names and all(name.endswith("-cache") for name in names)


def test_records_that_cannot_be_kept_do_not_stop_a_compile(
    folder: CacheFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JAXSTAGE_RECORDS_DIR", str(tmp_path / "file"))
    made = folder.compile(square, X)
    assert made.outcome is CacheOutcome.WRITTEN
    assert made.reason == "not recorded: Not a directory"


def test_the_number_of_records_is_bounded(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_store, "MOST_RECORDS", 3)
    monkeypatch.setattr(record_store, "_WRITES_BETWEEN_CHECKS", 1)
    made = [folder.compile(lambda x, n=n: x * n, X).key for n in range(6)]
    kept = [file.name for file in record_store.records_of(str(folder.path)).listed()]
    assert len(kept) == 3
    assert made[-1] in kept


def test_flags_that_change_in_a_running_kernel_are_named_once(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_min_max=false")
    monkeypatch.setattr(flag_watch, "_flags", flag_watch._Flags())
    before = folder.compile(square, X)
    assert not before.has_other_flags
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_min_max=true")
    with pytest.warns(PersistentCacheWarning) as warned:
        run_twice(folder)
    after = folder.facts[-1]
    assert len(warned) == 1
    assert "--xla_cpu_enable_fast_min_max was false, is now true" in str(warned[0].message)
    assert after.has_other_flags
    assert after.key != before.key


def test_a_flag_that_no_key_holds_is_not_warned_of(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flag_watch, "_flags", flag_watch._Flags())
    folder.compile(square, X)
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert folder.compile(square, X).outcome is CacheOutcome.HIT


def test_warnings_that_are_errors_do_not_reach_the_compile(folder: CacheFolder) -> None:
    key = folder.compile(square, X).key
    kernel_settings.change(damaged_entries=DamagedPolicy.SET_ASIDE)
    flip(folder.file(key))
    jax.clear_caches()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (np.asarray(jax.jit(square)(X)) == X @ X).all()

"""What is said of the folder and its entries, against JAX's own behaviour and the files that are there."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from cache_folder import CacheFolder
from jax._src import compilation_cache

import jaxstage_ext
from jaxstage_ext.compilation.persistent import cache_wording, folder_state, outcomes
from jaxstage_ext.compilation.persistent.cache_report import CacheReport, cache_report
from jaxstage_ext.compilation.persistent.expected_outcome import outcome_of
from jaxstage_ext.compilation.persistent.folder_state import FolderUse
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.report.table import Table
from jaxstage_ext.views.compiled import compile_cache_forms

X = np.ones((4, 4), np.float32)
ZSTD = importlib.util.find_spec("compression") is not None
"""Whether Python has zstd (3.14), with which JAX compresses then."""
OTHER, OTHER_NAME = (zlib.compress(bytes(900)), "zlib") if ZSTD else (b"\x28\xb5\x2f\xfd rest", "zstandard")
"""An entry as this environment's JAX does not compress, and its compression."""


def square(x: Any) -> Any:
    return x @ x


def said(report: CacheReport) -> str:
    return " ".join(compile_cache_forms.text(report, 160).split())


def quietly(folder: CacheFolder) -> None:
    """A compile that JAX warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder.compile(square, X)


def test_no_folder_is_set(folder: CacheFolder) -> None:
    compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", None)
    folder.compile(square, X)
    report = cache_report()
    assert report.state.use is FolderUse.NOT_SET
    assert report.state.folder == "" and cache_wording.headline(report) in said(report)
    assert report.tally.hit_rate is None


def test_a_folder_that_no_compile_has_opened(folder: CacheFolder) -> None:
    assert folder_state.folder_state().use is FolderUse.NOT_OPENED_YET
    folder.compile(square, X)
    state = folder_state.folder_state()
    assert (state.use, state.folder) == (FolderUse.IN_USE, str(folder.path))
    assert len(folder.entries()) == len(cache_report().entries)


def test_a_folder_that_is_set_later_is_ignored(folder: CacheFolder, tmp_path: Path) -> None:
    folder.compile(square, X)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "later"))
    folder.compile(lambda x: x + 1, X)
    assert len(folder.entries()) == 2  # JAX went on writing here
    report = cache_report()
    assert report.state.use is FolderUse.EARLIER_FOLDER
    assert report.state.folder == str(folder.path)
    assert report.state.set_folder == str(tmp_path / "later")
    assert all(warning in said(report) for warning in cache_wording.warnings(report))
    assert "/later " in said(report) and "reset_cache()" in said(report)
    compilation_cache.reset_cache()
    folder.compile(square, X)
    assert len(list((tmp_path / "later").iterdir())) == 1  # what the advice says
    assert folder_state.folder_state().use is FolderUse.IN_USE


def test_disabled_at_the_first_compile_and_enabled_later(folder: CacheFolder) -> None:
    compilation_cache.reset_cache()
    jax.config.update("jax_enable_compilation_cache", False)
    jax.clear_caches()
    jax.jit(square)(X)
    assert folder_state.folder_state().use is FolderUse.DISABLED
    jax.config.update("jax_enable_compilation_cache", True)
    jax.clear_caches()
    jax.jit(square)(X)
    assert folder.entries() == []
    assert folder_state.folder_state().use is FolderUse.DISABLED_AT_FIRST
    compilation_cache.reset_cache()
    folder.compile(square, X)
    assert len(folder.entries()) == 1


def test_a_limit_without_filelock(folder: CacheFolder) -> None:
    pytest.importorskip("jax")
    try:
        import filelock  # noqa: F401

        pytest.skip("filelock is installed")
    except ImportError:
        pass
    jax.config.update("jax_compilation_cache_max_size", 10**6)
    folder.use()
    quietly(folder)
    assert folder.entries() == []
    report = cache_report()
    assert report.state.use is FolderUse.NEEDS_FILELOCK
    assert "pip install filelock" in said(report)


def test_a_folder_that_is_a_file(folder: CacheFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder.use(tmp_path / "file")
    quietly(folder)
    assert cache_report().state.use is FolderUse.IS_A_FILE


def test_a_folder_that_cannot_be_made(folder: CacheFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder.use(tmp_path / "file" / "below")
    quietly(folder)
    assert cache_report().state.use is FolderUse.NOT_OPENED


def test_a_folder_that_is_gone(folder: CacheFolder) -> None:
    folder.compile(square, X)
    shutil.rmtree(folder.path)
    report = cache_report()
    assert not report.entries and not report.state.is_there
    [warning] = cache_wording.warnings(report)
    assert warning in said(report)


def test_a_folder_whose_file_system_is_full(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.compile(square, X)
    assert not cache_wording.warnings(cache_report())
    monkeypatch.setattr(folder_state.shutil, "disk_usage", lambda path: SimpleNamespace(free=12_000))
    [warning] = cache_wording.warnings(cache_report())
    assert "12 kB" in warning and warning in said(cache_report())


def test_a_folder_that_is_read_only(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.compile(square, X)
    monkeypatch.setattr(folder_state.os, "access", lambda path, mode: False)
    report = cache_report()
    assert report.state.is_writable is False and cache_wording.warnings(report)[0] in said(report)


def test_entries_are_the_files(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.compile(lambda x: x + 1, X)
    hit = folder.compile(square, X)
    report = cache_report()
    assert sorted(entry.key for entry in report.entries) == folder.entries()
    assert report.bytes == sum(file.stat().st_size for file in folder.path.iterdir())
    assert [entry.key for entry in report.entries if entry.was_hit_here] == [hit.key]
    assert report.tally.compiles == {CacheOutcome.HIT: 1, CacheOutcome.WRITTEN: 2}
    assert [entry.last_hit is None for entry in report.entries].count(True) == 1
    assert all(sentence in said(report) for sentence in cache_wording.sentences(report)) and "33%" in said(report)


def test_what_was_not_written_is_counted_by_its_threshold(folder: CacheFolder) -> None:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 60.0)
    folder.compile(square, X)
    folder.compile(lambda x: x + 1, X)
    report = cache_report()
    assert report.tally.compiles == {CacheOutcome.FASTER_THAN_LIMIT: 2}
    assert report.limits.seconds == 60 and "60 s" in said(report)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_torn_and_damaged_entries(folder: CacheFolder) -> None:
    torn, damaged, whole = (folder.compile(lambda x, n=n: x * n, X).key for n in range(3))
    folder.file(torn).write_bytes(b"")
    data = bytearray(folder.file(damaged).read_bytes())
    data[len(data) // 2] ^= 1
    folder.file(damaged).write_bytes(data)
    assert {entry.key for entry in cache_report().damaged} == {torn}
    report = cache_report(verify=True)
    assert {entry.key for entry in report.damaged} == {torn, damaged}
    states = dict(zip(report.table()["key"], report.table()["state"], strict=True))
    assert {torn: states[torn], whole: states[whole]} == {torn: "torn", whole: "verified"}
    assert states[damaged] in (["changed", "damaged"] if ZSTD else ["damaged"]), "Python's zstd writes no checksum"
    after = cache_report(set_aside=True)
    assert folder.entries() == [whole]
    assert sorted(after.set_aside) == sorted(f"{key}-cache.damaged" for key in (torn, damaged))
    assert after.files.aside == 2


def test_entries_of_other_versions(folder: CacheFolder) -> None:
    key = folder.compile(square, X).key
    other = f"jit_old-{'0' * 64}"
    folder.file(other).write_bytes(OTHER)
    foreign = {entry.key: entry.other_version for entry in cache_report().entries}
    assert foreign == {key: "", other: OTHER_NAME}
    assert f"({OTHER_NAME})" in said(cache_report())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_entry_of_a_python_that_compresses_otherwise_is_not_damaged(folder: CacheFolder) -> None:
    """JAX's key does not say that Python 3.14 has another compression: it tries to read the entry, and fails."""
    key = folder.compile(square, X).key
    whole = compilation_cache.decompress_executable(folder.file(key).read_bytes())
    folder.file(key).write_bytes(zlib.compress(whole) if ZSTD else OTHER)
    expected = outcome_of(jax.jit(square).lower(X))
    assert (expected.is_hit, expected.reason) == (None, outcomes.packed_otherwise(OTHER_NAME))
    again = folder.compile(square, X)
    assert (again.key, again.outcome, again.reason) == (key, CacheOutcome.UNREADABLE, expected.reason)
    report = cache_report(set_aside=True)
    [entry] = report.entries
    assert (entry.other_version, entry.is_damaged, report.set_aside) == (OTHER_NAME, False, ())


def test_files_that_are_no_entries_are_not_counted(folder: CacheFolder) -> None:
    key = folder.compile(square, X).key
    (folder.path / "notes.txt").write_text("mine")
    (folder.path / "sub").mkdir()
    folder.file("junk").write_text("junk")
    report = cache_report(verify=True)
    assert {entry.key: entry.is_torn for entry in report.entries} == {key: False, "junk": True}


def test_unknowns_have_their_reasons_and_the_table_survives_json(folder: CacheFolder, tmp_path: Path) -> None:
    folder.compile(square, X)
    shutil.rmtree(tmp_path / "records")
    table = cache_report().table()
    assert table.reasons[0, "compile"] == "JAXStage was not loaded when it was written"
    assert table.reasons[0, "last_hit"] == "not read while JAXStage was loaded"
    assert Table.from_json(table.to_json()) == table
    report = cache_report()
    assert [entry.record for entry in report.entries] == [None]
    assert all(sentence in said(report) for sentence in cache_wording.sentences(report))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)


def test_a_name_of_an_entry_is_no_markup(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.file("<script>alert(1)<|script>-" + "0" * 64).write_bytes(b"\x78rest")
    report = cache_report()
    tags = _Tags()
    tags.feed(compile_cache_forms.html(report))
    assert "script" not in tags.seen
    assert "\x1b" not in compile_cache_forms.text(report)


def test_five_thousand_entries(folder: CacheFolder) -> None:
    folder.compile(square, X)
    for n in range(5000):
        folder.file(f"jit_f-{n:064x}").write_bytes(b"\x78junk")
    report = cache_report()
    assert len(report.entries) == 5001
    assert len(compile_cache_forms.html(report)) < 60_000
    assert "and 4,986 more entries" in said(report)


def test_the_public_function(folder: CacheFolder) -> None:
    folder.compile(square, X)
    report = jaxstage_ext.compile_cache()
    assert " ".join(repr(report).split()).startswith(cache_wording.headline(report))
    assert len(report.table()) == 1
    with pytest.raises(TypeError):
        jaxstage_ext.compile_cache(True)  # type: ignore[misc]

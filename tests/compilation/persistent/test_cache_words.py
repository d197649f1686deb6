"""With every sentence replaced, the persistent cache is judged the same: folder, entries, outcomes, causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from cache_folder import CacheFolder
from wordings import OTHER, silence

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.persistent import cache_wording, process_tally
from jaxstage_ext.compilation.persistent.cache_report import cache_report
from jaxstage_ext.compilation.records.compile_log import LOG

X = np.ones((4, 4), np.float32)


def judged(folder: CacheFolder, path: Path) -> list[Any]:
    """An empty folder, one with an entry that is read, one with a damaged entry, and another folder that is set."""
    process_tally.forget()
    LOG.clear()
    folder.path = path
    folder.use()
    found = []
    for change in (_none, _compile_twice, _damage, _set_another):
        change(folder)
        report = cache_report(verify=True)
        misses = [(group.cause, group.values, len(group.records)) for group in report.misses().groups]
        entries = [(entry.module_name, entry.is_damaged, entry.was_hit_here) for entry in report.entries]
        found += [report.state.use, sorted(entries), dict(report.tally.compiles), misses, report.problem]
    return found


def _none(folder: CacheFolder) -> None:
    listening.start()


def _compile_twice(folder: CacheFolder) -> None:
    for factor in (1.0, 1.0, 2.0):
        jax.clear_caches()
        jax.jit(lambda x, factor=factor: x @ x * factor)(X)


def _damage(folder: CacheFolder) -> None:
    [read] = [entry.key for entry in cache_report().entries if entry.was_hit_here]
    folder.file(read).write_bytes(b"no entry")


def _set_another(folder: CacheFolder) -> None:
    jax.config.update("jax_compilation_cache_dir", str(folder.path / "later"))


def test_nothing_is_decided_by_words(folder: CacheFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.takes_facts = False
    with_words = judged(folder, tmp_path / "one")
    silence(monkeypatch.setattr)
    assert judged(folder, tmp_path / "two") == with_words
    assert cache_wording.headline(cache_report()) == OTHER
    assert any(with_words[8]) and with_words[11][0][1] != with_words[11][1][1]

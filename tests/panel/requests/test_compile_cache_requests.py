"""What the tab of the persistent cache is answered, and its still forms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from panel_requests import ask

from jaxstage_ext.compilation.persistent import cache_wording
from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry, FolderFiles
from jaxstage_ext.compilation.persistent.cache_report import CacheReport
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.folder_state import FolderState, FolderUse
from jaxstage_ext.compilation.persistent.process_tally import CacheTally
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private.persistent_cache import WriteLimits
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import compile_cache_requests
from jaxstage_ext.panel.showing import page
from jaxstage_ext.program.head.summary import summary
from jaxstage_ext.program.kinds.session_view import CompileCacheProgram
from jaxstage_ext.program.program import Program
from tests.helpers.wire_columns import columns


def entry(number: int, **given: Any) -> CacheEntry:
    fields: dict[str, Any] = {
        "key": f"jit_step-{number:064x}",
        "bytes": 1000 + number,
        "written": 1.7e9 - number,
        "last_hit": None,
        "was_hit_here": False,
        "record": None,
        "check": EntryCheck.VERIFIED,
        "is_torn": False,
        "other_version": "",
        "is_read_only": False,
        "lacks_time": True,
    }
    return CacheEntry(**(fields | given))


@pytest.fixture
def program() -> CompileCacheProgram:
    state = FolderState(FolderUse.IN_USE, "/cache", "/cache", True, True, None, False)
    files = FolderFiles((entry(1), entry(2, is_torn=True), entry(3, was_hit_here=True)))
    tally = CacheTally(Counter({CacheOutcome.HIT: 3, CacheOutcome.WRITTEN: 1}), read=0.5, saved=40.0)
    return CompileCacheProgram(CacheReport(state, files, WriteLimits(1.0, 0), tally, True))


def test_it_opens_by_itself(program: Program) -> None:
    head = summary(program)
    assert (head["views"], head["open"], head["documents"]) == (["compile_cache"], "compile_cache", [])


def test_the_answer(program: CompileCacheProgram) -> None:
    answer, buffers = ask(program, "compile_cache")
    assert len(columns(answer, buffers)["key"]) == 3
    report = program.report
    assert answer["headline"] == cache_wording.headline(report) and "/cache" in answer["headline"]
    assert answer["warnings"] == cache_wording.warnings(report) and "jit_step-" in answer["warnings"][0]
    assert answer["sentences"] == cache_wording.sentences(report)
    assert any(all(f in said for f in ("75%", "500 ms", "40 s")) for said in answer["sentences"])
    assert answer["strings"]["state"] == ["verified", "torn"]


def test_the_oldest_entries_are_left_out(program: Program) -> None:
    answer, buffers = compile_cache_requests.listed([program], {"call": 0}, 2)
    assert (len(columns(answer, buffers)["key"]), answer["left_out"]) == (2, 1)


def test_another_call_is_refused() -> None:
    from jaxstage_ext import inspect

    with pytest.raises(BadRequest, match="not a report of the persistent cache"):
        ask(inspect(abs, 1.0).program, "compile_cache")


def test_an_offline_page_has_it(program: Program, tmp_path: Any) -> None:
    page.write([program], tmp_path / "cache.html")
    assert "compile_cache" in (tmp_path / "cache.html").read_text()

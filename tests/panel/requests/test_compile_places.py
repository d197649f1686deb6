"""Where the line of a compile is open: the page marks it in the cell, and nothing that is saved names a path."""

from __future__ import annotations

import zlib

import pytest
from compile_records import compile_record
from panel_requests import ask

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram

TEXT = "def f(x):\n    return x\nf(1)\n"
FILE = "/tmp/ipykernel_7/3141592653.py"


def of(place: Place | None) -> CompileHistoryProgram:
    record = compile_record(number=1, user_line=place, call_site=place)
    return CompileHistoryProgram(History((record,), (record,)))


def test_the_line_of_a_record_is_told_with_the_cell_that_ran_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run_cells.record(FILE, "cell-id", TEXT)
    monkeypatch.setattr("jaxstage_ext.ir.sources.source.cell_of", {FILE: "In [4]"}.get)
    monkeypatch.setattr("linecache.getlines", lambda file, *_: TEXT.splitlines(keepends=True))
    result, _ = ask(of(Place(FILE, 3, "<module>", 4)), "compile_place", number=1)
    assert (result["line"], result["file"]["cells"]) == (3, ["cell-id"])
    assert result["file"]["crc"] == zlib.crc32(TEXT.encode()), "by which the page knows that the cell is as it ran"


def test_a_record_without_a_line_has_no_place() -> None:
    assert ask(of(None), "compile_place", number=1)[0]["file"] is None


def test_a_place_is_not_saved() -> None:
    program, kept = of(Place(FILE, 3, "<module>", 4)), KeptReplies()
    result, buffers = ask(program, "compile_place", number=1)
    assert not kept.keep(program, "compile_place", {"number": 1}, result, buffers)

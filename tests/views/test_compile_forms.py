"""A history as text and as HTML: widths, hostile names, and what is cut."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.records.compile_log import CompileLog
from jaxstage_ext.compilation.records.compile_record import (
    Asker,
    CacheOutcome,
    CompileRecord,
    PersistentFacts,
    Place,
    StageName,
    StageRun,
)
from jaxstage_ext.report.text.terminal import width
from jaxstage_ext.views.compiled import compile_forms
from tests.helpers.compile_records import compile_record, function_identity, signature, stage_runs

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e'\"&"


def history_of(*records: CompileRecord) -> History:
    log = CompileLog()
    for record in records:
        log.add(record)
    return history(log)


def several() -> History:
    import numpy as np

    return history_of(
        compile_record(),
        compile_record(signature=signature(np.zeros(8, np.int32)), persistent=PersistentFacts(CacheOutcome.HIT, "k")),
        compile_record(failed="ValueError: no", signature=signature(np.zeros((3, 4, 5, 6), np.float16), n=1)),
        compile_record(asker=Asker.JAXSTAGE, name="f" * 90, function=function_identity(qualname="f" * 90)),
    )


class Tags(HTMLParser):
    """The tags of a page, balanced or not, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.seen: set[str] = set()
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 160, 500])
def test_no_line_is_wider_than_the_terminal_but_code(columns: int) -> None:
    for line in compile_forms.text(several(), columns, notes=("note " * 60,)).splitlines():
        if not line.startswith("        "):
            assert width(line) <= max(columns, compile_forms.NARROWEST)


def test_each_part_of_a_row_is_in_both_forms() -> None:
    text, page = compile_forms.text(several()), Tags(compile_forms.html(several(), notes=("a note",)))
    for said in ("In [3]:2", "step", "i32[8]", "x is int32, was float32", "failed: ValueError: no", "[JAXStage] f"):
        assert said in text
        assert said in page.text
    assert "trace 250 ms, lower 500 ms, compile 2 s; persistent cache hit" in text
    assert "persistent cache hit" in page.text
    assert "a note" in page.text
    assert "JAXStage's own work: 1 compile, 2.75 s" in text


def test_names_are_data_never_markup_and_leave_the_terminal_alone() -> None:
    record = compile_record(
        name=HOSTILE, function=function_identity(qualname=HOSTILE), user_line=Place(HOSTILE, 2, HOSTILE), failed=HOSTILE
    )
    made = history_of(record)
    page = Tags(compile_forms.html(made, title=HOSTILE, notes=(HOSTILE,)))
    assert page.seen <= {"div", "p", "b", "br", "span", "table", "thead", "tbody", "tr", "th", "td", "code", "pre"}
    assert page.attributes == {"style"}
    assert "\x1b" not in compile_forms.text(made)
    assert "\u202e" not in compile_forms.text(made)


def test_the_html_has_no_script_class_or_background_and_colours_for_both_themes() -> None:
    page = compile_forms.html(several())
    assert not re.search(r"<script|class=|on\w+=|url\(", page)
    assert set(re.findall(r"color:(#\w+)", page)) <= {"#71767d", "#a36837", "#cf4545"}


def test_code_is_in_a_typeface_of_code_whatever_a_host_gives_pre() -> None:
    """The style sheet of nbconvert's pages gives a `pre` in an output the typeface of text."""
    page = compile_forms.html(several())
    assert page.count("<pre") == len(re.findall("<pre [^>]*font-family:monospace", page)) > 0


def test_a_stage_that_has_not_ended_makes_the_total_a_lower_bound() -> None:
    running = compile_record(stages=[*stage_runs(lower=0, compiled=0), StageRun(StageName.LOWER, 0.0)])
    text = compile_forms.text(history_of(compile_record(), running))
    assert "2 records, at least 3 s (1 record without an end)" in text
    assert "lower unknown" in text


def test_the_newest_rows_are_shown_and_the_others_counted() -> None:
    made = history_of(*(compile_record(cell=n) for n in range(500)))
    assert "460 earlier rows not shown" in compile_forms.text(made)
    assert "440 earlier rows not shown" in compile_forms.html(made)
    long = "x" * 100_000
    wide = history_of(*(compile_record(failed=f"ValueError: {long}") for _ in range(80)))
    assert len(compile_forms.html(wide)) < 96_000


def test_nothing_is_said_in_one_line() -> None:
    assert compile_forms.text(history_of()) == compile_forms.EMPTY
    assert Tags(compile_forms.html(history_of(), title="In [3]")).text == f"In [3]: {compile_forms.EMPTY}"

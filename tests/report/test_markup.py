"""HTML of still forms: one module writes it, and what stands in it is data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import jaxstage_ext
from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.still_table import Face, Head, Span, StillTable

PACKAGE = Path(jaxstage_ext.__file__).parent
ELEMENT = re.compile(r"</(?:a|b|code|del|details|div|em|h\d|i|ins|li|p|pre|span|strong|table|tbody|td|th|thead|tr|ul)>")
NASTY = "<script>alert('\x1b[31m\"&')</script>\u202e"


def test_one_module_writes_html() -> None:
    """The titles of plotly's charts are in a language of their own, which looks like HTML."""
    files = (file for file in PACKAGE.rglob("*.py") if file.parent.name != "charts")
    found = [file.relative_to(PACKAGE).as_posix() for file in files if ELEMENT.search(file.read_text("utf-8"))]
    assert found == ["report/text/markup.py"]


@pytest.mark.parametrize("face", list(Face))
def test_a_cell_is_data_whatever_its_look(face: Face) -> None:
    span = Span(NASTY, "#71767d", face, hint=NASTY)
    html = markup.titled(StillTable((Head(NASTY, hint=NASTY),), (((span, span),),), NASTY))
    assert "<script" not in html and "\x1b" not in html and "\u202e" not in html
    assert html.count("&lt;script&gt;") == 6, "the title, a head and its hint, a cell twice and its hint"


def test_both_forms_hold_the_same() -> None:
    heads = (Head("op"), Head("bytes", is_figure=True))
    table = StillTable(heads, (("dot", "1.02 kB"), ("漢字", "4 B"), ("tanh", "8 B"))).first(2)
    assert still_table.lines(table) == ["op      bytes", "dot   1.02 kB", "漢字      4 B", "and 1 more row"]
    assert re.findall(r">([^<>]+)<", markup.table(table)) == [
        *("op", "bytes", "dot", "1.02 kB", "漢字", "4 B", "and 1 more row")
    ]


def test_a_table_that_is_too_wide_goes_on_below_with_its_first_column() -> None:
    table = StillTable(tuple(map(Head, ("target", "FLOPs", "bytes"))), (("cpu:1", "12345678901", "2"),))
    parts = [*table.folded(16, widest=8)]
    assert [part.titles for part in parts] == [("target", "FLOPs"), ("target", "bytes")]
    assert [part.rows for part in parts] == [(("cpu:1", "1234567…"),), (("cpu:1", "2"),)]
    assert [part.titles for part in table.folded(len("target  12345678  bytes"), 8)] == [table.titles]

"""Tables as a notebook shows them."""

from __future__ import annotations

import html.parser
import math
import re
from typing import Any

import jax.numpy as jnp

from jaxstage_ext import inspect
from jaxstage_ext.report.table import MOST_ROWS, Column, Table
from jaxstage_ext.report.text.table_forms import html_of


class Read(html.parser.HTMLParser):
    """The cells of all tables, with their alignment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.right: list[bool] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True
            self.right.append("text-align:right" in dict(attrs)["style"])

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


TABLE = Table(
    "parts",
    {"name": Column(["a<script>", "two\nlines"]), "bytes": Column([2048.0, math.nan], "B")},
    {(1, "bytes"): "it was\nnot counted"},
)


def test_cells_are_escaped_aligned_and_say_why_they_are_unknown() -> None:
    read = Read(TABLE._repr_html_())
    assert read.rows == [["name", "bytes"], ["a<script>", "2.05 kB"], ["two lines", "unknown (it was not counted)"]]
    assert read.right == [False, True] * 3
    assert "script" not in read.tags


def test_a_line_end_breaks_no_row_of_the_text() -> None:
    assert str(TABLE).splitlines() == ["name         bytes", "a<script>  2.05 kB", "two lines  unknown"]


def test_columns_that_are_unknown_for_one_long_reason_are_named_together() -> None:
    why = "the compiler gives no analysis of a program that it did not compile"
    unknown = {"FLOPs": Column([math.nan]), "bytes": Column([math.nan], "B")}
    text = Table("parts", unknown, {(0, "FLOPs"): why, (0, "bytes"): why})._repr_html_()
    assert f">unknown FLOPs and bytes: {why}</div>" in text


def test_a_long_table_says_how_much_is_left_out() -> None:
    long = Table("rows", {"n": Column(list(range(MOST_ROWS + 1234)))}, notes=("a note",))
    text = long._repr_html_()
    assert len(Read(text).rows) == MOST_ROWS + 1
    assert "and 1,234 more rows" in text and text.endswith("a note</div>")


def test_an_empty_table_is_a_sentence() -> None:
    assert "<table" not in html_of([Table("rows", {"n": Column([])})])
    assert "no rows" in html_of([Table("rows", {"n": Column([])})])


def test_what_an_inspection_gives_is_shown_with_the_cells_of_its_text() -> None:
    inspection = inspect(lambda w, x: jnp.tanh(x @ w).astype(jnp.bfloat16).sum(), jnp.ones((8, 4)), jnp.ones((2, 8)))
    for result in (inspection.cost, inspection.memory, inspection.dtypes, inspection.layouts, inspection.shardings):
        read, text = Read(result._repr_html_()), str(result)
        assert len(read.rows) > 1
        assert all(cell in text for row in read.rows for cell in row if "unknown" not in cell)


def test_passes_and_kernels_are_tables_too() -> None:
    inspection = inspect(lambda w, x: jnp.tanh(x @ w).sum(), jnp.ones((64, 64)), jnp.ones((8, 64)), stage="compile")
    passes, kernels = inspection.passes, inspection.kernels
    assert "passes" in passes._repr_html_().partition("<table")[0]
    read = Read(passes._repr_html_())
    assert [row[1] for row in read.rows[1:]] == [this.name for this in passes.changed]
    assert read.right[: len(read.rows[0])] == [
        True,
        False,
        False,
        True,
        any("+" in r[4] for r in read.rows),
        True,
        True,
    ]
    shown = Read(kernels._repr_html_())
    assert [row[0] for row in shown.rows] == ["kernel", *(row.name or "-" for row in kernels.rows)]
    sizes = {row.name: row.figures.code_bytes for row in kernels.rows}
    assert all(f"{sizes[row[0]]} B" == row[3] for row in shown.rows[1:] if row[0] != "-")
    assert "?" not in kernels._repr_html_()


def test_a_long_reason_stands_below_and_leaves_the_columns_in_sight() -> None:
    why = "not a kernel of this program, but a step that a library or the runtime does"
    table = Table("steps", {"bytes": Column([1.0, None, None], "B")}, {(1, "bytes"): why, (2, "bytes"): why})
    text = table._repr_html_()
    assert [row[0] for row in Read(text).rows] == ["bytes", "1 B", "unknown", "unknown"]
    assert text.count(f"unknown bytes: {why}") == 1
    many = Table("steps", {"n": Column([None] * 20)}, {(row, "n"): f"{why} {row}" for row in range(20)})
    assert many._repr_html_().count("unknown n: ") == 5
    assert "and 15 more reasons" in many._repr_html_()


def test_a_table_of_anything_is_bounded_and_inert() -> None:
    nasty = "<script>alert(1)</script>\r\nsecond\u2028line" + "x" * 100_000
    text = Table(nasty, {nasty: Column([nasty] * 10_000, doc=nasty)}, notes=(nasty,))._repr_html_()
    assert "<script" not in text
    assert len(text) < 200_000
    assert "and 9,970 more rows" in text
    assert len(Read(text).rows) == 31
    assert all("\n" not in cell for row in Read(text).rows for cell in row)


def test_whole_floats_are_written_as_counts() -> None:
    table = Table("figures", {"n": Column([142_848.0, 0.5, 2e12, 139_700])})
    assert [row[0] for row in Read(table._repr_html_()).rows] == ["n", "142,848", "0.5", "2e+12", "139,700"]


def test_what_a_table_is_read_for_stands_beside_its_names_and_is_never_cut_by_the_page() -> None:
    why = "x is f32[5,4], was f32[4,4]; predict is a new function object with the same code"
    columns = {
        "function": Column(["predict"]),
        "signature": Column(["f32[5,4], " * 12]),
        "why": Column([why], is_answer=True),
    }
    html = Table("compiles", columns)._repr_html_()
    heads = re.findall(r"<th [^>]*>(.*?)</th>", html)
    assert heads == ["function", "why", "signature"]
    cell = next(cell for cell in re.findall(r"<td [^>]*>.*?</td>", html) if "predict is" in cell)
    assert "white-space:normal" in cell and why in cell


def test_the_json_form_keeps_what_a_table_is_read_for() -> None:
    table = Table("compiles", {"function": Column(["f"]), "why": Column(["first call"], is_answer=True)})
    assert Table.from_json(table.to_json()).columns["why"].is_answer

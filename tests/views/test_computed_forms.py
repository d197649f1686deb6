"""What the static forms show of a program beside its documents: what is known, readable without styles or scripts."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from html.parser import HTMLParser

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from counted_calls import calls_of
from jax.sharding import PartitionSpec

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.report.text import markup
from jaxstage_ext.views import computed_facts, computed_html
from jaxstage_ext.views.computed_facts import MemoryCurve
from jaxstage_ext.views.static_html import LARGEST, panel_html
from jaxstage_ext.views.text import panel_text


class Words(HTMLParser):
    """The text of a page, with the alternative text of images."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said += [dict(attrs).get("alt") or ""] if tag == "img" else []


def words(html: str) -> str:
    return " ".join(" ".join(Words(html).said).split())


@pytest.fixture(scope="module")
def matmul() -> Inspection:
    def layer(w, x):
        return jnp.tanh(x @ w).sum()

    return inspect(layer, jnp.ones((64, 64)), jnp.ones((8, 64)), stage="compile")


def test_the_answers_and_the_cost_by_line_stand_in_every_form(matmul: Inspection) -> None:
    row = matmul.cost.by("line")
    for form in (words(panel_html([matmul.program])), panel_text([matmul.program])):
        assert "What bounds it?" in form
        assert "Does it fit?" in form
        assert "cost by source line" in form
        assert row["line"][0] in form
        assert "Which line holds the most memory?" in form and "with one more compile (this one took" in form


def test_the_memory_question_has_one_answer_once_it_was_asked() -> None:
    found = inspect(lambda x: jnp.tanh(x @ x).sum(), jnp.ones((96, 96)))
    assert "with one more compile" in " ".join(str(found).split())
    [asked] = [row["answer"] for row in found.answers.rows() if row["question"] == "Which line holds the most memory?"]
    shown = words(panel_text([found.program]))
    assert asked[:40] in shown and "with one more compile" not in shown


def test_a_large_array_is_named_before_the_peak_is_known() -> None:
    """x @ x.T of 1024 rows is 4.19 MB, what it is made of 1024 x 8 x 4 B."""
    found = inspect(lambda x: jnp.sort(x @ x.T, 0)[::2].sum(0), jnp.ones((1024, 8)), target="cpu:1")
    assert "The largest array is f32[1024,1024]" in str(found)


def test_nothing_is_compiled_for_a_static_form(matmul: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.worker import pool

    asked = calls_of(monkeypatch, pool, "ask")
    panel_html([matmul.program])
    assert asked == []


def test_memory_that_was_computed_has_a_chart_whose_figures_stand_in_words(matmul: Inspection) -> None:
    memory = inspect(matmul.program.call.fn, jnp.ones((64, 64)), jnp.ones((8, 64)), stage="compile")
    assert "the peak is" not in words(panel_html([memory.program]))
    assert memory.memory.space().peak > 0
    said = words(panel_html([memory.program]))
    assert "live memory over the schedule of" in said
    assert "largest buffers at the peak of memory" in said


def test_large_programs_answer_by_themselves_only_what_the_compile_said(monkeypatch: pytest.MonkeyPatch) -> None:
    large = inspect(lambda x: jnp.sin(x), 1.0, stage="compile")
    monkeypatch.setattr(cheap_facts, "MOST_LINES", 3)
    monkeypatch.setattr(cheap_facts, "MOST_COUNTED_LINES", 3)
    said = words(panel_html([large.program]))
    assert "What bounds it?" not in said
    assert f"Does it fit? {device_fit(large.program).text}" in panel_text([large.program], width=200)
    assert "cost by source line" not in said


def test_the_lines_that_move_the_most_bytes_are_shown_of_long_hlo() -> None:
    def many(x):
        for n in range(120):
            x = jnp.sort(x + n) * 2
        return x @ jnp.ones((64, 512))

    program = inspect(many, jnp.ones((64, 64)), stage="compile").program
    html = words(panel_html([program]))
    shown = [program.documents["hlo"].lines[row] for row in cheap_facts.heaviest_rows(program, 4)]
    assert "that move the most bytes" in html
    assert any(line.split("=")[0].strip() in html for line in shown)


def test_the_picture_of_memory_is_as_high_as_the_figures() -> None:
    html = computed_html._chart(MemoryCurve(np.array([0, 50, 100, 25]), 2, 100))
    data = base64.b64decode(re.findall(r"base64,([^\"]+)", html)[0])
    start = data.index(b"IDAT") + 4
    pixels = np.frombuffer(zlib.decompressobj().decompress(data[start:]), np.uint8)
    picture = pixels.reshape(computed_html.HEIGHT, computed_html.WIDTH + 1)[:, 1:]
    heights = (picture > 0).sum(0) / computed_html.HEIGHT
    assert heights[[10, 130, 250, 370]] == pytest.approx([0.0, 0.5, 1.0, 0.25], abs=0.02)


def test_a_bar_has_as_many_pixels_as_it_is_large() -> None:
    """nbconvert's style sheet has images choose their height; a bar of one pixel would be a square."""
    for share in (1.0, 0.5, 0.0001):
        html = markup.picture(computed_html._bar(share).picture)
        said = [int(number) for number in re.findall(r'(?:width|height)="(\d+)"', html)]
        data = base64.b64decode(re.findall(r"base64,([^\"]+)", html)[0])
        assert [*struct.unpack(">II", data[16:24])] == said


def test_a_share_that_rounds_to_nothing_is_not_zero() -> None:
    assert computed_html._bar(0.0001).text == "<1%"
    assert computed_html._bar(0.0).text == "0%"
    assert computed_html._bar(0.844).text == "84%"
    assert computed_html._bar(0.125).text == "13%"
    assert computed_html._bar(0.998).text == "99.8%"
    assert computed_html._bar(1.0).text == "100%"


def test_one_count_of_instructions_stands_beside_a_line(matmul: Inspection) -> None:
    """The source says what each line became; the cost's own count, of the schedule alone, would contradict it."""
    assert "instructions" not in "".join(computed_html.computed_parts(matmul.program))


def test_collectives_have_their_time_and_a_line_that_no_cause_contradicts() -> None:
    def layer(x, w):
        return x @ w

    shape = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    specs = (PartitionSpec(None, "d"), PartitionSpec("d", None))
    summed = inspect(layer, shape, shape, target="cpu:4", mesh="d=4", in_specs=specs, out_specs=PartitionSpec())
    (quick,) = (table for table in computed_facts.tables(summed.program) if table.title == "collectives")
    assert quick.titles == ("collective", "runs", "sent", "lower bound", "axes")
    assert quick.rows[0][3] == "unknown"
    [asked] = [text for question, text in computed_facts.answers(summed.program) if "collective" in question]
    assert asked.startswith("One collective: all-reduce of 16.4 kB. Which line causes it takes one more compile")
    assert summed.collectives.table["cause"][0]
    (known,) = (table for table in computed_facts.tables(summed.program) if table.title == "collectives")
    assert known.titles[1] == "line"
    assert known.rows[0][1] == summed.collectives.table["line"][0]


def test_a_program_that_did_not_fit_says_how_much_it_needs_in_every_form() -> None:
    """libtpu's message: the index array of 8.59 GB beside four of 2.15 GB, by hand 17.2 GB of 16.9."""
    needs("v5e:2x2")

    def pick(x):
        return jnp.take_along_axis(x, jnp.zeros_like(x, jnp.int32), 1)

    with pytest.raises(jax.errors.JaxRuntimeError) as raised:
        inspect(pick, jax.ShapeDtypeStruct((32768, 1, 128, 128), jnp.float32), target="v5e:2x2")
    failed = raised.value.inspection
    assert "Does not fit" in " ".join(raised.value.__notes__)
    assert ".memory" in " ".join(raised.value.__notes__)
    for form in (words(panel_html([failed.program])), " ".join(panel_text([failed.program]).split())):
        assert "Does it fit? Does not fit" in form.replace(" │ │ ", " ")
    assert "stage='compile'" not in failed.answers["answer"][0]


def test_no_form_is_larger_than_promised(matmul: Inspection) -> None:
    assert len(panel_html([matmul.program] * 6).encode()) < LARGEST + 4000

"""The forms that need no kernel: text, HTML and the offline page."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from html.parser import HTMLParser

import fakes
import pytest

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.requests import document_requests
from jaxstage_ext.panel.showing import page
from jaxstage_ext.program.kinds import saved
from jaxstage_ext.report.document import GRADIENT, INFERRED, OP
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.views import words
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</pre></details>&lt;b&gt;",
    "\"'`><b>",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u2028\u2029\u202egnp.exe\x00\r\x0b",
    "😀👩‍💻 é 漢字",
    "a" * 1_000_000,
]
VOID = {"br", "img", "meta"}


class Parsed(HTMLParser):
    """Tags, attributes and text of a page; an unbalanced tag is an error."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def columns_of(line):
    kinds = ((c, unicodedata.category(c)) for c in line)
    return sum(0 if k in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c, k in kinds)


def nasty(name):
    lines = [line.replace("tanh", name) for line in fakes.HLO]
    documents = {
        "python": fakes.python([line.replace("tanh", name) for line in fakes.SOURCE]),
        "hlo": fakes.ir("hlo", "\n".join(lines).split("\n"), {9: 0}),
    }
    error = {
        "stage": "trace",
        "type": "TypeError",
        "message": name,
        "file": name,
        "label": name,
        "line": 3,
        "interrupted": False,
    }
    return fakes.program(
        name=name, documents=documents, head={"error": error, "target": name, "notes": [name], "options": {name: name}}
    )


def failed():
    span = fakes.frames().span(1)
    error = StageError("trace", "TracerBoolConversionError", "no bool\nof a tracer", span)
    head = {
        "stages": [
            {"name": "trace", "state": "failed", "seconds": None, "count": None, "note": None},
            {"name": "lower", "state": "waiting", "seconds": None, "count": None, "note": None},
        ],
        "facts": [],
        "coverage": None,
        "error": {"stage": "trace", "type": error.type, "message": error.message, "file": span.file}
        | {"label": "In [5]", "line": 3, "interrupted": False},
    }
    return fakes.program(documents={"python": fakes.python()}, error=error, head=head)


@pytest.fixture
def front_end(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    (tmp_path / "standalone.js").write_text('const a = "<\\/script><!--";')
    (tmp_path / "panel.css").write_text(".row > b { color: red }")
    return tmp_path


def test_text_says_what_each_line_became():
    lines = panel_text([fakes.program()], 80).split("\n")
    assert lines[0] == f"┌ loss(w: f32[128,512]) -> f32[]{'cpu · jax 0.12.0 ┐':>48}"
    assert "│ trace 3 ms ▸ lower 5 ms ▸ compile 1.25 s" in lines[1]
    assert "3 eqns ▸ 41 ops ▸ 12 instrs, 5 fusions" in lines[2]
    assert "FLOPs 1.1 MFLOP · peak memory unknown (the cuda backend gives no analysis)" in lines[3]
    assert "99% of instructions linked to source lines (500 direct, 60 inferred, of 566)" in lines[4]
    text = "\n".join(lines)
    assert re.search(r"│ 2 +y = jnp\.tanh\(x @ w\) +-> 2 eqns, 1 instruction │", text)
    assert re.search(r"│ 3 +return jnp\.sum\(y\) +-> 1 eqn, 2 instructions │", text)
    assert re.search(r"%tanh\.1 = .* In \[5\]:2 │", text)
    assert re.search(r"│ 1 +def loss\(w, x\): +│", text)


@pytest.mark.parametrize("columns", [1, 48, 80, 100, 1000])
@pytest.mark.parametrize("name", ["loss", *NASTY])
def test_text_is_a_box_whatever_it_holds(columns, name):
    lines = panel_text([nasty(name)], columns).split("\n")
    assert {columns_of(line) for line in lines} == {min(max(columns, 48), 160)}
    assert all(c.isprintable() or c in "\u200d" for line in lines for c in line)


def test_a_text_is_short_whatever_it_holds():
    head = {"notes": ["n" * 100_000] * 50, "options": {f"xla_{at}": "o" * 100_000 for at in range(50)}}
    lines = panel_text([nasty("a" * 1_000_000), fakes.program(head=head)], 100).split("\n")
    assert len(lines) < 220
    assert sum("n" * 90 in line for line in lines) == 50, "ten notes, each five whole lines and the rest"


def test_inferred_and_gradient_links_say_so():
    hlo = fakes.ir("hlo", fakes.HLO, {9: 0}, OP | INFERRED)
    hlo.frame[10], hlo.flags[10] = 1, OP | GRADIENT
    made = fakes.program(documents={"python": fakes.python(), "hlo": hlo})
    for text in (panel_text([made], 120), Parsed(panel_html([made])).text):
        assert "In [5]:2 (inferred)" in text
        assert "gradient of In [5]:3" in text


def test_a_failed_stage_shows_its_error_and_marks_the_line():
    for text in (panel_text([failed()]), Parsed(panel_html([failed()])).text):
        assert "trace failed ▸ lower waiting" in text
        assert "trace failed at In [5]:3: TracerBoolConversionError" in text
        assert "no bool" in text
        assert "of a tracer" in text
        assert "✗" in text
        assert "% of" not in text
    assert re.search(r"3 ✗ +return jnp\.sum", panel_text([failed()]))


def test_an_interrupt_is_told_without_a_message():
    made = fakes.program(
        head={"error": {"stage": "compile", "interrupted": True, "message": "x", "type": "KeyboardInterrupt"}}
    )
    assert "interrupted in compile" in panel_text([made])
    assert "KeyboardInterrupt" not in panel_text([made])


def test_an_inspection_with_nothing_yet_has_a_text():
    head = {"stages": [{"name": "trace", "state": "running", "seconds": None, "count": None, "note": None}]}
    made = fakes.program(documents={}, head=head | {"facts": [], "coverage": None})
    assert "trace running" in panel_text([made])
    assert "trace running" in Parsed(panel_html([made])).text


def test_a_cached_executable_is_no_fast_compile():
    stage = {"name": "compile", "state": "done", "seconds": 0.002, "count": None, "note": "from JAX's persistent cache"}
    made = fakes.program(head={"stages": [stage]})
    assert "compile 2 ms (from JAX's persistent cache)" in panel_text([made])


def test_far_source_lines_are_left_out_and_counted():
    source = ["pass"] * 200
    source[1] = "y = jnp.tanh(x @ w)"
    made = fakes.program(documents=fakes.program().documents | {"python": fakes.python(source)})
    for text in (panel_text([made]), Parsed(panel_html([made])).text):
        assert "y = jnp.tanh(x @ w)" in text
        assert re.search(r"… *1\d\d more lines", text)


def test_the_hlo_excerpt_is_of_the_entry():
    many = [*fakes.HLO[:7], *(f"%pad.{i} = f32[] constant(0)" for i in range(200)), *fakes.HLO[7:]]
    made = fakes.program(documents={"hlo": fakes.ir("hlo", many, {209: 0})})
    assert "%tanh.1" in panel_text([made])
    assert "207 more lines" in panel_text([made])


def test_several_calls_are_shown_and_many_are_named():
    several = [fakes.program(name=f"f{i}") for i in range(60)]
    assert "f3(w:" in panel_text(several)
    assert "and 56 more calls: f4(w:" in panel_text(several)
    html = Parsed(panel_html(several)).text
    assert "f5(w:" in html
    assert "and 54 more calls: f6(w:" in html


@pytest.mark.parametrize("name", ["loss", *NASTY])
def test_html_is_inert_small_and_balanced(name):
    html = panel_html([nasty(name)] * 3)
    parsed = Parsed(html)
    assert len(html.encode()) < 100_000
    assert set(parsed.tags) <= {"div", "p", "b", "code", "span", "br", "pre", "table", "tr", "td", "details", "summary"}
    assert set(parsed.attributes) <= {"style", "open"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u2028\u2029\u202e]", html)
    if len(name) < 60 and name.isprintable() and "script" in name:
        assert name in parsed.text


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("x" * 100, 5_000),
        ("<" * 4000, 500),
        ("😀" * 5000, 500),
        ("%a = f32[8]{0} add(%b, %c), kind=kLoop " * 20, 500),
    ],
    ids=["many", "markup", "wide characters", "instructions"],
)
def test_html_stays_small_when_documents_are_large(line, count):
    documents = {
        "python": fakes.python([line] * 500),
        "jaxpr": fakes.ir("jaxpr", [line] * count, {i: 0 for i in range(count)}),
        "hlo": fakes.ir("hlo", [line] * count, {i: 1 for i in range(count)}),
    }
    made = fakes.program(documents=documents)
    for several in ([made], [made] * 5, [made] * 40):
        html = panel_html(several)
        Parsed(html)
        assert len(html.encode()) < 100_000
        assert "more lines" in html or f"{count:,} lines" in html


def test_html_reads_without_styles():
    parsed = Parsed(panel_html([fakes.program()]))
    for text in ("loss(w: f32[128,512]) -> f32[]", "compile 1.25 s", "unknown (the cuda backend gives no analysis)"):
        assert text in parsed.text
    assert "y = jnp.tanh(x @ w)2 eqns, 1 instruction" in parsed.text.replace("\xa0", "")
    assert re.search(r"\n10 In \[5\]:2 +%tanh\.1 = f32\[128,512\]\{1,0\} tanh\(%w\.1\)", parsed.text)


def test_words_for_shares():
    almost = {"coverage": {"direct": 99_999, "inferred": 0, "total": 100_000}, "documents": [{"kind": "hlo"}]}
    assert words.linked(almost).startswith("99.9%")
    assert words.linked({"coverage": {"direct": 0, "inferred": 0, "total": 0}, "documents": []}) == ""


def test_page_holds_everything_the_panel_asks_for(front_end):
    made = [fakes.program(), fakes.program(name="other")]
    html = page.page_html(made)
    data = json.loads(re.search(r'id="jaxstage-data">(.*?)</script>', html, re.DOTALL)[1])
    assert [report["summary"]["name"] for report in data] == ["loss", "other"]
    with pytest.raises(ValueError, match="the page holds 2 inspections"):
        saved.opened(json.dumps(data))
    for report, program in zip(data, made, strict=True):
        again = saved.opened(json.dumps(report))
        assert {kind: document.text for kind, document in again.documents.items()} == {
            kind: document.text for kind, document in program.documents.items()
        }
        for kind, document in program.documents.items():
            assert again.documents[kind].frame.tolist() == document.frame.tolist()
        assert [file.name for file in again.frames.files] == ["In [5]", "site-packages/jax/_src/nn.py"]
        assert again.frames.line.tolist() == program.frames.line.tolist()
    assert "<title>loss, other · JAXStage</title>" in html
    assert "<noscript><div" in html


def test_page_sends_large_documents_whole(front_end, monkeypatch):
    monkeypatch.setattr(document_requests, "LARGEST_WHOLE", 10)
    html = page.page_html([fakes.program()])
    data = re.search(r'id="jaxstage-data">(.*?)</script>', html, re.DOTALL)[1]
    assert saved.opened(data).documents["hlo"].text == "\n".join(fakes.HLO)


@pytest.mark.parametrize("name", NASTY)
def test_page_keeps_names_inert(front_end, name):
    html = page.page_html([nasty(name)])
    assert html.count("<script") == 2
    assert html.count("</script") == 2
    assert "<img" not in html
    assert "\u2028" not in html
    assert "<!--" not in html
    data = json.loads(re.search(r'id="jaxstage-data">(.*?)</script>', html, re.DOTALL)[1])
    assert data[0]["summary"]["name"] == name


def test_page_lets_only_its_own_script_run(front_end):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.page_html([fakes.program()]))[1]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "http" not in policy


def test_page_is_written_whole_or_not_at_all(front_end, tmp_path):
    target = tmp_path / "out" / "report.html"
    with pytest.raises(FileNotFoundError, match=r"cannot write the page to '.*report\.html': No such file") as info:
        page.write([fakes.program()], target)
    assert "\n" not in str(info.value)
    target.parent.mkdir()
    target.write_text("old")
    page.write([fakes.program()], str(target))
    assert target.read_text("utf-8").startswith("<!doctype html>")
    assert os.listdir(target.parent) == ["report.html"]
    with pytest.raises(IsADirectoryError, match="cannot write the page"):
        page.write([fakes.program()], target.parent)
    assert os.listdir(target.parent) == ["report.html"]


@pytest.mark.parametrize("path", [".", "/", "", "~no-such-user/x.html", "a\0b.html"])
def test_a_path_that_no_page_can_have_is_an_os_error_that_names_it(front_end, path):
    with pytest.raises(OSError, match="cannot write the page to") as info:
        page.write([fakes.program()], path)
    assert repr(path) in str(info.value)


def test_a_long_name_is_written(front_end, tmp_path):
    page.write([fakes.program()], target := tmp_path / f"{'図' * 80}.html")
    assert target.exists()


def test_a_front_end_that_was_not_built_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    with pytest.raises(assets.FrontEndMissing, match="npm ci && npm run build") as info:
        page.write([fakes.program()], tmp_path / "report.html")
    assert "\n" not in str(info.value)
    assert os.listdir(tmp_path) == []

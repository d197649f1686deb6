"""The views over what JAX really makes of a function."""

from __future__ import annotations

import gzip
import json
import re
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_views_static import Parsed, columns_of

import jaxstage_ext
from jaxstage_ext.api.inspect import run
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call
from jaxstage_ext.panel import assets
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import display, page
from jaxstage_ext.program.head import summary
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

pytestmark = pytest.mark.usefixtures("patient_requests")


def loss(w, x):
    y = jnp.tanh(x @ w)
    return jnp.sum(jax.nn.softmax(y))


def branches(x):
    if x.sum() > 0:
        return x
    return -x


SHAPES = jax.ShapeDtypeStruct((128, 512), "float32"), jax.ShapeDtypeStruct((8, 128), "float32")
FIRST = loss.__code__.co_firstlineno


@pytest.fixture(scope="module")
def made():
    return jaxstage_ext.inspect(jax.grad(loss), *SHAPES)


@pytest.fixture(scope="module")
def failed():
    return run(Call(branches, (jnp.ones(3),)))


def test_text_and_repr_show_the_whole_way(made):
    text = panel_text([made.program], 100)
    assert {columns_of(line) for line in text.split("\n")} == {100}
    assert text.startswith("┌ loss(w: f32[128,512], x: f32[8,128]) -> f32[128,512]")
    for title in ("├ source", "├ jaxpr,", "├ StableHLO,", "├ optimised HLO,"):
        assert title in text
    assert re.search(rf"│ {FIRST + 1} +y = jnp\.tanh\(x @ w\) +-> \d+ eqns, \d+ ops, \d+ instructions │", text)
    assert re.search(rf"tanh.* test_views_real\.py:{FIRST + 1} │", text)
    assert repr(made) == text


def test_counts_of_all_lines_are_the_linked_operations(made):
    lines = [line for line in panel_text([made.program]).split("\n") if "->" in line and " eqn" in line]
    instructions = sum(int(n) for line in lines for n in re.findall(r"(\d+) instruction", line))
    coverage = made.documents["hlo"].coverage
    assert instructions == coverage.direct + coverage.inferred


def test_html_shows_the_same_and_is_small(made):
    html = panel_html([made.program])
    text = Parsed(html).text
    assert len(html.encode()) < 100_000
    assert "gradient of test_views_real.py" in text
    assert re.search(rf"{FIRST + 1}\xa0*y = jnp\.tanh\(x @ w\)\d+ eqns", text.replace(" ", " "))


def test_a_failed_trace_marks_its_line(failed):
    line = branches.__code__.co_firstlineno + 1
    assert re.search(
        rf"trace failed at .*test_views_real\.py:{line}: TracerBoolConversionError", panel_text([failed.program], 160)
    )
    assert re.search(rf"│ {line} ✗ +if x\.sum\(\) > 0:", panel_text([failed.program]))
    assert f"✗ {line}" in Parsed(panel_html([failed.program])).text


def test_an_inspection_of_each_stage_has_every_form(made, failed, tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    (tmp_path / "standalone.js").write_text("")
    (tmp_path / "panel.css").write_text("")
    for stage in ("trace", "lower", "compile"):
        one = jaxstage_ext.inspect(loss, *SHAPES, stage=stage)
        kinds = ["python", "jaxpr", "stablehlo", "hlo"][: 2 + ["trace", "lower", "compile"].index(stage)]
        assert list(one.documents) == kinds
        assert loss.__name__ in Parsed(panel_html([one.program])).text
        one.to_html(tmp_path / f"{stage}.html")
        data = re.search(
            r'id="jaxstage-data">(.*?)</script>', (tmp_path / f"{stage}.html").read_text("utf-8"), re.DOTALL
        )
        assert [list(report["documents"]) for report in json.loads(data[1])] == [kinds]


def test_a_saved_inspection_has_the_same_views_without_what_was_computed(made):
    again = Inspection.from_json(made.to_json())
    text, whole = panel_text([again.program]), panel_text([made.program])
    assert set(text.splitlines()) <= set(whole.splitlines())
    assert ("├ answers ─" in text, "├ answers ─" in whole) == (False, True)
    html, whole = (panel_html([one.program]).partition("<summary>optimised HLO")[0] for one in (again, made))
    assert whole.startswith(html[: html.index("<details")])
    assert whole.endswith(html[html.index("<details") :])


def test_rows_of_the_wire_lead_back_to_the_source(made):
    def columns(method, **params):
        result, buffers = dispatch.answer([made.program], method, {"call": 0} | params)
        packed = zip(result["columns"], buffers, strict=True)
        return result, {c["name"]: np.frombuffer(gzip.decompress(data), f"<{c['dtype']}") for c, data in packed}

    result, frames = columns("frames")
    for kind in ("jaxpr", "stablehlo", "hlo"):
        _, rows = columns("columns", doc=kind)
        text, (packed,) = dispatch.answer([made.program], "document", {"call": 0, "doc": kind})
        lines = gzip.decompress(packed).decode().split("\n")
        assert len(lines) == text["lines"] == len(rows["frame"])
        row = next(
            i for i, line in enumerate(lines) if "tanh" in line and rows["flags"][i] & 1 and rows["frame"][i] >= 0
        )
        user = frames["user"][rows["frame"][row]]
        assert result["files"][frames["file"][user]]["name"] == "tests/views/test_views_real.py"
        assert frames["line"][user] == FIRST + 1


def test_a_notebook_follows_the_stages(tmp_path, monkeypatch):
    (tmp_path / "stub.js").write_text("")
    (tmp_path / "panel.css").write_text("")
    published = []
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    monkeypatch.setattr(display, "_shell", lambda: SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: {})))
    monkeypatch.setattr(display, "_publish", lambda data, *_, **__: published.append(data))
    states, shown = [], []

    def follow(inspection):
        shown.append(shown[0] if shown else display.show([inspection.program]))
        shown[0].refresh([inspection.program])
        states.append([stage["state"] for stage in shown[0]._panel.state["calls"][0]["stages"]])

    one = run(Call(loss, SHAPES), on_change=follow)
    shown[0].finish([one.program])
    assert ["running", "waiting", "waiting"] in states
    assert ["done", "done", "running"] in states
    assert [s["state"] for s in shown[0]._panel.state["calls"][0]["stages"]] == ["done"] * 3
    assert "text/html" in published[-1]
    shown[0]._panel.close()


def test_the_page_is_of_every_call(made, failed, tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    (tmp_path / "standalone.js").write_text("")
    (tmp_path / "panel.css").write_text("")
    html = page.page_html([made.program, failed.program])
    assert "TracerBoolConversionError" in html
    assert "<title>loss, branches · JAXStage</title>" in html


def test_a_form_makes_the_summary_of_each_program_once(made, monkeypatch):
    asked = []
    whole = summary.summary
    monkeypatch.setattr(summary, "summary", lambda program: asked.append(program) or whole(program))
    for form in (lambda: panel_text([made.program], 100), lambda: panel_html([made.program])):
        form()
        assert len(asked) == 1
        asked.clear()
    summary.summary(made.program)
    panel_text([made.program], 100)
    assert len(asked) == 2, "the next form makes it anew"

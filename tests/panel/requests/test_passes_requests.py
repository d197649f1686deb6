"""What the passes view asks for, over a pipeline made by hand."""

from __future__ import annotations

import gzip
import json
from typing import Any

import fakes
import numpy as np
import pytest
from panel_requests import ask

from jaxstage_ext.core.recompile import pass_pipeline
from jaxstage_ext.ir.passes.pipeline import Pipeline, pipeline
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.worker.inside.version_encoder import VersionEncoder

FIRST = """HloModule jit_loss

ENTRY %main (w.1: f32[8]) -> f32[8] {
  %w.1 = f32[8]{0} parameter(0)
  %dead.1 = f32[8]{0} negate(%w.1)
  %tanh.1 = f32[8]{0} tanh(%w.1)
  ROOT %out.1 = f32[8]{0} add(%tanh.1, %w.1)
}
"""
SECOND = "\n".join(line for line in FIRST.split("\n") if "dead" not in line)
THIRD = SECOND.replace("%tanh.1 = f32[8]{0} tanh", "%tanh.1 = f32[8]{0:T(128)} tanh")


def made() -> Pipeline:
    encoder = VersionEncoder()
    for text in (FIRST, SECOND, THIRD):
        encoder.add(text)
    rows = [["clean", "cse", 1e-3, None], ["clean", "dce", 2e-3, 1], ["", "after_optimizations", None, 2]]
    head = {"passes": rows, "notes": ["A note."], "text_bytes": 999}
    return pipeline(json.loads(json.dumps(head)), encoder.pack())


@pytest.fixture
def inspection(monkeypatch: pytest.MonkeyPatch) -> fakes.FakeProgram:
    monkeypatch.setattr(pass_pipeline, "recompile_passes", lambda staged, progress: made())
    found = fakes.program()
    hlo = fakes.ir("hlo", THIRD.split("\n"), {})
    found.documents = {**found.documents, "hlo": hlo}
    return found


def columns(result: dict[str, Any], buffers: list[bytes]) -> dict[str, list[int]]:
    return {
        described["name"]: np.frombuffer(gzip.decompress(data), f"<{described['dtype']}").tolist()
        for described, data in zip(result["columns"], buffers, strict=True)
    }


def test_the_list(inspection: Any) -> None:
    result, buffers = ask(inspection, "passes")
    assert not buffers
    json.dumps(result)
    assert result["title"] == "3 passes, 2 of them changed the module"
    assert result["complete"]
    assert result["notes"] == ["A note."]
    assert [(p["name"], p["changed"], p["seconds"], p["version"]) for p in result["passes"]] == [
        ("cse", False, 1e-3, 0),
        ("dce", True, 2e-3, 1),
        ("after_optimizations", True, None, 2),
    ]
    assert result["passes"][1]["added instructions"] == -1


def test_a_compile_that_came_out_otherwise_is_said_to(inspection: Any) -> None:
    other = fakes.ir("hlo", THIRD.replace("tanh.1", "tanh.7").split("\n"), {})
    inspection.documents = {"hlo": other}
    [_, note] = ask(inspection, "passes")[0]["notes"]
    assert note.startswith("This compile did not come out as the one that is shown: 1 of")


def test_a_difference(inspection: Any) -> None:
    ask(inspection, "passes")
    result, buffers = ask(inspection, "pass_diff", **{"pass": 1})
    assert result["before"]["kind"] == "pass:0"
    assert result["after"]["kind"] == "pass:1"
    assert result["after"]["bytes"] == len(SECOND)
    assert result["counts"] == {"changed": 0, "moved": 0, "removed": 1, "added": 0}
    found = columns(result, buffers)
    assert found["state_before"][4] == 2
    assert sum(found["state_after"]) == 0
    assert found["right"][4] == -1


def test_a_pass_that_changed_nothing_has_an_empty_difference(inspection: Any) -> None:
    ask(inspection, "passes")
    result, _ = ask(inspection, "pass_diff", **{"pass": 0})
    assert result["before"]["kind"] == result["after"]["kind"] == "pass:0"
    assert not any(result["counts"].values())


def test_documents_of_passes_come_once_the_passes_are_known(inspection: Any) -> None:
    with pytest.raises(dispatch.BadRequest, match="there is no 'pass:1' document"):
        ask(inspection, "document", doc="pass:1")
    ask(inspection, "passes")
    result, [data] = ask(inspection, "document", doc="pass:1")
    assert gzip.decompress(data).decode() == SECOND
    assert result["kind"] == "pass:1"
    assert {c["name"] for c in ask(inspection, "columns", doc="pass:1")[0]["columns"]} >= {"frame", "fold_end"}
    assert ask(inspection, "search", doc="pass:1", query="tanh")[0]["total"] == 3
    assert ask(inspection, "page", doc="pass:0", start=4, end=5)[0]["lines"] == ["  %dead.1 = f32[8]{0} negate(%w.1)"]


def test_a_history(inspection: Any) -> None:
    result, _ = ask(inspection, "pass_history", doc="hlo", row=4)
    assert "%tanh.1" in result["line"]
    assert result["first"] == 5
    assert [(s["pass"], s["what"], list(s["after"])) for s in result["steps"]] == [(2, "changed", [4])]
    dead, _ = ask(inspection, "pass_history", doc="pass:0", row=4)
    assert [(s["pass"], s["what"]) for s in dead["steps"]] == [(1, "removed")]


@pytest.mark.parametrize(
    ("method", "params", "why"),
    [
        ("pass_diff", {"pass": 3}, r"^pass .*\b0\b.*\b2\b"),
        ("pass_diff", {}, "^pass "),
        ("pass_history", {"doc": "jaxpr", "row": 0}, "passes work on HLO; 'jaxpr' is not HLO"),
        ("pass_history", {"doc": "hlo", "row": 99}, r"^row .*\b0\b"),
        ("pass_history", {"doc": "hlo", "row": 0}, "has no instruction"),
        ("pass_history", {"doc": "pass:7", "row": 0}, "there is no 'pass:7' document"),
    ],
)
def test_bad_requests(inspection: Any, method: str, params: dict[str, Any], why: str) -> None:
    ask(inspection, "passes")
    with pytest.raises(dispatch.BadRequest, match=why):
        ask(inspection, method, **params)


def test_the_views_script(inspection: Any) -> None:
    _, [data] = ask(inspection, "script", doc="passes")
    assert b"export default" in gzip.decompress(data)[:100]
    with pytest.raises(dispatch.BadRequest, match=r"there is no script .*panel.; there is .*passes"):
        ask(inspection, "script", doc="../panel")


def test_a_difference_before_the_list(inspection: Any) -> None:
    with pytest.raises(dispatch.BadRequest, match="not known yet"):
        ask(inspection, "pass_diff", **{"pass": 0})

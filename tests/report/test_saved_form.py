"""A call's targets, saved and opened again: figures, documents, the comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext import Inspection
from jaxstage_ext.panel import assets, panel_state
from jaxstage_ext.report.document import document
from jaxstage_ext.report.saved import saved_form, saved_reading
from jaxstage_ext.views.text import panel_text

X = jnp.ones((8, 8))


@pytest.fixture(scope="module")
def inspection() -> Any:
    given: dict[str, Any] = {"mesh": "d=2", "in_specs": (P("d"),)}
    return jaxstage_ext.inspect(lambda x: jnp.tanh(x).sum(), X, target=["cpu:2", "cpu:4", "cpu:8"], **given)


def test_all_targets_come_back(inspection: Any) -> None:
    again = Inspection.from_json(inspection.to_json())
    assert list(again.targets) == ["cpu:2", "cpu:4", "cpu:8"]
    assert str(again.target) == "cpu:2"
    assert again.targets["cpu:4"].targets is again.targets
    for name, one in inspection.targets.items():
        for kind in one.documents:
            assert again.targets[name].documents[kind].text == one.documents[kind].text
        assert again.targets[name].seconds == one.seconds
    assert again.compare() == inspection.compare()
    assert again.to_json() == inspection.to_json()
    text, whole = (panel_text(list(one.program.targets.values())) for one in (again, inspection))
    assert set(text.splitlines()) <= set(whole.splitlines())  # what was computed from the stages is not saved
    assert text.splitlines()[:6] == whole.splitlines()[:6] and "├ source ─" in text


def test_another_target_answers_where_it_was_the_one_saved(inspection: Any) -> None:
    again = Inspection.from_json(inspection.targets["cpu:8"].to_json())
    assert str(again.target) == "cpu:8"
    assert list(again.targets) == ["cpu:2", "cpu:4", "cpu:8"]


def test_the_offline_page_of_a_saved_one_has_the_comparison(inspection: Any) -> None:
    again = Inspection.from_json(inspection.to_json())
    assert again.summary()["views"] == ["code", "compare"]
    state = panel_state.state_of(list(again.program.targets.values()), False)
    assert [row["target"] for row in state["calls"][0]["compare"]["rows"]] == ["cpu:2", "cpu:4", "cpu:8"]


def test_documents_beyond_the_bound_are_left_out_and_that_is_said(inspection: Any, monkeypatch: Any) -> None:
    size = sum(len(one.text.encode()) for one in inspection.documents.values())
    monkeypatch.setattr(saved_form, "LARGEST", size + 10)
    text = inspection.to_json()
    again = Inspection.from_json(text)
    assert again.documents["hlo"].text == inspection.documents["hlo"].text
    assert not again.targets["cpu:4"].documents
    assert any("Its documents are not in the saved file" in n for n in again.targets["cpu:4"].summary()["notes"])
    assert again.compare() == inspection.compare()
    assert again.to_json() == text


def as_before(data: dict[str, Any], inspection: Any) -> dict[str, Any]:
    """A target of a report as formats 1 and 2 have it: with plain text."""
    plain = {kind: part | {"text": inspection.documents[kind].text} for kind, part in data["documents"].items()}
    return data | {"documents": plain}


def test_a_file_of_the_second_format_opens(inspection: Any) -> None:
    data = json.loads(inspection.to_json())
    others = {name: as_before(part, inspection.targets[name]) for name, part in data["others"].items()}
    again = Inspection.from_json(json.dumps(as_before(data, inspection) | {"others": others, "jaxstage": 2}))
    assert again.to_json() == inspection.to_json()


def test_an_offline_page_holds_what_is_saved(inspection: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    (tmp_path / "standalone.js").write_text("")
    (tmp_path / "panel.css").write_text("")
    inspection.to_html(tmp_path / "page.html")
    data = re.search(r'id="jaxstage-data">(.*?)</script>', (tmp_path / "page.html").read_text("utf-8"), re.DOTALL)
    assert data
    ((held,), saved) = (json.loads(data[1]), json.loads(inspection.to_json()))
    for part in (held, *held["others"].values()):
        assert part.pop("replies"), "what its tabs answer"
        assert set(part.pop("head")) == {"finding", "open"}, "what the panel says"
    for part in (held, *held["others"].values(), saved, *saved["others"].values()):
        part["summary"].pop("views")
    assert held == saved
    assert Inspection.from_json(data[1]).to_json() == inspection.to_json()


def test_text_of_any_characters_comes_back(inspection: Any) -> None:
    text = "é \ud800 \U0001f600 \x00"
    saved = saved_form.dumps(
        {"local": ({}, inspection.frames, {"hlo": document("hlo", [text], inspection.frames)})}, "local", {}
    )
    parts, _, _ = saved_reading.loads(saved)
    assert parts["local"][2]["hlo"].text == text


@pytest.mark.parametrize("damage", [lambda data: data[:20], lambda data: "AAAA" + data, lambda data: ""])
def test_damaged_text_is_one_line(inspection: Any, damage: Any) -> None:
    data = json.loads(inspection.to_json())
    text = data["documents"]["hlo"]["text"]
    text["data"] = damage(text["data"])
    with pytest.raises(ValueError, match=r"^the saved inspection is damaged: .*; save it again$"):
        Inspection.from_json(json.dumps(data))


def test_text_that_unpacks_to_too_much_is_refused(inspection: Any, monkeypatch: Any) -> None:
    text = inspection.to_json()
    monkeypatch.setattr(saved_form, "LARGEST", 20)
    with pytest.raises(ValueError, match="its documents have more than 20 bytes together"):
        Inspection.from_json(text)


def test_a_file_of_the_first_format_opens(inspection: Any) -> None:
    data = json.loads(inspection.to_json())
    old = {name: as_before(data, inspection)[name] for name in ("summary", "frames", "documents")} | {"jaxstage": 1}
    again = Inspection.from_json(json.dumps(old))
    assert list(again.targets) == ["local"]
    assert again.documents["hlo"].text == inspection.documents["hlo"].text
    with pytest.raises(ValueError, match="no comparison that can be read"):
        again.compare()


@pytest.mark.parametrize("name", ["others", "order", "compare", "summary"])
@pytest.mark.parametrize("value", [3, "x", [1], {"cpu:4": None}])
def test_damage_is_one_line(inspection: Any, name: str, value: Any) -> None:
    text = json.dumps(json.loads(inspection.to_json()) | {name: value})
    try:
        Inspection.from_json(text).compare()
    except ValueError as error:
        assert "inspection" in str(error)
        assert "\n" not in str(error)

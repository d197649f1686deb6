"""What the code view asks for beside its lines, over marks made by hand."""

from __future__ import annotations

import gzip
from typing import Any

import fakes
import numpy as np
import pytest
from panel_requests import ask

from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.analysis.margin.resharding_warnings import Warned, WarningKind
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import code_requests, dispatch
from jaxstage_ext.program.source import margin
from jaxstage_ext.report.unavailable import Unavailable

YOURS, THEIRS = Mark("x,·", "you", "<b>P('x', None)</b>: your choice"), Mark("·", "compiler", "P(None)")
LANE = Lane({"python": {2: YOURS, 3: THEIRS}, "hlo": {8: YOURS}}, ("A note.",))
WARNED = (
    Warned(WarningKind.RESHARDING, "Resharding: x for dot.", "Shard x.", "In [5]:2", (8,)),
    Warned(WarningKind.ASKED, "Resharding: y.", "Drop it.", "", ()),
)
PLACES = [[("python", 2), ("hlo", 8)], []]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lanes that are asked for; lanes, warnings and the number of collectives are made by hand."""
    lanes: list[str] = []
    for name in margin.LANES:
        monkeypatch.setitem(margin.LANES, name, lambda program, progress, name=name: lanes.append(name) or LANE)
    warned = margin.WarningsAtLines(Lane({"python": {2: Mark("", "resharding", "It moves.")}}), WARNED, PLACES)
    monkeypatch.setattr(margin, "warnings", lambda program, progress: warned)
    monkeypatch.setattr(code_requests, "count", lambda program: 3)
    return lanes


@pytest.fixture
def inspection(asked: list[str]) -> fakes.FakeProgram:
    return fakes.program()


def numbers(buffer: bytes) -> list[int]:
    return np.frombuffer(gzip.decompress(buffer), "<i4").tolist()


def test_marks_are_sent_once_with_the_rows_that_have_them(inspection: Any, asked: list[str]) -> None:
    result, buffers = ask(inspection, "lane", lane="sharding")
    assert result["marks"] == [["x,·", "you", "<b>P('x', None)</b>: your choice"], ["·", "compiler", "P(None)"]]
    assert [one["name"] for one in result["columns"]] == ["python row", "python mark", "hlo row", "hlo mark"]
    assert [numbers(one) for one in buffers] == [[2, 3], [0, 1], [8], [0]]
    assert result["notes"] == ["A note."]
    assert asked == ["sharding"]


def test_long_texts_are_cut() -> None:
    result, _ = code_requests.packed(Lane({"hlo": {0: Mark("x", "you", "y" * 9000)}}))
    assert len(result["marks"][0][2]) == code_requests.MOST_TEXT


def test_what_cannot_be_is_said_in_one_line(inspection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadRequest, match="there is no lane 'heat'; there is sharding, dtypes"):
        ask(inspection, "lane", lane="heat")

    def refuse(*_: Any) -> None:
        raise Unavailable("f was not lowered")

    monkeypatch.setitem(margin.LANES, "sharding", refuse)
    monkeypatch.setattr(margin, "warnings", refuse)
    for method, params in (("lane", {"lane": "sharding"}), ("warnings", {})):
        with pytest.raises(BadRequest, match=r"^f was not lowered$"):
            ask(inspection, method, **params)


def test_warnings_say_where_they_stand(inspection: Any) -> None:
    result, buffers = ask(inspection, "warnings")
    assert result["total"] == 2
    assert result["warnings"][0] == {
        "kind": "resharding", "text": "Resharding: x for dot.\nShard x.", "places": [["python", 2], ["hlo", 8]],
    }  # fmt: skip
    assert result["warnings"][1]["places"] == []
    assert result["marks"] == [["", "resharding", "It moves."]]
    assert [numbers(one) for one in buffers] == [[2], [0]]


def test_collectives_are_counted_and_nothing_is_asked_of_the_compiler(inspection: Any) -> None:
    assert dispatch.answer([inspection], "exchanges", {"call": 0}) == ({"collectives": 3, "known": False}, [])

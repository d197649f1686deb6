"""A saved notebook shows the tabs that were looked at, exactly as they were, and the cheap ones of small programs."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.panel.jobs import JobProgress
from jaxstage_ext.panel.panel import Panel, _answer
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving import first_replies, kept_replies
from jaxstage_ext.panel.saving.first_replies import keep_first_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.panel.saving.saved_output import MIME_TYPE, saved_output
from jaxstage_ext.program.program import Program
from jaxstage_ext.report import kernel_settings


@pytest.fixture
def program() -> Program:
    return inspect(lambda x: jnp.sin(x) @ x, jnp.ones((4, 4)), stage="compile").program


@pytest.fixture
def panel(program: Program) -> Iterator[Panel]:
    made = Panel([program])
    yield made
    made.close()


def ask(panel: Panel, method: str, **params: Any) -> None:
    """What a page asks, until it is answered."""
    request = {"kind": "request", "id": 1, "method": method, "params": {"call": 0, **params}}
    while "pending" in dispatch.reply(panel._programs, request)[0].get("result", {}):
        pass
    _answer(panel, request, [])


def saved(panel: Panel) -> dict[str, Any]:
    """The report in the notebook."""
    held = saved_output(panel._programs, panel.model_id, panel.kept.of)[MIME_TYPE]["reports"]
    (report,) = json.loads(gzip.decompress(base64.b64decode(held)))
    made: dict[str, Any] = report
    return made


def test_a_tab_that_was_looked_at_is_saved_as_it_was(panel: Panel, program: Program) -> None:
    assert saved(panel)["summary"]["views"] == ["code"]
    ask(panel, "ledger")
    report = saved(panel)
    assert report["summary"]["views"] == ["code", "cost"]
    answer, _ = dispatch.methods()["ledger"].compute([program], {"call": 0}, JobProgress())  # type: ignore[attr-defined]
    assert report["replies"] == {"ledger {}": {"result": json.loads(json.dumps(answer)), "buffers": []}}


def test_replies_are_named_as_the_front_end_names_them(panel: Panel) -> None:
    ask(panel, "shardings", all=False)
    ask(panel, "sharding_map", value=0, all=False)
    assert set(saved(panel)["replies"]) == {'shardings {"all":false}', 'sharding_map {"all":false,"value":0}'}


def test_documents_call_stacks_searches_and_progress_are_not_kept(panel: Panel, program: Program) -> None:
    for method, more in (
        ("document", {"doc": "hlo"}),
        ("columns", {"doc": "hlo"}),
        ("frames", {}),
        ("search", {"doc": "hlo", "query": "sin"}),
        ("elapsed", {}),
        ("no such method", {}),
    ):
        ask(panel, method, **more)
    assert not panel.kept.keep(program, "ledger", {"call": 0}, {"pending": {"elapsed": 1.0}}, [])
    assert "replies" not in saved(panel)


def test_what_the_code_view_asks_of_another_tab_does_not_bring_that_tab(panel: Panel) -> None:
    ask(panel, "heat", measure="bytes")
    assert (saved(panel)["summary"]["views"], list(saved(panel)["replies"])) == (
        ["code"],
        ['heat {"measure":"bytes"}'],
    )


def test_replies_are_dropped_when_the_program_changes(panel: Panel) -> None:
    ask(panel, "ledger")
    panel.refresh()
    assert "replies" not in saved(panel)


def test_a_reply_about_the_former_program_is_not_saved_as_the_new_one_s(
    panel: Panel, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell runs anew while a subshell thread answers."""
    anew = inspect(lambda x: jnp.cos(x) @ x, jnp.ones((4, 4)), stage="compile").program

    def answered(programs: Any, request: Any) -> Any:
        panel.restart([anew], busy=False)
        return {"result": {"of": "the former"}}, []

    monkeypatch.setattr(dispatch, "reply", answered)
    _answer(panel, {"kind": "request", "id": 1, "method": "ledger", "params": {"call": 0}}, [])
    assert panel.kept.of(anew).replies == {}
    assert panel.kept.of(program).replies == {}


@pytest.mark.parametrize("call", [99, -1, "x", None, [], 0.5])
def test_a_call_that_there_is_not_ends_in_a_reply(panel: Panel, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(panel, "send", lambda message, buffers: sent.append(message))
    for method in ("elapsed", "ledger"):
        _answer(panel, {"kind": "request", "id": 1, "method": method, "params": {"call": call}}, [])
    of_all, of_one = sent
    assert of_all["result"] == {"elapsed": None}
    assert of_one["error"]["message"].startswith("call must be an integer from 0 to 0, not")


def test_replies_are_bounded(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_replies, "MOST_BYTES", 1000)
    kept = KeptReplies()
    sizes = [kept.keep(program, "answer", {"question": str(i)}, {"text": "x" * 300}, []) for i in range(5)]
    assert sizes == [True, True, False, False, False]
    assert not kept.keep(program, "answer", {"question": "long" * 100}, {"text": ""}, [])
    assert not kept.keep(program, "memory", {}, {}, [b"x" * 1_000_000])


def test_paths_and_source_are_left_out(program: Program) -> None:
    kept = KeptReplies()
    kept.keep(program, "answer", {"question": "bound"}, {"text": "/home/someone/secret/train.py"}, [])
    assert "someone" not in json.dumps(dict(kept.of(program).replies))
    kernel_settings.change(saves_source=False)
    try:
        assert not kept.of(program).replies
        kept.keep(program, "timeline", {}, {"strings": {"code": ["x = 1"]}}, [])
        assert "x = 1" not in json.dumps(dict(kept.of(program).replies))
    finally:
        kernel_settings.change(saves_source=True)


def test_the_page_is_told_of_each_new_reply_once(panel: Panel) -> None:
    calls: list[int] = []
    panel.on_kept = lambda: calls.append(1)
    ask(panel, "ledger")
    ask(panel, "ledger")
    assert calls == [1]


def test_cheap_tabs_are_answered_when_the_cell_ends(program: Program) -> None:
    kept = KeptReplies()
    keep_first_replies([program], kept, clock=lambda: 0.0)
    held = kept.of(program)
    assert {"answers", "cost", "dtypes"} - {"dtypes"} <= held.tabs
    assert "memory {}" not in held.replies  # it takes a recompile


def test_no_tab_is_answered_beyond_the_time(program: Program) -> None:
    kept, times = KeptReplies(), iter([0.0, 0.0, 0.0, 0.0, *[first_replies.SECONDS * 2] * 50])
    keep_first_replies([program], kept, clock=lambda: next(times))
    assert 1 <= len(kept.of(program).replies) <= 2


def test_large_programs_answer_nothing_by_themselves(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.program.tab import cheap_facts

    monkeypatch.setattr(cheap_facts, "MOST_LINES", 3)
    kept = KeptReplies()
    keep_first_replies([program], kept)
    assert not kept.of(program).replies

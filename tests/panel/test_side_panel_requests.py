"""What the side panel asks of the kernel: a panel in a tab of its own, two inspections compared."""

from __future__ import annotations

from types import SimpleNamespace

import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.panel.connection import Connection, NotebookState
from jaxstage_ext.panel.front_end_requests import METHODS
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.showing import display
from jaxstage_ext.program.head.summary import summary

W, X = jnp.ones((16, 32)), jnp.ones((4, 16))


def first(w, x):
    return jnp.sum(jnp.tanh(x @ w))


def second(w, x):
    return jnp.sum(jnp.sin(x @ w) * 2)


@pytest.fixture
def held(monkeypatch):
    """Two inspections that variables hold, without panels."""
    monkeypatch.setattr(display, "_open", type(display._open)())
    monkeypatch.setattr(display, "_publish", lambda data, display_id, update: None)
    yield [("a", jaxstage_ext.inspect(first, W, X).program), ("b", jaxstage_ext.inspect(second, W, X).program)]
    display.freeze_all()


@pytest.fixture
def ask(held):
    connection = Connection(SimpleNamespace(), NotebookState(lambda: held, dict))
    return lambda method, **params: METHODS[method](connection, params)[0]


@pytest.fixture
def ids(ask):
    newest, oldest = ask("inspections")["inspections"]
    return {"a": oldest["id"], "b": newest["id"]}


def models():
    return [model for model, _, _ in display.live_panels()]


def test_an_inspection_without_a_panel_is_opened_in_one_of_its_own(ask, ids):
    opened = ask("open", id=ids["a"])
    assert opened["own"] and opened["title"] == "first"
    assert models() == [opened["model"]]
    assert ask("open", id=ids["a"]) == opened  # a second page, or one that was reloaded
    assert ask("close", model=opened["model"]) == {"closed": True}
    assert models() == []
    assert ask("close", model=opened["model"]) == {"closed": False}


def test_the_panel_of_a_cell_is_opened_itself_and_never_closed_by_a_tab(ask, ids, held, monkeypatch):
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: {"metadata": {"cellId": "cell-1"}}))
    monkeypatch.setattr(display, "_shell", lambda: shell)
    own = ask("open", id=ids["a"])["model"]
    display.bundle([held[0][1]])
    [in_cell] = [model for model in models() if model != own]
    assert ask("open", id=ids["a"]) == {"model": in_cell, "own": False, "title": "first"}
    assert ask("close", model=in_cell) == {"closed": False}
    assert in_cell in models()


def test_freeing_closes_the_panel_in_a_tab_too(ask, ids):
    ask("open", id=ids["a"])
    assert ask("free", id=ids["a"])["variables"] == ["a"]
    assert models() == []


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"id": "999"}, "there is no inspection '999' any more"),
        ({"id": None}, "there is no inspection None any more"),
        ({}, "there is no inspection None any more"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(ask, params, why):
    for method in ("open", "compare", "compare_document"):
        with pytest.raises(BadRequest, match=why):
            ask(method, **params)
    with pytest.raises(BadRequest, match="model must be text"):
        ask("close", model=3)


def test_a_number_of_an_earlier_kernel_opens_nothing(ask, ids):
    made = {one["id"]: one["made"] for one in ask("inspections")["inspections"]}
    assert ask("open", id=ids["a"], made=made[ids["a"]])["title"] == "first"
    with pytest.raises(BadRequest, match="the kernel that had this inspection is gone"):
        ask("open", id=ids["a"], made=made[ids["b"]])


def rows(compared):
    return {row["title"]: row for row in compared["rows"]}


def test_figures_side_by_side_are_those_of_each(ask, ids, held):
    compared = ask("compare", id=ids["a"], other=ids["b"])
    assert (compared["before"]["title"], compared["after"]["title"]) == ("first", "second")
    row = rows(compared)
    one, two = (program.module for _, program in held)
    assert row["HLO instructions"]["before"]["text"] == str(len(one.names))
    assert row["HLO instructions"]["difference"] == f"+{len(two.names) - len(one.names)}"
    assert row["call"]["before"]["text"].startswith("first(w: f32[16,32]")
    assert row["equations"]["before"]["text"] == "3"
    facts = {fact["label"]: fact["text"] for fact in summary(held[0][1])["facts"]}
    for figure in ("FLOPs", "bytes moved", "memory needed"):
        assert row[figure]["before"]["text"] == facts[figure]
    assert row["target"]["same"]


def test_what_is_unknown_has_a_reason_and_no_difference(ask, ids):
    row = rows(ask("compare", id=ids["a"], other=ids["b"]))
    unknown = [one for one in row.values() if not one["before"]["known"] or not one["after"]["known"]]
    assert "peak" in {one["title"] for one in unknown}
    assert all(one["difference"] is None and one["ratio"] is None and not one["same"] for one in unknown)
    assert all(one["before"]["reason"] for one in unknown if not one["before"]["known"])
    assert row["peak"]["before"]["reason"] == "not computed; its Memory tab computes it"


def test_a_stage_that_did_not_run_is_unknown(ask, held, ids):
    held.append(("c", jaxstage_ext.inspect(first, W, X, stage="trace").program))
    newest = ask("inspections")["inspections"][0]["id"]
    compared = ask("compare", id=ids["a"], other=newest)
    assert rows(compared)["compile time"]["after"] == {
        "text": "unknown",
        "known": False,
        "reason": "inspected with stage='trace', which ends before compile",
        "note": None,
    }
    assert [one["kind"] for one in compared["documents"]] == ["python", "jaxpr"]
    with pytest.raises(BadRequest, match="they have no document 'hlo' in common"):
        ask("compare_document", id=ids["a"], other=newest, doc="hlo")


def test_an_option_of_one_alone_is_shown_as_not_set_in_the_other(ask, held, ids):
    option = {"xla_cpu_enable_fast_math": True}
    held.append(("c", jaxstage_ext.inspect(first, W, X, compiler_options=option).program))
    newest = ask("inspections")["inspections"][0]["id"]
    row = rows(ask("compare", id=ids["a"], other=newest))["xla_cpu_enable_fast_math"]
    assert (row["group"], row["before"]["text"], row["after"]["text"]) == ("option", "not set", "True")
    assert not row["same"]


@pytest.mark.parametrize(("doc", "gone", "new"), [("jaxpr", "= tanh c", "= sin c"), ("hlo", " tanh(", " sine(")])
def test_lines_that_differ_are_shown_with_those_around_them(ask, ids, doc, gone, new):
    found = ask("compare_document", id=ids["a"], other=ids["b"], doc=doc)
    assert any(what == "removed" and gone in text for what, _, _, text in found["lines"])
    assert any(what == "added" and new in text for what, _, _, text in found["lines"])
    assert found["counts"]["removed"] == sum(line[0] == "removed" for line in found["lines"])
    assert found["left_out"] == 0


def test_a_document_compared_with_itself_has_no_difference(ask, ids):
    for doc in ("python", "jaxpr", "stablehlo", "hlo"):
        found = ask("compare_document", id=ids["a"], other=ids["a"], doc=doc)
        assert not any(found["counts"].values()) and found["lines"] == []

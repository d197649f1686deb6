"""What the compiles tab asks for, over a session made by hand."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compile_histories import lived
from compile_records import compile_record, function_identity, signature, stage_runs
from panel_requests import ask

from jaxstage_ext import inspect
from jaxstage_ext.compilation.causes.cause import Cause, Verdict
from jaxstage_ext.compilation.events.listening import listening_block
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName, StageRun
from jaxstage_ext.panel.panel import Panel
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import compiles_requests, dispatch
from jaxstage_ext.panel.requests.forms import compiles_columns
from jaxstage_ext.panel.saving import kernel_replies
from jaxstage_ext.panel.saving.kept_replies import LARGEST, KeptReplies
from jaxstage_ext.panel.showing import compiles_display, page
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from jaxstage_ext.program.head.summary import summary
from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram
from tests.helpers import wire_columns

HOSTILE = "<script>window.pwned=1</script>"


@pytest.fixture
def program() -> CompileHistoryProgram:
    return CompileHistoryProgram(lived())


def columns(answer: tuple[dict[str, Any], list[bytes]]) -> dict[str, Any]:
    """Each column as numpy, texts as lists."""
    result, read = answer[0], wire_columns.columns(*answer)
    texts = result["strings"].keys()
    return {name: [text or "" for text in cells] if name in texts else np.array(cells) for name, cells in read.items()}


def rows_of(saved: dict[str, Any]) -> int:
    """How many records a saved reply lists."""
    return len(wire_columns.columns(saved["result"], [*map(base64.b64decode, saved["buffers"])])["number"])


def of(records: Any, **more: Any) -> CompileHistoryProgram:
    return CompileHistoryProgram(History(tuple(records), tuple(records), **more))


def test_a_view_of_the_kernel_has_its_own_tab_alone(program: CompileHistoryProgram) -> None:
    head = summary(program)
    assert (head["views"], head["open"], head["documents"], head["stages"]) == (["compiles"], "compiles", [], [])


def test_the_list_has_what_each_record_says(program: CompileHistoryProgram) -> None:
    answer = ask(program, "compiles")
    read, records = columns(answer), program.records
    assert len(read["number"]) == len(records) and answer[0]["left_out"] == 0
    assert read["number"].tolist() == [record.number for record in records]
    assert read["function"][records.index(records[16])] == "step"
    assert read["line"][16] == "In [3]:5" and read["cell"][16] == "In [3]"
    assert read["compile"][16] == 7.2 and math.isclose(read["own"][16], 8.2)
    assert read["began"][16] == 12.0 and math.isclose(read["span"][16], 8.2, rel_tol=1e-6)
    (nested,) = (record for record in records if record.parent)
    assert read["parent"][records.index(nested)] == nested.parent


def test_whose_work_it_was_and_how_it_ended_are_told(program: CompileHistoryProgram) -> None:
    read = columns(ask(program, "compiles"))
    by_number = dict(zip(read["number"].tolist(), read["flags"].tolist(), strict=True))
    for record in program.records:
        flags = by_number[record.number]
        assert bool(flags & compiles_columns.OF_USER) == (record.asker is Asker.USER)
        assert bool(flags & compiles_columns.FAILED) == (record.failed is not None)
    assert read["outcome"].count("failed") == 1 and read["outcome"][-1] == "loaded"


def test_a_stage_that_did_not_run_is_told_from_one_whose_end_was_not_heard() -> None:
    record = compile_record(stages=[StageRun(StageName.TRACE, 1.0), StageRun(StageName.LOWER, 1.0, 0.5, 0.25)])
    read = columns(ask(of([record]), "compiles"))
    assert read["trace"][0] == compiles_columns.NOT_ENDED
    assert read["lower"][0] == 0.25
    assert np.isnan(read["compile"][0])


def test_a_stage_that_ran_twice_counts_both_runs() -> None:
    runs = [StageRun(StageName.TRACE, 1.0, own, own) for own in (0.5, 0.25)]
    assert columns(ask(of([compile_record(stages=runs)]), "compiles"))["trace"][0] == 0.75


def test_records_outside_of_the_scope_are_there_and_marked(program: CompileHistoryProgram) -> None:
    part = CompileHistoryProgram(program.history.only(cell=7), "In [7]")
    answer = ask(part, "compiles")
    read = columns(answer)
    marked = [n for n, flags in zip(read["number"], read["flags"], strict=True) if flags & compiles_columns.IN_SCOPE]
    assert marked == [21] and len(read["number"]) == len(program.records)
    assert answer[0]["scope"] == "In [7]"


def test_causes_carry_what_can_be_avoided_and_what_was_compiled_for_nothing(program: CompileHistoryProgram) -> None:
    answer = ask(program, "compiles_causes")
    read = columns(answer)
    flags = dict(zip(read["number"].tolist(), read["flags"].tolist(), strict=True))
    assert flags[18] & compiles_requests.CAN_BE_MENDED and flags[18] & compiles_requests.IS_RECOMPILE
    assert not flags[17] & (compiles_requests.CAN_BE_MENDED | compiles_requests.IS_RECOMPILE)
    assert read["nearest"][17] == 17
    assert read["cause"][17] == "shape"
    assert read["why"][-3] == "failed: TypeError: dot_general requires contracting dimensions to be equal"


def test_totals_are_those_of_the_users_own_work(program: CompileHistoryProgram) -> None:
    totals = ask(program, "compiles_causes")[0]["totals"]
    mine = [record for record in program.records if record.asker is Asker.USER]
    assert math.isclose(totals["spent"], sum(record.own_seconds for record in mine))
    assert math.isclose(totals["wasted"], 5 * 0.25)
    assert (totals["saved"], totals["hits"]) == (11.4, 1)


def test_the_headline_is_the_function_whose_avoidable_recompiles_cost_most(program: CompileHistoryProgram) -> None:
    headline = ask(program, "compiles_causes")[0]["headline"]
    assert (headline["function"], headline["number"], headline["mendable"]) == ("step", 21, True)
    assert headline["times"] == 5, "the call that failed was one too"


def test_the_headline_prefers_what_can_be_avoided() -> None:
    dear = [compile_record(name="dear", function=None, stages=stage_runs(1, 1, 50)) for _ in range(2)]
    cheap = [compile_record(name="cheap", function=None, stages=stage_runs(1, 1, 2)) for _ in range(2)]
    verdicts = {
        dear[1].number: Verdict(Cause.SHAPE, nearest=dear[0].number),
        cheap[1].number: Verdict(Cause.MADE_ANEW, nearest=cheap[0].number, can_be_mended=True),
    } | {one.number: Verdict(Cause.FIRST) for one in (dear[0], cheap[0])}
    records = (*dear, *cheap)
    program = CompileHistoryProgram(History(records, records, 0, verdicts))
    assert ask(program, "compiles_causes")[0]["headline"]["function"] == "cheap"


def test_nothing_compiled_again_has_no_headline() -> None:
    record = compile_record()
    program = CompileHistoryProgram(History((record,), (record,), 0, {record.number: Verdict(Cause.FIRST)}))
    assert ask(program, "compiles_causes")[0]["headline"] is None


def test_an_empty_log_has_an_answer() -> None:
    assert len(columns(ask(of(()), "compiles"))["number"]) == 0
    assert ask(of(()), "compiles_causes")[0]["totals"] == {
        "spent": 0,
        "wasted": 0,
        "avoidable": 0,
        "saved": None,
        "hits": 0,
        "is_cache_off": False,
        "is_complete": True,
    }


def test_a_record_tells_its_stages_its_place_and_what_it_was_compared_with(program: CompileHistoryProgram) -> None:
    about = ask(program, "compile_record", number=21)[0]
    assert about["differences"] == [{"kind": "shape", "what": "batch", "before": "f32[48,128]", "now": "f32[5,128]"}]
    assert (about["nearest"]["number"], about["nearest"]["line"]) == (20, "In [6]:3")
    assert "#20 is not among them" in about["nearest"]["not_opened"], "the log keeps nothing that JAX made of it"
    assert "#21 is not among them" in about["not_opened"]
    assert [(stage["name"], stage["own"]) for stage in about["stages"]] == [
        ("trace", 0.5),
        ("lower", 0.4),
        ("compile", 9.1),
    ]
    assert about["user_line"] == {"text": "In [7]:3", "function": ""}
    assert ask(program, "compile_record", number=15)[0]["inside"] == [16]
    saved = ask(program, "compile_record", number=program.records[-1].number)[0]["persistent"]
    assert (saved["outcome"], saved["key"], saved["saved"]) == ("hit", "jit_evaluate-7f3a", 11.4)


@pytest.mark.parametrize("number", [0, -1, 2**40, "21", None, True])
def test_a_number_that_is_none_is_refused(program: CompileHistoryProgram, number: Any) -> None:
    with pytest.raises(BadRequest, match=r"^number "):
        ask(program, "compile_record", number=number)


def test_a_record_that_was_dropped_is_refused(program: CompileHistoryProgram) -> None:
    with pytest.raises(BadRequest, match=r"there is no compile #999 in this list"):
        ask(program, "compile_record", number=999)


def test_a_call_has_no_list_of_compiles() -> None:
    with pytest.raises(BadRequest, match="not a list of compiles"):
        ask(inspect(abs, 1.0, stage="trace").program, "compiles")


@pytest.fixture
def log() -> Iterator[None]:
    kept = tuple(LOG)
    LOG.clear()
    yield
    LOG.clear()
    for record in kept:
        LOG.add(record)


@pytest.mark.usefixtures("log")
def test_a_panel_of_the_log_is_refreshed_and_its_scope_stays() -> None:
    first, other = compile_record(number=900_001, cell=3), compile_record(number=900_002, cell=4)
    for record in (first, other):
        LOG.add(record)
    records = tuple(LOG)
    bundled = compiles_display._program(History(records, records).only(cell=3), "In [3]", ())
    LOG.add(compile_record(number=900_003, cell=5))
    assert ask(bundled, "compiles_refresh")[0] == {"new": 1}
    read = columns(ask(bundled, "compiles"))
    assert read["number"].tolist() == [900_001, 900_002, 900_003]
    assert [bool(flags & compiles_columns.IN_SCOPE) for flags in read["flags"]] == [True, False, False]


@pytest.mark.usefixtures("log")
def test_the_list_of_the_first_cell_keeps_its_scope_too() -> None:
    """When it is made, it has the whole log."""
    LOG.add(compile_record(number=900_001, cell=1))
    records = tuple(LOG)
    program = compiles_display._program(History(records, records).only(cell=1), "In [1]", ())
    LOG.add(compile_record(number=900_002, cell=2))
    ask(program, "compiles_refresh")
    assert [record.number for record in program.history.records] == [900_001]


def test_a_list_from_elsewhere_cannot_be_refreshed(program: CompileHistoryProgram) -> None:
    assert ask(program, "compiles")[0]["can_refresh"] is False
    assert ask(program, "compiles_refresh")[0] == {"new": 0}


def test_opening_shows_a_further_call_once(program: CompileHistoryProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = inspect(abs, 1.0, stage="trace").program
    monkeypatch.setattr(CompileHistoryProgram, "open", lambda self, number: opened)
    panel = Panel([program])
    try:
        for _ in range(2):
            message, _ = dispatch.reply(panel._programs, _request("compile_open", number=21))
            message = message if "pending" not in message.get("result", {}) else _polled(panel)
            assert message["result"] == {"call": 1}
            panel.show_what_became_known()
        assert [call["name"] for call in panel.state["calls"]] == ["Compiles of this kernel", "abs"]
    finally:
        panel.close()


def _request(method: str, **params: Any) -> dict[str, Any]:
    return {"kind": "request", "id": 1, "method": method, "params": {"call": 0, **params}}


def _polled(panel: Panel) -> dict[str, Any]:
    while True:
        message, _ = dispatch.reply(panel._programs, _request("compile_open", number=21))
        if "pending" not in message.get("result", {}):
            return message


def test_what_cannot_be_opened_says_why(program: CompileHistoryProgram) -> None:
    with pytest.raises(BadRequest, match="#21 is not among them"):
        ask(program, "compile_open", number=21)
    with pytest.raises(BadRequest, match="failed before JAX had made anything of it: TypeError"):
        ask(program, "compile_open", number=28)


@pytest.fixture
def compiled() -> CompileHistoryProgram:
    """Two compiles of one function, for two shapes, as the log heard them."""

    @jax.jit
    def scaled(x: Any) -> Any:
        return jnp.tanh(x) * 2

    with listening_block():
        newest = LOG.newest
        for size in (3, 5):
            scaled(np.ones(size, np.float32)).block_until_ready()
        records = tuple(record for record in LOG if record.number > newest)
    return CompileHistoryProgram(History(records, records))


def test_a_record_is_opened_as_what_jax_made_of_it(compiled: CompileHistoryProgram) -> None:
    number = compiled.records[0].number
    assert ask(compiled, "compile_open", number=number)[0] == {"call": 1}
    (opened,) = compiled.opened
    assert "tensor<3xf32>" in opened.documents["stablehlo"].text
    assert opened.name == "scaled"


def test_two_records_are_compared_line_by_line(compiled: CompileHistoryProgram) -> None:
    first, second = (record.number for record in compiled.records)
    compared = ask(compiled, "compile_compare", number=second, other=first)[0]
    by_kind = {document["kind"]: document for document in compared["documents"]}
    assert set(by_kind) == {"jaxpr", "stablehlo", "hlo"}
    lines = by_kind["stablehlo"]["lines"]
    assert any("tensor<3xf32>" in text for what, _, after, text in lines if after is None)
    assert any("tensor<5xf32>" in text for what, before, _, text in lines if before is None)
    assert not any("tensor<5xf32>" in text for _, _, after, text in lines if after is None)
    same = ask(compiled, "compile_compare", number=second, other=second)[0]
    assert [document["lines"] for document in same["documents"]] == [[], [], []]


def many(count: int) -> tuple[CompileRecord, ...]:
    return tuple(compile_record(signature=signature(np.zeros(i % 90, np.float32)), cell=i // 40) for i in range(count))


def test_a_saved_notebook_holds_a_bounded_list_with_the_most_expensive_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_replies, "SECONDS_IN_NOTEBOOK", 60.0)  # however busy the machine is
    records = many(5000)
    dear = compile_record(stages=stage_runs(1, 1, 500))
    kept, program = KeptReplies(), of((*records[:2000], dear, *records[2000:]))
    kernel_replies.keep(program, kept)
    held = kept.of(program)
    assert held.tabs == {"compiles"}
    assert sum(len(json.dumps(reply)) for reply in held.replies.values()) < 240_000
    listed = held.replies["compiles {}"]
    assert rows_of(listed) == 400 and listed["result"]["left_out"] == 4601
    assert 1 <= rows_of(held.replies["compiles_causes {}"]) <= 400
    assert f'compile_record {{"number":{dear.number}}}' in held.replies


def test_what_does_not_fit_is_shortened_further() -> None:
    records = [compile_record(name=f"f{i}" + "x" * 290, function=None, cell=i) for i in range(800)]
    verdicts = {one.number: Verdict(Cause.UNKNOWN, reason=f"{one.number} " + "y" * 290) for one in records}
    kept, program = KeptReplies(), of(records)
    program.history._verdicts.update(verdicts)
    kernel_replies.keep(program, kept)
    assert 50 <= rows_of(kept.of(program).replies["compiles {}"]) < 400
    assert all(len(json.dumps(reply)) <= LARGEST for reply in kept.of(program).replies.values())


def test_an_offline_page_has_the_whole_list_and_no_markup_of_names() -> None:
    records = [*many(600), compile_record(name=HOSTILE, function=function_identity(qualname=HOSTILE))]
    html = page.page_html([of(records)])
    assert HOSTILE not in html and "\\u003cscript>window.pwned" in html
    assert '"left_out":0' in html


def test_still_forms_are_those_of_the_history(program: CompileHistoryProgram) -> None:
    forms = static_bundle([program])
    assert "#21" in forms["text/plain"] and "step(f32[5,128])" in forms["text/plain"]
    assert "<table" in forms["text/html"] and "<script" not in forms["text/html"]


def test_what_is_saved_takes_a_moment_however_long_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a made-up clock each comparison takes 20 ms of the 50 that there are."""
    records, clock = many(300), iter(range(10**9))
    monkeypatch.setattr(compiles_requests.time, "thread_time", lambda: 0.02 * next(clock))
    compared: list[int] = []
    verdict = History.verdict
    monkeypatch.setattr(
        History, "verdict", lambda self, record: compared.append(record.number) or verdict(self, record)
    )
    dear = compile_record(stages=stage_runs(1, 1, 500))
    kept, program = KeptReplies(), of((*records, dear))
    kernel_replies.keep(program, kept)
    assert 1 <= rows_of(kept.of(program).replies["compiles_causes {}"]) <= 2
    assert compared[0] == dear.number, "the longest compiles are compared first"
    assert rows_of(kept.of(program).replies["compiles {}"]) == 301

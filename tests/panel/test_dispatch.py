"""The answers to the front end's requests."""

from __future__ import annotations

import gc
import gzip
import json
import re
import sys
import time
import weakref

import fakes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.panel import search
from jaxstage_ext.panel.requests import dispatch, document_requests
from jaxstage_ext.report import line_table as rows
from jaxstage_ext.report.document import document

HLO = {"call": 0, "doc": "hlo"}


def ask(method, made=None, **params):
    return dispatch.answer([made or fakes.program()], method, HLO | params)


def column(answer, name):
    result, buffers = answer
    names = [c["name"] for c in result["columns"]]
    dtype = result["columns"][names.index(name)]["dtype"]
    return np.frombuffer(gzip.decompress(buffers[names.index(name)]), f"<{dtype}").tolist()


def of(*lines, kind="hlo"):
    return fakes.program(documents={kind: document(kind, lines, fakes.frames())})


def hits(made, query, case=False, kind="hlo"):
    result, (at_rows, columns) = dispatch.answer(
        [made], "search", {"call": 0, "doc": kind, "query": query, "case": case}
    )
    pairs = zip(np.frombuffer(at_rows, "<i4").tolist(), np.frombuffer(columns, "<i4").tolist(), strict=True)
    return result["total"], list(pairs)


def test_document_comes_whole():
    result, (data,) = ask("document")
    assert gzip.decompress(data).decode() == "\n".join(fakes.HLO)
    assert result == {
        "kind": "hlo",
        "title": "optimised HLO",
        "lines": len(fakes.HLO),
        "bytes": len("\n".join(fakes.HLO)),
        "mode": "full",
    }


def test_document_over_the_limit_comes_in_pages(monkeypatch):
    monkeypatch.setattr(document_requests, "LARGEST_WHOLE", 100)
    result, buffers = ask("document")
    assert (result["mode"], buffers) == ("paged", [])
    assert ask("page", start=3, end=5) == ({"start": 3, "lines": list(fakes.HLO[3:5])}, [])
    assert ask("page", start=10, end=900)[0]["lines"] == list(fakes.HLO[10:])
    assert ask("page", start=len(fakes.HLO), end=900)[0]["lines"] == []


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "\n\na\n", "é\n😀😀\nz"])
def test_pages_hold_the_same_lines_as_the_document(text):
    made = of(*text.split("\n"))
    assert ask("page", made, start=0, end=99)[0]["lines"] == text.split("\n")
    for row, line in enumerate(text.split("\n")):
        assert ask("page", made, start=row, end=row + 1)[0]["lines"] == [line]


def test_a_line_of_a_megabyte_loses_its_middle_in_views_only():
    made = of("before", "a" * 2000 + "b" * 1_000_000 + "c" * 500, "after")
    elided = "a" * 2000 + "… [1,000,000 characters elided] …" + "c" * 500
    assert ask("page", made, start=0, end=3)[0]["lines"] == ["before", elided, "after"]
    assert gzip.decompress(ask("document", made)[1][0]).decode().split("\n")[1] == elided
    assert len(made.documents["hlo"].text) > 1_000_000
    assert hits(made, "cc")[1][0] == (1, elided.index("cc"))
    assert hits(made, "b" * 30) == (0, [])
    assert hits(made, "after") == (1, [(2, 0)])


def test_columns_say_where_rows_come_from():
    made = fakes.program()
    answer = ask("columns", made)
    assert [c["name"] for c in answer[0]["columns"]] == ["frame", "flags", "fold_end", "scope"]
    assert column(answer, "frame") == made.documents["hlo"].frame.tolist()
    assert column(answer, "flags") == made.documents["hlo"].flags.tolist()
    source = ask("columns", made, doc="python")
    assert column(source, "number") == [-1, 1, 2, 3]


def test_frames_come_with_their_files():
    answer = ask("frames")
    file = {"name": "In [5]", "cell": "In [5]", "user": True, "label": "In [5]", "path": None, "cells": [], "crc": None}
    assert answer[0]["files"][0] == file
    assert answer[0]["functions"] == ["loss", "softmax"]
    assert column(answer, "line") == [2, 3, 70]
    assert column(answer, "user") == [0, 1, 1]


def test_search_counts_all_and_places_hits():
    made = of("one Tanh two", "", "tanh(tanh)")
    assert hits(made, "tanh") == (3, [(0, 4), (2, 0), (2, 5)])
    assert hits(made, "tanh", case=True) == (2, [(2, 0), (2, 5)])
    assert hits(made, "") == (0, [])
    assert hits(made, "two\n") == (0, [])
    assert hits(made, "nowhere") == (0, [])


def test_search_columns_are_those_of_a_browser():
    assert hits(of("x", "😀é needle", "İ needle"), "NEEDLE") == (2, [(1, 4), (2, 2)])


def test_search_keeps_20_000_hits_and_counts_the_rest():
    total, found = hits(of(*["x x"] * 15_000), "x")
    assert (total, len(found), found[-1]) == (30_000, 20_000, (9999, 2))


def test_search_over_chunks_finds_what_one_pass_finds(monkeypatch):
    made = of(*(f"line {i} é" for i in range(500)))
    whole = hits(made, "7 é")
    monkeypatch.setattr(rows, "_CHUNK", 64)
    assert hits(made, "7 é") == whole
    assert whole[0] == 50


@settings(deadline=None)  # the time of one example says nothing on a machine that is busy
@given(
    st.text(alphabet="abA\né😀İ", max_size=80), st.text(alphabet="abAé😀", min_size=1, max_size=2), st.integers(1, 9)
)
def test_rows_and_search_agree_with_plain_python(text, query, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_CHUNK", chunk)
        made = of(*text.split("\n"))
        assert ask("page", made, start=0, end=99)[0]["lines"] == text.split("\n")
        total, found = hits(made, query, case=True)
    assert total == len(found) == sum(line.count(query) for line in text.split("\n"))
    for row, column in found:
        line = text.split("\n")[row].encode("utf-16-le")
        assert line[2 * column :].decode("utf-16-le").startswith(query)


def test_symbol_finds_definition_and_uses():
    def found(name, row):
        result, _ = ask("symbol", name=name, row=row)
        return result["definition"], result["uses"]

    assert found("%tanh.1", 10) == (9, [10])
    assert found("%region_0.1", 10) == (2, [10])
    assert found("%w.1", 8)[0] == 8
    assert found("%nothing", 8) == (-1, [])


def test_symbol_in_stablehlo_stays_in_its_function():
    made = of(
        "module @jit_f {",
        "  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {",
        "    %0 = call @relu(%arg0) : (tensor<8xf32>) -> tensor<8xf32>",
        "    return %0 : tensor<8xf32>",
        "  }",
        "  func.func private @relu(%arg0: tensor<8xf32>) -> tensor<8xf32> {",
        "    %0 = stablehlo.tanh %arg0 : tensor<8xf32>",
        "    return %0 : tensor<8xf32>",
        "  }",
        "}",
        kind="stablehlo",
    )
    doc = made.documents["stablehlo"]
    doc.fold_end[[0, 1, 5]] = 9, 4, 8
    for name, row, answer in (("%0", 7, (6, [7])), ("%0", 2, (2, [3])), ("%arg0", 6, (5, [6])), ("@relu", 2, (5, [2]))):
        result, _ = dispatch.answer([made], "symbol", {"call": 0, "doc": "stablehlo", "name": name, "row": row})
        assert (result["definition"], result["uses"]) == answer


def test_symbol_in_a_jaxpr():
    result, _ = ask("symbol", doc="jaxpr", name="c", row=2)
    assert result == {"definition": 1, "uses": [2]}


BAD_REQUESTS = [
    ({"method": "eval", "params": HLO}, "unknown method 'eval'"),
    ({"method": ["page"], "params": HLO}, "unknown method"),
    ({"method": "page", "params": HLO | {"start": -1, "end": 5}}, r"^start .*\b0\b"),
    ({"method": "page", "params": HLO | {"start": "0", "end": 5}}, r"^start .*0"),
    ({"method": "page", "params": HLO | {"start": 5, "end": True}}, r"^end .*\b5\b"),
    ({"method": "page", "params": HLO | {"start": False, "end": 5}}, r"^start .*\b0\b"),
    ({"method": "document", "params": {"call": 1, "doc": "hlo"}}, r"^call .*\b0\b.*\b0\b.*\b1$"),
    ({"method": "document", "params": {"call": 0, "doc": "asm"}}, "there is no 'asm' document; there is python"),
    ({"method": "document", "params": {"call": 0, "doc": {}}}, "^doc "),
    ({"method": "document", "params": [1]}, "params of 'document' must be an object"),
    ({"method": "search", "params": HLO | {"query": 3}}, "^query .*3$"),
    ({"method": "symbol", "params": HLO | {"name": "", "row": 0}}, "name must be a value's name"),
    ({}, "unknown method ''"),
    ("hello", "a request must be an object"),
    (None, "a request must be an object"),
]


@pytest.mark.parametrize(("request_", "said"), BAD_REQUESTS)
def test_a_bad_request_gets_one_line(request_, said):
    message, buffers = dispatch.reply([fakes.program()], request_)
    error = message["error"]
    assert re.search(said, error["message"])
    assert "\n" not in error["message"]
    assert len(error["message"]) <= 500
    assert (error["kind"], error["log"]) == ("failed", False)
    assert buffers == []


def test_a_failure_inside_is_a_one_line_answer():
    class Broken(dict):
        def __getitem__(self, kind):
            raise RuntimeError("no\nmemory " + "x" * 1000)

    request = {"id": 7, "method": "document", "params": HLO}
    message, _ = dispatch.reply([fakes.program(documents=Broken(hlo=1))], request)
    assert message["error"]["message"].startswith("RuntimeError: no memory")
    assert (message["kind"], message["id"], len(message["error"]["message"])) == ("reply", 7, 500)


def test_the_running_stage_of_any_call_tells_its_time():
    waiting, running = fakes.program(), fakes.program(elapsed=2.5)
    assert dispatch.answer([waiting, running], "elapsed", {}) == ({"elapsed": 2.5}, [])
    assert dispatch.answer([waiting], "elapsed", {}) == ({"elapsed": None}, [])


def test_of_a_workers_log_the_end_is_shown():
    made = fakes.program(log="\n".join(f"line {n} " + "x" * 5000 * (n == 204) for n in range(205)))
    result, _ = dispatch.answer([made], "log", {"call": 0})
    assert (len(result["lines"]), result["left_out"]) == (200, 5)
    assert result["lines"][0] == "line 5 "
    assert len(result["lines"][-1]) == dispatch.LONGEST_OF_LOG
    assert dispatch.answer([fakes.program()], "log", {"call": 0}) == ({"lines": [], "left_out": 0}, [])


def test_a_closed_panel_says_so():
    assert "closed" in dispatch.reply([], {"id": 1, "method": "frames", "params": {"call": 0}})[0]["error"]["message"]


def test_half_a_million_lines_are_paged_and_nothing_is_kept():
    line = "  %fusion.{0} = f32[8,512]{{1,0}} fusion(f32[8,512]{{1,0}} %param.{0}), calls=%fused_computation.{0}"
    before = len(rows._tables)  # those of other tests
    made = of(*(line.format(i) for i in range(500_000)))
    assert ask("document", made)[0]["mode"] == "paged"
    ask("page", made, start=0, end=1)
    for start in range(0, 400_000, 20_000):
        assert len(ask("page", made, start=start, end=start + 200)[0]["lines"]) == 200
    assert hits(made, "FUSION.499999")[0] == 1
    gone = weakref.ref(made.documents["hlo"])
    del made
    gc.collect()
    assert gone() is None
    assert len(rows._tables) <= before


@pytest.mark.parametrize("number", [float("nan"), float("inf"), [], {"a": float("nan")}, 1.5])
def test_a_reply_to_a_number_that_json_has_not_can_be_sent(number):
    message, _ = dispatch.reply([fakes.program()], {"id": number, "method": "elapsed"})
    json.dumps(message, allow_nan=False)
    assert message["id"] is None


def test_all_characters_but_one_have_one_lower_case_character():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    folded = search._folded(every)
    assert len(folded) == len(every)
    assert [a for a, b in zip(every, folded, strict=True) if b != a.lower()] == ["\u0130"]


def test_a_long_search_with_wide_characters_counts_columns_once():
    line = "\U0001f600" + "a" * 3998
    made = of(*[line] * 500)
    before = time.thread_time()
    total, at = hits(made, "a")
    assert time.thread_time() - before < 2
    assert total == 500 * 3998 and at[0] == (0, 2) and at[1] == (0, 3) and at[3998] == (1, 2)

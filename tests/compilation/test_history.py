"""What a history tells of its records: rows, tables, figures and selections."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.compilation.causes import causes
from jaxstage_ext.compilation.causes.cause import Cause, Verdict
from jaxstage_ext.compilation.causes.precedents import Precedents
from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.records.compile_log import CompileLog
from jaxstage_ext.compilation.records.compile_record import (
    Asker,
    CacheOutcome,
    CompileRecord,
    Entry,
    KeptValue,
    PersistentFacts,
    Place,
    StageName,
    StageRun,
)
from jaxstage_ext.report.table import Table
from tests.helpers.compile_records import compile_record, function_identity, signature, stage_runs


def history_of(*records: CompileRecord) -> History:
    log = CompileLog()
    for record in records:
        log.add(record)
    return history(log)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The second record of a function and each after it are shape changes; (number, earlier ones) of each question."""
    asked = []

    def verdict(record: CompileRecord, precedents: Precedents) -> Verdict:
        earlier = precedents.of(record)
        asked.append((record.number, len(earlier)))
        if not earlier:
            return Verdict(Cause.FIRST)
        return Verdict(Cause.SHAPE, nearest=earlier[-1].number, can_be_mended=True, is_wasted=len(earlier) > 1)

    monkeypatch.setattr(causes, "verdict", verdict)
    return asked


def test_a_row_has_the_call_and_its_stages_in_seconds(judged: Any) -> None:
    record = compile_record(
        signature=signature(np.zeros((8, 4), np.float32), {"w": np.zeros(3, np.int32)}, n=np.float32(1)),
        persistent=PersistentFacts(CacheOutcome.HIT, saved_seconds=3.0),
    )
    (row,) = history_of(record).table().rows()
    assert row["signature"] == "f32[8,4], {'w': i32[3]}, n=f32[]"
    assert (row["trace"], row["lower"], row["compile"]) == (0.25, 0.5, 2.0)
    assert (row["line"], row["function"], row["cell"]) == ("In [3]:2", "step", 3)
    assert (row["persistent"], row["served_by"], row["outcome"]) == ("hit", "persistent cache", "loaded")


def test_static_values_stand_last_in_the_signature() -> None:
    known = signature(np.float32(1))
    statics = (KeptValue("n", "int", 3, True), KeptValue("config", "Config"))
    record = compile_record(signature=type(known)(known.tree, known.avals, statics=statics))
    assert history_of(record).table()["signature"] == ["f32[], n=3, config=<Config>"]


def test_a_large_argument_is_its_number_of_leaves() -> None:
    record = compile_record(signature=signature([np.float32(i) for i in range(2000)]))
    assert history_of(record).table()["signature"] == ["list of 2,000 leaves"]


def test_what_is_unknown_says_why() -> None:
    record = compile_record(stages=stage_runs(trace=0, lower=0), cell=None, user_line=None, signature=None)
    record.stages.append(StageRun(StageName.LOWER, 0.0))
    table = history_of(record).table()
    assert table["trace"] == [None]
    assert table.reasons[0, "trace"] == "JAX reported no such stage"
    assert table.reasons[0, "lower"] == "its end was not reported"
    assert table.reasons[0, "cell"] == "it ran between cells"
    assert table.reasons[0, "signature"] == "JAX's frames do not show the call"
    assert set(table.reasons) == {(0, n) for n, column in table.columns.items() if column.values[0] is None}


def test_eager_operations_of_a_line_share_a_row_until_asked_for() -> None:
    here, below = Place("<cell>", 1, "<module>", 3), Place("<cell>", 2, "<module>", 3)
    eager = [
        compile_record(name=name, entry=Entry.EAGER, function=None, user_line=line)
        for name, line in (("add", here), ("mul", here), ("add", here), ("sin", below))
    ]
    seen = history_of(eager[0], compile_record(), *eager[1:])
    table = seen.table()
    assert table["function"] == ["3 eager operations: add, mul", "step", "sin"]
    assert table["compile"] == [6.0, 2.0, 2.0]
    assert len(seen.table(eager=True)) == 5


def test_a_cell_that_runs_again_has_its_own_row_of_eager_operations() -> None:
    runs = [compile_record(name="add", entry=Entry.EAGER, run=run) for run in "ab"]
    assert len(history_of(*runs).table()) == 2


def test_totals_count_each_second_once(judged: Any) -> None:
    saved = PersistentFacts(CacheOutcome.HIT, saved_seconds=5.0)
    seen = history_of(compile_record(), compile_record(), compile_record(persistent=saved))
    assert seen.totals.spent == 3 * 2.75
    assert seen.totals.wasted == 2.75
    assert seen.totals.saved == 5.0
    assert history_of(compile_record()).totals.saved is None


def test_a_cause_is_found_once_and_from_what_began_before(judged: list[tuple[int, int]]) -> None:
    records = [compile_record(number=n) for n in (5, 3, 4)]
    seen = history_of(*records)
    table = seen.table()
    assert table["cause"] == ["shape", "first", "shape"]
    assert sorted(judged) == [(3, 0), (4, 1), (5, 2)]
    seen.only(cell=3).table()
    assert len(judged) == 3


def test_a_cause_of_what_runs_is_not_kept(judged: list[tuple[int, int]]) -> None:
    record = compile_record(stages=[StageRun(StageName.TRACE, 0.0)])
    seen = history_of(record)
    assert [seen.verdict(record).cause, seen.verdict(record).cause] == [Cause.FIRST] * 2
    assert len(judged) == 2


def test_selections(judged: Any) -> None:
    def other(x: Any) -> Any:
        return x

    records = [
        compile_record(),
        compile_record(cell=4),
        compile_record(name="other", function=function_identity(other)),
        compile_record(asker=Asker.JAXSTAGE),
        compile_record(stages=stage_runs(compiled=30)),
    ]
    seen = history_of(*records)
    assert seen.only(cell=4).records == (records[1],)
    assert seen.only(function="other").records == (records[2],)
    assert seen.only(over=10).records == (records[4],)
    assert seen.only(lambda record: record.cell == 4, function="other").records == ()
    assert seen.recompiles().records == (records[1], records[4])


def test_a_method_goes_by_each_of_its_names() -> None:
    record = compile_record(function=function_identity(qualname="make.<locals>.Model.step"))
    seen = history_of(record)
    assert seen.table()["function"] == ["Model.step"]
    for name in ("step", "Model.step", "make.<locals>.Model.step", "__main__.make.<locals>.Model.step"):
        assert len(seen.only(function=name)) == 1
    assert len(seen.only(function="Model")) == 0


def test_by_function_and_by_cell(judged: Any) -> None:
    records = [compile_record(), compile_record(cell=4), compile_record(name="add", entry=Entry.EAGER, function=None)]
    seen = history_of(*records)
    by_function, by_cell = seen.by_function(), seen.by_cell()
    assert by_function["function"] == ["step", "eager operations"]
    assert by_function["compiles"] == [2, 1]
    assert by_function["recompiles"] == [1, 0]
    assert by_function["own"] == [5.5, 2.75]
    assert by_cell["cell"] == [3, 4]
    assert by_cell["recompiles"] == [0, 1]


def test_an_empty_log_has_empty_tables() -> None:
    seen = history_of()
    assert len(seen.table()) == len(seen.by_function()) == len(seen.by_cell()) == 0
    assert seen.totals.spent == 0


def test_json_comes_back_as_the_same_table() -> None:
    seen = history_of(compile_record(), compile_record(cell=None))
    assert Table.from_json(seen.to_json()) == seen.table(eager=True)
    assert json.loads(seen.to_json())["table"] == "compiles"


def test_a_comparison_that_fails_is_an_unknown_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Verdict:
        raise ValueError("broken __eq__")

    monkeypatch.setattr(causes, "verdict", fails)
    table = history_of(compile_record()).table()
    assert table["cause"] == [None]
    assert "broken __eq__" in table.reasons[0, "cause"]

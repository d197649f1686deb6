"""Each figure of a history is the same wherever it is shown, and is about the right records."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.precedents import Precedents
from jaxstage_ext.compilation.history import costliest
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import Asker, CacheOutcome, CompileRecord, PersistentFacts
from jaxstage_ext.compilation.records.record_outcome import recompiles_text
from jaxstage_ext.panel.requests import compiles_requests
from jaxstage_ext.report.text.units import duration
from jaxstage_ext.views.compiled import compile_forms
from tests.helpers.compile_records import compile_record, function_identity, signature, stage_runs


def made_with(*seconds_and_keys: tuple[float, str]) -> list[CompileRecord]:
    """Records of functions that were made anew, each of so many seconds of compiling, with the key of its program."""
    records = []
    for seconds, key in seconds_and_keys:
        compiled = PersistentFacts(CacheOutcome.OFF, key)
        function = function_identity(lambda x: x, code=function_identity().code)
        records.append(compile_record(stages=stage_runs(0, 0, seconds), persistent=compiled, function=function))
    return records


def history_of(records: list[CompileRecord], verdicts: dict[int, Verdict] | None = None) -> History:
    return History(tuple(records), tuple(records), 0, verdicts or {})


def test_an_equal_program_is_looked_for_among_all_earlier_records() -> None:
    first, other, third = made_with((1, "jit_step-a"), (2, "jit_step-b"), (4, "jit_step-a"))
    seen = history_of([first, other, third])
    assert [seen.verdict(record).is_wasted for record in seen.records] == [False, False, True]
    assert seen.verdict(third).same_program == first.number
    assert seen.totals.wasted == 4


def test_an_equal_program_is_found_behind_more_records_than_are_compared() -> None:
    records = made_with((1, "jit_step-a"), *((1, f"jit_step-{at}") for at in range(100)), (8, "jit_step-a"))
    assert history_of(records).totals.wasted == 8


def test_an_equal_key_of_a_failed_compile_or_of_a_later_record_is_no_earlier_program() -> None:
    failed, good = made_with((1, "jit_step-a"), (1, "jit_step-a"))
    failed.failed = "XlaRuntimeError"
    precedents = Precedents([failed, good])
    assert precedents.same_program(good) is None
    assert precedents.same_program(failed) is None


def judged_history() -> History:
    """Three recompiles of two causes, of which two can be avoided; work of JAXStage's."""
    first, shape, config, ours = (compile_record(stages=stage_runs(0, 0, n)) for n in (8, 4, 2, 16))
    loaded = compile_record(stages=stage_runs(0, 0, 1), cell=4, persistent=PersistentFacts(CacheOutcome.HIT, "k"))
    ours.asker = Asker.JAXSTAGE
    differs = (Difference(Cause.SHAPE, "x", "f32[8]", "f32[9]"),)
    verdicts = {
        first.number: Verdict(Cause.FIRST),
        shape.number: Verdict(Cause.SHAPE, differs, first.number, can_be_mended=True),
        loaded.number: Verdict(Cause.SHAPE, differs, first.number, can_be_mended=True, is_wasted=True),
        config.number: Verdict(
            Cause.CONFIG, (Difference(Cause.CONFIG, "jax_enable_x64", "False", "True"),), first.number
        ),
        ours.number: Verdict(Cause.AHEAD_OF_TIME, is_wasted=True, can_be_mended=True),
    }
    return history_of([first, shape, config, ours, loaded], verdicts)


def test_each_figure_is_the_same_in_the_panel_the_text_the_html_and_the_tables() -> None:
    seen = judged_history()
    expected = {"spent": 15.0, "avoidable": 5.0, "wasted": 1.0}
    panel = compiles_requests._totals(seen, math.inf)
    assert {name: panel[name] for name in expected} == expected
    assert {name: getattr(seen.totals, name) for name in expected} == expected
    for table in (seen.by_function(), seen.by_cell()):
        rows = [row for row in table.rows() if row["asker"] == "user"]
        sums = {name: sum(row["own" if name == "spent" else name] for row in rows) for name in expected}
        assert sums == expected
    said = f"{duration(15)}; {duration(5)} of it avoidable; {duration(1)} of it for programs that had been compiled"
    assert said in " ".join(compile_forms.text(seen).split())
    assert said in re.sub("<[^>]*>", "", compile_forms.html(seen))


def test_the_headline_has_the_seconds_of_each_cause() -> None:
    found = costliest.costliest(judged_history())
    assert found is not None
    assert [(len(part.records), part.seconds) for part in found.causes] == [(2, 5.0), (1, 2.0)]
    assert found.seconds == sum(part.seconds for part in found.causes)
    assert found.record.own_seconds == 4
    headline = compiles_requests._headline(judged_history())
    assert headline is not None
    assert (headline["times"], headline["loaded"], headline["seconds"]) == (3, 1, 7.0)
    assert [(part["seconds"], part["loaded"], part["why"]) for part in headline["causes"]] == [
        (5.0, 1, headline["causes"][0]["why"]),
        (2.0, 0, headline["causes"][1]["why"]),
    ]
    assert all(shape in headline["causes"][0]["why"] for shape in ("f32[9]", "f32[8]"))


@pytest.mark.parametrize(
    ("loaded", "said"),
    [
        (0, "compiled again 2 times"),
        (1, "compiled again and loaded from the persistent cache"),
        (2, "loaded from the persistent cache 2 times"),
    ],
)
def test_what_was_loaded_was_not_compiled_again(loaded: int, said: str) -> None:
    hits = [compile_record(persistent=PersistentFacts(CacheOutcome.HIT, "k")) for _ in range(loaded)]
    assert recompiles_text([*hits, *(compile_record() for _ in range(2 - loaded))]) == said


def test_the_cache_is_off_where_no_folder_was_in_use() -> None:
    off, hit = (compile_record(persistent=PersistentFacts(one, "k")) for one in (CacheOutcome.OFF, CacheOutcome.HIT))
    assert history_of([off]).totals.is_cache_off
    assert not history_of([off, hit]).totals.is_cache_off
    assert not history_of([compile_record(persistent=None)]).totals.is_cache_off


def test_the_third_of_three_sizes_is_a_program_that_jax_compiled_before() -> None:
    """With JAX itself: the function is made anew each time, and the size is captured."""
    import jax
    import jax.numpy as jnp

    from jaxstage_ext.compilation.events import listening
    from jaxstage_ext.compilation.records.compile_log import LOG

    class Size:
        __slots__ = ("count",)  # so that the log cannot compare two of them

    def run(count: int) -> None:
        size = Size()
        size.count = count

        def total_of_size(x: Any) -> Any:
            return jnp.sin(jnp.broadcast_to(x, (size.count,))).sum()

        jax.jit(total_of_size)(1.0)

    was_on = listening.is_on()
    listening.start()
    LOG.clear()
    try:
        for count in (100, 80, 100):
            run(count)
        records = [record for record in LOG if record.name == "total_of_size"]
        seen = history_of(records)
        assert [seen.verdict(record).is_wasted for record in records] == [False, False, True]
        assert math.isclose(seen.totals.wasted, records[2].own_seconds)
    finally:
        if not was_on:
            listening.stop()


def test_signatures_do_not_matter_to_what_is_equal() -> None:
    first, second = made_with((1, "jit_step-a"), (1, "jit_step-a"))
    second.signature = signature(1.0)
    assert history_of([first, second]).verdict(second).is_wasted

"""Compile logs of several processes as one: order, absences, waits, and keys that differ, of logs made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from job_logs import BEGAN, key_form, log_row, process_log

from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.processes.gathered_compiles import gathered_compiles
from jaxstage_ext.processes.job_compiles import MergedCompiles
from jaxstage_ext.processes.key_comparison import compared_keys
from jaxstage_ext.processes.shown_job_compiles import JobCompiles

F, G, H = (("f", "f32[8]"), ("g", "f32[8]"), ("h", "f32[8]"))


def merged(*orders: str, **changes: Any) -> MergedCompiles:
    """A log for each process, whose programs are letters in their order; the process k takes k more seconds each."""
    logs = [
        process_log(process, [log_row(name, 2 * at, 1 + process, at) for at, name in enumerate(order)], **changes)
        for process, order in enumerate(orders)
    ]
    return MergedCompiles(tuple(logs))


def test_programs_are_matched_by_name_and_how_often() -> None:
    found = merged("fgf", "fgf").programs
    assert [(one.name, one.time, sorted(one.rows)) for one in found] == [
        (F, 0, [0, 1]),
        (G, 0, [0, 1]),
        (F, 1, [0, 1]),
    ]
    assert all(one.absent == () for one in found)


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (("fg", "fg"), None),
        (("fg", "gf"), (1, {F: (0,), G: (1,)})),
        (("hfg", "hgf", "hfg"), (2, {F: (0, 2), G: (1,)})),
        (("fhg", "fg"), None),
        (("fhg", "gf"), (1, {F: (0,), G: (1,)})),
        (("f", ""), None),
    ],
)
def test_the_first_difference_in_order_is_that_of_what_they_have_in_common(orders: Any, expected: Any) -> None:
    found = merged(*orders).order_difference
    assert (None if found is None else (found.place, dict(found.compiled))) == expected


def test_a_program_that_a_process_lacks_has_no_wait() -> None:
    logs = merged("fg", "f")
    absent = {one.name: (one.absent, logs.waited(one)) for one in logs.programs}
    assert absent == {F: ((), 1.0), G: ((1,), None)}


def test_programs_of_one_process_are_none_of_the_job() -> None:
    logs = MergedCompiles((process_log(0, [log_row("f", 0, processes=[0])]), process_log(1, [])))
    assert logs.programs == () and logs.order_difference is None and len(logs) == 1


def test_what_the_guard_stopped_is_no_program_of_the_job_and_changes_no_order() -> None:
    stopped = log_row("h", 0, outcome=RecordOutcome.STOPPED.value, compile=None)
    of_one = merged("fg", "fg")
    logs = MergedCompiles(tuple({**log, "rows": [stopped, *log["rows"]]} for log in of_one.logs))  # type: ignore[typeddict-item, unused-ignore]
    assert [one.name for one in logs.programs] == [F, G] and logs.order_difference is None
    assert logs.stopped == {H: (0, 1)} and of_one.stopped == {}


def test_the_wait_is_from_the_first_arrival_to_the_last() -> None:
    logs = MergedCompiles((process_log(0, [log_row("f", 5.0, 1.5)]), process_log(1, [log_row("f", 1.0, 2.0)])))
    [program] = logs.programs
    assert program.arrivals == {0: BEGAN + 6.5, 1: BEGAN + 3.0} and logs.waited(program) == 3.5
    running = MergedCompiles((*logs.logs[:1], process_log(1, [log_row("f", 1.0, ended=None)])))
    assert running.waited(running.programs[0]) is None


def test_clocks_of_other_hosts_are_not_compared() -> None:
    logs = merged("fg", "fg")
    apart = MergedCompiles((logs.logs[0], {**logs.logs[1], "host": "there"}))  # type: ignore[typeddict-item, unused-ignore]
    assert logs.shares_clock and not apart.shares_clock
    assert [apart.waited(one) for one in apart.programs] == [None, None]
    assert [one.name for one in apart.programs] == [F, G]


def test_who_writes_and_who_hits_is_counted() -> None:
    did = [CacheOutcome.HIT, CacheOutcome.HIT, CacheOutcome.WRITTEN]
    rows = [log_row("f", at, number=at, cache=one.name) for at, one in enumerate(did)]
    [first, second] = MergedCompiles((process_log(0, rows, cache_folder="cache"), process_log(1, []))).cache_uses
    assert first.outcomes == {CacheOutcome.HIT: 2, CacheOutcome.WRITTEN: 1} and first.asked == 3
    assert second.asked == 0


def test_keys_differ_in_the_parts_that_do_and_options_by_name() -> None:
    assert compared_keys({0: key_form(), 1: key_form()}).differences == ()
    [device] = compared_keys({0: key_form("a"), 1: key_form("b")}).differences
    assert device.part is KeyPart.DEVICES and device.is_fingerprint
    other = key_form(options={"one": "2", "two": "3"})
    other["parts"]["OPTIONS"] = "other"
    found = compared_keys({0: key_form(), 1: other}).differences
    assert [(one.part, one.what, dict(one.values)) for one in found] == [
        (KeyPart.OPTIONS, "one", {0: "1", 1: "2"}),
        (KeyPart.OPTIONS, "two", {0: "", 1: "3"}),
    ]
    unknown = compared_keys({0: key_form(), 1: key_form(reason="it is gone")})
    assert unknown.differences == () and unknown.unknown == {1: "it is gone"}


class Asked:
    """Two processes that answer with logs made by hand, and what they were asked."""

    def __init__(self, *logs: Any) -> None:
        self.logs, self.asked = logs, list[tuple[str, tuple[object, ...], Any]]()

    def __call__(self, function: str, *arguments: object, only: Sequence[int] | None = None) -> list[Any]:
        self.asked.append((function.rpartition(":")[2], arguments, only))
        if function.endswith(":cache_keys"):
            [process] = only or ()
            wanted: Any = arguments[0]
            return [SimpleNamespace(process=process, value={n: key_form(str(process)) for n in wanted}, failure=None)]
        return [self._reply(process, log) for process, log in enumerate(self.logs)]

    def _reply(self, process: int, log: Any) -> Any:
        failure = SimpleNamespace(error="", message="it has ended", kind="died") if log is None else None
        return SimpleNamespace(process=process, value=log, failure=failure)


def rows_with_keys(process: int, keys: str) -> list[Any]:
    return [
        log_row(f"f{at}", at, number=10 + at, key=f"{key}{process if key == 'x' else ''}", cache="WRITTEN")
        for at, key in enumerate(keys)
    ]


def test_only_keys_that_differ_are_asked_for_and_only_the_first() -> None:
    ask = Asked(*(process_log(process, rows_with_keys(process, "axaxxxx"), cache_folder="c") for process in (0, 1)))
    made = gathered_compiles(ask)
    assert [asked for asked in ask.asked if asked[0] == "cache_keys"] == [
        ("cache_keys", ([11, 13, 14],), [0]),
        ("cache_keys", ([11, 13, 14],), [1]),
    ]
    assert [one.differences[0].part for one in made.keys.values()] == [KeyPart.DEVICES] * 3
    table = made.by_program()
    assert table["cache keys differ in"] == ["", "devices", "", "devices", "devices", None, None]
    assert {(5, "cache keys differ in"), (6, "cache keys differ in")} <= set(table.reasons)


def test_a_process_without_an_answer_is_named() -> None:
    made = gathered_compiles(Asked(process_log(0, [log_row("f", 0)]), None))
    assert made.missing == {1: "it has ended"} and "it has ended" in str(made)
    assert made.by_program().reasons[0, "wait"]


def test_the_tables_have_each_record_and_each_program() -> None:
    eager = log_row("add", 1, is_eager=True, processes=[0])
    logs = (process_log(0, [log_row("f", 2), eager]), process_log(1, [log_row("f", 0, 3.0, compile=None)]))
    made = JobCompiles(logs)
    assert made.table()["process"] == [1, 0] and made.table(eager=True)["program"][1] == "add(f32[8])"
    assert made.table().reasons[0, "compile"]
    [row] = made.by_program().rows()
    assert (row["processes"], row["slowest"], row["seconds"], row["wait"]) == ("0 and 1", 1, 1.5, 0.0)
    assert len(made) == 3 and "<table" in made._repr_html_()


def test_names_are_data_in_every_form() -> None:
    made = JobCompiles((process_log(0, [log_row("<script>", 0)], host="<b>"), process_log(1, [log_row("<i>", 0)])))
    assert not any(f"<{name}>" in made._repr_html_() for name in ("script", "b", "i"))

"""One quantity has one figure: in the header, Compare, Cost, roll-ups, Answers, text, HTML, Memory and Collectives."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import jax
import numpy as np
import pytest
from absent import needs
from panel_requests import ask

import jaxstage_ext
from jaxstage_ext.analysis.cost.module_cost import GROUPS
from jaxstage_ext.profiling.predictions.predicted_timeline_wording import NAMES as NAMES_OF_ESTIMATES
from jaxstage_ext.report.table import Table, plain
from jaxstage_ext.report.text.units import duration, scaled
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.views.static_html import panel_html
from tests.golden.record import load_programs
from tests.truth import generated

GOLDEN = load_programs().PROGRAMS
SEEDS = range(6)
TARGETS = ("cpu:4", "v5e:2x2", "h100:4")
HAS_TOTAL = jax.__version_info__ >= (0, 12)


@functools.cache
def staged(name: str, target: str) -> Any:
    """The Inspection of a program, staged once in a test run."""
    needs(target)
    function, arguments = GOLDEN[name] if name in GOLDEN else generated.program(int(name.removeprefix("seed ")))
    return jaxstage_ext.inspect(function, *arguments, target=target)


NAMES = [*(name for name in GOLDEN if name != "callback"), *(f"seed {seed}" for seed in SEEDS)]
every_program = pytest.mark.parametrize("name", NAMES)
every_target = pytest.mark.parametrize("target", TARGETS)


def facts(inspection: Any) -> dict[str, dict[str, Any]]:
    return {fact["label"]: fact for fact in inspection.summary()["facts"]}


def compared(inspection: Any) -> dict[str, dict[str, Any]]:
    [row] = inspection.compare().to_dict()["rows"]
    return dict(row["cells"])


@every_target
@every_program
def test_work_is_the_same_everywhere(name: str, target: str) -> None:
    inspection = staged(name, target)
    head, row, work = facts(inspection), compared(inspection), inspection.cost.work
    text, html = " ".join(repr(inspection).split()), panel_html([inspection.program])
    for label, column, total, unit in (
        ("FLOPs", "flops", work.total_flops, "FLOP"),
        ("bytes moved", "bytes", work.total_bytes, "B"),
    ):
        shown = head[label]["text"]
        assert shown.startswith(row[column]["text"]) or row[column]["value"] is None
        assert f"{label} {shown}" in html
        assert f"{label} {shown}" in text.replace("│ │ ", "")
        if head[label]["known"]:
            is_open = "at least" in shown or " to " in shown
            assert row[column]["value"] == total or is_open
            assert row[column]["value"] is None or scaled(row[column]["value"], unit) in shown
            assert shown in inspection.cost.headline


@every_target
@every_program
def test_roll_ups_add_up_to_the_total(name: str, target: str) -> None:
    work = staged(name, target).cost.work
    for group in GROUPS:
        table = work.by(group)
        assert np.nansum(table["FLOPs"]) == pytest.approx(work.total_flops, rel=1e-9), group
        moved = np.nansum(table["bytes read"]) + np.nansum(table["bytes written"])
        assert moved == pytest.approx(work.total_bytes, rel=1e-9), group
        for column in ("FLOPs", "bytes read", "bytes written"):
            left_out = set(np.flatnonzero(np.isnan(table[column])).tolist())
            assert left_out == {row for row, name in table.reasons if name == column}, (group, column)


@every_target
@every_program
def test_memory_is_the_same_everywhere(name: str, target: str) -> None:
    inspection = staged(name, target)
    before = compared(inspection)["memory"]["value"]
    memory = inspection.memory
    needed, space = memory.fit.needed, memory.space()
    head, row = facts(inspection), compared(inspection)
    assert before in (None, needed)
    if HAS_TOTAL or target.startswith("cpu"):
        assert before == needed, "what XLA's statistics give before a recompile is what the replay gives"
    on_tpu = target.startswith("v5e")
    code = memory.stats["generated_code_size_in_bytes"] + space.local if on_tpu else 0
    assert needed == space.reserved + code
    assert row["memory"]["value"] == needed
    assert head["memory needed"]["text"] == row["memory"]["text"] == scaled(needed, "B")
    assert row["fits"]["text"] == memory.fit.answer == "yes"
    assert memory.fit.text == inspection.answers["answer"][1] == str(memory).splitlines()[0]
    reply, _ = ask(inspection.program, "memory")
    assert (reply["fit"]["needed"], reply["fit"]["answer"]) == (needed, memory.fit.answer)
    assert sum(memory.peak_set["size"]) == space.peak <= space.reserved


@every_target
@every_program
def test_times_and_collectives_are_the_same_everywhere(name: str, target: str) -> None:
    inspection = staged(name, target)
    row, collectives, roof = compared(inspection), inspection.collectives, inspection.cost.roofline
    assert row["collectives"]["value"] == len(collectives)
    sent = [plain(value) for value in collectives.table["sent"]] if len(collectives) else []
    if row["sent"]["value"] is None:
        assert None in sent
    else:
        assert row["sent"]["value"] == pytest.approx(sum(value or 0 for value in sent))
        assert row["sent"]["text"].startswith("at least ") or None not in sent
    assert row["time"]["value"] is None or row["time"]["value"] == roof.total
    answers = inspection.answers["answer"]
    assert answers[0].startswith(roof.verdict)
    assert answers[3] == collectives.headline


@every_target
@every_program
def test_an_estimate_is_the_same_everywhere(name: str, target: str) -> None:
    inspection = staged(name, target)
    head, row = facts(inspection), compared(inspection)
    labels = [label for label in NAMES_OF_ESTIMATES.values() if label in head]
    try:
        made = inspection.predicted
    except Unavailable:
        assert not labels and "estimate" not in row
        assert not any("estimate:" in text for text in (*inspection.answers["answer"], str(inspection.cost)))
        return
    about = made.recording.prediction
    assert [NAMES_OF_ESTIMATES[about.estimator]] == labels
    assert head[labels[0]]["known"] == (about.seconds is not None)
    if about.seconds is not None:
        shown = duration(about.seconds)
        assert head[labels[0]]["text"] == shown and row["estimate"]["value"] == about.seconds
        said = (inspection.answers["answer"][0], " ".join(inspection.cost.verdicts), str(made))
        assert all(f"{shown} a call" in text for text in said)
        assert about.seconds >= made.busy()["window"].sum() - 1e-9 or not about.loops
        assert not inspection.cost.roofline.total or about.seconds >= 0.99 * inspection.cost.roofline.total
    exposed = sum(made.exposed()["exposed"])
    assert about.exposed is None or exposed == pytest.approx(about.exposed, rel=0.01, abs=1e-8)


@every_target
@every_program
def test_nothing_unknown_is_printed_as_zero(name: str, target: str) -> None:
    inspection = staged(name, target)
    work = inspection.cost.work
    for fact in inspection.summary()["facts"]:
        assert fact["known"] == (fact["text"] != "unknown") == (fact["reason"] is None)
    tables: list[Table] = [
        inspection.cost.table,
        inspection.cost.ledger,
        inspection.compare(),
        inspection.collectives.table,
    ]
    tables += [work.by(group) for group in GROUPS]
    for table in tables:
        for (place, column), reason in table.reasons.items():
            is_counted = column in ("runs", "overlap", "axes")  # whose reason says how they were counted
            assert reason
            assert is_counted or plain(table[column][place]) is None, (table.name, column)
    every = "\n".join(
        [repr(inspection), inspection.cost.headline, *inspection.answers["answer"], str(inspection.compare())]
    )
    assert not re.search(r"at least 0\b(?!\.)", every)
    assert " -1 " not in every
    unknown = np.isnan(work.flops[work.shown])
    assert bool(unknown.any()) <= ("at least" in inspection.cost.headline or "unknown" in inspection.cost.headline)


@every_target
@every_program
def test_the_ledger_has_no_impossible_figure_of_xlas(name: str, target: str) -> None:
    ledger = staged(name, target).cost.ledger
    for value in ledger["XLA"]:
        assert plain(value) is None or value >= 0
    assert ledger["HLO"][0] == staged(name, target).cost.work.total_flops
    assert math.isnan(ledger["measured"][0])

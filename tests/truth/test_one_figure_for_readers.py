"""What programs read has the figures of the panel: short form, rows, command line, tools, assertions, history, near."""

from __future__ import annotations

import functools
import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from absent import needs

import jaxstage_ext
from jaxstage_ext.agents import kernel_tools
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.command import findings_command
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.report.table import plain
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.testing import CompiledProgram
from jaxstage_ext.testing.program_figures import program_figures
from tests.golden.record import load_programs

pytestmark = pytest.mark.once("forms of one program: which version made its figures plays no part")
GOLDEN = load_programs().PROGRAMS
FLOPS, BYTES, MEMORY = "FLOPs", "bytes moved", "memory needed"
UNITS = {FLOPS: "FLOP", BYTES: "B", MEMORY: "B"}
Figures = dict[str, float | str]


@functools.cache
def staged(name: str, target: str) -> Inspection:
    needs(target)
    function, arguments = GOLDEN[name]
    return jaxstage_ext.inspect(function, *arguments, target=target)


def true_figures(ins: Inspection) -> dict[str, float]:
    """Those of the panel: `test_one_figure` holds its places against each other."""
    work, needed = ins.cost.work, ins.memory.fit.needed
    assert needed is not None
    return {FLOPS: work.total_flops, BYTES: work.total_bytes, MEMORY: needed}


def agree(form: Figures, true: dict[str, float]) -> bool:
    """Whether numbers are equal, and texts the figure as it is written everywhere."""
    return all(
        value == scaled(true[label], UNITS[label]) if isinstance(value, str) else value == pytest.approx(true[label])
        for label, value in form.items()
    )


def wrong_by_a_tenth(form: Figures, label: str) -> Figures:
    value = form[label]
    if not isinstance(value, str):
        return {**form, label: 1.1 * value}
    number, _, unit = value.partition(" ")
    return {**form, label: f"{1.1 * float(number):.3g} {unit}"}


def in_text(text: str) -> Figures:
    facts = next(line for line in text.splitlines() if line.startswith(FLOPS)).split(" · ")
    return in_facts(
        (label, fact.removeprefix(f"{label} ")) for fact in facts for label in UNITS if fact.startswith(label)
    )


def in_facts(facts: Iterable[tuple[str, str]]) -> Figures:
    return {label: text for label, text in facts if label in UNITS}


def in_rows(text: str) -> Figures:
    """The row that is shown and what those left out have together."""
    form = json.loads(text)
    [shown], rest = (row["values"] for row in form["rows"]), form["left_out"]["totals"]
    flops, *moved = (
        (shown[name] or 0) + (rest[name]["known"] or 0 if rest else 0)
        for name in (FLOPS, "bytes read", "bytes written")
    )
    return {FLOPS: flops, BYTES: sum(moved)}


def on_a_command_line(ins: Inspection, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> str:
    monkeypatch.setattr(findings_command, "inspected", lambda _: ins)
    options = Namespace(fail_on=None, all=False, json=as_json, file="step.py", call="step(x)")
    return findings_command.findings_command(options)[0]


def in_json_of_the_command(ins: Inspection, monkeypatch: pytest.MonkeyPatch) -> Figures:
    form = json.loads(on_a_command_line(ins, monkeypatch, True))
    return in_facts((one["label"], one["text"]) for one in form["figures"])


def by_tool(ins: Inspection, **request: Any) -> str:
    return kernel_tools.answer(json.dumps({"name": "ins", **request}), {"ins": ins})


def in_failures(ins: Inspection) -> Figures:
    """What assertions say where nothing at all is allowed."""
    program = CompiledProgram(ins)
    asserted = {FLOPS: program.flops, BYTES: program.bytes_moved, MEMORY: program.memory}
    figures: Figures = {}
    for label, check in asserted.items():
        check(at_most=true_figures(ins)[label])
        with pytest.raises(AssertionError) as failed:
            check(at_most=0.5)
        text, number = re.search(rf"{label} is ([^(]*) \(([\d,]+)\)", str(failed.value)).groups()  # type: ignore[union-attr]
        assert text == scaled(true_figures(ins)[label], UNITS[label])
        figures[label] = float(number.replace(",", ""))
    return figures


FORMS: dict[str, Callable[[Inspection, pytest.MonkeyPatch], Figures]] = {
    "short form": lambda ins, _: in_text(ins._repr_llm_()),
    "rows of instructions": lambda ins, _: in_rows(ins.cost.to_json(limit=1, by=FLOPS)),
    "rows of lines": lambda ins, _: in_rows(ins.cost.by("line").to_json(limit=1, by=FLOPS)),
    "command line": lambda ins, patch: in_text(on_a_command_line(ins, patch, False)),
    "JSON of the command line": in_json_of_the_command,
    "tool for the short form": lambda ins, _: in_text(by_tool(ins, tool="inspection")),
    "tool for rows": lambda ins, _: in_rows(by_tool(ins, tool="table", table="cost", limit=1)),
    "failures of assertions": lambda ins, _: in_failures(ins),
    "history": lambda ins, _: {label: value for label, value in program_figures(ins.program).items() if label in UNITS},
}


TARGETS = ("cpu:4", "v5e:2x2", "h100:4")
_SELDOM = pytest.mark.seldom("a loop on every target and this on one have each form; this takes longest")
EACH = [
    *(pytest.param("scan", target, id=f"scan-{target}") for target in TARGETS),
    pytest.param("transformer_gradient", "cpu:4", id="transformer_gradient-cpu:4"),
    *(
        pytest.param("transformer_gradient", one, id=f"transformer_gradient-{one}", marks=_SELDOM)
        for one in TARGETS[1:]
    ),
]


@pytest.mark.parametrize(("name", "target"), EACH)
def test_every_form_has_the_figures_of_the_panel(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ins = staged(name, target)
    true = true_figures(ins)
    for form, read in FORMS.items():
        figures = read(ins, monkeypatch)
        assert {FLOPS, BYTES} <= set(figures), form
        assert agree(figures, true), (form, figures, true)
        for label in figures:
            assert not agree(wrong_by_a_tenth(figures, label), true), (form, label)


@pytest.mark.parametrize("target", TARGETS)
def test_an_instruction_costs_the_same_near_another(target: str) -> None:
    ins = staged("scan", target)
    table = ins.cost.table
    heaviest = int(np.nanargmax(table[FLOPS]))
    near = ins.near(str(table["instruction"][heaviest])).table
    moved = table["bytes read"][heaviest] + table["bytes written"][heaviest]
    assert (plain(near[FLOPS][0]), plain(near["bytes"][0])) == (plain(table[FLOPS][heaviest]), plain(moved))


def test_a_stake_is_a_part_of_what_the_panel_has() -> None:
    ins = staged("transformer_gradient", "cpu:4")
    true = true_figures(ins)
    wholes = {StakeMeasure.FLOPS.value: true[FLOPS], StakeMeasure.MOVED.value: true[BYTES],
              StakeMeasure.MEMORY.value: true[MEMORY]}  # fmt: skip
    stakes = [one["stake"] for one in json.loads(ins.findings.to_json())["findings"]]
    for stake in stakes:
        if stake["of"] in wholes:
            assert stake["whole"] == pytest.approx(wholes[stake["of"]])

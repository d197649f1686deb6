"""The answers to the questions about a program."""

from typing import Any

from collective_facts import REDUCE, row

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.program.questions import answer_wording as wording
from jaxstage_ext.program.questions.answer_wording import Holding, Measure

LINE = "In [2]:4"


def exchanged(count: int) -> Collectives:
    nowhere: Any = None
    return Collectives(nowhere, nowhere, (row(REDUCE),) * count)


TWO = {Kind.TEMPORARY: 6_000_000, Kind.OUTPUT: 2_000_000}
SAID = {
    **{f"63 % of {measure.name}": wording.share(LINE, 0.63, measure) for measure in Measure},
    "next to nothing": wording.share(LINE, 0.001, Measure.BYTES),
    "an inferred line": wording.share(LINE, 0.63, Measure.BYTES, True),
    "one collective": wording.costliest(exchanged(1)),
    "1,200 collectives": wording.costliest(exchanged(1200)),
    "a line of one kind": wording.holds(Holding(LINE, {Kind.TEMPORARY: 8_390_000}, 11_800_000, 2_000_000)),
    "a line of two kinds": wording.holds(Holding(LINE, TWO, 11_800_000, 2_000_000)),
    "arguments hold more": wording.holds(Holding(LINE, TWO, 283_000_000, 266_000_000)),
    "no line": wording.nothing_held(1_000, 1_000),
    "no line, no arguments": wording.nothing_held(1_000, 0),
    "largest alone": wording.largest_alone("f32[32,4096,4096]", 2_147_483_648, "In [1]:4", 1.9),
    "largest alone: no line": wording.largest_alone("f32[32,4096,4096]", 2_147_483_648, "", None),
    "costs a compile": wording.costs_a_compile(1.9),
    "costs a compile of unknown length": wording.costs_a_compile(None),
    "not predicted": [wording.not_predicted("XLA estimates no schedule for a100:4"), wording.not_predicted("Open it.")],
    "unknown": wording.unknown(ValueError("the device has\nno memory figures")),
}

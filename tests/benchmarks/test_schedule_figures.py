"""What reading a large schedule of XLA's takes. `make benchmarks` prints the table."""

from __future__ import annotations

import time

import pytest

from jaxstage_ext.analysis.predicted import schedule_match
from jaxstage_ext.analysis.predicted.call_steps import CallSteps
from jaxstage_ext.analysis.predicted.instruction_bounds import InstructionBounds
from jaxstage_ext.analysis.predicted.replay import replay
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.schedules import written_schedule
from tests.benchmarks.table import pairs, row, seconds
from tests.helpers.written_schedules import Scheduled, all_reduce, module, schedule

pytestmark = pytest.mark.benchmark
COUNT = 50_000


def instructions() -> list[Scheduled]:
    """A chain of fusions, an all-reduce beside each ninth."""
    made, last = [Scheduled("x", opcode="parameter")], "x"
    while len(made) < COUNT:
        at = made[-1].end
        begin, done = all_reduce(f"all-reduce.{len(made)}", at + 3.25, at + 30, of=last)
        chain = [
            Scheduled(f"fusion.{len(made)}.{n}", at + 4.25 * n, at + 4.25 * n + 2.5, operands=(last,)) for n in range(7)
        ]
        made += [begin, *chain, done]
        last = chain[-1].name
    return made


def test_fifty_thousand_instructions_are_read_in_half_a_second() -> None:
    entry = instructions()
    written, shown = schedule(entry), hlo.parse(module(entry, shown=True))

    def read() -> None:
        made = written_schedule.read(written)
        assert len(made.computations[0]) >= COUNT

    def matched_and_replayed() -> None:
        made = written_schedule.read(written)
        bounds = InstructionBounds(shown, shown.ids * 0.0, {})
        steps = CallSteps(bounds, {}, made, schedule_match.match(made.module, shown))
        assert replay(steps.entry()).total > COUNT

    plain = module(entry)
    against = pairs(read, lambda: hlo.parse(plain), 5, clock=time.process_time)
    ratio, whole = against.ratio, min(seconds(matched_and_replayed, time.process_time) for _ in range(3))
    row(
        "schedule of 50,000 instructions",
        f"{against.ours:.2f} s",
        f"its module {ratio:.1f} x",
        "<= 0.5 s",
        against.ours < 0.5,
    )
    row("the same beside its module alone", f"{ratio:.1f} x", f"{against.theirs:.2f} s", "<= 6 x", ratio <= 6)
    row("read, matched and replayed", f"{whole:.2f} s", "", "<= 2 s", whole <= 2)

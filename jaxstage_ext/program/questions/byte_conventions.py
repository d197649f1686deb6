"""Why the bytes that a module moves are not those that XLA's cost analysis accesses, as far as its rules say it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from jaxstage_ext.analysis.cost import work_ranges
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.ir.hlo import shapes
from jaxstage_ext.report.text.units import share as percent

_ALIKE = 0.01
_TIMES = 9
"""From ten times as many on, how many times is said."""
_LOOPS = "XLA counts the body of a loop once, HLO once per iteration"
_GATHER = "XLA counts the whole array that a gather reads from, HLO the rows that it takes"
_SCATTER = "XLA counts the whole array that a scatter updates, HLO the rows that it writes"
_ASYNC = "XLA counts an asynchronous copy at its start and at its end, HLO once"


def difference(cost: Cost, xla: float) -> str:
    """How many more or fewer bytes HLO moves, and the rules that make the difference; "" where they are alike."""
    if not xla or not cost.total_bytes or abs(cost.total_bytes / xla - 1) <= _ALIKE:
        return ""
    share = cost.total_bytes / xla - 1
    made = f"{percent(abs(share))} {'more' if share > 0 else 'fewer'} bytes than XLA counts"
    made = f"{share + 1:,.0f} times the bytes that XLA counts" if share >= _TIMES else made
    return f"HLO moves {made}; {'; '.join(_reasons(cost, xla))}."


def _reasons(cost: Cost, xla: float) -> list[str]:
    own = work_ranges.own_work(cost.ops, cost.shown, [cost.moved])
    once = float(cost.control.totals(own, work_ranges.BY_XLA)[0, cost.ops.entry])
    loops = [_LOOPS] if abs(once / cost.total_bytes - 1) > _ALIKE else []
    rules = {why: extra for why, extra in _rules(cost) if abs(extra) > _ALIKE * xla}
    for count in range(len(rules) + 1):
        for chosen in combinations(rules, count):
            if abs(once + sum(rules[why] for why in chosen) - xla) <= _ALIKE * xla:
                return [*loops, *chosen]
    return [*loops, "the reason of the rest is unknown"] if loops else ["the reason is unknown"]


def _rules(cost: Cost) -> Iterator[tuple[str, float]]:
    """The bytes that XLA counts beside those that HLO moves, rule by rule."""
    ops, size = cost.ops, cost.ops.shapes.bytes
    runs = cost.loops.times[ops.computation] > 0
    array = ops.shapes.element_type != shapes.TUPLE
    first, updates = ops.operands.at(0), ops.operands.at(2)
    ends = np.flatnonzero((ops.opcode == b"copy-done") & runs)
    yield _ASYNC, 2.0 * float(size[ends].sum())
    gathers = np.flatnonzero((ops.opcode == b"gather") & runs & (first >= 0))
    yield _GATHER, float(size[np.unique(first[gathers])].sum() - size[gathers].sum())
    scatters = np.flatnonzero((ops.opcode == b"scatter") & runs & array & (updates >= 0))
    yield _SCATTER, float((2.0 * size[scatters] - size[updates[scatters]]).sum())

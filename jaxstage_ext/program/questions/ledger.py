"""The same work counted in four ways: on the jaxpr, on the HLO, by XLA, and measured; and why they differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import jax
import numpy as np

from jaxstage_ext.analysis.cost import jaxpr_cost, work_ranges
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.rules.library_calls import COMPLEX_TYPES
from jaxstage_ext.core.layout import value_shardings
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.ir.hlo import shapes, totals
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import equations, work
from jaxstage_ext.program.running import measured_wording
from jaxstage_ext.program.running.measured import Measured
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.text.units import share as percent
from jaxstage_ext.report.unavailable import Unavailable

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


_NO_FIGURE = "XLA's cost analysis has no figure for it"
_ESTIMATE = "an estimate of the compiler, of which a loop's body counts once and collectives are left out"
TIME_OF_A_RUN = "seconds"
"""The row of measured time."""
_RANDOM = ("random_", "threefry", "rng_")
_PRODUCTS = ("dot_general", "conv_general_dilated", "ragged_dot", "ragged_dot_general")


@fact
def ledger(program: Program) -> Table:
    """The same work counted in four ways, and why they differ. What is measured has a column, empty until then."""
    cost, traced = work(program), program.jax_traced
    counted = jaxpr_cost.total(traced.jaxpr) if traced is not None else None
    xla, reason = _by_xla(program.executable)
    unknown = math.nan
    devices = _devices(program)
    rows = {
        "FLOPs": (counted.flops if counted else unknown, cost.total_flops, xla.get("flops", unknown)),
        "transcendentals": (
            counted.transcendentals if counted else unknown,
            cost.total_transcendentals,
            xla.get("transcendentals", 0.0 if "flops" in xla else unknown),
        ),
        "bytes moved": (unknown, cost.total_bytes, xla.get("bytes accessed", unknown)),
    }
    estimates = {name: (unknown, unknown, value) for name, value in _estimates(program, xla).items()}
    reasons = {(2, "jaxpr"): "a jaxpr says nothing of what is kept in registers or fused"}
    reasons |= {(row, "XLA"): reason or _NO_FIGURE for row, values in enumerate(rows.values()) if math.isnan(values[2])}
    rows |= estimates
    reasons |= {(row, name): _ESTIMATE for row in range(3, len(rows)) for name in ("jaxpr", "HLO")}
    reasons |= {(row, "measured"): "nothing was run" for row in range(len(rows))}
    columns = {
        "": Column(list(rows)),
        "jaxpr": Column([row[0] for row in rows.values()], "", "counted on the jaxpr, whole program"),
        "HLO": Column(
            [row[1] for row in rows.values()], "", "counted on the optimised HLO, loops as often as they run"
        ),
        "XLA": Column([row[2] for row in rows.values()], "", "XLA's cost analysis of the optimised HLO"),
        "measured": Column([unknown] * len(rows)),
    }
    return Table("ledger", columns, reasons, tuple(_differences(program, counted, cost, xla, reason, devices)))


_ALIKE = 0.01
_OF_LOOPS = "XLA counts the body of a loop once, HLO once per iteration"
_OF_COMPLEX = "an operation on complex numbers counts as those on real ones that it takes, which XLA counts as one"
_RULES = {
    b"fft": "an FFT counts 5 N log2 N, half of that for real numbers, of which XLA counts 8 N log2 N",
    b"sort": "a sort counts n log2 n along each row that is sorted, of which XLA takes the whole array as one row",
    b"reduce-scatter": "the sums of a reduce-scatter count, which XLA leaves out",
    b"custom-call": "XLA does not count what a library call computes",
    b"reduce-window": "the padding of a window is left out, which XLA counts",
    b"select-and-scatter": "the padding of a window is left out, which XLA counts",
}
"""By opcode, how FLOPs are counted where XLA's cost analysis counts otherwise."""


def with_measured(table: Table, times: Measured | None) -> Table:
    """The ledger with the measured time of one run."""
    if times is None:
        return table
    row = len(table)
    added = {"": TIME_OF_A_RUN, "measured": times.busy}
    columns = {name: replace(c, values=[*c.values, added.get(name, math.nan)]) for name, c in table.columns.items()}
    columns["measured"] = replace(
        columns["measured"], doc="by the newest profile, device time of one run on one device"
    )
    reasons = {
        place: measured_wording.NOT_COUNTED if place[1] == "measured" else why for place, why in table.reasons.items()
    }
    reasons |= {
        (row, "jaxpr"): measured_wording.TIME_OF_HLO,
        (row, "HLO"): measured_wording.TIME_OF_HLO,
        (row, "XLA"): measured_wording.TIME_OF_XLA,
    }
    if math.isnan(times.busy):
        reasons[row, "measured"] = times.why
    notes = (*table.notes, measured_wording.runs(times.runs)) if times.runs else table.notes
    return replace(table, columns=columns, reasons=reasons, notes=notes)


def _by_xla(compiled: Any) -> tuple[Mapping[str, float], str]:
    try:
        costs_of = compiled.cost_analysis()
    except Unavailable as why:
        return {}, str(why)
    except Exception as error:
        return {}, f"this backend gives no analysis: {error}"
    costs_of = costs_of[0] if isinstance(costs_of, list) and costs_of else costs_of
    if not isinstance(costs_of, Mapping):
        return {}, "this backend gives no analysis"
    return {name: value for name, value in costs_of.items() if value >= 0}, ""  # -1 is what XLA does not know


def _estimates(program: Program, xla: Mapping[str, float]) -> dict[str, float]:
    """What the compiler itself expects of the program, where it says so."""
    cycles = totals.estimated_cycles(program.module)
    estimates = {"estimated seconds": xla.get("optimal_seconds", 0.0), "estimated cycles": float(cycles or 0)}
    return {name: value for name, value in estimates.items() if value}


def _devices(program: Program) -> int:
    compiled = program.executable
    if isinstance(compiled, Executable):
        return compiled.devices
    return len(value_shardings.compiled_devices(compiled)) or 1 if isinstance(compiled, jax.stages.Compiled) else 1


def _where(program: Program, cost: Cost) -> str:
    """Whether it is in the matrix products that HLO and jaxpr differ; why they do is not known from these counts."""
    counted = equations(program)
    rows = [row for row, primitive in enumerate(counted.primitive) if primitive in _PRODUCTS]
    traced = float(np.nansum(counted.total(counted.flops)[rows]))
    own = np.where(np.isin(cost.ops.opcode, (b"dot", b"convolution", b"custom-call")), np.nan_to_num(cost.flops), 0.0)
    compiled = float(cost.total(own).sum())
    if abs(compiled - traced) <= 0.01 * traced:
        return "matrix products are the same, the difference is in other operations"
    return f"{scaled(compiled, 'FLOP')} in matrix products where the jaxpr has {scaled(traced, 'FLOP')}"


def _conventions(cost: Cost) -> list[str]:
    """What is counted by another rule than XLA's, as far as the program has it."""
    opcode, own = cost.ops.opcode, np.nan_to_num(cost.flops) * cost.runs_once
    own[opcode == b"fusion"] = 0
    kinds = {why: opcode == name for name, why in _RULES.items()}
    first = np.where(cost.ops.operands.at(0) >= 0, cost.ops.operands.at(0), 0)
    kinds[_OF_COMPLEX] = np.isin(cost.ops.shapes.element_type, COMPLEX_TYPES) & ~np.isin(opcode, list(_RULES))
    kinds[_OF_COMPLEX] |= (opcode == b"reduce") & np.isin(cost.ops.shapes.element_type[first], COMPLEX_TYPES)
    return [why for why, rows in kinds.items() if own[rows].sum() > _ALIKE * own.sum() / 2]


def _found_by_xla(program: Program, cost: Cost) -> list[int]:
    """The lengths of the while loops of a jaxpr, where XLA found each and the HLO has no other loop than those.

    A scan has its length in the jaxpr, and random numbers become loops in HLO that no jaxpr has.
    """
    if program.jax_traced is None:
        return []
    names = Counter(eqn.primitive.name for eqn in jaxpr_cost.every(program.jax_traced.jaxpr))
    trips = [loop.trips for loop in cost.loops.trips.values()]
    has_others = "scan" in names or any(name.startswith(_RANDOM) for name in names)
    if has_others or len(trips) != names["while"]:
        return []
    return sorted({each for each in trips if each is not None}) if None not in trips else []


def _differences(
    program: Program, work: Any, cost: Cost, xla: Mapping[str, float], reason: str, devices: int
) -> list[str]:
    """Why the columns differ, as far as it is known."""
    differences = list(work.unknown) if work else ["there is no jaxpr to count"]
    lengths = _found_by_xla(program, cost)
    in_hlo = f"; XLA found its length: {', '.join(f'{n:,}' for n in lengths[:3])}" if lengths else ""
    differences = [f"jaxpr: {why}{in_hlo if 'unknown length' in why else ''}." for why in differences]
    if program.is_to_be_partitioned:
        differences.append(f"HLO counts the whole program: it is not partitioned for its {devices:,} devices yet.")
    elif devices > 1:
        whole = "The jaxpr counts the whole program; " if work else ""
        differences.append(f"{whole}HLO counts the part of one of {devices:,} devices.")
    loops = [loop.trips for loop in cost.loops.trips.values() if loop.trips not in (None, 1)]
    once = xla.get("flops", 0.0)
    if work and cost.total_flops and not work.unknown and devices == 1:
        share = cost.total_flops / work.flops - 1 if work.flops else 0.0
        if abs(share) > 0.01:
            made = "more" if share > 0 else "fewer"
            differences.append(f"HLO has {percent(abs(share))} {made} FLOPs than the jaxpr: {_where(program, cost)}.")
    if once and abs(cost.total_flops / once - 1) > _ALIKE:
        made = "more" if cost.total_flops > once else "fewer"
        why = [_OF_LOOPS] if loops else []
        why += _conventions(cost) if abs(cost.total_once / once - 1) > _ALIKE else []
        share = abs(cost.total_flops / once - 1)
        differences.append(
            f"HLO has {percent(share)} {made} FLOPs than XLA counts; {'; '.join(why) or 'the reason is unknown'}."
        )
    if of_bytes := difference(cost, xla.get("bytes accessed", 0.0)):
        differences.append(of_bytes)
    if reason:
        differences.append(f"XLA: {reason}.")
    return [*differences, *cost.notes]

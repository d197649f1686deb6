"""Dtype conversions in a sentence: whose they are, and where the most bytes come of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxstage_ext.report.units import plural, scaled

if TYPE_CHECKING:
    from jaxstage_ext.analysis.dtypes.conversions import Conversion

_WIDE = ("f64", "c128")


def headline(each: Sequence[Conversion]) -> str:
    """`The program promotes 1 value and demotes 2; the compiler converts 14 more, ... Most bytes: bf16 to f32 ...`"""
    if not each:
        return "No value changes its dtype."
    said = "; ".join(filter(None, [_program(each), _compiler(each)]))
    return f"{said[0].upper()}{said[1:]}.{_largest(each)}{_double(each)}"


def _program(each: Sequence[Conversion]) -> str:
    own = [one for one in each if one.stage == "jaxpr"]
    counts = {kind: sum(one.kind == kind for one in own) for kind in ("promotion", "demotion", "change")}
    verbs = {"promotion": "promotes", "demotion": "demotes", "change": "changes the kind of"}
    parts = [f"{verbs[kind]} {_values(count)}" for kind, count in counts.items() if count]
    return f"the program {', '.join(parts)}" if parts else "the program converts nothing"


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"


def _compiler(each: Sequence[Conversion]) -> str:
    added = [one for one in each if one.stage != "jaxpr" and one.by == "compiler"]
    if not added:
        return ""
    written = sum((one.written or 0) * (one.runs or 1) for one in added)
    so = f", writing {scaled(written, 'B')} to memory" if written else ", all inside fusions"
    return f"the compiler adds {plural(len(added), 'conversion')}{so}"


def _largest(each: Sequence[Conversion]) -> str:
    grown = [one for one in each if one.total_growth > 0]
    if not grown:
        return ""
    most = max(grown, key=lambda one: one.total_growth)
    at = f" at {most.line}" if most.line else ""
    change, size = f"{most.source} to {most.target}", f"[{','.join(map(str, most.shape))}]"
    return f" The largest promotion: {change} of {size}{at}, {scaled(most.total_growth, 'B')} more."


def _double(each: Sequence[Conversion]) -> str:
    wide = sorted({one.line for one in each if one.target in _WIDE and one.line})
    return f" 64-bit floats come in at {', '.join(wide[:3])}." if wide else ""

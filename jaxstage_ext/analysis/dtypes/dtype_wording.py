"""What is said of dtype conversions, in words."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.dtypes.conversions import Change, Conversion, ConversionStage, Origin
from jaxstage_ext.report.text.units import plural, scaled

NOT_IN_JAXPR = "a jaxpr does not say what goes to memory"
IN_LOOP = "in a loop of unknown length"
_WIDE = ("f64", "c128")
_VERBS = {Change.PROMOTION: "promotes", Change.DEMOTION: "demotes", Change.CHANGE: "changes the kind of"}


def headline(conversions: Sequence[Conversion]) -> str:
    """`The program promotes 1 value; the compiler adds 14 conversions, ... The largest promotion: bf16 to f32 ...`"""
    if not conversions:
        return "No value changes its dtype."
    said = "; ".join(filter(None, [_program(conversions), _compiler(conversions)]))
    return f"{said[0].upper()}{said[1:]}.{_largest(conversions)}{_double(conversions)}"


def purpose(conversion: Conversion) -> str:
    """What a conversion is for: the primitives that take its result, or the one that makes it."""
    if conversion.accumulates:
        purpose = f"{conversion.primitive} accumulates"
    elif conversion.stage is ConversionStage.JAXPR:
        purpose = ", ".join(conversion.users[:3])
    else:
        purpose = conversion.primitive
    return f"{purpose} with a Python scalar".strip() if conversion.with_scalar else purpose


def _program(conversions: Sequence[Conversion]) -> str:
    own = [conversion for conversion in conversions if conversion.stage is ConversionStage.JAXPR]
    counts = {change: sum(conversion.kind is change for conversion in own) for change in Change}
    parts = [f"{_VERBS[change]} {_values(count)}" for change, count in counts.items() if count]
    return f"the program {', '.join(parts)}" if parts else "the program converts nothing"


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"


def _compiler(conversions: Sequence[Conversion]) -> str:
    added = [
        conversion
        for conversion in conversions
        if conversion.stage is ConversionStage.HLO and conversion.by is Origin.COMPILER
    ]
    if not added:
        return ""
    written = sum((conversion.written or 0) * (conversion.runs or 1) for conversion in added)
    where = f", writing {scaled(written, 'B')} to memory" if written else ", all inside fusions"
    return f"the compiler adds {plural(len(added), 'conversion')}{where}"


def _largest(conversions: Sequence[Conversion]) -> str:
    grown = [
        conversion for conversion in conversions if conversion.kind is Change.PROMOTION and conversion.total_growth > 0
    ]
    if not grown:
        return ""
    most = max(grown, key=lambda conversion: conversion.total_growth)
    at = f" at {most.line}" if most.line else ""
    change, size = f"{most.source} to {most.target}", f"[{','.join(map(str, most.shape))}]"
    return f" The largest promotion: {change} of {size}{at}, {scaled(most.total_growth, 'B')} more."


def _double(conversions: Sequence[Conversion]) -> str:
    wide = sorted({conversion.line for conversion in conversions if conversion.target in _WIDE and conversion.line})
    return f" 64-bit floats appear at {', '.join(wide[:3])}." if wide else ""

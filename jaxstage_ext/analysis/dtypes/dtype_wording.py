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
    """`The program promotes 1 value; the compiler adds 14 conversions, ... First promoted: bf16 to f32 ...`"""
    if not conversions:
        return "No value changes its dtype."
    said = "; ".join(filter(None, [_program(conversions), _compiler(conversions)]))
    return f"{said[0].upper()}{said[1:]}.{_first(conversions)}{_double(conversions)}"


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


def infects_nothing(conversion: Conversion) -> str:
    """Why it is not said what a conversion infects."""
    return "not a promotion" if conversion.stage is ConversionStage.JAXPR else "followed in the jaxpr"


def _first(conversions: Sequence[Conversion]) -> str:
    """Where values become larger first, and the promotion that infects most where that is another."""
    begun = [
        conversion
        for conversion in conversions
        if conversion.kind is Change.PROMOTION and conversion.infects is not None and not conversion.because
    ]
    if not begun:
        return ""
    most = max(begun, key=lambda conversion: (conversion.infected, conversion.infects))
    said = f" First promoted: {_promoted(begun[0])}."
    return said if most is begun[0] or not most.infects else f"{said} Most infected: {_promoted(most)}."


def _promoted(conversion: Conversion) -> str:
    """`bf16 to f32 [8,128] for mul at In [2]:3; 37 later values (12.3 MB) computed from it are f32`."""
    size = f"[{','.join(map(str, conversion.shape))}]"
    use = f" for {purpose(conversion)}" if purpose(conversion) else ""
    at = f" at {conversion.line}" if conversion.line else ""
    many = conversion.infects or 0
    count = f"{plural(many, 'later value')} ({scaled(conversion.infected, 'B')})" if many else "no later value"
    later = f"{count} computed from it {'are' if many > 1 else 'is'} {conversion.target}"
    return f"{conversion.source} to {conversion.target} {size}{use}{at}; {later}"


def _double(conversions: Sequence[Conversion]) -> str:
    wide = sorted({conversion.line for conversion in conversions if conversion.target in _WIDE and conversion.line})
    return f" 64-bit floats appear at {', '.join(wide[:3])}." if wide else ""

"""The dtype conversions at the lines that make them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from jaxstage_ext.analysis.dtypes import dtype_wording as wording
from jaxstage_ext.analysis.dtypes.conversions import CONVERT, Conversion, ConversionStage, Origin, short
from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Chains, Lane, Mark
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.text.units import signed

_MLIR = {"i1": "bool"} | {f"ui{bits}": f"u{bits}" for bits in (2, 4, 8, 16, 32, 64)}


def lane(documents: Mapping[str, Document], frames: Frames, conversions: Sequence[Conversion]) -> Lane:
    """The conversions beside the lines of every document."""
    marks: dict[str, dict[int, Mark]] = {}
    written = [conversion for conversion in conversions if conversion.stage is ConversionStage.JAXPR]
    chains = Chains(frames)
    for kind in ("jaxpr", "stablehlo"):
        if kind in documents:
            marks[kind] = _at_sites(documents[kind], chains, written)
    if "hlo" in documents:
        marks["hlo"] = _of_optimised(conversions)
    if "python" in documents:
        marks["python"] = _of_source(line_values.rows_by_line(documents["python"]), conversions)
    return Lane(marks)


def _of_optimised(conversions: Sequence[Conversion]) -> dict[int, Mark]:
    by_row: dict[int, list[Conversion]] = {}
    for conversion in conversions:
        by_row.setdefault(conversion.row, []).append(conversion)
    return {row: together(on_row) for row, on_row in by_row.items() if row >= 0}


def _of_source(rows: Mapping[str, int], conversions: Sequence[Conversion]) -> dict[int, Mark]:
    by_line: dict[str, list[Conversion]] = {}
    for conversion in conversions:
        by_line.setdefault(conversion.line, []).append(conversion)
    marks = {}
    for line, on_line in by_line.items():
        if line in rows:
            own = [
                conversion
                for conversion in on_line
                if conversion.stage is ConversionStage.JAXPR or conversion.by is Origin.COMPILER
            ]
            marks[rows[line]] = together(own or on_line)
    return marks


def _at_sites(document: Document, chains: Chains, written: Sequence[Conversion]) -> dict[int, Mark]:
    """By source line, primitive, shape and the new dtype."""
    rows: list[tuple[int, Hashable]] = []
    for site in line_values.sites(document, chains):
        span = document.source_of(site.row + 1)
        line = f"{span.label}:{span.line}" if span is not None else ""
        rows.append((site.row, (line, site.op, site.dims, _MLIR.get(site.dtype) or short(site.dtype))))
    marks = [
        (mark([conversion]), (conversion.line, conversion.primitive, conversion.shape, conversion.target))
        for conversion in written
    ]
    mark_of_row = {}
    for row, those, _ in line_values.paired(rows, marks):
        label = those[0].label + (f" +{len(those) - 1}" if len(those) > 1 else "")
        mark_of_row[row] = Mark(label, those[0].kind, line_values.listed([matched.text for matched in those]))
    return mark_of_row


def together(conversions: Sequence[Conversion]) -> Mark:
    """The mark of a line with conversions: the kind that grows most, and how many other kinds there are."""
    alike: dict[tuple[str, str, str, str, bool], list[Conversion]] = {}
    for conversion in conversions:
        alike.setdefault(
            (conversion.stage, conversion.source, conversion.target, conversion.by, conversion.weak), []
        ).append(conversion)
    groups = sorted(alike.values(), key=lambda group: (group[0].stage is ConversionStage.HLO, -abs(_growth(group))))
    marks = [mark(group) for group in groups]
    more = f" +{len(marks) - 1}" if len(marks) > 1 else ""
    return Mark(
        marks[0].label + more, marks[0].kind, line_values.listed([mark_of_group.text for mark_of_group in marks])
    )


def _growth(alike: Sequence[Conversion]) -> float:
    return sum(conversion.total_growth for conversion in alike)


def mark(alike: Sequence[Conversion]) -> Mark:
    """The mark of conversions that differ only in their shapes."""
    first, grows = alike[0], _signed(_growth(alike))
    shapes = list(dict.fromkeys(f"[{','.join(map(str, conversion.shape))}]" for conversion in alike))
    times = f" {len(alike)} times" if len(alike) > 1 else ""
    of = ", ".join(shapes[:3]) + (" and others" if len(shapes) > 3 else "")
    per_device = " per device" if first.stage is ConversionStage.HLO else ""
    parts = [f"{first.source}{' weak' if first.weak else ''} → {first.target} of {of}{times}{per_device}: {first.kind}"]
    parts.append(f"{grows}{_runs(first.runs) if len(alike) == 1 else ' in total'}" if grows else "")
    purposes = [text for text in dict.fromkeys(map(wording.purpose, alike)) if text and text != CONVERT]
    parts.append(f"for {', '.join(purposes[:3])}" if purposes else "")
    parts.append("added by the compiler" if first.by is Origin.COMPILER else "")
    parts.append("the value came from a Python scalar (weak type)" if first.weak else "")
    label = f"{first.source}→{first.target}" + (f" {grows}" if grows else "")
    kind = f"{first.kind} compiler" if first.by is Origin.COMPILER else first.kind.value
    return Mark(label, kind, ", ".join(filter(None, parts)))


def _signed(growth: float) -> str:
    if not growth:
        return ""
    return signed(growth, "B")


def _runs(runs: float | None) -> str:
    if runs is None:
        return " per iteration of a loop of unknown length"
    return "" if runs == 1 else f" in {runs:,.0f} runs"

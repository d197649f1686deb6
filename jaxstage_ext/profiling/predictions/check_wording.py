"""What is said of a prediction beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRuns
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.units import duration, plural, signed

NO_LINE = "its source line is unknown"
NOT_PREDICTED = "the prediction has no time for it"
NOT_MEASURED = "the profile has no event of it"
NO_RATIO = "it is predicted or measured alone, or predicted to take no time"
NOT_OF_PREDICTION = "against() compares a prediction with a profile; this timeline was measured"
NOT_MEASURED_EITHER = "against() compares with a profile; the other timeline is predicted too"


def unknown_group(by: str, groups: Sequence[str]) -> str:
    """That a prediction is not compared by something."""
    return f"cannot compare a prediction by {by!r}: give one of {', '.join(map(repr, groups))}"


def notes(predicted: InstructionRuns, measured: InstructionRuns, idle: float) -> Iterator[str]:
    """What the times are of, what the estimate leaves out, and whether the profile is of another module."""
    if not measured.runs:
        yield "The profile names no instruction of a module, so that none is compared."
        return
    if measured.is_inferred:
        yield (
            f"Measured times are the mean of {plural(measured.runs, 'run')}, those on several devices each: so often "
            "most instructions ran (inferred); the profile does not say it."
        )
    else:
        yield f"Measured times are the median over {plural(measured.runs, 'run')}, those on several devices each."
    if idle:
        yield f"What the estimate leaves out: in a run the device has nothing to do for {duration(idle)}."
    common = len(predicted.by_name.keys() & measured.by_name.keys())
    if not measured.module:
        yield (
            f"The profile is of another module than {predicted.module or 'the one that is predicted'}: instructions "
            f"are compared by their names alone, {common:,} of {len(predicted.by_name):,}."
        )
    elif common < len(predicted.by_name):
        yield f"{common:,} of {plural(len(predicted.by_name), 'predicted instruction')} are in the profile."


def headline(table: Table) -> str:
    """`… 6.45 ms predicted, 7.1 ms measured, +0.65 ms. Missed most: fusion.3, +0.4 ms`."""
    before, after = (sum(value for value in table[name] if value is not None) for name in ("predicted", "measured"))
    sums = f"Instructions of a run added up: {duration(before)} predicted, {duration(after)} measured"
    sums += f", {signed(after - before, 's')}" if after != before else ""
    first = next(iter(table.rows()), None)
    if first is None or not first["missed"]:
        return f"{sums}."
    name = first.get("op") or first["line"] or "what has no line"
    return f"{sums}. Missed most: {name}, {signed(first['missed'], 's')}."

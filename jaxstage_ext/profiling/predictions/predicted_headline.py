"""What a predicted timeline says first, beside what every timeline does: what it rests on, and what nothing hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.ir.hlo.module import COLLECTIVE_KINDS
from jaxstage_ext.profiling.predictions.call_line import CallLine
from jaxstage_ext.profiling.predictions.exposed_collectives import ExposedCollective
from jaxstage_ext.report.prediction import Prediction


@dataclass(frozen=True)
class ExposedLine:
    """The exposed collectives of one kind that one source line makes, in one call.

    Attributes:
      line: its label, "" unknown.    kind: "all-reduce".    count: how many instructions.    seconds: exposed.
      independent_line: where most of the work is that could hide the longest of them, "" for none or unknown.
      independent: seconds of it.
    """

    line: str
    kind: str
    count: int
    seconds: float
    independent_line: str = ""
    independent: float = 0.0


@dataclass(frozen=True)
class PredictedHeadline:
    """What a prediction rests on, and its exposed collectives by line, that of the most time first.

    `longest` is the line that makes most of a call; None where none is known.
    """

    prediction: Prediction
    longest: CallLine | None = None
    exposed: tuple[ExposedLine, ...] = ()


def predicted_headline(
    prediction: Prediction, found: Sequence[ExposedCollective], longest: CallLine | None = None
) -> PredictedHeadline:
    """The headline of a prediction with these collectives, that of the most exposed time first."""
    groups: dict[tuple[str, str], list[ExposedCollective]] = {}
    for one in found:
        if one.exposed > 0:
            groups.setdefault((one.line, one.kind or collective_kind(one.op)), []).append(one)
    lines = [_line(line, kind, members) for (line, kind), members in groups.items()]
    return PredictedHeadline(prediction, longest, tuple(sorted(lines, key=lambda one: -one.seconds)))


def _line(line: str, kind: str, members: Sequence[ExposedCollective]) -> ExposedLine:
    first, seconds = members[0], sum(one.exposed for one in members)
    return ExposedLine(line, kind, len(members), seconds, first.independent_line, first.independent or 0.0)


def collective_kind(op: str) -> str:
    """The kind of a collective by its name: "all-reduce" of "all-reduce-start.2"; else "collective"."""
    kind = op.split(".")[0].removesuffix("-start").removesuffix("-done")
    return kind if kind.encode() in COLLECTIVE_KINDS else "collective"

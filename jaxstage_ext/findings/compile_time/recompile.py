"""Compiles of the function that its call site could have avoided, in the log of this process."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.history.history_totals import seconds
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title, place_text
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_MOST_COMPARED = 200
"""The newest compiles of the function, of which each is compared with those before it."""
_OF_EDITING = (Cause.CELL_RUN_AGAIN, Cause.CACHE_CLEARED)
"""What somebody does who writes a notebook, and a program does not do by itself."""

_LEAST_TIMES = dict.fromkeys((Cause.SHAPE, Cause.MADE_ANEW, Cause.PARTIAL_MADE_ANEW, Cause.CAPTURED), 2)
"""A second shape is that of an evaluation or of the last batch, a second function that of another model."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each cause, of the compiles after the first; those of JAXStage and failed ones do not count."""
    code = code_of(program.call.fn)
    return [] if code is None else of_code(code)


def of_code(code: CodeType, whole: float | None = None) -> list[Finding]:
    """Those of a function; `whole` are the seconds that they are a part of, those of its own compiles without it."""
    log = history()
    records = [one for one in log.records if one.function is not None and one.function.code == code]
    compiled = [one for one in records if one.asker is Asker.USER and one.stage(StageName.COMPILE) is not None]
    compiled = compiled[-_MOST_COMPARED:]
    grouped: dict[tuple[Cause, str], list[CompileRecord]] = {}
    for record in compiled:
        verdict = log.verdict(record)
        if log.is_recompile(record) and verdict.can_be_mended and verdict.cause not in _OF_EDITING:
            grouped.setdefault(verdict.cause_and_part, []).append(record)
    told = [group for (cause, _), group in grouped.items() if len(group) >= _LEAST_TIMES.get(cause, 1)]
    return [_finding(log, group, seconds(compiled) if whole is None else whole) for group in told]


def _finding(log: History, group: Sequence[CompileRecord], whole: float) -> Finding:
    newest, cost = group[-1], seconds(group)
    advice, verdict = log.advice(newest), log.verdict(newest)
    names = dict.fromkeys(each.what for each in verdict.differences if each.cause is verdict.cause and each.what)
    return Finding(
        FindingKind.RECOMPILE,
        wording.compiled_again(function_title(newest), len(group), log.why(newest)),
        Stake(StakeMeasure.COMPILE, None, cost, whole),
        line=place_text(newest),
        names=tuple(names),
        change=None if advice is None else CodeChange(wording.advised(advice.sentence, advice.code)),
        certainty=Certainty.COUNTED,
    )


DETECTOR = Detector(FindingKind.RECOMPILE, find, is_traced, is_kept=False)

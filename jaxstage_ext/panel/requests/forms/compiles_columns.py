"""Compile records as columns: numbers, and texts by their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.compilation.history.history_rows import is_eager
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title, place_text
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, outcome
from jaxstage_ext.panel.params import Answer
from jaxstage_ext.panel.wire_form import CodedTexts, packed
from jaxstage_ext.report.text.shortened import shortened

LONGEST_TEXT = 300
OF_USER, EAGER, IN_SCOPE, FAILED, RUNNING = 1, 2, 4, 8, 16
"""Bits of `flags`."""
_STAGES = list(StageName)
_TIMES = (*(name.value for name in StageName), "own", "span")
_NOT_RUN = float("nan")
NOT_ENDED = -1.0
"""Seconds of a stage that began and whose end was not reported; NaN stands for a stage that did not run."""


def coded(texts: Iterable[str]) -> CodedTexts:
    """Texts of records, each as long as a page takes; none where one is empty."""
    every = CodedTexts.of(text or None for text in texts)
    return CodedTexts([shortened(text, LONGEST_TEXT) for text in every.strings], every.codes)


def listed(records: Sequence[CompileRecord], in_scope: set[int]) -> Answer:
    """What is known of each record at once: nothing here is compared, and no type is written out."""
    first = records[0].began if records else 0.0
    outcomes = [outcome(record) for record in records]
    times = np.array([_times(record) for record in records], "<f8").reshape(-1, len(_TIMES)).T
    return packed(
        {
            "number": _whole([record.number for record in records]),
            "parent": _whole([record.parent or -1 for record in records]),
            "flags": _whole([_flags(record, ended, in_scope) for record, ended in zip(records, outcomes, strict=True)]),
            "began": np.array([record.began - first for record in records], "<f8"),
            **dict(zip(_TIMES, times, strict=True)),
            "cell": coded(f"In [{record.cell}]" if record.cell is not None else "" for record in records),
            "line": coded(map(place_text, records)),
            "function": coded(map(function_title, records)),
            "outcome": coded(ended.value for ended in outcomes),
        }
    )


def _whole(values: Sequence[int]) -> Any:
    return np.array(values, "<i4")


def _flags(record: CompileRecord, ended: RecordOutcome, in_scope: set[int]) -> int:
    return (
        OF_USER * (record.asker is Asker.USER)
        | EAGER * (is_eager(record))
        | IN_SCOPE * (record.number in in_scope)
        | FAILED * (ended in (RecordOutcome.FAILED, RecordOutcome.STOPPED))
        | RUNNING * (ended is RecordOutcome.RUNNING)
    )


def _times(record: CompileRecord) -> list[float]:
    """Own seconds of each stage and of all, and seconds from the record's beginning to the end of its last stage."""
    seconds, total, end = [_NOT_RUN] * len(_STAGES), 0.0, record.began
    for run in record.stages:
        place, own = _STAGES.index(run.stage), run.own_seconds
        before = seconds[place]
        if own is None:
            seconds[place] = before if before > 0 else NOT_ENDED
        else:
            seconds[place] = own + before if before > 0 else own
            total += own
        end = max(end, run.began + (run.seconds or 0.0))
    return [*seconds, total, end - record.began]

"""Compile records as columns: numbers, and texts by their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.compilation.history.history_rows import is_eager
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title, place_text
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, outcome
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import Answer
from jaxstage_ext.report.text.shortened import shortened

LONGEST_TEXT = 300
OF_USER, EAGER, IN_SCOPE, FAILED, RUNNING = 1, 2, 4, 8, 16
"""Bits of `flags`."""
_STAGES = list(StageName)
_TIMES = (*(name.value for name in StageName), "own", "span")
_NOT_RUN = float("nan")
NOT_ENDED = -1.0
"""Seconds of a stage that began and whose end was not reported; NaN stands for a stage that did not run."""


def packed(numbers: Mapping[str, Any], texts: Mapping[str, Sequence[str]]) -> Answer:
    """Columns as the front end takes them; an empty text has the code -1."""
    described, buffers, strings = [], [], {}
    for name, values in numbers.items():
        kind = "f8" if isinstance(values, np.ndarray) and values.dtype.kind == "f" else "i4"
        described.append({"name": name, "dtype": kind})
        buffers.append(pack(np.ascontiguousarray(values, f"<{kind}").tobytes()))
    for name, column in texts.items():
        codes, strings[name] = _numbered(column)
        described.append({"name": name, "dtype": "i4"})
        buffers.append(pack(codes.tobytes()))
    return {"columns": described, "strings": strings}, buffers


def _numbered(texts: Sequence[str]) -> tuple[Any, list[str]]:
    number: dict[str, int] = {"": -1}
    codes = np.fromiter((number.setdefault(text, len(number) - 1) for text in texts), "<i4", len(texts))
    return codes, [_cut(text) for text in list(number)[1:]]


def _cut(text: str) -> str:
    return shortened(text, LONGEST_TEXT)


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
        },
        {
            "cell": [f"In [{record.cell}]" if record.cell is not None else "" for record in records],
            "line": list(map(place_text, records)),
            "function": list(map(function_title, records)),
            "outcome": [ended.value for ended in outcomes],
        },
    )


def _whole(values: Sequence[int]) -> Any:
    return np.array(values, "<i4")


def _flags(record: CompileRecord, ended: RecordOutcome, in_scope: set[int]) -> int:
    return (
        OF_USER * (record.asker is Asker.USER)
        | EAGER * (is_eager(record))
        | IN_SCOPE * (record.number in in_scope)
        | FAILED * (ended is RecordOutcome.FAILED)
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

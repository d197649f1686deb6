"""A kernel's life in compiles, made by hand: mistakes, their causes, eager operations and nested records."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.compile_records import compile_record, function_identity, signature, stage_runs

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import (
    Asker,
    CacheOutcome,
    CompileRecord,
    Entry,
    PersistentFacts,
    Place,
)

BEGAN = 1_800_000_000.0


def _line(cell: int, line: int) -> Place:
    return Place(f"<cell {cell}>", line, "<module>", cell)


def _record(
    number: int, began: float, cell: int, line: int = 1, times: Any = (0.1, 0.1, 1.0), **more: Any
) -> CompileRecord:
    runs = stage_runs(*times)
    at = BEGAN + began
    for run in runs:
        run.began, at = at, at + (run.seconds or 0.0)
    usual: dict[str, Any] = {"began": BEGAN + began, "cell": cell, "user_line": _line(cell, line), "stages": runs}
    return compile_record(number=number, **usual | more)


def _shaped(size: int) -> Any:
    return signature(np.zeros((size, 128), np.float32))


def lived() -> History:
    """Twelve minutes of a session: a batch of another size each time, a lambda in a loop, a failure, a cache hit."""
    records: list[CompileRecord] = []
    verdicts: dict[int, Verdict] = {}

    def add(record: CompileRecord, verdict: Verdict) -> None:
        records.append(record)
        verdicts[record.number] = verdict

    number = iter(range(1, 10_000))
    for i in range(14):
        name = ("broadcast_in_dim", "add", "iota", "convert_element_type")[i % 4]
        eager = _record(next(number), i * 0.05, 1, 2, (0.002, 0.004, 0.02), name=name, entry=Entry.EAGER, function=None)
        add(eager, Verdict(Cause.EAGER))
    init = _record(next(number), 3, 2, 4, (0.3, 0.2, 2.5), name="init", function=function_identity(init_of))
    add(init, Verdict(Cause.FIRST))
    nested = _record(
        next(number), 3.1, 2, 4, (0.01, 0.01, 0.05), name="iota", entry=Entry.EAGER, function=None, parent=init.number
    )
    add(nested, Verdict(Cause.EAGER))
    first = _record(next(number), 12, 3, 5, (0.6, 0.4, 7.2), signature=_shaped(32))
    add(first, Verdict(Cause.FIRST))
    before = first
    for i, size in enumerate((31, 17, 48, 5)):
        again = _record(next(number), 30 + 40 * i, 4 + i, 3, (0.5, 0.4, 6.1 + i), signature=_shaped(size))
        differs = Difference(Cause.SHAPE, "batch", f"f32[{before.signature.avals[0].shape[0]},128]", f"f32[{size},128]")  # type: ignore[union-attr]
        add(again, Verdict(Cause.SHAPE, (differs,), before.number, can_be_mended=True))
        before = again
    for i in range(6):
        scale = _record(next(number), 240 + 0.4 * i, 9, 2, (0.02, 0.03, 0.2), name="<lambda>", function=None)
        add(scale, Verdict(Cause.MADE_ANEW, (), scale.number - 1 if i else None, bool(i), bool(i)))
    failed = _record(
        next(number),
        400,
        10,
        1,
        (0.2, 0, 0),
        failed="TypeError: dot_general requires contracting dimensions to be equal",
    )
    add(failed, Verdict(Cause.SHAPE, (), before.number))
    own = _record(next(number), 420, 11, 1, (0.2, 0.2, 3.0), asker=Asker.JAXSTAGE)
    add(own, Verdict(Cause.AHEAD_OF_TIME, (), first.number))
    hit = _record(next(number), 700, 12, 8, (0.4, 0.3, 0.02), name="evaluate", function=function_identity(evaluate))
    hit.persistent = PersistentFacts(CacheOutcome.HIT, "jit_evaluate-7f3a", "/cache", 0.02, 11.4)
    add(hit, Verdict(Cause.FIRST))
    return History(tuple(records), tuple(records), 0, verdicts)


def init_of(key: Any) -> Any:
    return key


def evaluate(x: Any) -> Any:
    return x

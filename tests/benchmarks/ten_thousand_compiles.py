"""A log of 10,000 compiles, as a long session leaves it: 60 functions, each with a hundred shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry, Place
from tests.helpers.compile_records import compile_record, function_identity, signature, stage_runs

COUNT, FUNCTIONS, SHAPES = 10_000, 60, 100


def functions() -> list[Any]:
    space: dict[str, Any] = {}
    exec("\n".join(f"def f{i}(x):\n    return x + {i}\n" for i in range(FUNCTIONS)), space)
    return [space[f"f{i}"] for i in range(FUNCTIONS)]


def records() -> tuple[CompileRecord, ...]:
    identities = [function_identity(fn) for fn in functions()]
    shapes = [signature(np.zeros((size + 1, 64), np.float32), np.zeros((64,), np.float32)) for size in range(SHAPES)]
    return tuple(_record(i, identities, shapes) for i in range(COUNT))


def _record(i: int, identities: list[Any], shapes: list[Any]) -> CompileRecord:
    cell, identity = i // 40, identities[i % FUNCTIONS]
    is_eager = i % 5 == 0
    return compile_record(
        number=i + 1,
        name="add" if is_eager else identity.qualname,
        function=None if is_eager else identity,
        entry=Entry.EAGER if is_eager else Entry.CALL,
        signature=shapes[(i // FUNCTIONS) % SHAPES],
        stages=stage_runs(0.01, 0.01, 0.05 + 0.001 * (i % 97)),
        cell=cell,
        run=str(cell),
        user_line=Place(f"<cell {cell}>", i % 40 + 1, "<module>", cell),
    )


def history() -> History:
    """Nothing of it is compared yet."""
    all_records = records()
    return History(all_records, all_records)

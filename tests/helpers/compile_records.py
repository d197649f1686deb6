"""Records of the compile log made by hand, as JAX's events would have made them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from jaxstage_ext.compilation.records.compile_record import (
    Asker,
    CallSignature,
    CompileRecord,
    Entry,
    FunctionIdentity,
    Place,
    StageName,
    StageRun,
)

_numbers = itertools.count(1)
BEGAN = 1_800_000_000.0


def step(x: Any) -> Any:
    """The function of most records."""
    return x


def function_identity(fn: Any = step, **changes: Any) -> FunctionIdentity:
    made = FunctionIdentity("__main__", fn.__qualname__, fn.__code__, lambda: fn, id(fn), parameters=("x",))
    return replace(made, **changes)


def signature(*arguments: Any, **keywords: Any) -> CallSignature:
    """As a call with these arguments has it."""
    leaves, tree = jax.tree.flatten((arguments, keywords))
    avals = tuple(jax.core.ShapedArray(np.shape(leaf), np.result_type(leaf)) for leaf in leaves)
    return CallSignature(tree, avals, (None,) * len(leaves), ("ndarray",) * len(leaves), (), tuple(keywords))


def stage_runs(trace: float = 0.25, lower: float = 0.5, compiled: float = 2.0) -> list[StageRun]:
    seconds = dict(zip(StageName, (trace, lower, compiled), strict=True))
    return [StageRun(name, BEGAN, taken, taken, was_cached=False) for name, taken in seconds.items() if taken]


def compile_record(**changes: Any) -> CompileRecord:
    """A call of `step` with f32[8] in In [3]; `changes` are the fields that differ."""
    number = changes.pop("number", None) or next(_numbers)
    usual: dict[str, Any] = {
        "name": "step",
        "began": BEGAN + number,
        "thread": 1,
        "entry": Entry.CALL,
        "asker": Asker.USER,
        "stages": stage_runs(),
        "function": function_identity(),
        "signature": signature(np.zeros(8, np.float32)),
        "user_line": Place("<cell>", 2, "<module>", cell=3),
        "cell": 3,
        "run": "a",
    }
    return CompileRecord(number, **usual | changes)

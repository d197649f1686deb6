"""Inspections made by hand, for tests of the views: no JAX, any size, any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxstage_ext.report.document import OP, Document, document
from jaxstage_ext.report.frames import Frames, SourceFile

CELL = SourceFile("/tmp/ipykernel_1/123.py", "In [5]")
LIBRARY = SourceFile("/site-packages/jax/_src/nn.py", None, user=False)
SOURCE = ("def loss(w, x):", "    y = jnp.tanh(x @ w)", "    return jnp.sum(y)")
JAXPR = (
    "{ lambda ; a:f32[128,512] b:f32[8,128]. let",
    "    c:f32[8,512] = dot_general[dimension_numbers=(([1], [0]), ([], []))] b a",
    "    d:f32[8,512] = tanh c",
    "    e:f32[] = reduce_sum[axes=(0, 1)] d",
    "  in (e,) }",
)
HLO = (
    "HloModule jit_loss, entry_computation_layout={(f32[128,512]{1,0})->f32[]}",
    "",
    "%region_0.1 (a.2: f32[], b.2: f32[]) -> f32[] {",
    "  %a.2 = f32[] parameter(0)",
    "  ROOT %add.1 = f32[] add(%a.2, %a.2)",
    "}",
    "",
    "ENTRY %main.3 (w.1: f32[128,512]) -> f32[] {",
    "  %w.1 = f32[128,512]{1,0} parameter(0)",
    "  %tanh.1 = f32[128,512]{1,0} tanh(%w.1)",
    "  ROOT %reduce.1 = f32[] reduce(%tanh.1, %tanh.1), to_apply=%region_0.1",
    "}",
)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def frames() -> Frames:
    """Frame 0 is line 2 of the cell, 1 line 3, and 2 a library frame that line 3 called."""
    return Frames(
        (CELL, LIBRARY),
        ("loss", "softmax"),
        ints(0, 0, 1),
        ints(0, 0, 1),
        ints(2, 3, 70),
        ints(9, 12, 1),
        ints(2, 3, 70),
        ints(24, 22, 5),
        ints(-1, -1, 1),
        ints(0, 1, 1),
    )


def ir(kind: str, lines: Sequence[str], by_row: Mapping[int, int], flags: int = OP) -> Document:
    """A document of which the given rows come from the given frames."""
    made = document(kind, lines, frames())
    for row, frame in by_row.items():
        made.frame[row] = frame
        made.flags[row] = flags
    return made


def python(lines: Sequence[str] = SOURCE) -> Document:
    """A source document of one cell, below its title."""
    made = document("python", ["# In [5]", *lines], frames())
    file = np.zeros(len(made), np.int32)
    number = np.arange(len(made), dtype=np.int32)
    number[0] = -1
    return Document(
        "python", made.text, made.frames, made.frame, made.flags, made.fold_end, made.scope, file=file, number=number
    )


@dataclass(eq=False)
class FakeInspection:
    """What views use of an Inspection."""

    name: str = "loss"
    documents: Mapping[str, Document] = field(default_factory=dict)
    frames: Frames = field(default_factory=frames)
    error: Any = None
    elapsed: float | None = None
    log: str = ""
    head: dict[str, Any] = field(default_factory=dict)

    def looked_at(self, kind):
        return None

    def worker_log(self) -> str:
        return self.log

    def summary(self) -> dict[str, Any]:
        stages = [
            {"name": "trace", "state": "done", "seconds": 0.003, "count": "3 eqns", "note": None},
            {"name": "lower", "state": "done", "seconds": 0.005, "count": "41 ops", "note": None},
            {"name": "compile", "state": "done", "seconds": 1.25, "count": "12 instrs, 5 fusions", "note": None},
        ]
        facts = [
            {"label": "FLOPs", "text": "1.1 MFLOP", "reason": None},
            {"label": "peak memory", "text": "unknown", "reason": "the cuda backend gives no analysis"},
        ]
        documents = [
            {"kind": kind, "title": kind, "lines": len(doc), "bytes": len(doc.text)}
            for kind, doc in self.documents.items()
        ]
        made: dict[str, Any] = {
            "version": 1,
            "name": self.name,
            "signature": f"{self.name}(w: f32[128,512]) -> f32[]",
            "target": "cpu · jax 0.12.0",
            "stages": stages,
            "facts": facts,
            "coverage": {"direct": 500, "inferred": 60, "total": 566},
            "documents": documents,
            "error": None,
            "notes": [],
        }
        return made | self.head


def inspection(**changes: Any) -> FakeInspection:
    """A compiled function of three lines."""
    documents = {
        "python": python(),
        "jaxpr": ir("jaxpr", JAXPR, {1: 0, 2: 0, 3: 2}),
        "hlo": ir("hlo", HLO, {4: 2, 9: 0, 10: 2}),
    }
    return FakeInspection(**({"documents": documents} | changes))

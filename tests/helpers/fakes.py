"""Programs made by hand, for tests of the views: nothing is staged, any size, any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.program.head.document_titles import title_of
from jaxstage_ext.program.kinds.saved import SavedProgram
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


class FakeProgram(SavedProgram):
    """A program as a saved report has it, made by hand; `head` replaces parts of its summary."""

    def __init__(
        self,
        name: str = "loss",
        documents: Mapping[str, Document] | None = None,
        error: Any = None,
        elapsed: float | None = None,
        log: str = "",
        head: Mapping[str, Any] | None = None,
    ) -> None:
        self._own_error, self._elapsed, self._log, self.head = error, elapsed, log, dict(head or {})
        self._own_name = name
        super().__init__("local", summary(name, {}), frames(), documents or {}, {})

    @property
    def saved_summary(self) -> Any:
        return summary(self._own_name, self.documents) | self.head

    @saved_summary.setter
    def saved_summary(self, head: Any) -> None:
        pass

    @property
    def name(self) -> str:
        return self._own_name

    @property
    def error(self) -> Any:
        return self._own_error

    @property
    def elapsed(self) -> float | None:
        return self._elapsed

    def worker_log(self) -> str:
        return self._log


def summary(name: str, documents: Mapping[str, Document]) -> dict[str, Any]:
    """The summary of a compiled function."""
    stages = [
        {"name": "trace", "state": "done", "seconds": 0.003, "elapsed": None, "count": "3 eqns", "note": None},
        {"name": "lower", "state": "done", "seconds": 0.005, "elapsed": None, "count": "41 ops", "note": None},
        {
            "name": "compile",
            "state": "done",
            "seconds": 1.25,
            "elapsed": None,
            "count": "12 instrs, 5 fusions",
            "note": None,
        },
    ]
    facts = [
        {"label": "FLOPs", "text": "1.1 MFLOP", "reason": None, "note": None},
        {"label": "peak memory", "text": "unknown", "reason": "the cuda backend gives no analysis", "note": None},
    ]
    return {
        "version": 1,
        "name": name,
        "signature": f"{name}(w: f32[128,512]) -> f32[]",
        "target": "cpu · jax 0.12.0",
        "stages": stages,
        "facts": facts,
        "coverage": {"direct": 500, "inferred": 60, "total": 566},
        "documents": [
            {"kind": kind, "title": title_of(kind), "lines": len(doc), "bytes": len(doc.text)}
            for kind, doc in documents.items()
        ],
        "error": None,
        "notes": [],
    }


def program(**changes: Any) -> FakeProgram:
    """A compiled function of three lines."""
    documents = {
        "python": python(),
        "jaxpr": ir("jaxpr", JAXPR, {1: 0, 2: 0, 3: 2}),
        "hlo": ir("hlo", HLO, {4: 2, 9: 0, 10: 2}),
    }
    return FakeProgram(**({"documents": documents} | changes))

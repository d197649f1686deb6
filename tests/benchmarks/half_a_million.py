"""A notebook cell: an Inspection whose StableHLO pane, not open at first, has 500,000 lines (75 MB)."""

import numpy as np

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.program.kinds.saved import SavedProgram
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames, SourceFile

LINES, FRAMES = 500_000, 1000

body = [
    f"  %fusion.{i} = f32[{i % 4096},512]{{1,0}} fusion(%fusion.{max(i - 1, 0)}, %param.{i % 7}), kind=kLoop, "
    f'calls=%fused_computation.{i}, backend_config={{"outer_dimension_partitions":["4"]}}'
    for i in range(LINES - 2)
]
each = np.arange(FRAMES, dtype=np.int32)
one = np.ones(FRAMES, np.int32)
frames = Frames(
    files=(SourceFile("/m.py"),),
    functions=("f",),
    file=one * 0,
    function=one * 0,
    line=each + 1,
    column=one,
    end_line=each + 1,
    end_column=one * 9,
    parent=-one,
    user=each,
)
none = np.full(LINES, -1, np.int32)
ends = none.copy()
ends[0] = LINES - 1
flags = np.ones(LINES, np.uint8)
text = "\n".join(["ENTRY %main {", *body, "}"])
big = Document("stablehlo", text, frames, (np.arange(LINES) % FRAMES).astype(np.int32), flags, ends, none)
nothing = none[:1]

small = Document("hlo", "HloModule small", frames, nothing, flags[:1], nothing, nothing)
python = Document("python", "# /m.py", frames, nothing, flags[:1], nothing, nothing, file=nothing + 1, number=nothing)
stage = {"name": "compile", "state": "done", "seconds": 1.0, "count": None, "note": None}
titles = {"python": "source", "stablehlo": "StableHLO", "hlo": "optimised HLO"}
head = {
    "version": 1,
    "name": "big",
    "signature": "big()",
    "target": "cpu",
    "stages": [stage],
    "facts": [],
    "coverage": None,
    "error": None,
    "notes": [],
    "documents": [
        {"kind": document.kind, "title": titles[document.kind], "lines": len(document), "bytes": len(document.text)}
        for document in (python, big, small)
    ],
}
documents = {"python": python, "stablehlo": big, "hlo": small}
Inspection(SavedProgram("local", head, frames, documents, {}))

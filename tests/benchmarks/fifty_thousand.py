"""A notebook cell: the views of cost and memory of `ins`, with 50,000 instructions and 50,000 buffers made by hand."""

import numpy as np

from jaxstage_ext.panel.requests import memory_requests
from jaxstage_ext.panel.wire_form import pack
from jaxstage_ext.program.questions import module_work
from tests.helpers.made_costs import Instruction, cost

N, LENGTH, LANES = 50_000, 60_000, 400
dice = np.random.default_rng(0)

real = ins.cost  # noqa: F821 - of the notebook
work = cost(
    *(
        Instruction(f"fusion.{i}", "fusion", 1e6 * dice.random(), 1e6 * dice.random(), row=3,
                    scope=f"jit(f)/layer{i % 40}/block{i % 1000}/part{i % 9000}")
        for i in range(N)
    )
)  # fmt: skip
_ = real.roofline, real.ledger  # of the real program: they stay as they are
ins.program.results.put(module_work.work, work)  # noqa: F821

lane = dice.integers(0, LANES, N)
start = np.sort(dice.integers(0, LENGTH - 400, N))
end = start + dice.integers(1, 400, N)
size = np.full(N, 1000.0)
change = np.zeros(LENGTH + 1)
np.add.at(change, start, size)
np.add.at(change, end + 1, -size)
live = np.cumsum(change)[:LENGTH]
at = np.flatnonzero(np.diff(live, prepend=-1))
names = "\n".join(f"fusion.{i}" for i in range(N)).encode()
steps = "\n".join(f"op.{i}" for i in range(LENGTH)).encode()
COLUMNS = {
    "start": start.astype("<i4"), "end": end.astype("<i4"), "height": lane * 1000.0, "size": size,
    "space": np.zeros(N, "<i4"), "kind": dice.integers(0, 5, N).astype("u1"), "row": np.full(N, 3, "<i4"),
    "line": np.zeros(N, "<i4"), "lines": np.frombuffer(b"In [1]:2", "u1"), "names": np.frombuffer(names, "u1"),
    "order": np.full(LENGTH, 3, "<i4"), "steps": np.frombuffer(steps, "u1"), "at 0": at.astype("<i4"),
    "live 0": live[at],
}  # fmt: skip
PEAK = int(live.argmax())
SPACE = {"color": 0, "name": "memory", "held": 0, "reserved": LANES * 1000, "position": PEAK, "peak": live[PEAK]}
NAMES = ("buffer", "size", "kind", "why", "line")
TABLE = {
    "columns": [{"name": name, "hint": "", "number": name == "size"} for name in NAMES],
    "rows": [[f"fusion.{i}", "1 kB", "temporary", f"until fusion.{i + 9}", "In [1]:2"] for i in range(400)],
    "places": [3] * 400, "lives": [[i, i + 100] for i in range(400)], "total": 400, "notes": [],
}  # fmt: skip
HEAD = {
    "fit": {"answer": "yes", "needed": 1, "room": 2, "text": "Fits."}, "spaces": [SPACE], "kinds": [], "length": LENGTH,
    "buffers": N, "notes": [], "tables": {},
    "columns": [{"name": name, "dtype": column.dtype.str} for name, column in COLUMNS.items()],
}  # fmt: skip
PACKED = [pack(np.ascontiguousarray(column).tobytes()) for column in COLUMNS.values()]
memory_requests.METHODS["memory"] = lambda inspections, params: (HEAD, PACKED)
memory_requests.METHODS["memory at"] = lambda inspections, params: ({"live": 1, "table": TABLE}, [])

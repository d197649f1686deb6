"""Time per HLO instruction is what xprof's hlo_stats says: xprof itself where it is installed, else its figures."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import NONE
from tests.helpers.profiles import trace_bytes

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "profiles" / "hlo_stats.json").read_text())["traces"]
Row = tuple[int, float, str, str]
"""Occurrences, total microseconds, program, category."""
_XPROF = """
import sys
from xprof.convert import raw_to_tool_data
options = {"use_saved_result": False, "host": "h"}
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "hlo_stats", options)
print(data if isinstance(data, str) else data.decode())
"""


def _by_xprof(data: bytes, folder: Path) -> dict[str, Row]:
    file = folder / "h.xplane.pb"  # xprof writes files beside it
    file.write_bytes(data)
    done = subprocess.run([sys.executable, "-c", _XPROF, file], capture_output=True, text=True, check=True, timeout=120)
    table: Any = json.loads(done.stdout.splitlines()[-1])
    names = [column["id"] for column in table["cols"]]
    rows = [dict(zip(names, (cell["v"] for cell in row["c"]), strict=True)) for row in table["rows"]]
    return {r["hlo_op_name"]: (int(r["occurrences"]), r["total_time"], r["program_id"], r["category"]) for r in rows}


@pytest.mark.parametrize("name", GOLDEN)
def test_time_per_instruction(name: str, tmp_path: Path) -> None:
    data = trace_bytes(f"{name}.xplane.pb")
    expected = _by_xprof(data, tmp_path) if importlib.util.find_spec("xprof") else GOLDEN[name]
    recording = xplane.read(data, name)
    events, ops, places = recording.events, recording.ops, op_links.places(recording)
    known = events.op != NONE
    count = np.bincount(events.op[known], minlength=len(ops))
    total = np.bincount(events.op[known], events.duration[known], len(ops)) / 1e6
    assert sorted(ops.name) == sorted(expected)
    for op, instruction in enumerate(ops.name):
        occurrences, microseconds, program, category = expected[instruction]
        assert count[op] == occurrences
        assert total[op] == pytest.approx(microseconds, rel=0.01)
        assert recording.modules[ops.module[op]].program == program
        assert places.categories[places.category[op]].startswith(category)

"""What a folder of XLA's dumps costs to open."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from jaxstage_ext.api.xla_dump import XlaDump
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark
MODULES, PASSES, SIZE = 200, 100, 1_000_000_000


def test_the_list_of_a_dump_of_a_gigabyte(tmp_path: Path) -> None:
    names = [f"{number:04}.fusion.after_pipeline-start.before_fusion.txt" for number in range(PASSES)]
    for module in range(MODULES):
        for name in ("cpu_after_optimizations.hlo.pb", *names):
            with (tmp_path / f"module_{module:04}.jit_step_{module}.{name}").open("wb") as file:
                file.truncate(SIZE // (MODULES * (PASSES + 1)))
    dump = XlaDump(tmp_path)
    assert len(dump) == MODULES
    listed = statistics.median(seconds(lambda: repr(XlaDump(tmp_path))) for _ in range(5))
    row("a dump of 1 GB, 20,200 files, is listed", f"{listed * 1e3:.0f} ms", "", "<= 1 s", listed <= 1)

"""What a process reads of another's compile is what it would have compiled itself: a real job, both JAX versions.

Process 1 compiles each program once more, alone, and puts that beside what it has read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from several_processes import run_job

PROGRAMS = ("looped", "mapped", "trained")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("job")
    told = run_job("equal_reads.py", folder)
    for process, one in enumerate(told):
        assert one is not None, (folder / f"{process}.txt").read_text()[-3000:]
    return told


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_read_equals_what_the_process_compiles_itself(job: list[Any], program: str) -> None:
    first, second = (told[program] for told in job)
    assert (first["sharing"], second["sharing"], second["own sharing"]) == ("compiled", "read", "no folder")
    assert second["facts"] == second["own"] and second["facts"]["of this process"]
    assert len(second["facts"]["text"]) > 500 and any(second["facts"]["lines"])
    assert first["facts"] == second["facts"]


def test_what_is_read_runs_together_with_what_was_compiled(job: list[Any]) -> None:
    x = np.linspace(-1, 1, 128, dtype=np.float32).reshape(8, 16)
    results = [told["trained"]["result"][-1] for told in job]
    assert results == pytest.approx([float(np.mean((x / 2) ** 2))] * 2)
    assert all(np.isfinite(told[name]["result"]).all() for told in job for name in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_compile_has_one_figure(job: list[Any], program: str) -> None:
    first, second = (told[program] for told in job)
    assert first["hit"] is None and second["hit"]["process"] == 0 and second["hit"]["cache"] == "job"
    assert second["hit"]["first_seconds"] == first["seconds"]

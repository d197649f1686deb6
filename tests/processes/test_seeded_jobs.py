"""25 divergences, of five kinds in five programs each, and jobs in which processes differ in what they may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from several_processes import JOBS, run_job

from jaxstage_ext.processes.disagreement import DisagreementCause as Cause

CONSTANTS = {
    "reduced": Cause.PROCESS_BRANCH,
    "gradient": Cause.HOST,
    "scanned": Cause.CLOCK,
    "attended": Cause.RANDOM,
    "normalised": Cause.SET_ORDER,
}
KINDS = {
    "shape": Cause.LOCAL_SHAPE,
    "order": Cause.PROGRAM_ORDER,
    "collective": Cause.PROCESS_BRANCH,
    "error": Cause.ERROR,
}
EXPECTED = {f"{name}-constant": (cause, f"# {name}-constant") for name, cause in CONSTANTS.items()}
EXPECTED |= {f"{name}-{kind}": (cause, f"# any-{kind}") for name in CONSTANTS for kind, cause in KINDS.items()}
OWN = ({"OWN_VALUE": "1", "PYTHONHASHSEED": "3"}, {"OWN_VALUE": "2", "PYTHONHASHSEED": "4"})
LATEST = 1.0
"""Seconds from the last arrival to the error."""


@pytest.mark.seldom("each kind is in test_divergences.py")
def test_all_are_named_with_process_line_and_cause_within_a_second(tmp_path: Path) -> None:
    told = run_job("seeded.py", tmp_path, environments=OWN)
    assert all(told), [(tmp_path / f"{process}.txt").read_text()[-3000:] for process in (0, 1)]
    lines = (JOBS / "seeded.py").read_text().split("\n")
    wrong: dict[str, Any] = {}
    for name, (cause, mark) in EXPECTED.items():
        line = f"seeded.py:{next(at for at, text in enumerate(lines, 1) if text.endswith(mark))}"
        found, other = told[0][name], told[1][name]
        late = found["ended"] - max(found["began"], other["began"])
        is_late = late > LATEST and name != next(iter(EXPECTED))  # the first waits for gloo's and XLA's first use
        causes = {found.get("cause"), other.get("cause", Cause.ERROR.name)}
        if causes != {cause.name} or found["line"] != line or is_late:
            wrong[name] = found, late
        assert "process 1" in found["text"] or "processes 0 and 1" in found["text"]
    assert len(EXPECTED) == 25
    assert wrong == {}


@pytest.mark.seldom("alike programs of a job run in test_divergences.py; these take long")
def test_no_job_is_stopped_whose_processes_differ_in_what_they_may(tmp_path: Path) -> None:
    own = ({"PYTHONHASHSEED": "1", "XLA_FLAGS": f"--xla_dump_to={tmp_path}/dump"}, {"PYTHONHASHSEED": "2"})
    told = run_job("clean.py", tmp_path, environments=own)
    assert all(told), [(tmp_path / f"{process}.txt").read_text()[-3000:] for process in (0, 1)]
    assert told[0]["values"] == told[1]["values"] and len(told[0]["values"]) == 11
    assert [one["ahead"] for one in told] == [1, 1]
    assert [one["compared"] > 10 for one in told] == [True, True]


@pytest.mark.seldom("each figure has its tests; here they are asked in a process of a real job")
def test_a_process_that_looks_alone_counts_its_own_devices_and_stops_nobody(tmp_path: Path) -> None:
    told = run_job("looking.py", tmp_path)
    assert all(told), [(tmp_path / f"{process}.txt").read_text()[-3000:] for process in (0, 1)]
    assert [one["value"] for one in told] == [[64.0, 1.0]] * 2
    assert [(one["ahead"], one["compared"]) for one in told] == [(1, 1), (0, 2)]
    assert told[0]["error"] == "None" and told[0]["memory"] == "this machine"
    assert "2 devices of 2 processes, 1 of them" in told[0]["targets"] and "2 processes" in told[0]["map"]

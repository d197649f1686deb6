"""The pre-flight of whole scripts: by the environment in one process, by the runner in the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from several_processes import JOBS, run_job

from jaxstage_ext.processes.disagreement import DisagreementCause


def test_an_uncaught_error_of_one_script_stops_the_other(tmp_path: Path) -> None:
    environments = ({"JAXSTAGE_PREFLIGHT": "1", "JAXSTAGE_PREFLIGHT_REPORT": str(tmp_path / "reports")}, {})
    runners = ((), ("-m", "jaxstage_ext.processes"))
    told = run_job("whole_script.py", tmp_path, environments=environments, runners=runners)
    output = [(tmp_path / f"{process}.txt").read_text() for process in (0, 1)]
    assert told[0] is not None, output
    line = (JOBS / "whole_script.py").read_text().split("\n").index("    (lambda: [][1])()  # uncaught") + 1
    assert told[0]["value"] == 32.0 and told[0]["error"] == "ProcessesDisagree"
    assert "process 1" in told[0]["text"] and "IndexError" in told[0]["text"]
    assert f"whole_script.py:{line}" in told[0]["text"]
    assert len(list((tmp_path / "reports").glob("*.txt"))) == 1
    assert "IndexError: list index out of range" in output[1], "the error itself is printed as ever"


@pytest.mark.once("a command line, before JAX is imported")
def test_the_runner_gives_a_script_its_own_command_line(tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text("import sys; print(sys.argv, sys.path[0], __name__, 'jax' in sys.modules)")
    command = [sys.executable, "-m", "jaxstage_ext.processes", str(script), "--steps", "3"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.split("\n")[0] == f"{[str(script), '--steps', '3']} {tmp_path} __main__ False"
    refused = subprocess.run(command[:3], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and len(refused.stderr.strip().split("\n")) == 1


@pytest.mark.seldom("waits for its timeout; a process that does not come is in test_divergences.py")
def test_a_process_that_was_killed_is_named_with_what_it_did_last(tmp_path: Path) -> None:
    told = run_job("killed.py", tmp_path, "1")
    assert told[1] is None and told[0]["cause"] == DisagreementCause.ABSENT.name
    assert "process 1" in told[0]["text"] and "jit__lambda" in told[0]["text"]


@pytest.mark.seldom("starts a job; what the others do is in test_meeting.py")
def test_a_fault_of_ours_in_one_process_stops_nobody(tmp_path: Path) -> None:
    told = run_job("faulty.py", tmp_path)
    assert [one.get("value") for one in told] == [[32.0, 1.0]] * 2, told
    output = [(tmp_path / f"{process}.txt").read_text() for process in (0, 1)]
    assert "made to fail" in output[0] and all("jaxstage preflight" in text for text in output)

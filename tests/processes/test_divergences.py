"""Each way in which two processes come to run different programs is stopped, with its cause and line: a real job.

The oracle of a line is the comment with the case's name on it; that of a cause is how the case was written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from several_processes import JOBS, run_job

from jaxstage_ext.processes.disagreement import DisagreementCause as Cause

OWN = ({"OWN_VALUE": "1", "PYTHONHASHSEED": "1"}, {"OWN_VALUE": "2", "PYTHONHASHSEED": "2"})
"""What differs between the environments of the two processes."""
CAUSES = {
    "constant": Cause.PROCESS_BRANCH,
    "captured": Cause.HOST,
    "clock": Cause.CLOCK,
    "random": Cause.RANDOM,
    "set_order": Cause.SET_ORDER,
    "shape": Cause.LOCAL_SHAPE,
    "order": Cause.PROGRAM_ORDER,
    "collective": Cause.PROCESS_BRANCH,
    "program_more": Cause.PROCESS_BRANCH,
    "donation": Cause.DONATION,
    "devices": Cause.DEVICE_ORDER,
    "options": Cause.OPTIONS,
}
Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    folder = tmp_path_factory.mktemp("divergences")
    told = run_job("divergences.py", folder, environments=OWN)
    for process, one in enumerate(told):
        assert one is not None, (folder / f"{process}.txt").read_text()[-3000:]
    return told


def line_of(name: str) -> str:
    """Where a case says that its difference is."""
    lines = (JOBS / "divergences.py").read_text().split("\n")
    return f"divergences.py:{next(at for at, line in enumerate(lines, 1) if line.endswith(f'# {name}'))}"


@pytest.mark.parametrize("name", CAUSES)
def test_both_processes_stop_with_the_cause_and_the_line(told: list[Told], name: str) -> None:
    first, second = told[0][name], told[1][name]
    assert first.get("cause") == CAUSES[name].name, first
    assert first["line"] == line_of(name)
    same = ("cause", "line", "report", "text")
    assert [second.get(what) for what in same] == [first[what] for what in same]


def test_the_difference_is_in_the_error_and_in_the_one_report(told: list[Told]) -> None:
    found = told[0]["constant"]
    report = Path(found["report"]).read_text()
    for text in (found["text"], report):
        assert "jit_step" in text and line_of("constant") in text and "jax.process_index() + 1" in text
    changed = [line for line in report.split("\n") if line[:1] in "+-" and "constant" in line]
    assert [line[0] for line in changed] == ["-", "+"]
    assert "dense<1.0" in changed[0] and "dense<2.0" in changed[1]


def test_collectives_shapes_and_options_are_counted_and_named(told: list[Told]) -> None:
    assert "process 0 has 2, process 1 has 1" in told[0]["collective"]["text"]
    shapes = told[0]["shape"]["text"]
    assert "process 0: tensor<8x4xf32>" in shapes and "process 1: tensor<4x4xf32>" in shapes
    assert "xla_cpu_enable_fast_math" in told[0]["options"]["text"]


def test_an_error_in_one_process_stops_the_other_within_a_second(told: list[Told]) -> None:
    raised, waiting = told[1]["error"], told[0]["error"]
    assert raised["error"] == "ValueError('bad batch')"
    assert waiting["cause"] == Cause.ERROR.name and waiting["line"] == line_of("error")
    assert "ValueError: bad batch" in waiting["text"]


def test_a_process_that_has_left_or_does_not_come_is_named(told: list[Told]) -> None:
    assert told[0]["left"]["cause"] == Cause.LEFT.name
    assert [told[process]["absent"]["cause"] for process in (0, 1)] == [Cause.ABSENT.name] * 2
    assert all("process 1" in told[0][name]["text"] for name in ("left", "absent"))


def test_an_interrupt_ends_the_waiting(told: list[Told]) -> None:
    assert 0.3 < told[0]["interrupted"]["value"] < 1.1


def test_programs_that_agree_run_and_local_ones_are_not_compared(told: list[Told]) -> None:
    for process in (0, 1):
        assert told[process]["alike"]["value"] == [64.0, 64.0, 1.0]
        assert told[process]["local_programs_may_differ"]["value"] == 3.0 * (process + 1)
        assert told[process]["looked_at_by_one"].get("value") == [288.0, 320.0], told[process]["looked_at_by_one"]
        assert told[process]["forked"].get("value") == 352.0, told[process]["forked"]
        assert told[process]["threads"].get("value") == {"high": 1.0, "low": 1.0}, told[process]["threads"]
        assert told[process]["alike_again"]["value"] == 224.0

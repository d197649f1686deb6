"""`--processes` in a real shell, with a job whose processes are this one: what is shown, bound and said in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell
from staged_in_process import job_here

from jaxstage_ext import Inspection
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.processes.disagreement import DisagreementCause
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.inside.engine_call import EngineCall
from jaxstage_ext.processes.staged.process_staging import StagingErrorKind
from jaxstage_ext.views.summaries import summary_of

ALIKE = """%%{} --processes -o ins
def doubled(x):
    return x * 2
doubled(x)"""
CONSTANT = """%%{} --processes -o ins
scale = jax.process_index() + 1
def scaled(x):
    return x * scale
scaled(x)"""
FAILS = """%%compile --processes -o ins
def fails(x):
    if jax.process_index() == 1:
        raise ValueError("bad batch")
    return x + 1
fails(x)"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell


def inspection(shell: Shell) -> Inspection:
    found = shell["ins"]
    assert isinstance(found, Inspection)
    return found


@pytest.mark.parametrize("stage", ["trace", "lower", "compile"])
def test_processes_that_agree_have_one_entry(shell: Shell, stage: str) -> None:
    with job_here(4) as job:
        seen = shell.run(ALIKE.format(stage))
    assert seen.ok, seen.text
    found = inspection(shell)
    assert found.processes is not None and found.processes.agree
    assert [group.processes for group in found.processes.groups] == [(0, 1, 2, 3)]
    assert list(found.targets) == ["local"] and len(seen.panels) == 1
    assert any("rocesses 0 to 3" in note for note in found.summary()["notes"])
    assert "urgent" not in found.summary()
    assert sorted(found.processes.seconds) == [0, 1, 2, 3] and set(found.processes.seconds[2]) == set(found.seconds)
    assert [process for process, function in job.asked if function == "report"] == [0]
    assert "In [" in seen.text and ":3" in seen.text


@pytest.mark.parametrize("stage", ["trace", "lower", "compile"])
def test_processes_that_differ_have_an_entry_each_and_the_cause_with_its_line(shell: Shell, stage: str) -> None:
    with job_here(3, before=None):
        seen = shell.run(CONSTANT.format(stage))
    assert seen.ok, seen.text
    found = inspection(shell)
    assert list(found.targets) == ["process 0", "process 1", "process 2"]
    assert found.processes is not None and not found.processes.agree
    [why] = found.processes.disagreements
    assert why.cause is DisagreementCause.PROCESS_BRANCH
    assert str(why.place).endswith(":4") and str(why.place).startswith("In ["), why.place
    assert "jax.process_index() + 1" in repr(found.processes)
    assert "multiply" in repr(found.processes) or "mul" in repr(found.processes)
    if stage == "compile":
        assert seen.text.index(found.processes.verdict[:60]) < seen.text.index("▲ best")
    head = found.summary()
    assert "jax.process_index() + 1" in " ".join(head["notes"][: head.get("urgent", 0)])
    lines = found.targets["process 1"].difference(found).text("jaxpr")
    assert "2.0" in lines and "1.0" in lines
    assert Inspection.from_json(found.to_json()).summary()["notes"] == found.summary()["notes"]


def test_an_error_in_one_process_is_said_with_its_line_and_the_others_are_shown(shell: Shell) -> None:
    with job_here(3):
        seen = shell.run(FAILS)
    assert seen.ok, seen.text
    found = inspection(shell)
    assert list(found.targets) == ["processes 0 and 2", "process 1"] and found.error is None
    assert found.processes is not None
    error = found.processes.errors[1]
    assert (error.type, error.message, error.stage) == ("ValueError", "bad batch", "trace")
    assert error.place.endswith(":4")
    failed = found.targets["process 1"]
    assert failed.error is not None and failed.error.message == "bad batch"
    assert any("bad batch" in note and error.place in note for note in found.summary()["notes"])


@pytest.mark.parametrize(
    ("kind", "error"), [(FailureKind.DIED, StagingErrorKind.ENDED), (FailureKind.RAISED, StagingErrorKind.UNREACHED)]
)
def test_a_process_that_does_not_answer_has_raised_nothing_in_the_cell(
    shell: Shell, kind: FailureKind, error: StagingErrorKind
) -> None:
    def second_fails(process: int, call: EngineCall) -> EngineAnswer | None:
        return EngineAnswer(process, None, EngineFailure(kind, "", "signal 9")) if process == 1 else None

    with job_here(2, second_fails):
        assert shell.run(ALIKE.format("compile")).ok
        guard = shell.run("%processes guard on").text
        shell.run("%processes guard off")
    processes = inspection(shell).processes
    assert processes is not None and processes.errors[1].kind is error
    assert not processes.disagreements and not processes.agree
    assert [note for note in processes.notes() if "rocess 1" in note and "signal 9" in note]
    assert (
        "process 1" in guard and "signal 9" in guard and ("%processes restart" in guard) is (kind is FailureKind.DIED)
    )


def test_a_cell_that_fails_in_one_process_only(shell: Shell) -> None:
    cell = '%%lower --processes -o ins\nif jax.process_index() == 0:\n    raise OSError("no disk")\njnp.sin(x)'
    with job_here(2):
        seen = shell.run(cell)
    found = inspection(shell)
    assert seen.ok and list(found.targets) == ["local"], seen.text
    assert found.processes is not None and found.processes.errors[0].place.endswith(":3")
    assert [group.processes for group in found.processes.groups] == [(1,), (0,)]
    assert not found.processes.agree
    assert any("no disk" in note for note in found.summary()["notes"])


def test_a_name_that_only_the_kernel_has_is_one_line(shell: Shell) -> None:
    with job_here(4):
        seen = shell.run("%%compile --processes\njnp.sin(paramz)")
    assert not seen.ok and seen.error is not None
    assert str(seen.error).count("\n") == 0
    assert all(word in str(seen.error) for word in ("paramz", "processes 0 to 3", "%%px", ":2"))


def test_a_name_that_is_missing_while_tracing_says_the_same(shell: Shell) -> None:
    with job_here(2):
        seen = shell.run("%%lower --processes -o ins\ndef f(x):\n    return x * missing_scale\nf(x)")
    found = inspection(shell)
    assert found.processes is not None
    assert {error.kind for error in found.processes.errors.values()} == {StagingErrorKind.NAME}
    assert not seen.ok and all(word in str(seen.error) for word in ("missing_scale", "processes 0 and 1", "%%px"))


def test_only_the_processes_that_are_named_are_asked(shell: Shell) -> None:
    with job_here(4) as job:
        assert shell.run("%%lower --processes 1,3 -o ins\njnp.sin(x)").ok
    assert {process for process, _ in job.asked} == {1, 3}
    assert inspection(shell).processes.asked == (1, 3)  # type: ignore[union-attr]


def test_a_line_magic_gives_the_inspection(shell: Shell) -> None:
    with job_here(2):
        seen = shell.run("found = %lower --processes jnp.cos(x)")
    assert seen.ok, seen.text
    assert shell["found"].processes.agree and not shell["found"].call.args


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--processes --run", "--processes only stages"),
        ("--processes --vs before", "--vs"),
        ("--processes 7", "there is no process 7"),
        ("--processes", "processes 0 and 1"),
    ],
)
def test_what_cannot_be_is_one_line(shell: Shell, line: str, words: str) -> None:
    gone = EngineAnswer(0, None, EngineFailure(FailureKind.DIED, "", "it ended with signal 9"))

    def dead(process: int, call: EngineCall) -> EngineAnswer:
        return EngineAnswer(process, None, gone.failure)

    with job_here(2, dead):
        seen = shell.run(f"%%compile {line}\njnp.sin(x)")
    assert not seen.ok and words in str(seen.error) and "\n" not in str(seen.error)


def test_without_a_job_it_says_how_to_start_one(shell: Shell) -> None:
    seen = shell.run("%%compile --processes\njnp.sin(x)")
    assert not seen.ok and "%processes start" in str(seen.error)


def test_what_the_cell_prints_is_said_once_where_it_is_the_same(shell: Shell) -> None:
    with job_here(2):
        same = shell.run('%%lower --processes\nprint("hello")\njnp.sin(x)').text
        other = shell.run('%%lower --processes\nprint("hello", jax.process_index())\njnp.sin(x)').text
    assert same.count("hello") == 1
    assert "[process 0] hello 0" in other and "[process 1] hello 1" in other


def test_an_interrupt_while_it_waits_is_one_line(shell: Shell) -> None:
    def interrupted(process: int, call: EngineCall) -> EngineAnswer:
        raise KeyboardInterrupt

    with job_here(2, interrupted):
        seen = shell.run("%%compile --processes -o never\njnp.sin(x)")
    assert isinstance(seen.error, KeyboardInterrupt) and "never" not in shell
    assert len(seen.text.strip().splitlines()) == 1 and "KeyboardInterrupt" in seen.text


@pytest.mark.parametrize("magic", ["dispatch", "dimensions", "shard"])
def test_magics_that_ask_the_kernel_refuse_it(shell: Shell, magic: str) -> None:
    seen = shell.run(f"%{magic} --processes jnp.sin(x)")
    assert not seen.ok and "--processes" in str(seen.error)


def test_a_cell_that_awaits_is_refused_in_one_line(shell: Shell) -> None:
    with job_here(2) as job:
        seen = shell.run("%%compile --processes\nimport asyncio\nawait asyncio.sleep(0)\njnp.sin(x)")
    assert not seen.ok and "await" in str(seen.error) and job.asked == []


def test_findings_of_the_session_leave_it_out(shell: Shell) -> None:
    with job_here(2):
        assert shell.run(ALIKE.format("lower")).ok
    assert shell.run("%findings").ok
    named = shell.run("%findings ins")
    assert not named.ok and "process 0" in str(named.error) and len(named.text.strip().splitlines()) == 1


def test_several_calls_have_an_entry_each(shell: Shell) -> None:
    with job_here(2):
        seen = shell.run("%%lower --processes -o both\njnp.sin(x); jnp.cos(x)")
    assert seen.ok and [one.processes.agree for one in shell["both"]] == [True, True]
    assert len(seen.panels) == 2


def test_nothing_is_run_nor_defined_in_the_kernel_beside_the_processes(shell: Shell) -> None:
    def nothing(process: int, call: EngineCall) -> EngineAnswer:
        return EngineAnswer(process, None, EngineFailure(FailureKind.DIED, "", "gone"))

    with job_here(1, nothing):
        shell.run("%%compile --processes\nonly_there = 1\njnp.sin(x)")
    assert "only_there" not in shell


@pytest.mark.usefixtures("patient_requests")
def test_tabs_are_answered_by_the_process_as_this_kernel_answers_its_own(shell: Shell) -> None:
    with job_here(2) as job:
        assert shell.run(CONSTANT.format("compile")).ok
        shown = [one.program for one in inspection(shell).targets.values()]
        assert shell.run("%%compile -q -o own\n\ndef scaled(x):\n    return x * 2\nscaled(x)").ok
        assert {"cost", "memory", "layouts", "code", "compare"} <= set(summary_of(shown[1])["views"])
        for method, params in (("ledger", {}), ("cost_groups", {"group": "opcode"}), ("memory", {})):
            there, _ = dispatch.answer(shown, method, {"call": 1, **params})
            here, _ = dispatch.answer([shell["own"].program], method, {"call": 0, **params})
            assert _plain(there) == _plain(here), method
        assert (1, "answer") in job.asked and (0, "answer") not in job.asked
        with pytest.raises(BadRequest, match="unheard"):
            dispatch.answer(shown, "cost_groups", {"call": 0, "group": "unheard"})
        job.before = lambda process, call: EngineAnswer(process, None, EngineFailure(FailureKind.DIED, "", "signal 9"))
        with pytest.raises(ValueError, match="signal 9"):
            dispatch.answer(shown, "ledger", {"call": 0})


def _plain(result: dict[str, Any]) -> str:
    return re.sub(r"In \[\d+\]", "In [n]", json.dumps(result, default=str))

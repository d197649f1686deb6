"""Asking a job whose engines are made: who answers, who has ended, what is said meanwhile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from jaxstage_ext.notebook import processes_magic
from jaxstage_ext.processes.engines import engine_job, engine_use, whereabouts_wording
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.engines.engine_client import ClientChannel
from jaxstage_ext.processes.engines.engine_errors import JobLost, NoJob, ProcessesError
from jaxstage_ext.processes.engines.engine_job import EngineJob
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.engines.engine_processes import ending, engine_environment
from jaxstage_ext.processes.engines.engine_setups import notes_about, processes_of
from jaxstage_ext.processes.engines.job_status import status_table
from jaxstage_ext.processes.engines.whereabouts import EngineActivity
from jaxstage_ext.processes.inside.engine_call import EngineCall

THREE = [EngineProcess(process, 100 + process, "node", process + 5, 1) for process in range(3)]
FACT = {"jax": "0.12.0", "jaxlib": "0.12.0", "xla_flags": "", "platform": "cpu", "processes": 2}


class MadeChannel:
    """Engines in this process: those that have ended, and those that answer after so many looks."""

    def __init__(self, ended: Sequence[int] = (), looks: int = 0) -> None:
        self.ended, self.looks = ended, looks

    def send(self, process: EngineProcess, call: EngineCall) -> Any:
        return MadeAnswer(self, process, call)

    def how_it_ended(self, process: EngineProcess) -> str | None:
        return "killed by SIGKILL" if process.process in self.ended else None


class MadeAnswer:
    def __init__(self, channel: MadeChannel, process: EngineProcess, call: EngineCall) -> None:
        self.channel, self.process, self.call, self.looks = channel, process, call, channel.looks

    def wait(self, seconds: float) -> bool:
        self.looks -= 1
        return self.looks < 0

    def answer(self) -> EngineAnswer:
        if (how := self.channel.how_it_ended(self.process)) is not None:
            return EngineAnswer(self.process.process, failure=EngineFailure(FailureKind.DIED, message=how))
        return EngineAnswer(self.process.process, self.call()[1])


def job(**how: Any) -> EngineJob:
    return EngineJob(THREE, MadeChannel(**how), is_ours=False)


def test_dead_processes_answer_beside_the_others() -> None:
    answers = job(ended=[1]).ask("math:sqrt", 9.0)
    assert [answer.value for answer in answers] == [3.0, None, 3.0]
    assert [answer.process for answer in answers] == [0, 1, 2]
    assert answers[1].failure == EngineFailure(FailureKind.DIED, message="killed by SIGKILL")


def test_waiting_is_said_once_and_again_after_twice_the_time() -> None:
    asked, said = job(looks=3), list[str]()
    asked.say = said.append
    asked.ask("math:sqrt", 9.0, patience=60.0)
    assert said == []
    asked.ask("math:sqrt", 9.0, patience=0.0)
    assert said and all("process 0" in line and "process 2" in line and "\n" not in line for line in said)
    offered = set(re.findall(r"%processes (\w+)", said[0]))
    assert {"end", "restart"} <= offered <= processes_magic._COMMANDS.keys()


def test_those_that_do_not_answer_in_time_are_named_with_where_they_are_and_the_others_answer() -> None:
    asked, said = job(), list[str]()
    asked.say = said.append
    channel: Any = asked.channel
    real = channel.send

    def send(process: EngineProcess, call: EngineCall) -> Any:
        channel.looks = 10**9 if process.process == 1 else 0
        return real(process, call)

    channel.send = send
    answers = asked.ask("math:sqrt", 9.0, limit=0.0)
    assert [answer.value for answer in answers] == [3.0, None, 3.0] and said == []
    failure = answers[1].failure
    assert failure is not None and failure.kind is FailureKind.LATE
    assert failure.message == whereabouts_wording.late(asked.where()[1], 0.0)


def test_a_call_turns_errors_into_data() -> None:
    kind, error, message, lines = EngineCall("math:sqrt", (-1.0,))()
    assert (kind, error) == ("raised", "ValueError") and message and lines[0].startswith("Traceback")
    assert EngineCall("builtins:len", ("abc",))() == ("value", 3)
    with pytest.raises(SystemExit):
        EngineCall("sys:exit")()


def test_without_a_job_there_is_one_line() -> None:
    former = engine_job.set_job(None)
    try:
        assert not engine_job.has_job()
        with pytest.raises(NoJob, match=wording.NO_JOB):
            engine_job.current_job()
        engine_job.set_job(made := job())
        assert engine_job.current_job() is made
    finally:
        engine_job.set_job(former)


def test_status_says_who_has_ended_and_why_all_have() -> None:
    table = status_table(job(ended=[1]))
    assert table["state"] == ["idle", "ended (killed by SIGKILL)", "idle"] and table.notes == ()
    assert table["last program"] == [None] * 3 and table.reasons[0, "last program"]
    assert status_table(job(ended=[0, 1, 2])).notes == (whereabouts_wording.COORDINATOR,)


def test_a_busy_process_of_another_host_is_unknown_with_its_reason() -> None:
    (first, *_) = job(looks=1000).where()
    assert first.activity is EngineActivity.UNKNOWN and "node" in first.reason


class ClosedClient:
    """An `ipyparallel.Client` after close()."""

    ids = (0, 5, 6, 7)

    def direct_view(self, engine: int) -> Any:
        return self

    def apply_async(self, call: EngineCall) -> Any:
        raise RuntimeError("Client cannot be used after its sockets have been closed")


def test_a_closed_client_is_one_line() -> None:
    lost = EngineJob(THREE, ClientChannel(ClosedClient(), lambda process: None), is_ours=True)
    with pytest.raises(JobLost, match="closed"):
        lost.ask("os:getpid")


class ClientOfTheDead:
    """An `ipyparallel.Client` that has heard of the end of engine 6, process 1."""

    ids = (0, 5, 7)


def test_an_end_that_is_heard_of_before_the_process_can_be_waited_for_is_said_with_how_it_came() -> None:
    known = iter([None, None, "killed by SIGKILL"])
    answer = ClientChannel(ClientOfTheDead(), lambda process: next(known)).send(THREE[1], EngineCall("os:getpid"))
    assert answer.wait(0.0)
    assert answer.answer().failure == EngineFailure(FailureKind.DIED, message="killed by SIGKILL")


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ({"has_joined": True, "has_backends": True}, {"has_joined": False, "has_backends": False}, "engine 5 called"),
        ({"has_joined": False, "has_backends": True}, {"has_joined": False, "has_backends": False}, "engine 5 used"),
        ({"has_joined": False, "has_backends": True}, {"has_joined": False, "has_backends": True}, "engines 5, 6 used"),
    ],
)
def test_engines_that_cannot_join_are_refused_by_their_numbers(first: Any, second: Any, word: str) -> None:
    with pytest.raises(ProcessesError, match=word) as refused:
        engine_use._check([5, 6], [first, second])
    assert "\n" not in str(refused.value) and "restart" in str(refused.value)


def test_engines_that_can_join_or_have_joined_are_taken() -> None:
    for has_joined in (True, False):
        engine_use._check([5, 6], [{"has_joined": has_joined, "has_backends": has_joined}] * 2)


def test_processes_are_in_the_order_of_jax_not_of_ipyparallel() -> None:
    told = [
        FACT | {"process": process, "pid": 100 + process, "host": "node", "devices": 1, "stacks": "", "journal": ""}
        for process in (1, 0)
    ]
    made = processes_of([3, 4], [fact | {"started": 0.0, "main": 1} for fact in told])
    assert [(one.process, one.engine) for one in made] == [(0, 4), (1, 3)]


def test_different_versions_and_flags_are_said_with_the_difference() -> None:
    facts = [FACT | {"process": 0}, FACT | {"process": 1, "jax": "0.10.2", "xla_flags": "--xla_cpu_enable_fast_math"}]
    notes = notes_about(facts)
    assert len(notes) == 2 and "process 0 has 0.12.0; process 1 has 0.10.2" in notes[0]
    assert "process 1 has --xla_cpu_enable_fast_math" in notes[1]
    assert notes_about([FACT | {"process": 0}, FACT | {"process": 1}]) == ()
    assert "2 of them" in notes_about([fact | {"processes": 4} for fact in facts])[-1]


def test_the_environment_of_engines_has_one_count_of_devices() -> None:
    flags = "--xla_force_host_platform_device_count=8 --xla_cpu_enable_fast_math=true"
    made = engine_environment({"XLA_FLAGS": flags, "JAX_NUM_CPU_DEVICES": "4", "HOME": "/h", "PYTHONHASHSEED": "7"})
    assert made == {
        "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
        "HOME": "/h",
        "JAX_PLATFORMS": "cpu",
        "PYTHONHASHSEED": "0",
    }


def test_how_a_process_ended_has_its_signal() -> None:
    assert [ending(code) for code in (0, 3, -9, -6)] == [
        "exit status 0",
        "exit status 3",
        "killed by SIGKILL",
        "killed by SIGABRT",
    ]

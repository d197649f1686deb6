"""A real job of two engines: who they are, what they answer, the guard, and a client's engines taken as they are."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import interrupts
import jax
import psutil
import pytest
from engine_jobs import begin_in, listening_addresses, run_in_all, until

import jaxstage_ext
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.processes.engines import engine_job, engine_use
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, FailureKind
from jaxstage_ext.processes.engines.engine_start import StartedJob
from jaxstage_ext.processes.engines.job_status import status_table
from jaxstage_ext.processes.engines.whereabouts import EngineActivity, NamedLine

GUARD = "jaxstage_ext.processes.inside.engine_guard:switch"
FORGET = "jaxstage_ext.processes.inside.engine_guard:forget_programs"


def test_its_processes_are_those_of_jax(engines: StartedJob) -> None:
    """The oracle is what JAX itself says in each engine."""
    told = engines.client[:].apply_sync(eval, "(jax.process_index(), jax.process_count(), jax.local_device_count())")
    assert told == [(0, 2, 1), (1, 2, 1)]
    assert [(one.process, one.engine, one.devices) for one in engines.processes] == [(0, 0, 1), (1, 1, 1)]
    assert [one.pid for one in engines.processes] == engines.client[:].apply_sync(os.getpid)
    assert {one.host for one in engines.processes} == {socket.gethostname()}
    assert (engines.size, engines.is_ours, engines.notes) == (2, True, ())
    assert engine_job.has_job() and engine_job.current_job() is engines


def test_its_environment_is_that_of_a_small_cpu_job(engines: StartedJob) -> None:
    names = ("JAX_PLATFORMS", "PYTHONHASHSEED", "JAX_NUM_CPU_DEVICES")
    told = [[answer.value for answer in engines.ask("os:getenv", name)] for name in names]
    assert told == [["cpu"] * 2, ["0"] * 2, [None] * 2]


def test_the_kernel_itself_never_joins(engines: StartedJob) -> None:
    assert not jax.distributed.is_initialized() and jax.process_count() == 1


def test_answers_come_in_order_and_an_error_is_data(engines: StartedJob) -> None:
    pids = tuple(EngineAnswer(one.process, one.pid) for one in engines.processes)
    assert engines.ask("os:getpid") == pids
    assert engines.ask("os:getpid", only=[1]) == pids[1:]
    failures = [answer.failure for answer in engines.ask("math:sqrt", -1.0)]
    assert [(one.kind, one.error) for one in failures if one is not None] == [(FailureKind.RAISED, "ValueError")] * 2
    assert failures[0] is not None and failures[0].lines[-1].startswith("ValueError: ")
    (missing,) = engines.ask("no_such_module:f", only=[0])
    assert missing.failure is not None and missing.failure.error == "ModuleNotFoundError"


def test_twenty_megabytes_come_back_whole(engines: StartedJob) -> None:
    values = [answer.value for answer in engines.ask("builtins:bytes", 20_000_000)]
    assert [len(value) for value in values if isinstance(value, bytes)] == [20_000_000] * 2


def test_nothing_listens_beyond_loopback(engines: StartedJob) -> None:
    started = psutil.Process(os.getpid()).children(recursive=True)
    assert listening_addresses(started) == {"127.0.0.1"}


def test_a_process_in_a_collective_is_named_and_a_waiting_question_says_so(engines: StartedJob) -> None:
    run_in_all(engines, "total(x)")  # once, so that nothing is left to compile
    other = begin_in(engines, 0, "total(x)")
    try:
        until(lambda: all(engines.where()[0].activity is EngineActivity.PROGRAM for _ in range(3)))  # it came and stays
        check_where(engines)
        check_question(engines)
    finally:
        begin_in(engines, 1, "total(x)").get(timeout=30)  # the other side comes, and both go on
        engines.say = print
    other.get(timeout=30)
    assert [answer.value for answer in engines.ask("os:getpid")] == [one.pid for one in engines.processes]


def test_a_program_that_another_cell_ran_first_is_known_by_the_function(engines: StartedJob) -> None:
    run_in_all(engines, "renamed = jax.jit(lambda x: (x * 2).sum())\nrenamed(x)")
    former, engines.names = engines.names, lambda file, line: NamedLine("In [9]:1", "z = float(renamed(x))")
    other = begin_in(engines, 0, "z = float(renamed(x))")
    try:
        until(lambda: engines.where()[0].program)
        first, _ = engines.where()
        assert first.unready == 0
        assert first.program is not None and first.program.name.startswith("jit__lambda") and first.is_inferred
    finally:
        begin_in(engines, 1, "float(renamed(x))").get(timeout=30)
        engines.names = former
    other.get(timeout=30)


def check_where(engines: StartedJob) -> None:
    first, second = engines.where()
    assert first.program is not None and (first.program.name, first.program.processes) == ("jit_total", 2)
    assert second.activity is EngineActivity.IDLE and first.seconds is not None and second.seconds is None
    table = status_table(engines)
    assert table["process"] == [0, 1] and table["last program"] == ["jit_total"] * 2
    assert "jit_total" in table["state"][0] and table["state"][1] == "idle"


def check_question(engines: StartedJob) -> None:
    """The user reads where the processes are, and has enough."""
    said: list[str] = []
    engines.say = lambda text: (said.append(text), interrupts.interrupt())
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        engines.ask("os:getpid", patience=0.2)
    assert time.monotonic() - began < 3 and len(said) == 1
    assert "process 0: in jit_total" in said[0] and "process 1: idle" in said[0]


def test_the_guard_stops_what_differs_and_then_guards_on(engines: StartedJob, tmp_path: Path) -> None:
    assert [answer.value for answer in engines.ask(GUARD, True, 60.0, str(tmp_path))] == [False, False]
    run_in_all(engines, "first = float(jax.jit(lambda x: (x * 2).sum())(x))")
    for text in ("x * (jax.process_index() + 1)", "x + (jax.process_index() + 2)"):  # twice: a new block after an end
        with pytest.raises(Exception, match=r"(?s)ProcessesDisagree.*\(2nd program of several"):
            run_in_all(engines, f"def f(x): return ({text}).sum()\njax.jit(f)(x)")
    with pytest.raises(Exception, match="one of them only"):
        run_in_all(
            engines, "if jax.process_index() == 1: raise ValueError('one of them only')\njax.jit(lambda x: x.max())(x)"
        )
    silent = "same = float(jax.jit(lambda x: (x * 3).sum())(x))"  # as `view.execute` runs it: no cell, but a new start
    engines.client[:].execute(silent, silent=True, block=True)
    assert engines.client[:]["same"] == [84.0, 84.0]
    assert len(list(tmp_path.iterdir())) == 3
    assert [answer.value for answer in engines.ask(GUARD, False, 60.0, str(tmp_path))] == [True, True]
    logs = jaxstage_ext.compiles(processes=True)
    rows = [[row for row in log["rows"] if row["program"] == "f"] for log in logs.logs]
    assert [[(row["outcome"], row["compile"], row["processes"]) for row in each] for each in rows] == [
        [(RecordOutcome.STOPPED.value, None, [0, 1])] * 2
    ] * 2
    assert logs.stopped["f", "f32[8]"] == (0, 1)
    assert not any(one.name[0] == "f" for one in logs.programs), "they never ran"
    assert not any(row["outcome"] == RecordOutcome.RUNNING.value for log in logs.logs for row in log["rows"])


def test_the_guard_compares_what_was_compiled_only_to_look_at_it(engines: StartedJob, tmp_path: Path) -> None:
    look = "f = jax.jit(lambda x: (x * (jax.process_index() + {})).sum())\nf.lower(x).compile()"
    run_in_all(engines, look.format(4))
    engines.ask(GUARD, True, 60.0, str(tmp_path))
    for number in (5, 6):
        with pytest.raises(Exception, match="ProcessesDisagree"):
            run_in_all(engines, "f(x)")
        run_in_all(engines, look.format(number))
        assert [answer.value for answer in engines.ask(FORGET)] == [True, True]
    engines.ask(GUARD, False, 60.0, str(tmp_path))


def test_engines_of_a_client_that_have_joined_are_taken_as_they_are(engines: StartedJob) -> None:
    used = engine_use.use(engines.client, lambda: None)
    assert not used.is_ours and used.processes == engines.processes
    assert [answer.value for answer in used.ask("os:getpid")] == [one.pid for one in engines.processes]
    used.stop()
    assert all(psutil.pid_exists(one.pid) for one in engines.processes)


CHURN = """
import json, threading, time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    threads = [threading.Thread(target=json.dumps, args=({"a": [1] * 50},), kwargs={"indent": 1}) for _ in range(4)]
    [one.start() for one in threads], [one.join() for one in threads]
"""


def test_asking_where_a_process_is_disturbs_nothing_while_threads_come_and_go(engines: StartedJob) -> None:
    """`faulthandler` at a signal ended such a process within a second."""
    running = [begin_in(engines, process, CHURN) for process in (0, 1)]
    while not all(one.ready() for one in running):
        assert EngineActivity.ENDED not in [one.activity for one in engines.where()]
    assert [one.get() for one in running]
    run_in_all(engines, "assert float(total(x)) == 28.0")

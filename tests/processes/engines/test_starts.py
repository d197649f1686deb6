"""Starts that fail leave nothing, and say why in one line; a job of a user's own cluster; many starts and stops."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from engine_jobs import SETUP, descendants, engine_job_of, folders, listening_addresses, run_in_all, still_run, until

from jaxstage_ext.processes.engines import engine_set, engine_start, engine_use
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer, EngineFailure, FailureKind
from jaxstage_ext.processes.engines.engine_errors import ProcessesError
from jaxstage_ext.processes.engines.whereabouts import EngineActivity
from jaxstage_ext.processes.inside import joining


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[psutil.Process]]:
    """What a start has begun, which must be gone at the end, with its folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before, begun = descendants(os.getpid()), list[psutil.Process]()  # compile workers of other tests run on
    yield begun
    own = [one for one in begun if one not in before]
    assert own and still_run(own) == [] and folders(tmp_path) == []


def test_an_engine_that_ends_while_it_starts_is_named(started: list[psutil.Process]) -> None:
    def kill_an_engine(seconds: float, what: str) -> None:
        found = descendants(os.getpid())
        engine = next((one for one in found if "--IPEngine.id=1" in one.cmdline()), None)
        if not started and engine is not None:  # a new process has its command line a moment later
            started.extend(found)
            engine.kill()

    with pytest.raises(ProcessesError, match=r"process 1 .*killed by SIGKILL") as error:
        engine_start.start(2, 1, 60.0, kill_an_engine)
    assert "\n" not in str(error.value)


def test_a_start_that_takes_too_long_is_ended(started: list[psutil.Process]) -> None:
    with pytest.raises(ProcessesError, match="--timeout"):
        engine_start.start(2, 1, 0.2, lambda seconds, what: started.extend(descendants(os.getpid())))


def test_a_taken_port_is_known_before_jax_dies_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX's coordinator ends by SIGSEGV there: measured with 0.10.2 and 0.12."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OSError, match="in use") as taken:
            joining.check_free(f"127.0.0.1:{other.getsockname()[1]}")
    failure = EngineFailure(FailureKind.RAISED, "OSError", str(taken.value))
    with pytest.raises(engine_set.PortTaken):
        engine_set._value(EngineAnswer(0, failure=failure))
    attempts: list[int] = []

    def always_taken(*given: Any) -> None:
        attempts.append(1)
        raise engine_set.PortTaken

    monkeypatch.setattr(engine_start, "_start", always_taken)
    with pytest.raises(ProcessesError, match="3 ports"):
        engine_start.start(2, 1, 60.0, lambda seconds, what: None)
    assert len(attempts) == 3


@pytest.mark.seldom("starts two jobs; its parts are tested above")
def test_a_start_whose_port_is_taken_begins_anew(
    started: list[psutil.Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, given = engine_set.EngineSet.ask, list[str]()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def taken_at_first(self: Any, function: str, *arguments: Any, **how: Any) -> Any:
            if function.endswith("free_address"):
                given.append(f"127.0.0.1:{other.getsockname()[1]}")
                if len(given) == 1:
                    return given
            return ask(self, function, *arguments, **how)

        monkeypatch.setattr(engine_set.EngineSet, "ask", taken_at_first)
        with engine_job_of(2) as job:
            started.extend(descendants(os.getpid()))
            run_in_all(job, f"{SETUP}\nassert float(total(x)) == 28")
    assert len(given) == 2


@pytest.mark.seldom("starts a cluster of ipyparallel's; engines that have joined are in test_two_engines.py")
def test_engines_of_a_users_cluster_are_joined_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ipyparallel

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with ipyparallel.Cluster(n=3, log_level=40) as client:
        client[2].execute("import jax; jax.devices()", block=True)
        with pytest.raises(ProcessesError, match="engine 2 used JAX's devices"):
            engine_use.use(client, lambda: None)
        client[2].execute("import os; os._exit(0)", block=False)
        until(lambda: client.ids == [0, 1])
        job = engine_use.use(client, lambda: None)
        run_in_all(job, f"{SETUP}\nassert float(total(x)) == 28")
        job.stop()
        job = engine_use.use(client, lambda: None)  # once more, after it was left
        run_in_all(job, "total(x)")
        assert [one.activity for one in job.where()] == [EngineActivity.IDLE] * 2
        job.end_process(job.processes[1])
        answers = job.ask("os:getpid")
        assert answers[0].value == job.processes[0].pid and answers[1].failure is not None
        assert answers[1].failure.kind is FailureKind.DIED
        job.stop()
        with contextlib.suppress(Exception):  # the cluster's own way to end engines in the middle of a job
            client[:].execute("import os; os._exit(0)", block=False)
    assert folders(tmp_path) == []


@pytest.mark.timeout(1800)
@pytest.mark.seldom("a hundred starts")
def test_a_hundred_starts_and_stops_leave_nothing(started: list[psutil.Process]) -> None:
    for _ in range(int(os.environ.get("JAXSTAGE_STARTS", "100"))):
        with engine_job_of(2) as job:
            here = descendants(os.getpid())
            started.extend(here)
            assert listening_addresses(here) == {"127.0.0.1"}
            assert [answer.value for answer in job.ask("os:getpid")] == [one.pid for one in job.processes]
        assert still_run(here) == []

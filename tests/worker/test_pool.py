"""The compile worker: started when needed, kept warm, shared, and gone with its kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from absent import needs
from workers import endless, gone, once_asked, ping, wait_for

import jaxstage_ext
from jaxstage_ext.core.targets import gpu_descriptions
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.worker import memory_limit, pool
from jaxstage_ext.worker.compile_environment import READ_BY_XLA
from jaxstage_ext.worker.pool import RequestFailed, WorkerDied
from jaxstage_ext.worker.process import IDLE_STATUS

pytestmark = pytest.mark.usefixtures("workers_of_our_own")


def test_it_imports_jaxlib_alone_and_stays_warm() -> None:
    first, second = (pool.ask("cpu", {"method": "ping"}) for _ in range(2))
    assert first["pid"] == second["pid"] == pool.running()["cpu"]
    assert not first["jax"]


def test_a_worker_killed_between_requests_is_replaced_unnoticed() -> None:
    for _ in range(3):
        pid = ping()
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda pid=pid: "cpu" not in pool.running())
        assert ping() != pid


def test_a_worker_that_was_told_to_stop_is_not_asked_while_it_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal takes a moment, longer on a busy machine: here the first one never arrives."""
    pid = ping()
    worker = pool._slots["cpu"].worker
    assert worker is not None
    sent, kill = list[int](), worker._process.kill
    monkeypatch.setattr(worker._process, "kill", lambda: sent.append(pid) or (len(sent) > 1 and kill()))
    pool.stop("cpu", pool.COMPILE)
    assert pool.running()["cpu"] == pid
    assert ping() != pid
    assert len(sent) > 1 and gone(pid)


def test_the_usual_limit_is_half_of_the_memory() -> None:
    half = memory_limit.half_of_machine()
    assert half is not None
    assert 1e8 < half <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    assert memory_limit.resident(os.getpid()) > 1e7


@pytest.mark.parametrize(
    "change", [{"module": b"junk"}, {"order": [7]}, {"room": 0}, {"module": b""}, {"platform": "abacus"}]
)
def test_junk_in_a_request_is_an_error_and_the_worker_lives(change: dict[str, Any]) -> None:
    pid = ping()
    with pytest.raises(RequestFailed):
        pool.ask("cpu", endless() | change, timeout=60)
    assert ping() == pid


@pytest.mark.parametrize("variable", READ_BY_XLA)
def test_a_worker_with_other_options_in_its_environment_is_replaced(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = ping()
    monkeypatch.setenv(variable, "--xla_cpu_enable_fast_math=true")
    other = ping()
    assert other != pid
    assert ping() == other


def test_an_unknown_lane_is_an_error() -> None:
    with pytest.raises(ValueError, match="'look' is not a lane; use 'compile', 'recompile' or 'one request'"):
        pool.ask("cpu", {"method": "ping"}, lane="look")


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(RequestFailed, match="nothing_such"):
        pool.ask("cpu", {"method": "nothing_such"})


def test_what_it_prints_is_in_its_log_and_in_the_error(capfd: pytest.CaptureFixture[str]) -> None:
    ping()
    place = pool._slots["cpu"].worker
    assert place is not None
    (place.folder / "log").write_text("one\n" * 100 + "F0000 the last words\n")
    os.kill(place.pid, signal.SIGSTOP)
    with once_asked(place._process.kill), pytest.raises(WorkerDied, match="the last words") as died:
        ping()
    assert len(died.value.log.splitlines()) <= 8
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(WorkerDied, match="nowhere to write its log") as died:
        ping()
    assert died.value.cause == "start"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ping()


def test_a_python_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(WorkerDied, match="cannot be started"):
        ping()
    monkeypatch.undo()
    ping()


def test_an_idle_worker_leaves_and_the_next_request_does_not_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_SECONDS", 0.2)
    pid = ping()
    wait_for(lambda: not pool.running())
    process = pool._slots["cpu"].worker._process
    assert process.returncode == IDLE_STATUS
    monkeypatch.undo()
    assert ping() != pid


@pytest.mark.parametrize("way", ["leaves", "is killed"])
def test_a_worker_that_ends_between_requests_is_no_zombie(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "leaves":
        monkeypatch.setattr(pool, "IDLE_SECONDS", 0.2)
    pid = ping()
    if way == "is killed":
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: gone(pid))  # a zombie is still there


def test_threads_share_one_worker_and_get_their_own_answers() -> None:
    answers: list[Any] = []

    def ask(n: int) -> None:
        f = jaxstage_ext.inspect(lambda x: x * n, 1.0, target=f"cpu:{n}")
        answers.append((n, f.summary()["target"].split()[0], ping()))

    threads = [threading.Thread(target=ask, args=(n,)) for n in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((n, name) for n, name, _ in answers) == [(n, f"cpu:{n}") for n in (1, 2, 3, 4)]
    assert len({pid for _, _, pid in answers}) == 1


def test_a_forked_child_leaves_the_parent_s_worker_alone() -> None:
    pid = ping()
    child = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2]
    )
    assert child.stdout.split() == ["child", "{}", "parent", "same"], child.stderr
    assert ping() == pid


FORKS = textwrap.dedent("""
    import os, sys, warnings
    warnings.simplefilter("ignore")
    from jaxstage_ext.worker import pool
    pid = pool.ask("cpu", {"method": "ping"})["pid"]
    if os.fork() == 0:
        print("child", pool.running(), flush=True)
        sys.exit()
    os.wait()
    print("parent", "same" if pool.ask("cpu", {"method": "ping"})["pid"] == pid else "other")
""")


def test_a_forked_child_does_not_keep_the_worker_of_a_dead_kernel(tmp_path: Path) -> None:
    """Such as the workers of multiprocessing or of a data loader, which outlive a kernel that was killed."""
    code = """
import os, signal, warnings
warnings.simplefilter("ignore")
from jaxstage_ext.worker import pool
pid = pool.ask("cpu", {"method": "ping"})["pid"]
held = pool._slots["cpu"].worker  # as the frames of a thread hold it that waits for an answer
child = os.fork()
if not child:
    print(pid, os.getpid(), flush=True)
    signal.pause()
os.read(os.open(os.environ["GATE"], os.O_RDONLY), 1)
os.kill(os.getpid(), signal.SIGKILL)
"""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    environment = os.environ | {"TMPDIR": str(tmp_path), "GATE": str(gate)}
    kernel = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2], env=environment
    )
    assert kernel.stdout is not None
    worker, child = map(int, kernel.stdout.readline().split())
    try:
        gate.write_text("x")
        assert kernel.wait(30) == -signal.SIGKILL
        wait_for(lambda: gone(worker) and not list(tmp_path.glob("jaxstage-*")))
    finally:
        os.kill(child, signal.SIGKILL)
        kernel.stdout.close()


@pytest.mark.parametrize("way", ["exit", "kill"])
def test_it_ends_with_its_kernel_and_takes_its_folder_along(way: str, tmp_path: Path) -> None:
    code = (
        "import os, tempfile; from jaxstage_ext.worker import pool\n"
        "print(pool.ask('cpu', {'method': 'ping'})['pid'], flush=True)\n"
        + ("os.kill(os.getpid(), 9)" if way == "kill" else "")
    )
    kernel = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    pid = int(kernel.stdout)
    wait_for(lambda: gone(pid) and not list(tmp_path.glob("jaxstage-*")))


def test_a_gpu_that_the_plugin_does_not_describe_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("cuda")
    monkeypatch.setattr(gpu_descriptions, "name_or_description", lambda kind, plugin: "NVIDIA L4")
    with pytest.raises(Unavailable, match="does not support h100"):
        jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="h100")

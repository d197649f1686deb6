"""The compile worker: whatever becomes of it, the kernel lives, is told why, and the next request works."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.core import gpu_descriptions, packages, process_memory, worker
from jaxstage_ext.core.remote import NotOnTarget
from jaxstage_ext.core.worker import RequestFailed, WorkerDied
from jaxstage_ext.core.worker_main import IDLE

TIMES = 100


@pytest.fixture(autouse=True)
def a_folder_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every worker of a test ends with it and leaves nothing behind."""
    worker.close_all()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    worker.close_all()
    assert not list(tmp_path.glob("jaxstage-*"))


def ping() -> int:
    return int(worker.ask("cpu", {"method": "ping"}, timeout=30)["pid"])


def stopped() -> int:
    """A worker that hangs: it is there, but gets no time."""
    pid = ping()
    os.kill(pid, signal.SIGSTOP)
    return pid


@contextlib.contextmanager
def after(seconds: float, do: Any) -> Iterator[None]:
    timer = threading.Timer(seconds, do)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(what: Any, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def endless() -> dict[str, Any]:
    """A request on whose constants XLA's folding works for minutes."""
    image = np.random.default_rng(0).random((1000, 1000), np.float32)

    def sums():
        return jax.lax.reduce_window(image, 0.0, jax.lax.add, (64, 64), (1, 1), "SAME")

    return request_for(sums)


def request_for(function: Any, *arguments: Any) -> dict[str, Any]:
    """The request to compile a function for one CPU."""
    from jaxstage_ext.core import jax_private

    lowered = jax.jit(function).lower(*arguments)
    module, options = jax_private.compile_request(lowered, "cpu", [0])
    return {
        "method": "compile",
        "platform": "cpu",
        "library": "",
        "kind": "",
        "topology": "",
        "room": 1,
        "order": [0],
        "module": module,
        "options": options,
        "large_constants": True,
    }


def test_it_imports_jaxlib_alone_and_stays_warm() -> None:
    first, second = (worker.ask("cpu", {"method": "ping"}) for _ in range(2))
    assert first["pid"] == second["pid"] == worker.running()["cpu"]
    assert not first["jax"]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGBUS])
def test_a_signal_ends_the_request_not_the_kernel(number: signal.Signals) -> None:
    pid = stopped()
    with after(0.2, lambda: (os.kill(pid, number), os.kill(pid, signal.SIGCONT))), pytest.raises(WorkerDied) as died:
        ping()
    assert died.value.cause == "signal"
    assert f"the compile worker for cpu was ended by {number.name}" in str(died.value)
    assert ping() != pid
    assert gone(pid)


def test_a_worker_killed_between_requests_is_replaced_unnoticed() -> None:
    for _ in range(3):
        pid = ping()
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda pid=pid: "cpu" not in worker.running())
        assert ping() != pid


def test_a_hang_ends_at_the_time_limit() -> None:
    pid = stopped()
    started = time.monotonic()
    with pytest.raises(WorkerDied, match=r"took longer than 0.3 s and was stopped; --timeout SECONDS") as died:
        worker.ask("cpu", {"method": "ping"}, timeout=0.3)
    assert died.value.cause == "time limit"
    assert time.monotonic() - started < 1.3
    assert ping() != pid


def test_a_hang_that_reads_no_request_ends_at_the_time_limit_too() -> None:
    stopped()
    with pytest.raises(WorkerDied, match="took longer"):
        worker.ask("cpu", {"method": "ping", "padding": bytes(10_000_000)}, timeout=0.3)
    ping()


def test_a_compile_without_end_ends_at_the_time_limit() -> None:
    with pytest.raises(WorkerDied, match="took longer than 1 s"):
        worker.ask("cpu", endless(), timeout=1)
    ping()


def test_too_much_memory_ends_the_request() -> None:
    pid = stopped()
    with pytest.raises(WorkerDied, match=r"GB of memory, over the limit of 0.0 GB") as died:
        worker.ask("cpu", {"method": "ping"}, memory=10_000_000)
    assert died.value.cause == "memory limit"
    assert ping() != pid


def test_memory_that_grows_while_it_compiles_is_seen() -> None:
    used = process_memory.resident(ping())
    assert used is not None
    request = endless()
    with pytest.raises(WorkerDied) as died:
        worker.ask("cpu", request, timeout=60, memory=used + 5_000_000)
    assert died.value.cause == "memory limit"


def test_the_usual_limit_is_half_of_the_memory() -> None:
    half = process_memory.half_of_machine()
    assert half is not None
    assert 1e8 < half <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    assert process_memory.resident(os.getpid()) > 1e7


@pytest.mark.parametrize(
    "change", [{"module": b"junk"}, {"order": [7]}, {"room": 0}, {"module": b""}, {"platform": "abacus"}]
)
def test_junk_in_a_request_is_an_error_and_the_worker_lives(change: dict[str, Any]) -> None:
    pid = ping()
    with pytest.raises(RequestFailed):
        worker.ask("cpu", endless() | change, timeout=60)
    assert ping() == pid


def test_a_real_abort_of_the_compiler_is_survived_and_told_with_its_reason() -> None:
    with pytest.raises(WorkerDied, match="SIGABRT") as died:
        worker.ask("cpu", endless() | {"options": b"junk"}, timeout=60)
    assert "Check failed" in died.value.log
    assert " @ " not in died.value.log
    ping()


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(RequestFailed, match="nothing_such"):
        worker.ask("cpu", {"method": "nothing_such"})


@pytest.mark.parametrize("junk", [b"\0\0\0\0\0\0\0\0", b"\x05\0\0\0\0\0\0\0hello", b"\xff" * 64])
def test_junk_in_an_answer_ends_the_worker(junk: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = stopped()
    reader, writer = os.pipe()
    os.write(writer, junk)
    os.close(writer)
    real = worker._places["cpu"].worker
    monkeypatch.setattr(real, "_out", reader)
    with pytest.raises(WorkerDied) as died:
        ping()
    assert died.value.cause == "junk"
    os.close(reader)
    assert ping() != pid


def test_an_interrupt_ends_a_request_within_a_second() -> None:
    pid = stopped()
    started = time.monotonic()
    with after(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)), pytest.raises(KeyboardInterrupt):
        ping()
    assert time.monotonic() - started < 1.3
    assert gone(pid)
    ping()


def test_an_interrupted_compile_is_told_as_one() -> None:
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.target import parse_all
    from jaxstage_ext.inspection import run

    worker.ask("cpu", {"method": "ping"})
    os.kill(worker.running()["cpu"], signal.SIGSTOP)
    with after(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)):
        inspection = run(Call(lambda x: x + 1, (1.0,)), targets=parse_all(["cpu:1", "cpu:2"]))
    assert inspection.error is not None and inspection.error.interrupted
    assert inspection.targets["cpu:2"].error is None
    assert jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="cpu:1").error is None


def test_a_crash_in_a_compile_is_the_stage_s_error() -> None:
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.target import parse_all
    from jaxstage_ext.inspection import run

    pid = stopped()
    with after(0.5, lambda: (os.kill(pid, signal.SIGSEGV), os.kill(pid, signal.SIGCONT))):
        inspection = run(Call(lambda x: x + 1, (1.0,)), targets=parse_all("cpu:1"))
    assert inspection.error is not None
    assert (inspection.error.stage, inspection.error.type) == ("compile", "WorkerDied")
    assert "SIGSEGV" in inspection.error.message
    assert list(inspection.documents) == ["python", "jaxpr", "stablehlo"]


def test_what_it_prints_is_in_its_log_and_in_the_error(capfd: pytest.CaptureFixture[str]) -> None:
    ping()
    place = worker._places["cpu"].worker
    assert place is not None
    (place.folder / "log").write_text("one\n" * 100 + "F0000 the last words\n")
    os.kill(place.pid, signal.SIGSTOP)
    with after(0.2, place._process.kill), pytest.raises(WorkerDied, match="the last words") as died:
        ping()
    assert len(died.value.log.splitlines()) <= 8
    assert capfd.readouterr() == ("", "")


def test_a_wrong_flag_in_the_environment_is_told_with_xla_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_nonsense=1")
    with pytest.raises(WorkerDied, match="xla_nonsense") as died:
        worker.ask("cpu", endless(), timeout=30)
    assert died.value.cause in ("exit", "signal")
    monkeypatch.delenv("XLA_FLAGS")
    ping()


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
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.2)
    pid = ping()
    wait_for(lambda: not worker.running())
    process = worker._places["cpu"].worker._process
    assert process.returncode == IDLE
    monkeypatch.undo()
    assert ping() != pid


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
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parent.parent
    )
    assert child.stdout.split() == ["child", "{}", "parent", "same"], child.stderr
    assert ping() == pid


FORKS = textwrap.dedent("""
    import os, sys, warnings
    warnings.simplefilter("ignore")
    from jaxstage_ext.core import worker
    pid = worker.ask("cpu", {"method": "ping"})["pid"]
    if os.fork() == 0:
        print("child", worker.running(), flush=True)
        sys.exit()
    os.wait()
    print("parent", "same" if worker.ask("cpu", {"method": "ping"})["pid"] == pid else "other")
""")


@pytest.mark.parametrize("way", ["exit", "kill"])
def test_it_ends_with_its_kernel_and_takes_its_folder_along(way: str, tmp_path: Path) -> None:
    code = (
        "import os, tempfile; from jaxstage_ext.core import worker\n"
        "print(worker.ask('cpu', {'method': 'ping'})['pid'], flush=True)\n"
        + ("os.kill(os.getpid(), 9)" if way == "kill" else "")
    )
    kernel = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    pid = int(kernel.stdout)
    wait_for(lambda: gone(pid) and not list(tmp_path.glob("jaxstage-*")))


def test_crashes_and_hangs_many_times_in_a_row() -> None:
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    ends = (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, None)
    for i in range(TIMES):
        pid = stopped()
        end = ends[i % len(ends)]
        if end is not None:
            os.kill(pid, end)
            os.kill(pid, signal.SIGCONT)
            wait_for(lambda: not worker.running())
        else:
            with pytest.raises(WorkerDied, match="took longer"):
                worker.ask("cpu", {"method": "ping"}, timeout=0.05)
    ping()
    if descriptors is not None:
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 2


@pytest.mark.skipif(bool(packages.find("cuda").lacks), reason="JAX's CUDA plugin is not installed")
def test_a_real_segfault_of_a_compiler_is_survived(capfd: pytest.CaptureFixture[str]) -> None:
    plugin = packages.find("cuda")
    if not gpu_descriptions.in_plugin(plugin.version):
        pytest.skip(f"the CUDA plugin {plugin.version} describes no GPU that it crashes on")
    request = request_for(lambda x: x + 1, 1.0) | {
        "platform": "cuda",
        "library": plugin.library,
        "kind": "MI300X",
        "topology": "1x1x1",
    }
    with pytest.raises(WorkerDied, match="SIGSEGV") as died:
        worker.ask("cuda", request, timeout=120)
    assert died.value.cause == "signal"
    assert jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="h100").error is None
    assert capfd.readouterr() == ("", "")


def test_a_gpu_that_the_plugin_does_not_describe_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if packages.find("cuda").lacks:
        pytest.skip("JAX's CUDA plugin is not installed")
    monkeypatch.setattr(gpu_descriptions, "name_or_description", lambda kind, plugin: "NVIDIA L4")
    with pytest.raises(NotOnTarget, match="describes no h100"):
        jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="h100")


@pytest.mark.skipif(bool(packages.find("tpu").lacks), reason="libtpu is not installed")
@pytest.mark.parametrize("topology", ["v5e:0x4"])
def test_a_real_crash_of_a_compiler_is_survived(topology: str, capfd: pytest.CaptureFixture[str]) -> None:
    library = packages.find("tpu").library
    request = {"method": "topologies", "platform": "tpu", "library": library}
    try:
        answer = worker.ask("tpu", request | {"names": [topology]}, timeout=60)
    except WorkerDied as died:
        assert "SIGFPE" in str(died)
        assert died.log
    else:
        pytest.skip(f"this libtpu refuses it: {answer}")
    assert worker.ask("tpu", request | {"names": ["v5e:2x2"]}, timeout=60) == {"v5e:2x2": 4}
    assert capfd.readouterr() == ("", "")

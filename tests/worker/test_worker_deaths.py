"""Whatever ends a compile worker, the kernel lives, is told why, and the next request works."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from interrupts import interrupt
from workers import endless, gone, once_asked, ping, request_for, stopped

import jaxstage_ext
from jaxstage_ext.core.targets import gpu_descriptions, packages
from jaxstage_ext.worker import compile_environment, memory_limit, pool
from jaxstage_ext.worker.pool import WorkerDied

pytestmark = pytest.mark.usefixtures("workers_of_our_own")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGBUS])
def test_a_signal_ends_the_request_not_the_kernel(number: signal.Signals) -> None:
    pid = stopped()
    with once_asked(lambda: (os.kill(pid, number), os.kill(pid, signal.SIGCONT))), pytest.raises(WorkerDied) as died:
        ping()
    assert died.value.cause == "signal"
    assert f"the compile worker for cpu was ended by {number.name}" in str(died.value)
    assert ping() != pid
    assert gone(pid)


def test_a_hang_ends_at_the_time_limit() -> None:
    pid = stopped()
    with pytest.raises(WorkerDied, match=r"took longer than 0.3 s and was stopped; --timeout SECONDS") as died:
        pool.ask("cpu", {"method": "ping"}, timeout=0.3)
    assert died.value.cause == "time limit"
    assert gone(pid)
    assert ping() != pid


def test_a_hang_that_reads_no_request_ends_at_the_time_limit_too() -> None:
    stopped()
    with pytest.raises(WorkerDied, match="took longer"):
        pool.ask("cpu", {"method": "ping", "padding": bytes(10_000_000)}, timeout=0.3)
    ping()


def test_a_compile_without_end_ends_at_the_time_limit() -> None:
    with pytest.raises(WorkerDied, match="took longer than 1 s"):
        pool.ask("cpu", endless(), timeout=1)
    ping()


def test_too_much_memory_ends_the_request() -> None:
    pid = stopped()
    with pytest.raises(WorkerDied, match=r"GB of memory, over the limit of 0.0 GB") as died:
        pool.ask("cpu", {"method": "ping"}, memory=10_000_000)
    assert died.value.cause == "memory limit"
    assert ping() != pid


def test_memory_that_grows_while_it_compiles_is_seen() -> None:
    used = memory_limit.resident(ping())
    assert used is not None
    request = endless()
    with pytest.raises(WorkerDied) as died:
        pool.ask("cpu", request, timeout=60, memory=used + 5_000_000)
    assert died.value.cause == "memory limit"


def test_a_real_abort_of_the_compiler_is_survived_and_told_with_its_reason() -> None:
    with pytest.raises(WorkerDied, match="SIGABRT") as died:
        pool.ask("cpu", endless() | {"options": b"junk"}, timeout=60)
    assert "Check failed" in died.value.log
    assert " @ " not in died.value.log
    ping()


@pytest.mark.parametrize("junk", [b"\0\0\0\0\0\0\0\0", b"\x05\0\0\0\0\0\0\0hello", b"\xff" * 64])
def test_junk_in_an_answer_ends_the_worker(junk: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = stopped()
    reader, writer = os.pipe()
    os.write(writer, junk)
    os.close(writer)
    real = pool._slots["cpu"].worker
    monkeypatch.setattr(real, "_out", reader)
    with pytest.raises(WorkerDied) as died:
        ping()
    assert died.value.cause == "junk"
    os.close(reader)
    assert ping() != pid


def test_an_interrupt_ends_what_is_running() -> None:
    pid = stopped()
    with once_asked(interrupt), pytest.raises(KeyboardInterrupt):
        ping()
    assert gone(pid)
    ping()


def test_an_interrupted_compile_is_told_as_one() -> None:
    from jaxstage_ext.api.inspect import run
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.targets.target import parse_all

    os.kill(ping(), signal.SIGSTOP)
    with once_asked(interrupt):
        inspection = run(Call(lambda x: x + 1, (1.0,)), targets=parse_all(["cpu:1", "cpu:2"]))
    assert inspection.error is not None and inspection.error.interrupted
    assert inspection.targets["cpu:2"].error is None
    assert jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="cpu:1").error is None


def test_a_crash_in_a_compile_is_the_stage_s_error() -> None:
    from jaxstage_ext.api.inspect import run
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.targets.target import parse_all

    pid = stopped()
    with once_asked(lambda: (os.kill(pid, signal.SIGSEGV), os.kill(pid, signal.SIGCONT))):
        inspection = run(Call(lambda x: x + 1, (1.0,)), targets=parse_all("cpu:1"))
    assert inspection.error is not None
    assert (inspection.error.stage, inspection.error.type) == ("compile", "WorkerDied")
    assert "SIGSEGV" in inspection.error.message
    assert list(inspection.documents) == ["python", "jaxpr", "stablehlo"]


def test_a_wrong_flag_in_the_environment_is_told_with_xla_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_nonsense=1")
    with pytest.raises(WorkerDied, match="xla_nonsense") as died:
        pool.ask("cpu", endless(), timeout=30)
    assert died.value.cause in ("exit", "signal")
    monkeypatch.delenv("XLA_FLAGS")
    ping()


def test_an_interrupt_ends_a_compile_that_hangs() -> None:
    pid = ping()
    with pytest.raises(KeyboardInterrupt):
        pool.ask("cpu", endless(), timeout=200, progress=lambda seconds, text: interrupt())
    assert gone(pid)
    ping()


@pytest.mark.needs("cuda")
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
        pool.ask("cuda", request, timeout=120)
    assert died.value.cause == "signal"
    assert jaxstage_ext.inspect(lambda x: x + 1, 1.0, target="h100").error is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.needs("tpu")
@pytest.mark.parametrize("topology", ["v5e:0x4"])
def test_a_real_crash_of_a_compiler_is_survived(topology: str, capfd: pytest.CaptureFixture[str]) -> None:
    library = packages.find("tpu").library
    request = {"method": "topologies", "platform": "tpu", "library": library}
    try:
        answer = pool.ask("tpu", request | {"names": [topology]}, timeout=60)
    except WorkerDied as died:
        assert "SIGFPE" in str(died)
        assert died.log
    else:
        pytest.skip(f"this libtpu refuses it: {answer}")
    assert pool.ask("tpu", request | {"names": ["v5e:2x2"]}, timeout=60) == {"v5e:2x2": 4}
    assert capfd.readouterr() == ("", "")


@pytest.mark.needs("tpu")
def test_a_real_hang_of_a_compiler_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    """libtpu waits for a metadata server, for ever where there is none, unless it is told not to."""
    monkeypatch.delitem(compile_environment.FIXED, "TPU_SKIP_MDS_QUERY")
    monkeypatch.delenv("TPU_SKIP_MDS_QUERY", raising=False)  # JAX sets it
    request = {"method": "topologies", "platform": "tpu", "library": packages.find("tpu").library, "names": ["v5e:2x2"]}
    try:
        answer = pool.ask("tpu", request, timeout=3)
    except WorkerDied as died:
        assert died.cause == "time limit"
    else:
        pytest.skip(f"this libtpu does not wait: {answer}")
    monkeypatch.undo()
    assert pool.ask("tpu", request, timeout=100) == {"v5e:2x2": 4}


def test_a_compile_that_may_have_no_more_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ulimit -v` of the user's: XLA says so or dies of it, and the kernel lives."""
    soft = resource.getrlimit(resource.RLIMIT_AS)
    pid = ping()
    used = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(pid, resource.RLIMIT_AS, (used + 2_000_000, soft[1]))
    big = np.ones((4000, 4000), np.float32)
    with pytest.raises((WorkerDied, pool.RequestFailed)):
        pool.ask("cpu", request_for(lambda x: jnp.tanh(x @ big) + big, big), timeout=100)
    pool.close_all()
    ping()

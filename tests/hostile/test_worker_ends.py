"""Whatever ends a compile worker, time after time: its kernel lives, is told why, and gets a fresh one."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from attack import Attack
from interrupts import interrupt
from workers import once_asked, ping, stopped, wait_for

from jaxstage_ext.worker import folder, pool, process
from jaxstage_ext.worker.pool import WorkerDied


def by_signal(number: signal.Signals) -> Callable[[], str]:
    def end() -> str:
        pid = stopped()
        with once_asked(lambda: (os.kill(pid, number), os.kill(pid, signal.SIGCONT))):
            return fails_with("signal")

    return end


def fails_with(cause: str, **limits: Any) -> str:
    with pytest.raises(WorkerDied) as died:
        pool.ask("cpu", {"method": "ping"}, **{"timeout": 120, **limits})
    assert died.value.cause == cause
    return str(died.value)


def hang() -> str:
    stopped()
    return fails_with("time limit", timeout=0.05)


def too_large() -> str:
    stopped()
    return fails_with("memory limit", memory=1_000_000)


def killed_between() -> str:
    os.kill(ping(), signal.SIGKILL)
    wait_for(lambda: not pool.running())
    return ""


def nowhere() -> str:
    pool.close_all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", "/proc/1/nothing")
        return fails_with("start")


def full() -> str:
    stopped()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "LARGEST", -1)
        patch.setattr(process, "_CHECK_FOLDER", 0.0)
        return fails_with("disk limit")


def interrupted() -> str:
    stopped()
    with once_asked(interrupt), pytest.raises(KeyboardInterrupt):
        ping()
    return ""


ENDS: dict[str, tuple[Callable[[], str], str]] = {
    "crash": (by_signal(signal.SIGSEGV), "SIGSEGV (a crash"),
    "abort": (by_signal(signal.SIGABRT), "SIGABRT (XLA gave up)"),
    "killed": (by_signal(signal.SIGKILL), "SIGKILL (from outside"),
    "killed between requests": (killed_between, ""),
    "hang": (hang, "--timeout SECONDS gives it longer"),
    "memory": (too_large, "--memory SIZE gives it more"),
    "disk": (full, "GB of dumps, over the limit"),
    "nowhere to write": (nowhere, "set TMPDIR to a folder with room"),
    "interrupt": (interrupted, ""),
}
EACH_THRICE = 3 * len(ENDS)
"""So often, one that leaves a descriptor open shows."""


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("workers_of_our_own")
def test_whatever_ends_it_time_after_time(request: pytest.FixtureRequest) -> None:
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    attack = Attack("ends of compile workers", attempts=108, in_ci=EACH_THRICE, request=request)
    for number, _ in enumerate(attack):
        name, (end, words) = list(ENDS.items())[number % len(ENDS)]
        assert words in end()
        assert pool.ask("cpu", {"method": "ping"}, timeout=120)["pid"] == pool.running()["cpu"]
        attack.ended(name)
    if descriptors is not None:
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 2

"""Jobs of real engines for tests: what they leave on this machine, and one job as a notebook's kernel has it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ipyparallel", reason="ipyparallel is not installed here")
from jaxstage_ext.processes.engines import engine_job, engine_start
from jaxstage_ext.processes.engines.engine_start import StartedJob

SETUP = """\
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.make_array_from_callback((8,), NamedSharding(mesh, PartitionSpec("x")), lambda i: np.arange(8.0)[i])
@jax.jit
def total(x):
    return x.sum()
"""
"""`total(x)` is 28 and runs in all processes at once."""


@contextlib.contextmanager
def engine_job_of(count: int, devices: int = 1) -> Iterator[StartedJob]:
    """A job that is this process's, and ends with the block; the one before is it again then."""
    job = engine_start.start(count, devices, 120.0, lambda seconds, what: None)
    former = engine_job.set_job(job)
    try:
        yield job
    finally:
        engine_job.set_job(former)
        job.stop()


def run_in_all(job: Any, code: str) -> None:
    """Run code in each process, as `%%px` does; raises what it raises there.

    ipykernel throws away a cell that comes right after one with an error, until its loop has turned; hence the
    question.
    """
    try:
        job.client[:].execute(code, silent=False, block=True)
    except Exception:
        job.ask("os:getpid")
        raise


def begin_in(job: Any, process: int, code: str) -> Any:
    """Begin to run code in one process, and do not wait for it."""
    return job.client[job.processes[process].engine].execute(code, silent=False, block=False)


def until(is_so: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What `is_so` gives once that is true."""
    deadline = time.monotonic() + seconds
    while not (value := is_so()):
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)
    return value


def descendants(pid: int) -> list[psutil.Process]:
    """All that a process has started."""
    return psutil.Process(pid).children(recursive=True)


def still_run(processes: list[psutil.Process]) -> list[str]:
    """Those that run still, by their command lines."""
    found = []
    for one in processes:
        with contextlib.suppress(psutil.Error):
            if one.is_running() and one.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(one.cmdline()))
    return found


def listening_addresses(processes: list[psutil.Process]) -> set[str]:
    """The addresses that any of them listens at."""
    found = set()
    for one in processes:
        with contextlib.suppress(psutil.Error):
            found |= {each.laddr.ip for each in one.net_connections("inet") if each.status == psutil.CONN_LISTEN}
    return {address.removeprefix("::ffff:") for address in found}  # an IPv4 address as an IPv6 socket has it


def folders(of: Path) -> list[Path]:
    """The folders of jobs in a temporary folder."""
    return list(of.glob("jaxstage-processes-*"))

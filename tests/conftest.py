"""What every test needs: JAX on the CPU, a terminal of one width, and nothing of this user's own settings."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import compiled_once
import eager_operations
import file_seconds
import pytest
import shards
import time_limits
import what_runs
from interrupts import pytest_runtest_logfinish, pytest_runtest_logstart  # noqa: F401

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")
os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="jaxstage-ipython-")
atexit.register(shutil.rmtree, os.environ["IPYTHONDIR"], ignore_errors=True)
for _kind in ("CONFIG", "DATA", "RUNTIME"):
    os.environ[f"JUPYTER_{_kind}_DIR"] = str(Path(os.environ["IPYTHONDIR"], f"jupyter-{_kind.lower()}"))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it; tests interrupt
os.environ["COLUMNS"] = "100"
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
os.environ.pop("JAXSTAGE_CACHE_DIR", None)
os.environ["JAXSTAGE_MEASURE_CPU"] = "0"  # each test and kernel would measure anew; what is about that sets it
os.environ["JAXSTAGE_RECORDS_DIR"] = tempfile.mkdtemp(prefix="jaxstage-records-")
atexit.register(shutil.rmtree, os.environ["JAXSTAGE_RECORDS_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """No test finds in the inspection cache what another put there, or keeps its settings."""
    from jaxstage_ext.store import cache

    cache.clear()
    yield
    cache.enable(True)
    cache.use_folder(None)


WORKERS_MOST = 2 << 30
"""Bytes that the workers of one test process may hold together when a module ends."""


@pytest.fixture(scope="module")
def no_workers_left() -> Iterator[None]:
    """The workers that a module's tests share end with its last, unless they are small: the next module's use them.

    One that starts and loads its compiler takes up to half a second of a processor. Those of the partitioner end.
    """
    from jaxstage_ext.worker import memory_limit, pool

    yield
    for platform, _, lane in (name.partition("/") for name in pool.running()):
        if lane in pool.PARTITIONS:
            pool.restart(platform, lane)
    held = [memory_limit.resident(pid) for pid in pool.running().values()]
    if None in held or sum(filter(None, held)) > WORKERS_MOST:
        pool.close_all()


@pytest.fixture(scope="module")
def kept_answers() -> Iterator[None]:
    """For files about figures: what workers answered is shared with other runs."""
    with compiled_once.kept():
        yield


@pytest.fixture
def patient_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow request of a page answers when it is done, however busy the machine is, not that it is pending."""
    from jaxstage_ext.panel import jobs

    monkeypatch.setattr(jobs, "GRACE", 60.0)


@pytest.fixture
def workers_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every worker of a test begins and ends with it, and leaves nothing behind in its temporary folder."""
    from jaxstage_ext.worker import pool

    pool.close_all()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    pool.close_all()
    assert not list(tmp_path.glob("jaxstage-*"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.needs("cuda")`: what `needs` says of one test, for all cases of a test."""
    from absent import needs

    for mark in item.iter_markers("needs"):
        needs(*mark.args)


def pytest_configure(config: pytest.Config) -> None:
    file_seconds.register(config)
    config.pluginmanager.register(time_limits.TimeLimits())


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In the processes that collect, not in the one that hands out their tests."""
    if not hasattr(session.config, "workerinput") and session.config.getoption("numprocesses", None):
        return (yield)
    with eager_operations.kept():
        return (yield)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return what_runs.is_left_out(collection_path) or shards.is_elsewhere(collection_path) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of this suite, the longest files first.

    A name with an address in it differs from process to process, and pytest-xdist then runs nothing at all.
    """
    left_out = what_runs.deselected(items)
    if left_out:
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    file_seconds.longest_first(items)
    addressed = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if addressed:
        raise pytest.UsageError(f"an address in the name of a test: {addressed[0]}; give the parameter ids")


def pytest_collection_finish() -> None:
    """What was imported and collected stays: each search for garbage would walk through all of it."""
    set_aside()
    gc.set_threshold(20_000, *gc.get_threshold()[1:])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """What the tests of a file left in JAX's caches and in modules stays too."""
    try:
        return (yield)
    finally:
        if nextitem is not None and nextitem.path != item.path:
            set_aside()


def set_aside() -> None:
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How the attempts of `hostile/` ended."""
    reports = (report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind))
    attacks = [text for report in reports for name, text in report.user_properties if name == "attack"]
    if attacks:
        terminalreporter.section("attacks")
        for text in sorted(attacks):
            terminalreporter.line(text)

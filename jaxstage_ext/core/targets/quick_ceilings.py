"""The ceilings of this machine's CPU, measured in a worker in about a second, the first time somebody needs them.

It never competes with the user's own cell: a thread that nobody's cell waits for leaves it until no cell runs, and is
stopped where one begins. In the thread of the cell itself, which waits for what it asked for, it measures at once.
"""

from __future__ import annotations

import datetime
import enum
import os
import threading
import time

from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.last_level_cache import ASSUMED, beyond, last_level_cache
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.report import kernel_settings, measuring
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.store import cache

SECONDS = 0.6
"""Of the measurement alone: with the start of its process it takes about one second."""
_LONGER = 4.0
"""How many times longer it may take where other programs want the cores too, so that it gets as many runs."""
TIMEOUT = 20.0
"""Seconds after which the measurement is given up."""
MEMORY = 128 << 20
"""Bytes of the largest array, four times the caches of most machines."""
STEP = "measuring the peaks of this machine's CPU, once"
WAITING = "waiting for the running cell, to measure the peaks of this machine's CPU once"
_PATIENCE = 60.0
"""Seconds that whoever can wait waits for a cell."""


class NotMeasured(enum.Enum):
    """Why the ceilings of this machine's CPU are not measured."""

    OFF = "the setting measure_cpu, or JAXSTAGE_MEASURE_CPU, turns it off"
    LEFT_ALONE = "nobody has looked at them yet"
    CELL_RUNS = "a cell was running"
    FAILED = "the measurement failed"
    SEVERAL_PROCESSES = "several processes share the machine"


class _State:
    failure: str | None = None


def failure() -> str:
    """Why the measurement failed; "" where it did not."""
    return _State.failure or ""


def forget() -> None:
    """As if nothing had been measured."""
    _State.failure = None
    machine_ceilings.forget()


def ceilings(progress: Progress = silent, waits: bool = False, alone: bool = True) -> MachineCeilings | NotMeasured:
    """Those that are known, else those that are measured now, else why they are not.

    Args:
      progress: called with the seconds taken and what is done; what it raises ends the measurement.
      waits: whether to wait, up to a minute, for the end of the cell that runs.
      alone: whether this process is the only one of its job.
    """
    if (known := machine_ceilings.of_this_machine()) is not None:
        return known
    if (reason := _why_not(alone)) is not None:
        return reason
    return _measured(progress, time.monotonic() + (_PATIENCE if waits else 0.0))


def _why_not(alone: bool) -> NotMeasured | None:
    if not kernel_settings.now().measures_cpu:
        return NotMeasured.OFF
    if not alone:
        return NotMeasured.SEVERAL_PROCESSES
    if _State.failure is not None:
        return NotMeasured.FAILED
    return None if measuring.is_allowed() else NotMeasured.LEFT_ALONE


def _measured(progress: Progress, until: float) -> MachineCeilings | NotMeasured:
    """Measured by one of the threads and processes that want them, when no cell runs that does not wait for it."""
    while _is_quiet(progress, until):
        made = _once(progress)
        if made is not None:
            return made
        if _State.failure is not None:
            return NotMeasured.FAILED
    return NotMeasured.CELL_RUNS


def _is_quiet(progress: Progress, until: float) -> bool:
    """Whether no cell runs but one that waits for this thread."""
    began = time.monotonic()
    while run_cells.at_work() is not None and threading.current_thread() is not threading.main_thread():
        if (now := time.monotonic()) >= until:
            return False
        progress(now - began, WAITING)
        run_cells.wait_for_end(min(0.5, until - now))
    return True


def _once(progress: Progress) -> MachineCeilings | None:
    """The measurement, made here or by another; None where it failed, or a cell began."""
    key = machine_ceilings.quick_key()
    waiting = lambda seconds: progress(seconds, STEP)  # noqa: E731
    found, _ = cache.once(key, lambda: _Made.of(machine_ceilings.of_this_machine()), lambda: _try(progress), waiting)
    return found.ceilings


class _Made:
    """What an attempt to measure gives, perhaps nothing."""

    def __init__(self, ceilings: MachineCeilings | None) -> None:
        self.ceilings = ceilings

    @staticmethod
    def of(ceilings: MachineCeilings | None) -> _Made | None:
        return None if ceilings is None else _Made(ceilings)


def _try(progress: Progress) -> _Made:
    from jaxstage_ext.worker import pool  # it needs Unix

    try:
        with run_cells.told_of_next(lambda: pool.stop("cpu", pool.MEASURE)):
            measured = _ask(progress)
    except pool.WorkerDied as died:
        if died.cause != "stopped":
            _State.failure = str(died)
        return _Made(None)
    except (pool.RequestFailed, OSError, ValueError, KeyError, TypeError) as error:
        _State.failure = str(error)
        return _Made(None)
    machine_ceilings.keep_quick(measured)
    return _Made(measured)


def _array(cached: int) -> int:
    """Bytes of the array that is to lie beyond caches of so many bytes."""
    return min(beyond(cached), MEMORY)


def _ask(progress: Progress) -> MachineCeilings:
    from jaxstage_ext.worker import pool

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    cached = last_level_cache() or ASSUMED
    request = {
        "method": "measure_ceilings",
        "seconds": SECONDS * min(max(1.0, load / machine_ceilings.cores()), _LONGER),
        "memory": _array(cached),
        "cache": cached // 2,
    }
    progress(0.0, STEP)
    try:
        rates = pool.ask("cpu", request, TIMEOUT, lane=pool.MEASURE, progress=lambda taken, _: progress(taken, STEP))
    finally:
        pool.restart("cpu", pool.MEASURE)
    return MachineCeilings(
        rates["products"],
        rates["bandwidth"],
        cached,
        rates["cache_bandwidth"],
        tuple((slow, fast) for slow, fast in rates["functions"]),
        machine_ceilings.cpu_model(),
        machine_ceilings.cores(),
        datetime.date.today().isoformat(),
        load,
        rates["seconds"],
    )

"""What every job of these tests begins and ends with. Imported by the scripts beside it, which are run by path."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

PORT, PROCESS, PROCESSES, FOLDER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
WORDS = sys.argv[5:]


def join(recoverable: bool = True) -> None:
    """Join the job, on loopback alone."""
    jax.config.update("jax_num_cpu_devices", 1)
    jax.config.update("jax_enable_recoverability", recoverable)
    address = f"127.0.0.1:{PORT}"
    jax.distributed.initialize(
        coordinator_address=address,
        coordinator_bind_address=address,
        num_processes=PROCESSES,
        process_id=PROCESS,
        cluster_detection_method="deactivate",
        initialization_timeout=60,
        heartbeat_timeout_seconds=10,
        shutdown_timeout_seconds=5,
    )


def mesh() -> Any:
    """All devices of the job along "x"."""
    return jax.make_mesh((PROCESSES,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))


def ones(rows: int = 8, columns: int = 4) -> Any:
    """An array of ones, its rows over all processes."""
    sharding = NamedSharding(mesh(), PartitionSpec("x"))
    return jax.make_array_from_callback((rows, columns), sharding, lambda at: np.ones((rows, columns), np.float32)[at])


def here(result: Any) -> float:
    """What this process holds of a result that all hold whole."""
    return float(np.asarray(result.addressable_shards[0].data).ravel()[0])


Case = Callable[[], Any]
CASES: dict[str, tuple[Case, float]] = {}


def case(name: str = "", timeout: float = 30.0) -> Callable[[Case], Case]:
    """Register a case, which runs in a block of its own."""

    def registered(run: Case) -> Case:
        CASES[name or run.__name__] = run, timeout
        return run

    return registered


def told(run: Case, timeout: float) -> dict[str, Any]:
    """How a case ended in this process: the error, its cause and line, and seconds since the epoch."""
    import jaxstage_ext

    began = time.time()
    try:
        with jaxstage_ext.preflight(timeout=timeout, report=FOLDER):
            value = run()
    except jaxstage_ext.ProcessesDisagree as error:
        told = {"cause": error.cause.name, "line": error.line, "report": error.report, "text": str(error)}
        return told | {"began": began, "ended": time.time()}
    except Exception as error:
        return {"error": repr(error), "began": began, "ended": time.time()}
    return {"value": value, "began": began, "ended": time.time()}


def finish(data: Any, others: int = PROCESSES - 1) -> None:
    """Write what this process has to say, and leave once so many others have: the first takes the store with it."""
    (FOLDER / f"{PROCESS}.unfinished").write_text(json.dumps(data))
    (FOLDER / f"{PROCESS}.unfinished").rename(FOLDER / f"{PROCESS}.json")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(list(FOLDER.glob("?.json"))) <= others:
        time.sleep(0.02)
    sys.stdout.flush()
    os._exit(0)
